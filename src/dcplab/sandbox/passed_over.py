"""Passes over requests that a check does without, and notes them: `torch.compile`, and on a CPU a choice of configurations.

Compiling takes longer than a check and starts compilers. Choosing among the configurations of an autotuned kernel needs a GPU.
Neither changes an answer's results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

_noted: list[tuple[str, int]] = []


def install(interpret: bool) -> None:
    """Pass requests over in this process from now on. ``interpret``: Triton's interpreter runs the kernels, not a GPU."""
    torch.compile = _as_it_is
    if interpret:
        _interpret()


def notes() -> list[tuple[str, int]]:
    """Return the requests passed over since the last call, each once: ("compile", 0), ("configurations", how many)."""
    new = list(dict.fromkeys(_noted))
    _noted.clear()
    return new


def _as_it_is(model: Callable[..., Any] | None = None, **_: Any) -> Callable[..., Any]:
    _noted.append(("compile", 0))
    return model if model is not None else lambda f: f


def _interpret() -> None:
    from triton import language as tl
    from triton.runtime import autotuner, interpreter

    run, rewrite = autotuner.Autotuner.run, interpreter.InterpretedFunction.rewrite

    def in_its_first_configuration(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(self.configs) > 1:
            _noted.append(("configurations", len(self.configs)))
            self.configs = self.configs[:1]
        return run(self, *args, **kwargs)

    def knowing_its_constexprs(self: Any) -> Any:
        # The interpreter compiles its copy with annotations as text, and recognises only the text "tl.constexpr".
        copy = rewrite(self)
        names = [name for name, kind in self.fn.__annotations__.items() if _meant(kind, self.fn) is tl.constexpr]
        copy.__annotations__.update(dict.fromkeys(names, tl.constexpr))
        return copy

    autotuner.Autotuner.run = in_its_first_configuration
    interpreter.InterpretedFunction.rewrite = knowing_its_constexprs


def _meant(annotation: Any, function: Any) -> Any:
    if not isinstance(annotation, str):
        return annotation
    root, *rest = annotation.split(".")  # only a dotted name: nothing of a text is run
    try:
        return functools.reduce(getattr, rest, function.__globals__[root])
    except (KeyError, AttributeError):  # other text names no constexpr
        return None
