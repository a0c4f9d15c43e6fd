"""Ranks held by several processes: the same as in one, refused where they would not meet, ended together."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

import pytest
import torch

from dcplab.cli import main
from dcplab.course import catalog
from dcplab.engine import world

SMALL = ["--dcp-size", "4", "--page-size", "4", "--device", "cpu"]
TWO = ["--ranks", "gloo", "--processes", "2"]
INSIDE_S = 30  # of the end of one process the others end


@pytest.mark.slow
def test_an_incident_in_two_processes_is_that_of_one(tmp_path):
    said = {}
    for name, words in (("one", []), ("two", TWO)):
        assert main(["incident", *SMALL, *words, "--json", str(tmp_path / name)]) == 0
        said[name] = json.loads((tmp_path / name).read_text())
        del said[name]["seconds"]
    assert "2 processes over gloo" in said["two"].pop("ran_on") and "one process" in said["one"].pop("ran_on")
    assert said["one"] == said["two"] and said["one"]["verdict"] == "silent corruption"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["--interleave", "4", "--indexer", "exact", "--host-tokens", "60"],
        ["--interleave", "2", "--indexer", "union", "--prefill-dcp", "3"],
        ["--defects", "ties_by_rank"],
    ],
)
def test_other_layouts_in_two_processes_are_those_of_one(tmp_path, words):
    said = {}
    for name, ranks in (("one", []), ("two", TWO)):
        asked = ["--defects", "none", *words, "--level", "below", "--json", str(tmp_path / name)]
        assert main(["incident", *SMALL, *ranks, *asked]) == 0
        said[name] = json.loads((tmp_path / name).read_text())
        del said[name]["seconds"], said[name]["ran_on"]
    assert said["one"] == said["two"] and said["one"]["verdict"] == "right"
    assert (said["two"]["choices"]["more"] > 0) == ("union" in words)
    assert (said["two"]["choices"]["otherwise"] > 0) == ("ties_by_rank" in words)


@pytest.mark.slow
def test_an_isolation_in_two_processes_is_that_of_one_and_goes_on(tmp_path, capfd):
    rows = {}
    asked = ["isolate", *SMALL, "--only", "index_k_size", "--levels", "above"]
    for name, words in (("one", ["-j", "1"]), ("two", TWO)):
        assert main([*asked, *words, "--json", str(tmp_path / name)]) == 0
        table = json.loads((tmp_path / name).read_text())
        rows[name] = table["runs"]
        for row in rows[name]:
            del row["outcome"]["seconds"]
    assert rows["one"] == rows["two"] and [r["outcome"]["verdict"] for r in rows["two"]] == ["silent corruption", "right"]
    assert "2 processes over gloo" in capfd.readouterr().out
    half = json.loads((tmp_path / "two").read_text())
    half["runs"] = half["runs"][:1]
    (tmp_path / "two").write_text(json.dumps(half))
    assert main([*asked, *TWO, "--json", str(tmp_path / "two"), "--resume"]) == 0
    assert "1 rows are there; 1 are to be run" in capfd.readouterr().err
    assert len(json.loads((tmp_path / "two").read_text())["runs"]) == 2


@pytest.mark.parametrize("command", ["incident", "isolate"])
@pytest.mark.parametrize(
    ("words", "gpus", "sentence"),
    [
        ([*TWO, "--dcp-size", "3"], 0, "3 DCP ranks cannot be dealt evenly to 2 processes: give --processes 1 or 3, or"),
        (["--gpus", "2", "--dcp-size", "5"], 2, "5 DCP ranks cannot be dealt evenly to 2 processes: give --gpus 1 or 5, or"),
        (["--ranks", "gloo", "--processes", "0"], 0, "At least one process must hold the ranks, not 0."),
        (["--processes", "2"], 0, "--ranks local holds all ranks in one process, not in 2: give --ranks gloo, or --gpus."),
        (["--gpus", "2", "--ranks", "gloo"], 2, "--gpus starts ranks over NCCL, and --ranks gloo runs on the CPU"),
        (["--gpus", "4", "--dcp-size", "8"], 2, "4 were started here, and there are 2: give --gpus 2."),
        (["--gpus", "2"], 0, "--ranks nccl needs a CUDA device, and none is visible here"),
        (["--ranks", "nccl"], 2, "Or give --gpus N, which starts them."),
    ],
)
def test_processes_that_could_not_hold_the_ranks_are_never_started(capsys, monkeypatch, command, words, gpus, sentence):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.multiprocessing, "spawn", None)  # a call would raise
    began = time.process_time()
    assert main([command, *words]) == 2
    assert time.process_time() - began < 1
    told = capsys.readouterr()
    assert told.out == "" and sentence in told.err and len(told.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "rank", "sentence"),
    [
        (["--gpus", "2", "--dcp-size", "5"], None, "5 DCP ranks cannot be dealt evenly to 2 processes"),
        (
            ["--ranks", "gloo", "--dcp-size", "3"],
            0,
            "3 DCP ranks cannot be dealt evenly to 2 processes: give --nproc-per-node 1",
        ),
        (["--ranks", "gloo", "--dcp-size", "3"], 1, ""),  # the first of a machine says it
        (["--gpus", "64", "--dcp-size", "64"], None, "NCCL needs a GPU for each process|needs a CUDA device"),
    ],
)
@pytest.mark.parametrize("command", ["incident", "isolate"])
def test_a_refusal_takes_no_second_and_no_torch(command, words, rank, sentence):
    if "--gpus" in words and any(map(os.path.exists, world.OTHER_DEVICES)):
        pytest.skip("devices of which torch alone knows the number: it is asked")
    code = "import sys\nfrom dcplab.cli import main\ntry: main(sys.argv[1:])\nfinally: print('torch' in sys.modules)"
    env = {name: value for name, value in os.environ.items() if name != "WORLD_SIZE"}
    env |= {} if rank is None else of_two(rank, 29999)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code, command, *words], env=env, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout == "False\n" and re.search(sentence, done.stderr) and bool(done.stderr) == bool(sentence)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1 - world.SAY_S


@pytest.mark.parametrize(("shown", "files", "have"), [(None, 3, 3), ("0,1", 8, 2), ("", 2, 0), ("-1", 2, 0), ("0,1,2,3", 2, 2)])
def test_gpus_are_counted_before_torch_is_there(monkeypatch, shown, files, have):
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(world, "OTHER_DEVICES", ())
    monkeypatch.setattr(world.glob, "glob", lambda pattern: ["/dev/nvidia0"] * files)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if shown is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    assert world._gpus() == have


def of_two(rank: int, port: int) -> dict[str, str]:
    """The environment of one of two processes, as `torchrun` would set it."""
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def start(rank: int, port: int, words: list[str], before: str = "", command: str = "incident") -> subprocess.Popen:
    """One of two processes, as `torchrun` would start it."""
    env = of_two(rank, port)
    code = f"import sys\n{before}\nfrom dcplab.cli import main\nsys.exit(main(sys.argv[1:]))"
    asked = [sys.executable, "-c", code, command, "--ranks", "gloo", *words]
    return subprocess.Popen(asked, env=os.environ | env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def started():
    """Processes that a test starts, ended with it."""
    running: list[subprocess.Popen] = []
    yield running
    for process in running:
        process.kill()
        process.wait()


OTHER = "from dcplab.engine import comm\ncomm.revision = lambda: 'another'"
SERVER = ["--dcp-size", "4", "--page-size", "4"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "before", "sentence"),
    [
        ([*SERVER[2:], "--dcp-size", "8"], "", "the same group: --dcp-size is 4 in process 0 and 8 in process 1."),
        (SERVER, OTHER, "revision is [0-9a-f]+ in process 0 and another in process 1."),
        ([*SERVER[:2], "--page-size", "8", "--size", "2000"], "", "server: page_size is 4 in process 0 and 8 in process 1."),
        ([*SERVER, "--size", "3000"], "", "server: size is [0-9]+ in process 0 and 3000 in process 1."),
        ([*SERVER, "--layers", "2"], "", "server: layers is 3 in process 0 and 2 in process 1."),
        ([*SERVER, "--defects", "none"], "", "server: defects is .* in process 0 and \\[\\] in process 1."),
        ([*SERVER, "--level", "full"], "", "story: --level is below in process 0 and full in process 1."),
    ],
)
def test_processes_that_disagree_are_refused_at_the_start(started, words, before, sentence):
    port = free_port()
    base = [*SERVER, "--level", "below"] if "--level" in words else SERVER
    if "2000" in words:  # at its own size neither is refused for itself
        base = [*base, "--size", "2000"]
    started += [start(0, port, base), start(1, port, words, before)]
    told = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [2, 2]
    assert re.search(sentence, told[0]) and "steps" not in told[0] and told[1] == ""


def met(process: subprocess.Popen) -> None:
    """Wait until the processes compute."""
    for line in process.stderr:
        if "step 2" in line or line.startswith(("long", "1/64")):  # an isolation says when a server has ended
            return
    raise AssertionError("it ended before its processes met")


LONG = [*SERVER, "--chunk", "16"]  # many steps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "by", "sentence"),
    [
        (0, signal.SIGKILL, "Process 0, or torchrun, at which the processes meet, has ended|Another process has ended"),
        (1, signal.SIGKILL, "Another process has ended, or does not answer over gloo"),
        (1, signal.SIGSTOP, "Nothing has been heard of process 1 of 2 for 20 s; process 0 ends too"),
    ],
)
def test_a_process_that_is_lost_ends_the_other_with_a_sentence(started, which, by, sentence):
    port = free_port()
    started += [start(rank, port, LONG) for rank in (0, 1)]
    met(started[0])
    os.kill(started[which].pid, by)
    began = time.monotonic()
    told = started[1 - which].communicate(timeout=120)[1]
    assert started[1 - which].returncode == 2 and re.search(sentence, told)
    assert time.monotonic() - began < INSIDE_S


@pytest.mark.slow
@pytest.mark.parametrize("command", ["isolate", "incident --answer"])
def test_a_lost_process_ends_the_other_of_every_command(started, tmp_path, command):
    port, words = free_port(), [*command.split()[1:], *LONG]
    if "--answer" in words:
        (tmp_path / "own.py").write_text(catalog.of_part("5b").key("5b").solution.source)
        words.insert(1, str(tmp_path / "own.py"))
    started += [start(rank, port, words, command=command.split()[0]) for rank in (0, 1)]
    met(started[0])
    os.kill(started[1].pid, signal.SIGKILL)
    killed = time.monotonic()
    told = started[0].communicate(timeout=120)[1]
    assert started[0].returncode == 2 and re.search("Another process has ended|could not agree|has been heard", told)
    assert time.monotonic() - killed < INSIDE_S


@pytest.mark.slow
def test_a_killed_process_ends_those_that_were_started_with_it(started):
    words = [sys.executable, "-m", "dcplab", "incident", *TWO, *LONG]
    started.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    met(started[0])
    ranks = [pid for pid in children(started[0].pid) if b"spawn_main" in command_line(pid)]
    assert len(ranks) == 2
    os.kill(max(ranks), signal.SIGKILL)
    began = time.monotonic()
    told = started[0].communicate(timeout=120)[1]
    assert time.monotonic() - began < INSIDE_S and started[0].returncode == 2
    assert told.count("course: ") == 1 and re.search(r"Process \d of 2 has ended \(ended by SIGKILL", told)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in ranks)


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(word) for word in f.read().split()]


def command_line(pid: int) -> bytes:
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read()


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [TWO, ["-j", "1"]])
def test_a_limit_ends_an_isolation_in_order_with_the_reports_servers_first(tmp_path, ranks):
    table = tmp_path / "t.json"
    words = [sys.executable, "-m", "dcplab", "isolate", *SMALL, "--layers", "1", *ranks, "--json", str(table), "--limit"]
    began, limit = time.monotonic(), 40.0
    done = subprocess.run([*words, str(limit)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and time.monotonic() - began < limit + 10
    rows = [(len(row["defects"]), row["level"]) for row in json.loads(table.read_text())["runs"]]
    assert len(rows) == 64 or f"{64 - len(rows)} servers are left at the limit of 40 s" in done.stderr
    assert len(rows) < 4 or {(0, "below"), (0, "above"), (5, "below"), (5, "above")} <= set(rows)
