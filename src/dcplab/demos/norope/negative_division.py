"""Shows padding under ``%`` and ``//``: four ways to divide -1, side by side, and the rank that would keep it."""

from __future__ import annotations

from dcplab import mode, subprocess_call
from dcplab.demos.three_faces import NOT_GRADED
from dcplab.present.display import Shown

SIZES = (8, 3, 1)  # dcp_size: a power of two, none, and no sharding at all
MODULE = "dcplab.demos.norope.negative_division_run"


class MinusOne(Shown):
    """``found``: way -> for each ``dcp_size`` of `SIZES`, ``(-1 % D, -1 // D)``. Only ways that were run."""

    def __init__(self, found: dict[str, list[tuple[int, int]]], said: str):
        super().__init__(said)
        self.found = found


def minus_one() -> MinusOne:
    """Divide -1 by torch, by Triton (interpreted; compiled where there is a GPU) and by TileLang, each in a new process."""
    if subprocess_call.while_grading():
        return MinusOne({}, NOT_GRADED)
    device = "cuda" if mode.current().name == "gpu" else "cpu"
    sizes = list(SIZES)
    plain = subprocess_call.call(MODULE, "not_interpreted", {"device": device, "sizes": sizes}, {"TRITON_INTERPRET": None})
    shown = subprocess_call.call(MODULE, "by_triton", {"device": "cpu", "sizes": sizes}, {"TRITON_INTERPRET": "1"})
    failed = next((done for done in (plain, shown) if done["value"] is None), None)
    if failed:
        return MinusOne({}, subprocess_call.told(failed))
    told = plain["value"]["found"] | {"Triton, interpreter": shown["value"]}
    found = {way: [tuple(pairs[0]) for pairs in told[way]] for way in sorted(told, key=_order)}
    lines = [f"[{mode.current().label}]", "", f"{'way':<21}{'D':>3}{'-1 % D':>9}{'-1 // D':>9}  an unguarded filter keeps it"]
    for way, pairs in found.items():
        for d, (rest, quotient) in zip(SIZES, pairs, strict=True):
            kept = f"on rank {rest}, as row {quotient}" if 0 <= rest < d else "nowhere"
            lines.append(f"{way:<21}{d:>3}{rest:>9}{quotient:>9}  {kept}")
    if device == "cpu":
        triton, tilelang = (" and ".join(plain["value"][name]) for name in ("Triton", "TileLang"))
        lines += [
            "",
            "Triton, compiled: it needs a GPU, and there is none here, so it was not run.",
            f"  What it makes for sm_90 divides by {triton}: signed, rounded toward zero.",
            "TileLang, CUDA: not run either.",
            f"  What it makes of D = {sizes[0]}, for sm_90a, divides by {tilelang}: rounded down.",
        ]
    return MinusOne(found, "\n".join(lines))


def _order(way: str) -> int:
    return next(i for i, start in enumerate(("torch", "Triton, interpreter", "Triton", "TileLang")) if way.startswith(start))
