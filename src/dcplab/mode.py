"""GPU or CPU, why, and with which versions. Every result carries this, so that no CPU result is taken for a GPU one."""

from __future__ import annotations

import functools
import os
import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Mode:
    """``name`` is "gpu" or "cpu"; ``reason`` is a sentence; ``device`` is what to show a person."""

    name: str
    reason: str
    device: str

    @property
    def label(self) -> str:
        """What stands beside a result."""
        return f"GPU ({self.device})" if self.name == "gpu" else "CPU (Triton interpreter)"


@functools.cache
def current() -> Mode:
    """Decided once a process, without making a CUDA context: NVML is asked through its device nodes and torch's own count.

    ``DCPLAB_MODE=cpu`` asks for the CPU on a GPU machine.
    """
    asked = os.environ.get("DCPLAB_MODE", "").lower()
    if asked not in ("", "cpu", "gpu"):
        raise ValueError(f"DCPLAB_MODE is {asked!r}; it must be 'cpu' or 'gpu'.")
    if asked == "cpu":
        return Mode("cpu", "DCPLAB_MODE=cpu asks for it.", platform.processor() or platform.machine())
    gpu = _gpu_name()
    if gpu is None:
        if asked == "gpu":
            raise ValueError("DCPLAB_MODE=gpu, but no CUDA device is visible here.")
        return Mode("cpu", "No CUDA device is visible here.", platform.processor() or platform.machine())
    return Mode("gpu", "A CUDA device is visible.", gpu)


def _gpu_name() -> str | None:
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        return None
    # NVML answers without a context; get_device_name() would make one in the process that asks.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    import torch

    if not torch.version.cuda or not torch.cuda.is_available():
        return None
    for info in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in info.read_text().splitlines():
            if line.startswith("Model:"):
                return line.split(":", 1)[1].strip()
    return "CUDA device"


@functools.cache
def versions() -> dict[str, str]:
    """Versions that can change a result."""
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
    except Exception:  # a broken install is a version worth reporting, not a reason to stop
        return "absent"
