"""What runs in a process of its own, and what is said of its end."""

import signal
import subprocess
import sys

import pytest
from waiting import gone, until

from dcplab import ended, subprocess_call


def test_a_child_gives_its_value_and_what_it_printed():
    done = subprocess_call.call("operator", "add", {}, timeout_s=30)
    assert done["value"] is None and done["how"] == "TypeError"
    done = subprocess_call.call("json", "dumps", {"obj": [1, 2]})
    assert (done["value"], done["how"], done["said"]) == ("[1, 2]", "done", "")


def test_a_child_that_dies_or_does_not_end():
    assert subprocess_call.call("ctypes", "string_at", {"ptr": 0})["how"] == "SIGSEGV"
    assert subprocess_call.call("threading", "Event().wait", timeout_s=0.5)["how"] == "timeout"


def test_a_child_gets_the_environment_that_is_asked_for(monkeypatch):
    monkeypatch.setenv("DCPLAB_A", "1")
    done = subprocess_call.call("os", "getenv", {"key": "DCPLAB_A"}, env={"DCPLAB_A": None})
    assert (done["value"], done["how"]) == (None, "done")
    assert subprocess_call.call("os", "getenv", {"key": "DCPLAB_A"}, env={"DCPLAB_A": "2"})["value"] == "2"


def test_one_that_dies_costs_itself_only():
    calls = [{"module": "json", "function": "dumps", "args": {"obj": i}} for i in range(4)]
    calls[1] = {"module": "ctypes", "function": "string_at", "args": {"ptr": 0}}
    found = dict(subprocess_call.side_by_side(calls, 2))
    assert {n: done["value"] for n, done in found.items()} == {0: "0", 1: None, 2: "2", 3: "3"}
    assert found[1]["why"] == "ended by SIGSEGV"


def test_the_others_wait_for_one_that_ended_well(tmp_path):
    """The first writes two lines; each of the others ends once both of them have written one."""
    log = tmp_path / "log"
    wait = f"for i in $(seq 600); do [ $(wc -l < {log}) -ge {{}} ] && break; sleep 0.1; done"
    lines = f"echo {{}} >> {log}; {wait}; echo end >> {log}"
    calls = [{"module": "builtins", "function": "int", "args": {"x": 1}}]  # a TypeError: it compiled nothing for anybody
    calls += [
        {"module": "builtins", "function": f"__import__('os').system({lines.format(i, least)!r}) or str"}
        for i, least in enumerate((1, 4, 4))
    ]
    assert len(list(subprocess_call.side_by_side(calls, 3, first_alone=True))) == 4
    assert log.read_text().split()[:2] == ["0", "end"]
    assert sorted(log.read_text().split()[2:4]) == ["1", "2"]


@pytest.mark.slow
def test_what_runs_when_time_is_over_is_ended(tmp_path):
    mark = tmp_path / "pids"
    body = f"__import__('os').system('echo $$ >> {mark}; sleep 600') or str"
    calls = [{"module": "json", "function": "dumps", "args": {"obj": 1}}]
    calls += [{"module": "builtins", "function": body}] * 2
    assert [n for n, _ in subprocess_call.side_by_side(calls, 2, limit_s=10)] == [0]  # long before 600 s are over
    for pid in mark.read_text().split():
        until(lambda pid=int(pid): gone(pid))


def test_nobody_outlives_who_waits_for_it(tmp_path):
    mark = tmp_path / "pid"
    body = (
        f"__import__('pathlib').Path({str(mark)!r}).write_text(str(__import__('os').getpid())) and __import__('time').sleep(60)"
    )
    code = f"from dcplab import subprocess_call; subprocess_call.call('builtins', {body!r})"
    waiting = subprocess.Popen([sys.executable, "-c", code])
    until(lambda: mark.exists() and mark.read_text())
    waiting.send_signal(signal.SIGKILL)
    waiting.wait()
    until(lambda: gone(int(mark.read_text())))


TORCH = """Traceback (most recent call last):
  File "a.py", line 3, in <module>
torch.AcceleratorError: CUDA error: {}
Search for `cudaErrorLaunchFailure' in https://docs.nvidia.com/cuda for more information.
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""


@pytest.mark.parametrize(
    ("status", "stderr", "says"),
    [
        (0, "a warning", ""),
        (-9, "", "ended by SIGKILL: by a person, or by the system for want of memory"),
        (-11, "Fatal Python error: Segmentation fault", "ended by SIGSEGV"),
        (1, TORCH.format("unspecified launch failure"), "CUDA error: unspecified launch failure"),
        (-6, TORCH.format("an illegal memory access was encountered"), "CUDA error: an illegal memory access"),
        (1, "RuntimeError: Triton Error [CUDA]: misaligned address", "CUDA error: misaligned address"),
        (1, "CUDAError: cuLaunchKernel Error: CUDA_ERROR_LAUNCH_FAILED", "CUDA error: unspecified launch failure"),
        (
            1,
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 139 GiB",
            "the GPU's memory was full when it asked for 2.00 GiB",
        ),
        (1, "RuntimeError: [enforce fail at alloc_cpu.cpp:127] . DefaultCPUAllocator: can't", "there was no memory left"),
        (1, "dcplab.errors.CourseError: a: too small.", "a: too small."),
        (2, "step 1\ncourse: There is no defect called 'x'.", "There is no defect called 'x'."),
        (1, "Traceback\n  File\nValueError: no\n", "ValueError: no"),
        (3, "", "exit status 3"),
    ],
)
def test_an_end_is_told_in_a_sentence(status, stderr, says):
    assert ended.why(status, stderr) == says


def test_an_error_that_costs_one_call_leaves_the_context():
    assert ended.lost(TORCH.format("out of memory")) is None
    assert ended.lost(TORCH.format("invalid configuration argument")) is None
    assert ended.lost(TORCH.format("device-side assert triggered")) == "device-side assert triggered"
    assert ended.lost("Triton Error [CUDA]: invalid argument") is None
    assert ended.lost("a device-side assert of nobody's") is None


def test_a_process_makes_calls_until_one_ends_it():
    pid = {"module": "os", "function": "getpid"}
    calls = [pid, pid, {"module": "ctypes", "function": "string_at", "args": {"ptr": 0}}, pid]
    found = dict(subprocess_call.side_by_side(calls, 1, fresh=False))
    assert found[0]["value"] == found[1]["value"] != found[3]["value"] and found[3]["how"] == "done"
    assert (found[2]["how"], found[2]["value"]) == ("SIGSEGV", None)
    assert len({done["value"] for _, done in subprocess_call.side_by_side([pid, pid], 1)}) == 2


def test_what_is_printed_belongs_to_its_call(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # a started Python would not hold back what has no line end yet
    calls = [
        {"module": "builtins", "function": f"print('a{i}') or __import__('sys').stderr.write('b{i}') and str"} for i in (0, 1)
    ]
    found = dict(subprocess_call.side_by_side(calls, 1, fresh=False))
    assert [(done["said"], done["errors"]) for _, done in sorted(found.items())] == [("a0", "b0"), ("a1", "b1")]
