"""4f: A check for the table that was just born"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.cells import DrawnCase, Groups
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells
from dcplab.present.values import short

from .shared import ints

CONSUMERS = ("ckv_write_loc", "ckv_row", "index_k_loc", "draft_loc", "flattened_page_table")


def _capacity_cases(draw: Draw) -> list[Case]:
    def rows(size, page_size):
        return (size // page_size + 1) * page_size

    def bound(consumer, size, page_size, dcp_size):
        return rows(size, page_size) * (1 if consumer == "ckv_row" else dcp_size)

    def float32_confuses(end):
        return torch.tensor(end - 1).float() == torch.tensor(end).float()

    toy = (4 * draw.int(3, 6), 4, 2)
    odd = (5 * draw.int(3, 6) + draw.int(2, 4), 5, 3)
    server, far = (455_744, 64, 8), (3 * (2**55 + 2 * draw.int(10**6, 10**9) + 1) + 2, 3, 7)
    cases = []
    for what, sizes in (("a toy", toy), ("no whole pages", odd), ("a real server", server), ("past 2^53", far)):
        for consumer in CONSUMERS:
            end = bound(consumer, *sizes)
            below = draw.sample(range(end // 2, end - 2), 3)
            cases += [
                (f"{consumer}, {what}, the largest legal index", (consumer, sizes, [below[0], end - 1, below[1]])),
                (f"{consumer}, {what}, one past it", (consumer, sizes, [below[2], below[0], end, below[1]])),
            ]
    r, end = rows(*odd[:2]), bound("index_k_loc", *odd)
    large = draw.int(10**6, 10**7)
    while not float32_confuses(end_large := bound("index_k_loc", 3 * (2**24 + large), 3, 7)):
        large += 1
    cases += [
        ("the first is too large", ("index_k_loc", odd, [end, 17, 18])),
        ("the last is too large", ("flattened_page_table", toy, [17, 9, bound("index_k_loc", *toy)])),
        ("legal for locs, no row", ("ckv_row", odd, [3, r + draw.int(0, 4), 5])),
        ("every one is too large", ("draft_loc", odd, [end + 3, end + 1])),
        ("index 0", ("ckv_row", toy, [0, 5, 2])),
        ("in the last page", ("index_k_loc", toy, [9, toy[0] * 2 + 1, 10])),
        ("in a page that is only begun", ("index_k_loc", odd, [17, (odd[0] + 5) * 3 + 1, 18])),
        ("past 2^24", ("index_k_loc", (3 * (2**24 + large), 3, 7), [40, end_large - 1, 50])),
        ("a -1 among legal ones", ("ckv_row", toy, [5, -1, 6])),
        ("a -1 alone", ("flattened_page_table", toy, [-1])),
        ("a -2 among legal ones", ("index_k_loc", toy, [9, -2, 10])),
        ("no row, but a loc far below the end", ("index_k_loc", toy, [9, toy[0] + 5, 10])),
        ("a loc twice: requests share a prefix", ("flattened_page_table", toy, [9, 10, 9])),
        ("a large negative one", ("index_k_loc", toy, [9, -(2**40), 10])),
        ("far past 2^31", ("draft_loc", toy, [9, 2**32 + 9, 10])),
        ("no locs", ("flattened_page_table", toy, [])),
        ("more locs than slots, all legal: requests share a prefix", ("flattened_page_table", toy, [9, 10] * 40)),
        (
            "more locs than slots, one of them past the end",
            ("flattened_page_table", toy, [9, 10] * 40 + [bound("index_k_loc", *toy)]),
        ),
        ("one rank", ("flattened_page_table", (8, 4, 1), [4, 11, 5])),
    ]
    made = [(label, (ints(locs), consumer, *sizes)) for label, (consumer, sizes, locs) in cases]
    column = (as_column(ints([9, 12, 10])), "ckv_row", *toy)
    return numbered([*made, ("a column of a table", column)])


def _capacity_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, consumer, size, page_size, dcp_size = case.args
    header = ("checked", "smallest", "largest", "yours", "expected")
    ends = (str(int(locs.min())), str(int(locs.max()))) if locs.numel() else ("none", "none")
    caption = f"size {size}, page_size {page_size}, dcp_size {dcp_size}; {locs.numel()} indices."
    return Table(header, ((consumer, *ends, short(got), short(expected)),), caption)


ENDS = ("the largest legal index", "one past it")
OTHERS = {"a -1 among legal ones": "-1", "a -1 alone": "-1 alone", "a -2 among legal ones": "-2", "no locs": "no index"}


def _end(case: Case) -> tuple[str, str] | None:
    """The two indices at each consumer's end, on the small server."""
    consumer, toy, which = case.label.partition(", a toy, ")
    return (consumer, which) if toy and which in ENDS else None


def _other(case: Case) -> tuple[str, str] | None:
    return ("negative, and none", f"{case.args[1]}: {OTHERS[case.label]}") if case.label in OTHERS else None


def _cells(tried: Sequence[DrawnCase]) -> Groups:
    return grid_cells.grid("consumer", tried, _end), grid_cells.grid("consumer: index", tried, _other)


PART = Part(
    id="4f",
    entry="capacity_ok",
    title="A check for the table that was just born",
    points=10,
    minutes=10,
    can_wait=True,
    cases=again(_capacity_cases),
    rows=_capacity_rows,
    question="Which space are these indices in, and how many of that space are there?",
    hints=(
        "Two ends must hold: nothing below 0, nothing at or above the consumer's bound.",
        "The bounds are 2e's. Four of the consumers count locs, (size // page_size + 1) * page_size * dcp_size; ckv_row "
        "counts rows, without the dcp_size. An empty tensor has no maximum, and nothing in it is wrong.",
        "bool(((flat_locs >= 0) & (flat_locs < bound)).all()): all() of nothing is True.",
    ),
    prediction=Prediction(
        question="C = 12, P = 4, D = 2. Which is the largest index that a flattened page table may hold?",
        answer="31",
        because=(
            "It holds locs, and of these there are (12 // 4 + 1) * 4 * 2 = 32. 15 is the largest row, and 23 forgets the "
            "spare page. The assert of #36989 compared with rows, and would stop the server at loc 16."
        ),
        choices=("11", "15", "23", "31"),
    ),
    picture=Shows(whole=_cells, title="Is every index legal, by consumer?"),
)
