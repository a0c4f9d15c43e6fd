"""The same server on the GPU's kernels: D ranks against one, the GPU against the CPU, and ranks over NCCL."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from dcplab.course import catalog
from dcplab.engine import scenario, tokenizer
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.options import EngineOptions, config
from dcplab.engine.scheduler import Engine
from dcplab.errors import CourseError
from dcplab.on_ranks import full_path

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="runs the engine on a CUDA device, and none is visible here"),
]
GPU = ServerConfig(size=1024, page_size=64, heads=16, index_heads=32, topk=2048, chunk=1024, layers=2, dcp_size=1)


def answers(server, asked):
    found = server.generate([q.prompt for q in asked], [q.words for q in asked])
    assert [server.tokenizer.decode(tokens) for tokens in found] == [q.answer for q in asked]
    return server.shared.captured


def test_d_ranks_attend_as_one_does():
    asked = tokenizer.questions(200)
    expected = answers(Engine(GPU, comm=Local(1, "cuda"), capture=True), asked)
    for dcp_size in (2, 3, 8):
        server = Engine(replace(GPU, dcp_size=dcp_size), comm=Local(dcp_size, "cuda"), capture=True)
        for one, many in zip(expected, answers(server, asked), strict=True):
            torch.testing.assert_close(one["out"], many["out"], atol=2e-2, rtol=0)  # bf16 outputs
            if one["lse"] is not None:
                torch.testing.assert_close(one["lse"], many["lse"], atol=2e-2, rtol=0)
        assert server.watcher.first_misuse is None and server.watcher.first_outside is None


LAYOUTS = [(2, 64, "replicated"), (3, 16, "replicated"), (8, 1, "exact"), (3, 16, "exact"), (4, 64, "exact")]


@pytest.mark.parametrize(("dcp_size", "interleave", "indexer"), LAYOUTS)
def test_other_layouts_attend_as_one_rank_does(dcp_size, interleave, indexer):
    """Few keys are selected, so which they are shows."""
    asked, few = tokenizer.questions(200), replace(GPU, topk=64)
    expected = answers(Engine(few, comm=Local(1, "cuda"), capture=True), asked)
    config = replace(few, dcp_size=dcp_size, interleave=interleave, indexer=indexer)
    server = Engine(config, comm=Local(dcp_size, "cuda"), capture=True, typed=True)
    for one, many in zip(expected, answers(server, asked), strict=True):
        torch.testing.assert_close(one["out"], many["out"], atol=2e-2, rtol=0)
    assert server.watcher.first_outside is None and server.metrics.diverged == 0


def test_a_union_two_blocks_and_several_stores():
    asked = tokenizer.questions(200)
    config = replace(GPU, topk=64, dcp_size=4, page_size=128, kernel_block_size=64, indexer="union", interleave=32)
    server = Engine(replace(config, kpool=256, window=128), comm=Local(4, "cuda"), typed=True)
    answers(server, asked)
    assert server.shared.choices.more > 0 and server.metrics.misplaced == 0 and server.metrics.diverged == 0
    with pytest.raises(CourseError, match="blocks of a multiple of 64 slots, not 32"):
        Engine(replace(GPU, kernel_block_size=32), comm=Local(1, "cuda"))


@pytest.mark.parametrize(
    "more", [dict(indexer="exact"), dict(prefill_dcp=3, prefill_interleave=1, indexer="exact", need_sort=True)]
)
def test_retractions_of_other_layouts_change_no_token(more):
    asked = tokenizer.questions(200)
    config = replace(GPU, dcp_size=2, interleave=64, topk=64, prefix_cache=False, draft_tokens=2, **more)
    server = Engine(config, comm=Local(2, "cuda"))
    requests = [server.submit(q.prompt, q.words) for q in asked]
    while server.busy:
        server.step()
        decoding = [r for r in server.running if not r.extending]
        if decoding:
            server.retract(decoding[server.metrics.steps % len(decoding)])
    assert [server.text(r) for r in requests] == [q.answer for q in asked]
    assert server.metrics.retractions >= 3 and not server.metrics.selection_lost


def test_a_gpu_answers_as_a_cpu_does():
    asked = tokenizer.questions(120)
    on_gpu = answers(Engine(replace(GPU, dcp_size=4), comm=Local(4, "cuda"), capture=True), asked)
    torch.set_num_threads(os.cpu_count())
    on_cpu = answers(Engine(replace(GPU, dcp_size=4, heads=2, index_heads=3), comm=Local(4), capture=True), asked)
    for a, b in zip(on_gpu, on_cpu, strict=True):
        torch.testing.assert_close(a["out"][:, [0, -1]], b["out"], atol=2e-2, rtol=0)


@pytest.mark.parametrize("more", [{}, dict(draft_tokens=2), dict(prefill_dcp=1, need_sort=True), dict(host_tokens=150)])
def test_retractions_change_no_token(more):
    """Copies go to pinned memory on a stream of their own, while other requests go on over the pages that were freed."""
    asked = tokenizer.questions(200)
    server = Engine(replace(GPU, dcp_size=2, prefix_cache=False, **more), comm=Local(2, "cuda"))
    requests = [server.submit(q.prompt, q.words) for q in asked]
    while server.busy:
        server.step()
        decoding = [r for r in server.running if not r.extending]
        if decoding:
            server.retract(decoding[server.metrics.steps % len(decoding)])
        for request in server.retracted:
            assert all(rows.is_pinned() for rows in request.saved[0].ckv)
    assert [server.text(r) for r in requests] == [q.answer for q in asked]
    assert server.metrics.retractions >= 3 and not server.metrics.selection_lost
    assert (server.metrics.recomputed > 0) == ("host_tokens" in more)
    assert server.watcher.first_misuse is None and server.watcher.first_outside is None


@pytest.mark.parametrize(
    ("defects", "level"), [((), "full"), (("index_k_size", "ckv_write", "read", "extend", "assert"), "above")]
)
def test_the_incident_on_a_gpu(defects, level):
    built = config(EngineOptions("cuda", dcp_size=4))
    out = scenario.story(Engine(built, defects, Local(4, "cuda")), level, stored=True)
    assert [a.right for a in out.answers if a.when == "fresh"] == [True] * 3
    assert out.verdict == ("silent corruption" if defects else "right")


@pytest.mark.parametrize(
    ("processes", "dcp_size", "defects", "more"),
    [
        (1, 4, "none", []),
        (2, 2, "none", []),
        (2, 8, "none", []),
        (2, 8, "unpatched", []),
        (1, 4, "none", ["--interleave", "16", "--indexer", "exact"]),
        (2, 4, "none", ["--interleave", "16", "--indexer", "exact"]),
        (2, 4, "none", ["--interleave", "4", "--indexer", "union"]),
    ],
)
def test_ranks_over_nccl(tmp_path, processes, dcp_size, defects, more):
    if torch.cuda.device_count() < processes:
        pytest.skip(f"needs {processes} CUDA devices, and there are {torch.cuda.device_count()}")
    out = tmp_path / "o.json"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", "-m", "dcplab"]
    command += ["incident", "--defects", defects, "--ranks", "nccl", "--dcp-size", str(dcp_size), "--json", str(out), *more]
    subprocess.run(command, check=True, timeout=500)
    assert json.loads(out.read_text())["verdict"] == ("right" if defects == "none" else "silent corruption")


@pytest.mark.parametrize("processes", [1, 2])
def test_a_wiring_of_ones_own_over_nccl_is_that_of_one_process(processes):
    if torch.cuda.device_count() < processes:
        pytest.skip(f"needs {processes} CUDA devices, and there are {torch.cuda.device_count()}")
    solved = catalog.of_part("5b").key("5b").solution
    shown = full_path.full_path(solved, 4, "nccl", None, processes)
    assert "GPU (" in shown.text and f"{processes} processes over NCCL" in shown.text
    assert "Every word, and every figure of the servers, is that of one process." in shown.text
    assert {row[2:4] for row in shown.pieces[1].rows} == {("right", "3/3 2/2 3/3")}


def test_two_gpus_say_what_one_does(tmp_path):
    if torch.cuda.device_count() < 2:
        pytest.skip(f"needs 2 CUDA devices, and there are {torch.cuda.device_count()}")
    asked = ["--only", "index_k_size", "--levels", "above", "--dcp-size", "8"]
    rows = {}
    for name, words in (("one", ["--device", "cuda", "-j", "1"]), ("two", ["--gpus", "2"])):
        command = [sys.executable, "-m", "dcplab", "isolate", *asked, *words, "--json", str(tmp_path / name)]
        subprocess.run(command, check=True, timeout=500)
        rows[name] = json.loads((tmp_path / name).read_text())["runs"]
        for row in rows[name]:
            del row["outcome"]["seconds"], row["gpu_bytes"]
    assert rows["one"] == rows["two"] and [r["outcome"]["verdict"] for r in rows["two"]] == ["silent corruption", "right"]
