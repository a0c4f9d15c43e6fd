"""Draws the cases of a part for one seed and one mode: as values for the judge, as bytes for a child."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcplab import codec
from dcplab.course.model import Buf, Case, Launch, Part
from dcplab.course.seeded import Draw
from dcplab.errors import CourseError

GPU_PATIENCE = 2.0  # a first run on a GPU compiles and makes a context


@dataclass(frozen=True)
class Drawn:
    """Drawn cases. ``packed``: the cases as data for a child. ``elsewhere``: the number of further cases that only the other
    mode can judge. ``quiet``: as ``packed``, without what only makes an answer print more."""

    seed: int
    mode: str
    cases: tuple[Case | Launch, ...]
    packed: tuple[Mapping[str, Any], ...]
    elsewhere: int
    own_s: float  # an answer's limit for all cases (see `patience`)

    @functools.cached_property
    def quiet(self) -> tuple[Mapping[str, Any], ...]:
        pairs = zip(self.cases, self.packed, strict=True)
        return tuple(pack(_quiet(case)) if isinstance(case, Case) and case.tells else packed for case, packed in pairs)

    @property
    def launches(self) -> list[Mapping[str, Any]]:
        return [case for case in self.packed if case["kind"] == "launch"]


def _quiet(case: Case) -> Case:
    return replace(case, kwargs={name: value for name, value in case.kwargs.items() if name not in case.tells})


def draw(part: Part, seed: int, mode: str) -> Drawn:
    """Draw a part's cases. ``mode`` is "cpu" or "gpu"."""
    every = list(part.cases(Draw(seed)))
    cases = tuple(case for case in every if mode in case.modes)
    return Drawn(seed, mode, cases, tuple(map(pack, cases)), len(every) - len(cases), patience(part, mode))


def patience(part: Part, mode: str) -> float:
    """Return the seconds of its own that an answer to a part has: processor time and sleep, not waiting for a processor."""
    return part.timeout_s * (GPU_PATIENCE if mode == "gpu" else 1.0)


def pack(case: Case | Launch) -> dict[str, Any]:
    """Turn a case into data for a child. Arguments are encoded here, so that each program gets its own copies."""
    if isinstance(case, Case):
        args, kwargs = codec.encode(tuple(case.args)), codec.encode(dict(case.kwargs))
        asks = {"hides": list(case.hides), "compiles": case.compiles}
        return {"kind": "case", "args": args, "kwargs": kwargs, "writes": list(case.writes), "call": case.call} | {
            name: value for name, value in asks.items() if value
        }
    for name, t in case.buffers.items():
        if not t.is_contiguous():
            raise CourseError(f"The buffer {name!r} of a launch is not contiguous.")
    given: list[tuple[str, Any, str | None, int]] = [
        ("buffer", a.name, a.dtype, a.before) if isinstance(a, Buf) else ("value", a, None, 0) for a in case.args
    ]
    return {
        "kind": "launch",
        "buffers": codec.encode(dict(case.buffers)),
        "args": codec.encode(given),
        "grid": tuple(case.grid),
        "constexprs": dict(case.constexprs),
        "writes": list(case.writes),
        "exact": case.exact,
        "backwards": case.backwards,
    } | ({"reads": codec.encode(dict(case.reads))} if case.reads else {})
