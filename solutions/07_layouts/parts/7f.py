"""7f: Who was chosen?"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN
from dcplab.present.values import short

from .shared import UNASKED, held

FAR = 2**55  # positions that float64 rounds, and float32 all the more


def _dealt(scores: list[float], positions: list[int], layout: tuple[int, int], dtype: torch.dtype) -> tuple:
    """Deal a request's keys by their positions to the ranks of a layout (D, I): scores and positions of each rank."""
    size, run = layout
    mine = [[i for i, p in enumerate(positions) if p // run % size == rank] for rank in range(size)]
    return (
        [torch.tensor([scores[i] for i in rank], dtype=torch.float32) for rank in mine],
        [torch.tensor([positions[i] for i in rank], dtype=dtype) for rank in mine],
    )


def _cases(draw: Draw) -> list[Case]:
    def case(n, layout, topk, kinds=0, first=0, dtype=torch.int64, best=None):
        """``n`` keys from position ``first`` on. ``kinds``: so few different scores that there are ties; 0: all differ.
        ``best``: a rank that has the best keys."""
        positions = list(range(first, first + n))
        numbers = [draw.int(0, kinds - 1) for _ in range(n)] if kinds else draw.sample(range(4 * n), n)
        scores = [0.25 * v - n // 3 for v in numbers]  # of both signs
        if best is not None:
            scores = [s + 8 * n * (p // layout[1] % layout[0] == best) for s, p in zip(scores, positions, strict=True)]
        return *_dealt(scores, positions, layout, dtype), topk

    def tied(n, layout, topk):
        """The last place is contended: of equal keys on several ranks, those of the smaller positions are chosen."""
        while True:
            args = case(n, layout, topk, kinds=3)
            keys = sorted(((-s, p) for rank in zip(*args[:2], strict=True) for s, p in zip(*map(_list, rank), strict=True)))
            of = lambda p: p // layout[1] % layout[0]  # noqa: E731
            contended = [p for s, p in keys if s == keys[topk - 1][0]]
            inside = sum(p <= keys[topk - 1][1] for p in contended)
            if 0 < inside < len(contended) and [of(p) for p in contended] != sorted(of(p) for p in contended):
                return args

    bunched = (*_dealt([9.0, 8.5, 1.0, 2.0, 8.0, 7.5, 3.0, 0.5], list(range(8)), (2, 2), torch.int64), 4)

    def close_by(bits):
        """Scores of one value but for their last bits, the best at the last position: what is rounded takes them for equal."""
        scores = [1 + v * 2.0**-bits for v in (*draw.shuffled(range(13)), 13)]
        return *_dealt(scores, list(range(14)), (2, 2), torch.int64), 3

    few = (*_dealt([float(v) for v in draw.sample(range(20), 5)], list(range(5)), (4, 2), torch.int64), 4)
    makers = [
        ("two ranks, one loc a turn", lambda: case(8, (2, 1), 3)),
        ("the best keys are all rank 0's", lambda: bunched),
        ("two ranks, two a turn", lambda: case(10, (2, 2), 4)),
        ("equal scores on three ranks, two a turn", lambda: tied(14, (3, 2), 5)),
        ("equal scores on two ranks, four a turn", lambda: tied(16, (2, 4), 6)),
        ("all scores equal", lambda: case(11, (3, 2), 4, kinds=1)),
        ("ranks with fewer keys than topk, and one without any", lambda: few),
        ("fewer keys than topk in all", lambda: case(5, (3, 1), 9)),
        ("as many keys as topk", lambda: case(6, (2, 1), 6, kinds=2)),
        ("the last rank has the best", lambda: case(24, (4, 2), 5, best=3)),
        ("one key", lambda: case(17, (3, 2), 1, kinds=4)),
        ("one rank", lambda: case(9, (1, 4), 4, kinds=3)),
        ("blocks by turns: 16 a turn", lambda: case(70, (4, 16), 12, kinds=9)),
        ("eight ranks, many keys", lambda: case(150, (8, 1), 32, kinds=20)),
        ("scores that differ by 2^-23", lambda: close_by(23)),
        ("scores that differ by 2^-10", lambda: close_by(10)),
        ("positions past 2^55", lambda: case(20, (3, 2), 6, kinds=3, first=FAR + draw.int(1, 99))),
        ("int32 positions past 2^24", lambda: case(19, (2, 2), 5, first=2**24 + draw.int(1, 99), dtype=torch.int32)),
        ("no keys at all", lambda: (*_dealt([], [], (3, 1), torch.int64), 2)),
    ]
    exact = numbered([(label, make()) for label, make in makers], call="exact_topk")
    return exact + numbered([(label, make()) for label, make in makers], call="union_topk", start=len(exact))


def _list(value: Any) -> list:
    return value.tolist() if isinstance(value, torch.Tensor) else list(value)


def _places(value: Any) -> list[int] | None:
    """The positions of a result, whichever function gave it; None where it is of another kind."""
    if not (isinstance(value, tuple | list) and len(value) == 2):
        return None
    ranks = value[0] if isinstance(value[0], tuple | list) else [value[0]]
    if not all(isinstance(one, torch.Tensor) and one.dim() == 1 for one in ranks):
        return None
    return [v for one in ranks for v in one.tolist()]


def _rows(case: Case, got: Any, expected: Any) -> Table:
    scores, positions, topk = case.args
    caption = f"topk {topk}, {sum(map(len, scores))} keys on {len(scores)} ranks."
    mine, right = _places(got), _places(expected)
    if mine is None or right is None or mine == right:
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    found = []
    for rank, (of_rank, places) in enumerate(zip(scores, positions, strict=True)):
        for score, place in zip(of_rank.tolist(), places.tolist(), strict=True):
            if (place in mine) != (place in right):
                said = ["chosen" if place in side else "not chosen" for side in (mine, right)]
                found.append((str(place), f"rank {rank}", f"{score:g}", *said))
    if not found:
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    return Table(("position", "of", "score", "yours", "expected"), tuple(found[:SHOWN]), caption)


def _cells(tried: DrawnCase) -> Groups:
    """Keys by position, whose they are and what they score; below, whether yours chose each."""
    scores, positions, _ = tried.case.args
    mine, right = (None if side is None else _places(side) for side in (tried.got, tried.expected))
    keys = sorted(
        (place, rank, score)
        for rank, of_rank in enumerate(zip(positions, scores, strict=True))
        for place, score in zip(*map(_list, of_rank), strict=True)
    )
    said = lambda chosen: ["chosen" if place in chosen else "-" for place, _, _ in keys]  # noqa: E731
    yours = (UNASKED,) * len(keys) if mine is None or right is None else held(said(mine), said(right))
    return (
        (
            Strip("position", tuple(DrawnCell(str(place), "header") for place, _, _ in keys)),
            Strip("rank", tuple(DrawnCell(f"r{rank}", f"owner{rank}") for _, rank, _ in keys)),
            Strip("score", tuple(DrawnCell(f"{score:g}", "quiet") for _, _, score in keys)),
            Strip("yours", yours),
        ),
    )


PART = Part(
    id="7f",
    entry="exact_topk",
    also=("union_topk",),
    title="Who was chosen?",
    points=20,
    minutes=15,
    cases=again(_cases),
    rows=_rows,
    question="Could a key that its own rank did not propose be among the best of all? And which of two equal keys comes first?",
    hints=(
        "A key that is among the topk best of all is among the topk best of its own rank. So each rank sends no more than topk "
        "keys, and what is chosen of these is chosen of all.",
        "Write the choice of one rank once, and use it three times: sort by score, descending and stable, take the first "
        "topk, and put their indices in ascending order. It keeps the smaller position of two equal scores only if its input "
        "is in the order of positions, and what several ranks sent is not.",
        "exact_topk: of each rank its best, torch.cat both lists, bring both into the order of positions (argsort), choose "
        "once more; sent is how many there were before that. union_topk: each rank's best, and the sum of their lengths "
        "less min(topk, all keys).",
    ),
    prediction=Prediction(
        question=(
            "Eight ranks, 100,000 keys, topk 2048. How many of them must a rank send at the most, so that the choice is the "
            "one that a single rank with all keys would make?"
        ),
        answer="2048",
        because=(
            "All of the best may be one rank's: blocks by turns put neighbours together. 256, an eighth, is right only where "
            "luck spreads them. More than topk of one rank can never be chosen."
        ),
        choices=("256", "2048", "12,500", "100,000"),
    ),
    picture=Shows(drawn=_cells, title="Eight keys on two ranks"),
)
