"""What depends on where it runs. No GPU is needed: a child of the interpreter that hides its loads stands in for one."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from dcplab import checking
from dcplab.course import catalog
from dcplab.course.model import Part
from dcplab.notebook.extract import extract
from dcplab.sandbox import attempts, pool

PART = Part("9a", "f", "", 10, 1, lambda draw: (), "Which?", ("a", "b", "c"))
HEAD = """@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
"""


@pytest.fixture
def pretend_gpu(monkeypatch):
    """Runs asked for on a GPU are made on the CPU, and do not see loads, as a GPU does not. Gives the modes asked for."""
    asked, real = [], pool.run

    def run(programs, cases, mode, *how):
        asked.append((mode, len(programs)))
        ran = real(programs, cases, "cpu", *how)
        for record in ran.records if mode == "gpu" else ():
            record["events"] = [e for e in record.get("events", []) if e.get("op") != "load"]
        return ran

    monkeypatch.setattr(attempts.pool, "run", run)
    return asked


@pytest.mark.slow
def test_a_load_outside_a_buffer_is_unsafe_on_a_gpu_too(small, pretend_gpu):
    body = "    tl.store(dst + at, tl.load(src + at) * 2, mask=at < n)\n"
    found = checking.check(small.key("91b"), extract([*small.setup(), HEAD + body], "double_kernel"), seed=1, mode="gpu")
    assert found.outcome == "unsafe" and "It read element" in found.message and found.mode == "gpu"
    assert ("gpu", 1) in pretend_gpu and ("cpu", 1) in pretend_gpu


@pytest.mark.slow
def test_a_bank_of_kernels_is_not_compiled_to_name_a_mistake(small, pretend_gpu):
    found = checking.check(small.key("91b"), small.program(small.wrong[6]), seed=1, mode="gpu")
    assert (found.diagnosis, found.outcome) == ("91b-one-program", "wrong")
    assert [n for mode, n in pretend_gpu if mode == "gpu"] == [1]


def test_a_function_of_tensors_runs_on_the_gpu_alone(small, pretend_gpu):
    found = checking.check(small.key("91a"), small.key("91a").solution, seed=1, mode="gpu")
    assert found.outcome == "passed" and {mode for mode, _ in pretend_gpu} == {"gpu"}


def test_an_index_that_a_gpu_only_asserts_is_named_as_on_a_cpu(monkeypatch):
    """A stand-in for a GPU: an IndexError there is a fault that names nothing and ends the child."""
    real = pool.run

    def run(programs, cases, mode, *how):
        ran = real(programs, cases, "cpu", *how)
        ended, kept = set(), []
        for record in ran.records if mode == "gpu" else ():
            if record["program"] in ended:
                continue
            if record.get("raised", {}).get("type") == "IndexError":
                lost = {"type": "AcceleratorError", "message": "CUDA error: device-side assert triggered", "fault": True}
                record = {**record, "raised": {**record["raised"], **lost}}
                ended.add(record["program"])
            kept.append(record)
        return replace(ran, records=kept) if mode == "gpu" else ran

    monkeypatch.setattr(attempts.pool, "run", run)
    lab = catalog.lab("04")
    wrong = next(w for w in lab.wrong if w.id == "4b-absolute-row")
    on_gpu, on_cpu = (checking.check(lab.key("4b"), lab.program(wrong), seed=1, mode=mode) for mode in ("gpu", "cpu"))
    assert (on_gpu.diagnosis, on_gpu.outcome) == (wrong.id, "crashed") == (on_cpu.diagnosis, on_cpu.outcome)
    assert "IndexError: index" in on_cpu.message and on_gpu.message.split("\n")[1] == on_cpu.message.split("\n")[1]
    assert "This is from the CPU" in on_gpu.detail and "This is from the CPU" not in on_cpu.detail


@pytest.mark.slow
def test_a_loop_bound_is_taken_from_a_run_time_value_where_triton_takes_none(tmp_path):
    """Triton 3.6 beside numpy 2.4 or later: there its interpreter, which counts reads beside a GPU too, ran no such kernel."""
    tried = """
import torch, triton, triton.language as tl
from triton.runtime import interpreter
from dcplab.sandbox.kernels.interpreter_limits import watched

put = interpreter._patch_lang_tensor

def as_in_3_6(kind, *more):
    put(kind, *more)
    kind.__index__ = lambda self: int(self.handle.data)

interpreter._patch_lang_tensor = as_in_3_6

@triton.jit
def count(dst):
    for i in range(tl.num_programs(0)):
        tl.store(dst + i, i)

def run():
    dst = torch.full((3,), -1)
    try:
        count[(3,)](dst)
    except Exception as e:
        return str(e.__cause__ or e)
    return dst.tolist()

print(run())
with watched():
    print(run())
"""
    env = os.environ | {
        "TRITON_INTERPRET": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "CUDA_VISIBLE_DEVICES": "",
    }
    script = tmp_path / "tried.py"  # triton.jit reads a kernel's source
    script.write_text(tried)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env)
    assert ran.returncode == 0, ran.stderr
    plain, watched = ran.stdout.splitlines()
    assert "0-dimensional arrays" in plain and watched == "[0, 1, 2]"


@pytest.mark.slow
def test_a_kernel_that_passes_on_a_gpu_says_if_nobody_watched_what_it_reads(monkeypatch):
    real = pool.run
    lost = {"type": "TypeError", "message": "", "is_a": ["TypeError"], "fault": False, "refused": False, "line": None}

    def run(programs, cases, mode, *how):
        ran = real(programs, cases, "cpu", *how)
        for record in ran.records:
            if mode == "gpu":
                record["events"] = [e for e in record.get("events", []) if e["kind"] not in ("again", "needless")]
            elif record.get("case") in (0, 1):
                record["raised"] = lost
        return ran

    monkeypatch.setattr(attempts.pool, "run", run)
    lab = catalog.lab("07")
    key = lab.key("7e")
    only = replace(key, part=replace(key.part, cases=lambda draw: key.part.cases(draw)[:4]))
    said = checking.check(only, key.solution, seed=1, mode="gpu").message.replace("\n", " ")
    assert said.startswith("Right on all 4 cases. In 2 of them nobody watched which elements it reads, and how often:")
    assert "stopped with TypeError there." in said
    twice = next(lab.program(w) for w in lab.wrong if w.id == "7e-each-program-all")
    found = checking.check(only, twice, seed=1, mode="gpu")  # in the other two it is seen
    assert found.outcome == "wrong" and "is read more than once" in found.message


def test_the_server_of_a_mode_has_its_own_environment(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert pool._environment("cpu")["TRITON_INTERPRET"] == "1" and pool._environment("cpu")["CUDA_VISIBLE_DEVICES"] == ""
    assert "TRITON_INTERPRET" not in pool._environment("gpu")
    monkeypatch.delenv("PYTORCH_NVML_BASED_CUDA_CHECK", raising=False)  # as where nobody has asked for the mode
    assert pool._environment("gpu")["PYTORCH_NVML_BASED_CUDA_CHECK"] == "1"


@pytest.mark.parametrize("mode, hashed", [("compile", 1), ("cpu", 0)])
def test_what_every_child_would_do_again_is_done_once_in_the_server(mode, hashed):
    """Triton's own hash is of 400 MB, and a collection of garbage walks through all that was imported."""
    source = "import gc\nfrom triton.runtime.cache import triton_key as key\n"
    tell = source + "raise ValueError(key.cache_info().currsize, gc.get_freeze_count())"
    ran = pool.run([{"source": tell, "entry": "f", "folder": None}], [], mode, own_s=10.0)
    kept, frozen = map(int, re.findall(r"\d+", ran.records[0]["raised"]["message"]))
    assert kept == hashed and frozen > 100_000
