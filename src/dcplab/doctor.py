"""Examines this machine: what works, what will not, and why. Every kernel that it reports on was compiled, or run, just now."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import dcp_kernels
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from dcplab import ended, mode, paths
from dcplab.mode import Mode
from dcplab.present.table import columns
from dcplab.sandbox import pool
from dcplab.sandbox.walls import landlock

GIB = 1 << 30
DISK_GIB, MEMORY_GIB = 2, 4  # kernel caches and a notebook; a kernel with torch, a fork server and a child
PROBE_TIMEOUT_S = 120
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Finding:
    """One result. ``ok`` is False if something will not work; ``lost`` says in a sentence what."""

    name: str
    ok: bool
    detail: str
    lost: str = ""


@dataclass(frozen=True)
class Probe:
    """One program of ``dcplab.doctor_probes`` to run, in an environment with ``env`` added."""

    title: str
    name: str
    env: dict[str, str]
    lost: str


def examine() -> tuple[Mode, list[Finding]]:
    """Run all probes and return the mode and the findings. Probes are processes, so the two slowest run side by side."""
    here = mode.current()
    with ThreadPoolExecutor(max(2, min(4, os.cpu_count() or 2))) as pool:
        probes = [pool.submit(run_probe, probe) for probe in probes_for(here)]
        rest = [*version_findings(), *machine_findings(here)]
        return here, [*rest, *(probe.result() for probe in probes)]


def probes_for(here: Mode) -> list[Probe]:
    """List the programs to compile and run. A GPU machine tries the interpreter too, since its user may want
    DCPLAB_MODE=cpu."""
    interpret = Probe(
        "Triton, interpreted",
        "triton_runs",
        {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""},
        "no Triton part can be checked in CPU mode",
    )
    compile_only = {"TRITON_INTERPRET": ""}
    tilelang = Probe("TileLang", "tilelang_runs", compile_only, "the TileLang experiments of labs 02 to 05 will not run")
    if here.name == "gpu":
        compiled = Probe("Triton, on the GPU", "triton_runs", compile_only, "no Triton part can be checked on the GPU")
    else:
        compiled = Probe("Triton, compiled", "triton_compiles", compile_only, "cells that read machine code will not run")
    return [tilelang, compiled, interpret]


def run_probe(probe: Probe) -> Finding:
    """Run a probe with empty kernel caches: a cached kernel would prove nothing about the compiler."""
    with tempfile.TemporaryDirectory(prefix="dcplab-doctor-") as cache:
        env = os.environ | {"TRITON_CACHE_DIR": f"{cache}/triton", "TILELANG_CACHE_DIR": f"{cache}/tilelang"} | probe.env
        env = {key: value for key, value in env.items() if value != "" or key == "CUDA_VISIBLE_DEVICES"}
        try:
            argv = [sys.executable, "-m", "dcplab.doctor_probes", probe.name]
            done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return Finding(probe.title, False, f"no answer in {PROBE_TIMEOUT_S} s", probe.lost)
    try:
        answer = json.loads(done.stdout.strip().rpartition("\n")[2])
    except ValueError:
        return Finding(probe.title, False, ended.why(done.returncode, done.stderr) or "it said nothing", probe.lost)
    return Finding(probe.title, answer["ok"], answer["detail"], "" if answer["ok"] else probe.lost)


def version_findings() -> Iterator[Finding]:
    """Compare each direct dependency with pyproject.toml's range, which is the tested one."""
    project = tomllib.loads((paths.root() / "pyproject.toml").read_text())["project"]
    python = platform.python_version()
    yield version_finding("python", SpecifierSet(project["requires-python"]), python)
    for line in project["dependencies"]:
        wanted = Requirement(line)
        yield version_finding(wanted.name, wanted.specifier, installed(wanted.name))


def installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        # A package may lie on the path without metadata, as the kernels do in a checkout that is not installed.
        known = dcp_kernels.__version__ if name == "dcp-kernels" else mode.versions().get(name, "absent")
        return None if known == "absent" else known


def version_finding(name: str, tested: SpecifierSet, found: str | None) -> Finding:
    if found is None:
        return Finding(name, False, f"absent; {tested} is needed", f"whatever needs {name}")
    if not tested.contains(found, prereleases=True):
        return Finding(
            name, False, f"{found}; tested with {tested}", f"nobody has tried {found}: ./course installs what was tested"
        )
    return Finding(name, True, found)


def machine_findings(here: Mode) -> Iterator[Finding]:
    free = shutil.disk_usage(existing(paths.state_dir())).free / GIB
    lost = "" if free >= DISK_GIB else "kernels and notebooks may not be saved"
    yield Finding("disk", not lost, f"{free:.1f} GiB free (at least {DISK_GIB} wanted)", lost)
    memory = available_memory() / GIB
    lost = "" if memory >= MEMORY_GIB else "checks of the larger parts may be cut short"
    yield Finding("memory", not lost, f"{memory:.1f} GiB available (at least {MEMORY_GIB} wanted)", lost)
    state = existing(paths.state_dir())
    lost = "" if os.access(state, os.W_OK) else "progress and backups cannot be kept; set DCPLAB_STATE to a folder of yours"
    yield Finding("progress", not lost, f"kept in {paths.state_dir()}", lost)
    compiler = shutil.which("g++")
    lost = "" if compiler else "TileLang kernels will not run: install g++ (Debian, Ubuntu: apt-get install g++)"
    yield Finding("g++", here.name == "gpu" or not lost, compiler or "absent", lost if here.name == "cpu" else "")
    missing = pool.lacks(here.name)
    lost = "" if not missing else "an answer that means harm can do it: see SECURITY.md; honest answers are checked as ever"
    yield Finding("sandbox", not lost, f"without {' and '.join(missing)}" if missing else walls(), lost)
    browser = next(filter(None, map(shutil.which, CHROMIUM)), None)
    lost = "" if browser else "./course test will skip the browser test; the labs need only a browser on your own desk"
    yield Finding("chromium", not lost, browser or "absent", lost)


def walls() -> str:
    """Name the pieces that stand around an answer here."""
    return f"Landlock {landlock.abi()}, seccomp, PID and network namespaces"


def limits(here: Mode) -> list[str]:
    """List the limits of this mode, even on a machine where everything works."""
    if here.name == "gpu":
        return ["Several GPUs over NCCL: only with `torchrun`; one GPU holds all simulated ranks otherwise."]
    return [
        "Speed: ./course bench measures kernels on a GPU only.",
        "Races: interpreted programs run one after another, so a race between programs does not show.",
        "bf16 and fp8 arithmetic: the interpreter is silently wrong at it, so such a case is 'not judged', never 'wrong'.",
        "TileLang kernels with warp roles: the CPU runs their tile-level twins.",
    ]


def existing(path):
    """Return the path, or its nearest parent that exists."""
    while not path.exists():
        path = path.parent
    return path


def available_memory() -> int:
    """Return the bytes that this process can still get: the machine's, or the rest of its cgroup's."""
    import psutil

    available = psutil.virtual_memory().available
    try:
        with open("/sys/fs/cgroup/memory.max") as most, open("/sys/fs/cgroup/memory.current") as used:
            return min(available, int(most.read()) - int(used.read()))
    except (OSError, ValueError):  # no cgroup, or one without a limit ("max")
        return available


def report(here: Mode, findings: list[Finding]) -> str:
    rows = [f"  {row}" for row in columns([("ok" if f.ok else "NO", f.name, f.detail) for f in findings])]
    lost = [f"  {f.name}: {f.lost or f.detail}" for f in findings if not f.ok]
    return "\n".join(
        [
            f"Mode: {here.label}. {here.reason}",
            f"      {here.device}",
            "",
            *rows,
            "",
            "What will not work here:" if lost else "Everything that can work here works.",
            *lost,
            "",
            f"Limits of {here.name.upper()} mode:",
            *(f"  {line}" for line in limits(here)),
        ]
    )


def as_json(here: Mode, findings: list[Finding]) -> dict:
    rows = [asdict(finding) for finding in findings]
    return {"mode": asdict(here), "versions": mode.versions(), "findings": rows, "limits": limits(here)}
