"""Notices operations that Triton's CPU interpreter computes wrongly, as they happen, so that no right answer is called wrong.

Measured on Triton 3.7.1. bf16 and fp8 arithmetic, comparison, reduction and dot work on the raw bits, and a cast to either
truncates instead of rounding. Loads, stores, selections and casts to fp32 are exact. ``and`` and ``or`` between blocks give one
of the two unchanged, where the compiler joins them lane by lane (and calls it deprecated). ``not`` of a block gives one bool.
Triton 3.6 takes no loop's bound of a run-time value beside numpy 2.4 or later; while this watches, it takes it.
"""

from __future__ import annotations

import contextlib
import dis
import sys
from collections.abc import Callable, Iterator
from typing import Any

from dcplab.course.trial import LOGIC


@contextlib.contextmanager
def watched(casts: bool = True) -> Iterator[list[tuple[str, str]]]:
    """Collect ``(kind, dtype)`` of each kind of wrong operation while open: "arithmetic", "cast", or "logic" (with
    `_asking` for a dtype).
    Yields the list.

    ``casts=False`` ignores casts, for values that every requested cast keeps exactly.
    """
    from triton.runtime import interpreter

    seen: list[tuple[str, str]] = []
    builder, reduction = interpreter.InterpreterBuilder, interpreter.ReduceScanOpInterface
    undo = []

    def note(kind: str, dtype: str) -> None:
        if (kind, dtype) not in seen:
            seen.append((kind, dtype))

    def wrap(owner: Any, name: str, watch: Callable[..., None]) -> None:
        plain = getattr(owner, name, None)
        if plain is None:  # another release of Triton lacks it; watch the rest
            return

        def watching(self: Any, *args: Any, **kwargs: Any) -> Any:
            watch(*args)
            return plain(self, *args, **kwargs)

        undo.append((owner, name, plain))
        setattr(owner, name, watching)

    def arithmetic(*operands: Any) -> None:
        for x in operands:
            if _is_small(getattr(x, "dtype", None)):
                note("arithmetic", _name(x.dtype))

    def cast(source: Any, target: Any, *_: Any) -> None:
        if casts and _is_small(target) and not _is_small(source.dtype):
            note("cast", _name(target))

    def reduce(values: Any) -> None:
        for x in values if isinstance(values, tuple) else (values,):
            if _is_small(getattr(x, "dtype", None)):
                note("arithmetic", _name(x.dtype))

    def truth(kind: Any, *more: Any) -> None:
        put(kind, *more)
        plain = kind.__bool__  # the interpreter's own, there for this launch

        def asked(self: Any) -> Any:
            asks = sys._getframe(1)
            ours = not asks.f_globals.get("__name__", "").startswith("triton.")  # its own load asks `if mask and other`
            if self.handle.data.size != 1 and ours:
                note(LOGIC, _asking(dis.opname[asks.f_code.co_code[asks.f_lasti]]))
            return plain(self)

        kind.__bool__ = asked
        kind.__index__ = lambda self: int(self.handle.data.squeeze())  # as in Triton 3.7

    put = interpreter._patch_lang_tensor
    undo.append((interpreter, "_patch_lang_tensor", put))
    interpreter._patch_lang_tensor = truth
    for name in ("binary_op", "unary_op", "create_fma", "create_fabs", "create_rsqrt"):
        wrap(builder, name, arithmetic)
    wrap(builder, "create_dot", lambda a, b, d, *_: arithmetic(*(x for x in (a, b) if _name(x.dtype) == "bf16"), d))
    wrap(builder, "cast_impl", cast)
    wrap(builder, "create_fp_to_fp", cast)
    wrap(reduction, "apply", reduce)
    try:
        yield seen
    finally:
        for owner, name, plain in reversed(undo):
            setattr(owner, name, plain)


def _is_small(dtype: Any) -> bool:
    name = _name(dtype)
    return name == "bf16" or name.startswith("fp8")


def _asking(opcode: str) -> str:
    """Return what asks for a bool: "not", or nothing for ``and`` and ``or``. A compiler refuses `if`, which is told instead."""
    return "not" if opcode == "UNARY_NOT" else ""


def _name(dtype: Any) -> str:
    return str(getattr(dtype, "scalar", dtype))
