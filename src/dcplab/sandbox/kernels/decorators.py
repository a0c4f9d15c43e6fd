"""Recognises Triton kernels and removes the decorators above them: `@triton.autotune`, `@triton.heuristics`, in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_kernel(value: Any) -> bool:
    """Return True if Triton made the value. Other objects with ``run`` and ``[grid]`` are Python that computes on the host."""
    from triton.runtime import interpreter, jit

    return type(_innermost(value)) in (jit.JITFunction, interpreter.InterpretedFunction)


def configured(kernel: Any, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the kernel without its decorators, and the arguments that they add to a launch with the arguments ``given`` by
    name.

    Of several configurations the first is taken: a choice needs a GPU.
    """
    from triton.runtime import autotuner

    added: dict[str, Any] = {}
    while type(kernel) in (autotuner.Autotuner, autotuner.Heuristics):
        if type(kernel) is autotuner.Autotuner:
            config = kernel.configs[0]
            added |= config.kwargs | {"num_warps": config.num_warps, "num_stages": config.num_stages}
        else:
            for name, value in kernel.values.items():
                added[name] = value({**given, **added})
        kernel = kernel.fn
    if twice := given.keys() & added.keys():
        raise ValueError(f"Conflicting meta-parameters: {', '.join(sorted(twice))}: the launch gives them too.")
    return kernel, added


def _innermost(value: Any) -> Any:
    from triton.runtime import autotuner

    while type(value) in (autotuner.Autotuner, autotuner.Heuristics):
        value = value.fn
    return value
