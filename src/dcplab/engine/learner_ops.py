"""A learner's own code at work in the engine: the wiring of a layer, and the functions of labs 01 to 04 under it.

Names, arguments and spaces of the functions are those of the exercises (each lab says them); `operations` makes of them what
`ops` calls, with the same spaces. What a learner did not write, the indexer and sparse attention, stays the course's. `answer`
runs in the child that holds the learner's code; nothing here knows what is right.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from dcplab.engine import harness, ops
from dcplab.engine.backend import LayerStep
from dcplab.engine.configurator import WIDTH

ROWS = 16  # tokens a program, for kernels that leave it to the launch
CARRIED = "OWN_FUNCTIONS"  # in the answer's module: part of labs 01 to 04 -> source

# Part of labs 01 to 04 -> the functions of it that the path runs.
PARTS = {
    "1c": ("localize",),
    "2h": ("write_index_k_kernel",),
    "3a": ("write_ckv_norope_kernel",),
    "3d": ("localize_topk",),
    "3e": ("merge_lse",),
    "4b": ("interleave_shards",),
    "4c": ("assemble_ragged",),
    "4d": ("topk_to_paged", "topk_to_ragged"),
}


def answer(paths: Mapping[str, Callable[..., Any]], look: bool = False, **given: Any) -> dict[str, Any]:
    """Run `harness.serve` with a learner's ``paths`` ("decode", "verify", "extend", "draft"; the others are the standard ones)
    over the functions that came along. ``look``: print what the typed spaces say of the wiring."""
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)  # TileLang's, of its cache
    made = {role: checked(path) for role, path in paths.items()}
    given |= dict(paths=made, device="cuda" if torch.cuda.is_available() else "cpu")
    with _alone():  # what came along is a learner's code too
        functions = load(getattr(sys.modules["__main__"], CARRIED, {}), Path.cwd())
    with ops.using(**operations(functions)):
        out = harness.serve(**given)
        if look and (misuse := harness.first_misuse(**given)):
            print(f"Typed spaces: {misuse}")
    return out


def load(sources: Mapping[str, str], folder: Path) -> dict[str, Callable[..., Any]]:
    """Load the sources, by part, and return the functions by name. Each part is a module of its own, with a file in ``folder``
    that Triton can read."""
    functions: dict[str, Callable[..., Any]] = {}
    for part, source in sources.items():
        path = folder / f"own_{part}.py"
        path.write_text(source, encoding="utf-8")
        module = types.ModuleType(path.stem)
        module.__file__ = str(path)
        sys.modules[path.stem] = module
        exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
        functions |= {name: getattr(module, name) for name in PARTS[part]}
    return functions


def checked(path: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a learner's path, which must give what a path gives. Where it does not, the sentence is about that."""
    name = getattr(path, "__name__", "the path")

    def call(step: LayerStep) -> list[torch.Tensor]:
        with _alone():
            outs = path(step)
        asked = f"{name} returns a list with one tensor [{len(step.batch.positions)}, heads, {WIDTH}] a rank of step.ranks"
        if not isinstance(outs, list | tuple) or not all(isinstance(out, torch.Tensor) for out in outs):
            raise TypeError(f"{asked}; it returned {_kind_of(outs)}.")
        if len(outs) != len(step.ranks):
            raise ValueError(f"{asked}; it returned {len(outs)} for {len(step.ranks)} ranks.")
        wrong = next((o for o in outs if o.shape != (len(step.batch.positions), step.shared.config.heads, WIDTH)), None)
        if wrong is not None:
            raise ValueError(f"{asked}; one has the shape {list(wrong.shape)}.")
        return list(outs)

    return call


def _kind_of(value: object) -> str:
    if value is None:
        return "None: is there a return?"
    if isinstance(value, list | tuple) and value:
        return f"a {type(value).__name__} of {type(value[0]).__name__}s"
    return f"a {type(value).__name__}"


_COURSE = ("dcplab", "dcp_kernels")


def _of_course(name: str) -> bool:
    return name.partition(".")[0] in _COURSE


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hide the course's modules while an answer runs: an import of one is a new one, which the rails refuse."""
    course = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(_COURSE) and _of_course(name)}
    try:
        yield
    finally:
        sys.modules.update(course)


def operations(functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Turn functions by the exercises' names into operations by the names of `ops`, for ``ops.using``."""
    made = {name: f for name, f in functions.items() if name in _SAME}
    for name, (operation, adapt) in _ADAPTED.items():
        if name in functions:
            made[operation] = adapt(functions[name])
    return made


def _write_ckv(kernel: Any) -> Callable[..., None]:
    def write(kv: torch.Tensor, src: torch.Tensor, locs: torch.Tensor, dcp_rank: int = 0, dcp_size: int = 1) -> None:
        n = len(locs)
        sizes = dict(DIM=src.shape[1], DCP_RANK=dcp_rank, DCP_SIZE=dcp_size, ROWS=ROWS)
        kernel[(-(-n // ROWS),)](kv, src, locs.contiguous(), n, kv.stride(0), src.stride(0), **sizes)

    return write


def _write_index_k(kernel: Any) -> Callable[..., None]:
    def write(buf: torch.Tensor, keys: torch.Tensor, scales: torch.Tensor, locs: torch.Tensor, page_size: int) -> None:
        n, dim = keys.shape
        given = (buf, buf.view(torch.float32), keys.contiguous().view(torch.uint8), scales.contiguous(), locs.contiguous(), n)
        kernel[(-(-n // ROWS),)](*given, PAGE_SIZE=page_size, DIM=dim, ROWS=ROWS)

    return write


_SAME = ("localize", "localize_topk", "merge_lse", "topk_to_paged", "topk_to_ragged")
_ADAPTED = {
    "write_ckv_norope_kernel": ("write_ckv", _write_ckv),
    "write_index_k_kernel": ("write_index_k", _write_index_k),
    "interleave_shards": ("interleave_shards", lambda f: lambda shards, lens, starts, d, total: f(shards, lens, starts, d)),
    "assemble_ragged": ("join_ragged", lambda f: lambda prefix, extend, lens, new, total: f(prefix, extend, lens, new)),
}
