"""Where a TileLang kernel runs: compiled for the GPU, or traced for the CPU target ``c``; cached by its static parameters.

A kernel is given as a *builder*: a function of keyword-only static parameters that returns a ``T.prim_func``. The CPU
target knows no on-chip memory and no threads, so a builder for it is traced with shared and fragment buffers as local ones
and ``T.Parallel`` as a loop nest. Kernels with warp roles (mbarriers, ``wgmma_gemm``) cannot be traced so: they have a
tile-level twin that can.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tilelang
import tilelang.language as T
import torch
from torch import Tensor

tilelang.set_log_level("ERROR")  # else it announces every compilation on stderr, in learners' notebooks too
DEBUG = os.environ.get("DCP_KERNELS_DEBUG", "0") not in ("", "0")
HOPPER = "sm_90a"
SMEM_LIMIT = 232_448  # dynamic shared memory a block can have on sm_90, bytes
CPU_DTYPES = (torch.float32, torch.float16, torch.int32, torch.int64, torch.uint8)
NAMES = {
    torch.float32: "float32",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.float8_e4m3fn: "float8_e4m3fn",
}
Builder = Callable[..., Any]  # static parameters by keyword to a ``T.prim_func``
Request = tuple[Builder, dict[str, Any]]  # a builder and its static parameters


def dtype_name(dtype: torch.dtype) -> str:
    """Return TileLang's name of a torch dtype: a kernel's ``dtype`` parameter. TypeError for one that none here takes."""
    try:
        return NAMES[dtype]
    except KeyError:
        raise TypeError(f"no kernel here takes {dtype}; they take {', '.join(str(d) for d in NAMES)}") from None


def require_runnable(*tensors: Tensor | None) -> None:
    """Refuse, in a sentence, what the tensors' device cannot compute rightly."""
    devices = {t.device for t in tensors if t is not None}
    if len(devices) != 1:
        raise ValueError(f"all tensors must be on one device, these are on {sorted(map(str, devices))}")
    if next(iter(devices)).type == "cpu":
        for t in tensors:
            if t is not None and t.dtype not in CPU_DTYPES:
                raise TypeError(
                    f"the CPU target computes {t.dtype} wrongly or not at all; give float16 or float32 "
                    "(float16 holds every e4m3 value exactly)"
                )


def require_below(ids: Tensor, bound: int, name: str, unit: str) -> None:
    """Raise ValueError if an id is at or past ``bound``. Reads the ids back, so it waits for the device; for debugging."""
    worst = int(ids.max()) if ids.numel() else -1
    if worst >= bound:
        raise ValueError(f"{name} holds {worst}, but there are only {bound} {unit}")


def is_hopper(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.get_device_capability(device) == (9, 0)


@contextlib.contextmanager
def cpu_trace() -> Iterator[None]:
    """Make shared and fragment buffers local ones, and ``T.Parallel`` and ``T.unroll`` loops, while a builder is traced."""
    saved = {name: getattr(T, name) for name in ("alloc_shared", "alloc_fragment", "Parallel", "unroll")}

    def local(shape: tuple[int, ...], dtype: str, scope: str | None = None) -> Any:
        return T.alloc_local(shape, dtype)

    T.alloc_shared = T.alloc_fragment = local
    T.Parallel = lambda *extents, **_: T.grid(*extents)
    T.unroll = lambda *extent, **_: T.serial(*extent)  # the C compiler unrolls what gains by it, in a tenth of the time
    try:
        yield
    finally:
        for name, value in saved.items():
            setattr(T, name, value)


def cuda_target(device: torch.device | None = None) -> dict[str, str]:
    if device is None:
        return {"kind": "cuda", "arch": HOPPER}
    major, minor = torch.cuda.get_device_capability(device)
    return {"kind": "cuda", "arch": f"sm_{major}{minor}{'a' if major >= 9 else ''}"}


_COMPILED: dict[Any, Any] = {}


def _compile(requests: list[Request], on_cpu: bool, arch: str | None) -> list[Any]:
    """Compile for a device, side by side where there are several: each takes seconds, most of them on one processor."""
    if on_cpu:
        with cpu_trace():
            traced = [builder(**static) for builder, static in requests]
        how: dict[str, Any] = {"target": "c", "target_host": "c", "execution_backend": "cython"}
        how |= {"pass_configs": {"tirx.disable_vectorize": True}, "compile_flags": ["-O3"]}
        return [tilelang.compile(func, **how) for func in traced]
    traced = [builder(**static) for builder, static in requests]
    target = {"kind": "cuda", "arch": arch}
    configs = [getattr(builder, "pass_configs", None) for builder, _ in requests]
    # `tilelang.par_compile` does the same under a progress bar of its own, which would stand in learners' notebooks.
    with ThreadPoolExecutor(len(traced)) as threads:
        return list(
            threads.map(lambda func, config: tilelang.compile(func, target=target, pass_configs=config), traced, configs)
        )


def kernels(requests: list[Request], device: torch.device) -> list[Any]:
    """Return the compiled kernels of ``builder(**static)`` for a torch device."""
    on_cpu = device.type == "cpu"
    arch = None if on_cpu else cuda_target(device)["arch"]
    keys = [(builder, on_cpu, arch, tuple(sorted(static.items()))) for builder, static in requests]
    missing = {key: request for key, request in zip(keys, requests, strict=True) if key not in _COMPILED}
    if missing:
        _COMPILED.update(zip(missing, _compile(list(missing.values()), on_cpu, arch), strict=True))
    return [_COMPILED[key] for key in keys]


def kernel(builder: Builder, device: torch.device, **static: Any) -> Any:
    """Return the compiled kernel of ``builder(**static)`` for a torch device."""
    return kernels([(builder, static)], device)[0]
