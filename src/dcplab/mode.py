"""Decides between GPU and CPU, with the reason and the versions. Every result carries them, so that no CPU result is taken for
a GPU result."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from dcplab import settings
from dcplab.errors import CourseError


@dataclass(frozen=True)
class Mode:
    """``name`` is "gpu" or "cpu", ``reason`` a sentence, ``device`` a name to show to a person."""

    name: str
    reason: str
    device: str

    @property
    def label(self) -> str:
        """Return the words that stand beside a result."""
        return f"GPU ({self.device})" if self.name == "gpu" else "CPU (Triton interpreter)"


@functools.cache
def current() -> Mode:
    """Return the mode, decided once a process without making a CUDA context: torch asks NVML, and the driver's files have the
    name.

    ``DCPLAB_MODE=cpu`` forces the CPU on a GPU machine. ``gpu`` raises CourseError if there is no GPU.
    """
    asked = settings.mode()
    if asked == "cpu":
        return Mode("cpu", "DCPLAB_MODE=cpu asks for it.", cpu_name())
    missing = _why_no_gpu()
    if missing is None:
        return Mode("gpu", "A CUDA device is visible.", gpu_name())
    if asked == "gpu":
        raise CourseError(f"DCPLAB_MODE=gpu, but there is no GPU to use: {missing}")
    return Mode("cpu", missing, cpu_name())


def _why_no_gpu() -> str | None:
    """Return a sentence on why torch cannot use a CUDA device, or None if it can."""
    # NVML answers without a context. torch's default check would make one in this process.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    import torch

    if not torch.version.cuda:
        seen = "An NVIDIA device is here, but torch" if Path("/dev/nvidiactl").exists() else "Torch"
        return f"{seen} {torch.__version__} is built without CUDA."
    if torch.cuda.is_available():
        return None
    if (hidden := os.environ.get("CUDA_VISIBLE_DEVICES")) in ("", "-1"):
        return f"CUDA_VISIBLE_DEVICES={hidden!r} hides every CUDA device."
    if not Path("/dev/nvidiactl").exists():
        return "No NVIDIA device is visible here."
    return "An NVIDIA device is here, but torch cannot use it: compare `nvidia-smi` with torch.version.cuda."


def gpu_name() -> str:
    """Return the model, as the driver names it. Asking torch would make a CUDA context in this process, so read /proc."""
    for information in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in information.read_text().splitlines():
            if line.startswith("Model:"):
                return line.split(":", 1)[1].strip()
    return "CUDA device"


def cpu_name() -> str:
    """Name the model, and the number of cores that this process may use."""
    model = platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {len(os.sched_getaffinity(0))} cores"


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions that can change a result."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in ("torch", "triton", "tilelang", "numpy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = _module_version(name)
    from dcplab import __version__

    return found | {"dcplab": __version__}


def _module_version(name: str) -> str:
    import importlib

    try:
        return str(importlib.import_module(name).__version__)
    except Exception:  # a broken install is reported as a version and stops nothing
        return "absent"
