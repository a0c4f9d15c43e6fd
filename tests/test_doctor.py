"""The doctor really compiles and runs; and what is missing is named with what is lost by it. Beside it, the mode it reports."""

import json
import os
import subprocess
import sys

import pytest
from packaging.specifiers import SpecifierSet

from dcplab import doctor, mode
from dcplab.mode import Mode

CPU = Mode("cpu", "A test.", "a machine")
GPU = Mode("gpu", "A test.", "a device")


def named(findings, name):
    return next(f for f in findings if f.name == name)


def python(code: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], env=os.environ | env, capture_output=True, text=True, timeout=180)


@pytest.mark.slow
def test_it_compiles_and_runs_kernels_on_this_machine():
    done = subprocess.run([sys.executable, "-m", "dcplab", "doctor", "--json"], capture_output=True, text=True, timeout=300)
    found = json.loads(done.stdout)
    probes = {f["name"]: f for f in found["findings"] if f["name"].startswith(("Triton", "TileLang"))}
    assert done.returncode == 0 and len(probes) == 3, done.stderr
    assert all(f["ok"] for f in probes.values()), probes
    assert "interpreted on the CPU" in probes["Triton, interpreted"]["detail"]
    if found["mode"]["name"] == "cpu":
        assert "machine code, not run" in probes["Triton, compiled"]["detail"], "what only compiled is not called run"
        assert "on the CPU through g++" in probes["TileLang"]["detail"]


def test_a_probe_that_dies_is_a_finding_and_not_an_error():
    dead = doctor.run_probe(doctor.Probe("Dead", "no_such_probe", {}, "everything"))
    assert not dead.ok and dead.lost == "everything" and "KeyError" in dead.detail
    hung = doctor.run_probe(
        doctor.Probe("Startless", "triton_runs", {"PYTHONPATH": "", "PYTHONHOME": "/nowhere"}, "everything")
    )
    assert not hung.ok and "No module named 'encodings'" in hung.detail


def test_a_probe_that_hangs_is_stopped(monkeypatch):
    monkeypatch.setattr(doctor, "PROBE_TIMEOUT_S", 0.05)
    slow = doctor.run_probe(doctor.Probe("Slow", "triton_compiles", {"TRITON_INTERPRET": ""}, "it"))
    assert not slow.ok and "no answer in 0.05 s" in slow.detail


@pytest.mark.parametrize(
    ("found", "ok", "detail"),
    [("2.13.0+cpu", True, "2.13.0+cpu"), ("2.10.1", False, "2.10.1; tested with <2.14,>=2.11"), (None, False, "absent")],
)
def test_a_version_is_held_against_the_tested_range(found, ok, detail):
    finding = doctor.version_finding("torch", SpecifierSet(">=2.11,<2.14"), found)
    assert finding.ok == ok and finding.detail.startswith(detail) and bool(finding.lost) == (not ok)


def test_what_is_missing_is_named_with_what_is_lost(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setattr(doctor, "available_memory", lambda: 1 << 30)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: type("U", (), {"free": 1 << 20}))
    findings = list(doctor.machine_findings(CPU))
    assert "TileLang kernels will not run" in named(findings, "g++").lost
    assert "skip the browser test" in named(findings, "chromium").lost
    assert not named(findings, "memory").ok and not named(findings, "disk").ok
    text = doctor.report(CPU, findings)
    assert "What will not work here:\n  disk: " in text and "g++: TileLang kernels will not run" in text
    assert named(doctor.machine_findings(GPU), "g++").ok, "a GPU compiles TileLang without g++"


def test_no_cpu_result_is_reported_as_a_gpu_one():
    assert [p.name for p in doctor.probes_for(CPU)] == ["tilelang_runs", "triton_compiles", "triton_runs"]
    on_gpu = doctor.probes_for(GPU)
    assert [p.title for p in on_gpu] == ["TileLang", "Triton, on the GPU", "Triton, interpreted"]
    assert on_gpu[2].env["CUDA_VISIBLE_DEVICES"] == "" and on_gpu[1].env["TRITON_INTERPRET"] == ""
    assert any("not judged" in line for line in doctor.limits(CPU)) and not any(
        "not judged" in line for line in doctor.limits(GPU)
    )


ASK = (
    "from dcplab import mode; m = mode.current(); import torch; print(m.name, '|', m.reason, '|', torch.cuda.is_initialized())"
)


@pytest.mark.slow
def test_the_cpu_can_be_asked_for_and_asking_makes_no_cuda_context():
    assert python(ASK, DCPLAB_MODE="cpu").stdout.strip() == "cpu | DCPLAB_MODE=cpu asks for it. | False"
    name, reason, context = python(ASK, DCPLAB_MODE="").stdout.strip().split(" | ")
    assert name in ("cpu", "gpu") and reason.endswith(".") and context == "False"


@pytest.mark.slow
def test_hidden_devices_are_the_cpu():
    assert python(ASK, DCPLAB_MODE="", CUDA_VISIBLE_DEVICES="").stdout.startswith("cpu | ")


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "words"), [("tpu", "it must be 'cpu' or 'gpu'"), ("gpu", "there is no GPU to use: ")])
def test_a_mode_that_cannot_be_is_one_sentence(asked, words):
    done = subprocess.run(
        [sys.executable, "-m", "dcplab", "doctor"],
        env=os.environ | {"DCPLAB_MODE": asked, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr


def test_versions_name_what_can_change_a_result():
    assert set(mode.versions()) == {"python", "torch", "triton", "tilelang", "numpy", "dcplab"}
    assert mode.versions()["torch"].startswith("2.")
