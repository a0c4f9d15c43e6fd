"""7g: Five stores, five ids"""

from __future__ import annotations

from typing import Any

from dcplab.course.cases import numbered
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw

from .shared import UNASKED, held

STORES = ("ckv", "index_k", "kpool", "window", "state")


def _cases(draw: Draw) -> list[Case]:
    def case(d: int, i: int, kpool: int = 4, owned: bool = True, passed: bool = False, loc: int | None = None) -> tuple:
        """A token of a request whose locs begin on a page of its own, of which this rank is the owner or not."""
        width = d * i * kpool
        page, position = draw.int(2, 5), draw.int(0, width - 1)
        at = page * width + position if loc is None else loc
        position = min(position, at)
        owner = at // i % d
        rank = owner if owned else (owner + draw.int(1, max(d - 1, 1))) % d
        slots = draw.sample(range(max(at + 8, 40)), at + 8)
        states = draw.sample(range(20, 60), 12)
        req = draw.int(1, 11)
        if passed:
            slots[at] = -1
        token = {"position": position, "loc": at, "req_pool_idx": req}
        sizes = {"dcp_rank": rank, "dcp_size": d, "interleave": i, "kpool": kpool}
        return token, {**sizes, "window_slot_of": slots, "state_slot_of": states}

    return numbered(
        [
            ("one loc a turn, on its owner", case(4, 1)),
            ("one loc a turn, on another rank", case(4, 1, owned=False)),
            ("two locs a turn, on its owner", case(4, 2)),
            ("two locs a turn, on another rank", case(4, 2, owned=False)),
            ("three ranks, runs of five", case(3, 5, 2)),
            ("three ranks, runs of five, on another rank", case(3, 5, 2, owned=False)),
            ("the window has passed", case(4, 2, passed=True)),
            ("the window has passed, on another rank", case(6, 1, owned=False, passed=True)),
            ("a page of 16 a turn, rank 1's", case(2, 16, loc=32 * draw.int(2, 4) + 16 + draw.int(0, 7))),
            ("256 tokens to a pooled key", case(2, 1, 256)),
            ("a pooled key for each token", case(4, 2, 1, owned=False)),
            ("one rank", case(1, 4)),
            ("loc 0", case(4, 1, loc=0)),
            ("loc 0, on another rank", case(4, 2, owned=False, loc=0)),
            ("many ranks", case(8, 4, 4, owned=False)),
            ("many ranks, on its owner", case(8, 4)),
        ]
    )


def _oracle(token: dict, server: dict) -> dict:
    """Deal the locs up to the token's, and count what this rank and each group have got."""
    loc, rank, d = token["loc"], server["dcp_rank"], server["dcp_size"]
    owners = [run % d for run in range(loc // server["interleave"] + 1) for _ in range(server["interleave"])][: loc + 1]
    groups = len(range(server["kpool"], loc + 1, server["kpool"]))
    return {
        "ckv": owners[:loc].count(rank) if owners[loc] == rank else -1,
        "index_k": loc,
        "kpool": groups,
        "window": server["window_slot_of"][loc],
        "state": server["state_slot_of"][token["req_pool_idx"]],
    }


def _entry(got: Any, store: str) -> Any:
    return got.get(store) if isinstance(got, dict) else None


def _about(case: Case) -> str:
    token, server = case.args
    sizes = ", ".join(f"{name} {value}" for name, value in server.items() if isinstance(value, int))
    return f"{', '.join(f'{name} {value}' for name, value in token.items())}; {sizes}."


def _rows(case: Case, got: Any, expected: Any) -> Table:
    found = [(name, _entry(got, name), expected[name]) for name in STORES]
    wrong = tuple((name, repr(mine), repr(due)) for name, mine, due in found if type(mine) is not int or mine != due)
    return Table(("store", "yours", "expected"), wrong, _about(case))


def _cells(tried: DrawnCase) -> Groups:
    token, server = tried.case.args
    right = tried.expected if tried.expected is not None else _oracle(token, server)
    due = [right[name] for name in STORES]
    mine = None if tried.got is None else [_entry(tried.got, name) for name in STORES]
    shown = held(mine, due) if mine is None or all(v is None or type(v) is int for v in mine) else (UNASKED,) * len(due)
    said = {"position": token["position"], "loc": token["loc"], "req_pool_idx": token["req_pool_idx"]}
    said |= {name: value for name, value in server.items() if isinstance(value, int)}
    said |= {"window_slot_of[loc]": right["window"], "state_slot_of[req]": right["state"]}
    given = (
        Strip("given", tuple(DrawnCell(name, "header") for name in said)),
        Strip("", tuple(DrawnCell(str(value)) for value in said.values())),
    )
    return given, (Strip("store", tuple(DrawnCell(name, "header") for name in STORES)), Strip("your id", shown))


PART = Part(
    id="7g",
    entry="read_ids",
    title="Five stores, five ids",
    points=10,
    minutes=10,
    cases=_cases,
    oracle=_oracle,
    rows=_rows,
    question="Which of the five stores are dealt to the ranks, and what does each of the others count?",
    hints=(
        "For each store ask two things: does every rank have all of it, and what is one of its places for: a token, a group of "
        "tokens, a request?",
        "c-KV alone is dealt: 7a, and -1 if the rank is not this one. index-K and the pooled keys are counted in locs and in "
        "groups of locs. The window and the state have tables: one is asked by loc, the other by req_pool_idx.",
        'loc // server["kpool"] for the pooled key; server["window_slot_of"][loc]; '
        'server["state_slot_of"][token["req_pool_idx"]]. Neither dcp_size nor the rank plays a part there.',
    ),
    prediction=Prediction(
        question="Four ranks. Which of a token's five ids is another number on rank 0 than on rank 1?",
        answer="c-KV's alone",
        because=(
            "Only c-KV is sharded: on its owner there is a row, elsewhere -1. All else is replicated, and each rank reads it "
            "by the same id."
        ),
        choices=("all five", "c-KV's alone", "those of c-KV and index-K", "all but the state's"),
    ),
    picture=Shows(drawn=_cells, title="By which id is this token read in each store?"),
)
