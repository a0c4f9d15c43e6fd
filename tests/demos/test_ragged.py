"""The demonstrations of lab 04 show what its text says they show; the ranks that they start are counted, and ended."""

import os
import re
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from dcp_kernels import reference
from waiting import gone, until

from dcplab import mode, paths, subprocess_call
from dcplab.demos import ragged, ragged_engine, ragged_kernels, ragged_ranks, server
from dcplab.engine import comm

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc")

SERVERS = ("no extend patch", "half of it", "the same, merged", "the whole patch")


def test_two_requests_and_only_the_first_is_right():
    told = ragged.two_requests().text.split("\n")
    lines = {name: next(line for line in told if line.startswith(name)) for name in SERVERS}
    wrong = {name: line.count("WRONG") for name, line in lines.items()}
    assert wrong == {"no extend patch": 2, "half of it": 1, "the same, merged": 1, "the whole patch": 0}
    for name in ("half of it", "the same, merged"):
        assert ragged_engine.NEXT["A"] in lines[name] and ragged_engine.NEXT["B"] not in lines[name]
    assert any("LSE of +1.00, log2(2)" in line for line in told)


def test_b_is_answered_with_a_word_of_a():
    run = ragged_engine.serve(ragged_engine.as_they_come)
    assert not set(ragged_engine.PROMPTS["A"].split()) & set(ragged_engine.PROMPTS["B"].split()) - {"."}
    assert run.said["B"].split()[0] in ragged_engine.PROMPTS["A"].split()
    for look in run.looks:
        assert look.found == ("A", look.position) and look.index == look.position
        assert (look.wanted == look.index) == (look.request == "A")
    first = run.engine.watcher.first_misuse
    assert first.op == "sparse_mla_extend" and first.given.value == "position" and first.needed.value == "ragged index"


def test_the_looks_are_those_of_the_engines_own_wiring():
    """The path that is watched here does what `backend.extend` does."""
    run, own = ragged_engine.serve(ragged_engine.ragged), ragged_engine.serve(None)
    assert run.said == own.said == ragged_engine.NEXT
    assert all(look.found == (look.request, look.position) for look in run.looks) and len(run.looks) == 4


def test_strided_by_brute_force():
    """Lab 04: on prefixes 5 and 3 rank 0 reads rows 4, 5 where 4, 5, 8 are right; on 5 and 4 it picks loc 35 for 32."""
    blocks = ragged.strided().text.split("\n\n")[1:4]
    seen = {}
    for block, lens in zip(blocks, ragged.BATCHES, strict=True):
        locs = [16 + p for p in range(lens[0])] + [32 + p for p in range(lens[1])]
        assert block.startswith(f"prefixes {lens[0]} and {lens[1]}: locs {locs[0]}..{locs[lens[0] - 1]} and 32..{locs[-1]}")
        for rank, line in enumerate(block.split("\n")[2:]):
            owned, picked = [v for v in locs if v % 4 == rank], locs[rank::4]
            rows = [[v // 4 for v in part] for part in (owned, picked)]
            cells = [" ".join(map(str, part)) for part in (owned, rows[0], picked, rows[1])]
            verdict = "right" if owned == picked else "wrong locs, right rows" if rows[0] == rows[1] else "WRONG rows"
            assert line.split() == " ".join([str(rank), *cells, verdict]).split()
            seen.setdefault(lens, []).append(verdict)
    assert set(seen[8, 4]) == {"right"} and set(seen[5, 4]) == {"wrong locs, right rows"}
    assert seen[5, 3][0] == "WRONG rows" and re.search(r"4 5 8 +16 20 +4 5 ", blocks[1])


@pytest.mark.slow
def test_a_mixed_batch_reads_by_locs_what_it_gathered():
    left, right = (ragged_engine.serve_mixed(ids) for ids in (ragged_engine.residue, ragged_engine.ragged))
    assert right.said == {"A": "old bridge . where", "B": "grey cloud all day"}
    assert left.said["A"].split()[0] == "old", "A was alone in its extend: RAGGED, and right"
    assert left.said["B"] != right.said["B"] and left.said["A"] != right.said["A"]
    first = left.engine.watcher.first_misuse
    assert (first.phase, first.given.value, first.needed.value) == ("mixed", "loc", "ragged index")
    assert any(look.found != (look.request, look.position) for look in left.looks)
    assert right.engine.watcher.first_misuse is None
    told = ragged.mixed().text
    assert told.count("nothing of this step") == sum(look.found is None for look in left.looks) > 0


@pytest.mark.slow
def test_only_a_server_that_gathers_meets_the_assert():
    verdicts = {defects: server.replay("above", defects).outcome.verdict for _, defects in ragged.ASSERTS}
    assert verdicts == {"extend,assert": "silent corruption", "assert": "alarm", "none": "right"}
    assert "but it is a legal loc" in ragged.mixed().text


def test_the_rows_that_top_k_needed():
    """Each prefix row that some token chose and that no hosted rank owns, once: counted here one by one."""
    g = torch.Generator().manual_seed(0)
    table = torch.randperm(64, generator=g).view(2, 32)
    req_of_token, prefixes, req_pool_indices = [0, 0, 1, 1, 1], [9, 4], [1, 0]
    positions = torch.randint(-1, 12, (5, 6), generator=g).to(torch.int32)
    wanted = {(r, p) for r, row in zip(req_of_token, positions.tolist(), strict=True) for p in row if 0 <= p < prefixes[r]}
    for hosted in ([0], [1, 2], [0, 1, 2]):
        step = SimpleNamespace(
            batch=SimpleNamespace(
                req_of_token=torch.tensor(req_of_token),
                prefix_lens=torch.tensor(prefixes),
                req_pool_indices=torch.tensor(req_pool_indices),
            ),
            ranks=[SimpleNamespace(rank=r) for r in hosted],
            shared=SimpleNamespace(req_to_token=table, config=SimpleNamespace(dcp_size=3)),
        )
        assert ragged_ranks._needed(step, positions) == sum(
            int(table[req_pool_indices[r], p]) % 3 not in hosted for r, p in wanted
        )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux counts the bytes of a TCP connection")
def test_received_bytes_are_counted():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with socket.create_connection(listening.getsockname()) as one, listening.accept()[0] as other:
            before = ragged_ranks.received_bytes()
            one.sendall(b"x" * 50_000)
            left = 50_000
            while left:
                left -= len(other.recv(left))
            assert ragged_ranks.received_bytes() - before == 50_000


@pytest.mark.slow
def test_ranks_in_processes_of_their_own_attend_to_the_same_bytes():
    told = ragged.over_gloo(2).text
    assert "byte for byte: 2 of 2 ranks" in told and "Answers right: all." in told
    steps = [line for line in told.split("\n") if re.match(r"\d+ \+ \d+", line)]
    assert len(steps) == 2
    for line in steps:
        received, sockets, needed = (int(v.replace(",", "")) for v in re.split(r" {2,}", line)[2:5])
        assert 0 < needed <= received
        if sys.platform.startswith("linux"):
            assert received <= sockets < 1.05 * received + 4096, "what the shapes say is what came in"
    few, many = (int(line.rsplit(None, 1)[1].rstrip("%")) for line in reversed(steps))
    assert few < many
    if mode.current().name == "cpu":
        assert told.endswith("NCCL was not run: it takes two GPUs or more, in a number that divides 2, and there is none here.")


@LINUX
@pytest.mark.slow
def test_two_ranks_a_process_and_nobody_lives_on_when_it_goes_wrong():
    alone = ragged_ranks.story(comm.Local(4))
    found = ragged_ranks.ranks("gloo", 4, 2, lambda *_: None)
    assert [sorted(one["workspace"]) for one in found] == [["0", "1"], ["2", "3"]]
    assert {k: v for one in found for k, v in one["workspace"].items()} == alone["workspace"]

    pids = []

    def spoil(stage, count):
        pids.extend(_children())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ragged_ranks.ranks("gloo", 2, 2, spoil)
    assert pids and not set(pids) & set(_children())
    with pytest.raises(ragged_ranks.Failed, match="3 DCP ranks cannot be dealt evenly to 2 processes"):
        ragged_ranks.ranks("gloo", 3, 2, lambda *_: None)
    with pytest.raises(ragged_ranks.Failed, match="after 0 s 0 of 2 processes were done"):
        ragged_ranks.ranks("gloo", 2, 2, lambda *_: None, timeout_s=0)


def _children() -> list[int]:
    """Processes of this one that run a rank."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat, open(f"/proc/{entry}/cmdline", "rb") as line:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == os.getpid() and b"ragged_ranks" in line.read():
                    found.append(int(entry))
        except OSError:
            pass
    return found


@LINUX
@pytest.mark.slow
def test_a_rank_ends_with_whoever_started_it():
    """The starter is killed outright: what is left sees its standard input end."""
    code = (
        "import subprocess, sys, time\n"
        "from pathlib import Path\n"
        "from dcplab.demos import ragged_ranks\n"
        "rank = ragged_ranks._start('gloo', 2, 0, 2, 9, Path(sys.argv[1]))\n"  # nobody else joins: it would wait for minutes
        "print(rank.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    path = os.pathsep.join([str(paths.root() / "src"), str(paths.root() / "kernels")])
    folder = os.environ["DCPLAB_STATE"]
    starter = subprocess.Popen(
        [sys.executable, "-c", code, folder], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    pid = int(starter.stdout.readline())
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    until(lambda: gone(pid))


@pytest.mark.parametrize("ranks", [1, 9, 2.0, True, "4"])
def test_a_number_of_ranks_that_makes_no_sense(ranks):
    assert ragged.over_gloo(ranks).text.startswith("over_gloo: ranks must be a whole number from 2 to 8, not ")


@pytest.mark.slow
def test_the_real_kernels_agree_with_dense_attention():
    told = ragged.real_extend().text
    assert mode.current().label in told and "every row as it was before sharding" in told
    errors = [float(v) for v in re.findall(r"(?:largest error|first request) (\S+?)(?= |,|$)", told, re.MULTILINE)]
    exact = 1e-4 if mode.current().name == "cpu" else 2e-2
    assert len(errors) == 3 and errors[0] < exact and errors[2] < exact < 1 < errors[1]


def test_the_shards_of_the_real_kernels_are_what_4b_says():
    given = ragged_kernels.SMALL
    g = torch.Generator().manual_seed(1)
    pairs = list(zip(given["prefixes"], given["extends"], strict=True))
    contexts = [torch.randn(p + e, 6, generator=g) for p, e in pairs]
    shards = ragged_kernels.sharded(contexts, given["starts"], given["prefixes"], given["dcp_size"])
    assert torch.isnan(shards).any()
    new = torch.cat([c[p:] for c, (p, _) in zip(contexts, pairs, strict=True)])
    lens = [torch.tensor(given[k]) for k in ("prefixes", "starts", "extends")]
    assert torch.equal(reference.assemble_ragged(shards, new, *lens, given["dcp_size"]), torch.cat(contexts))


@pytest.mark.slow
def test_the_dense_oracle_is_attention():
    g = torch.Generator().manual_seed(2)
    contexts = [torch.randn(5, 512, generator=g), torch.randn(4, 512, generator=g)]
    q = torch.randn(2, 2, 512, generator=g)
    positions = torch.tensor([[0, 2, -1], [3, -1, -1]])
    out = ragged_kernels.dense(q, contexts, [0, 1], positions)
    expected, _ = reference.sparse_mla_decode(q[:1], contexts[0], positions[:1], None, ragged_kernels.SM_SCALE)
    torch.testing.assert_close(out[:1], expected)
    torch.testing.assert_close(out[1], contexts[1][3].double().expand(2, -1))


def test_a_grader_does_not_wait_for_processes(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(subprocess_call, "call", None)  # a call would raise
    monkeypatch.setattr(ragged_ranks, "ranks", None)
    assert ragged.over_gloo().text == ragged.real_extend().text == "Not run while the notebook is graded."
