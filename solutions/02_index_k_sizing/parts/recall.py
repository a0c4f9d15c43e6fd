"""Lab 02 asks on what came before: lab 01's owners, rows and pages."""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.course.recall import question
from dcplab.course.seeded import Draw
from dcplab.engine.index_spaces import allocator_page, globalize, index_k_page, local_row, localize, owner_rank, widened_page


def _owner(draw: Draw) -> Prediction:
    d, loc = draw.int(3, 7), draw.int(40, 99)
    right, row = owner_rank(loc, d), local_row(loc, d)
    because = f"The ranks take turns loc by loc: {loc} % {d} is {right}. {loc} // {d} = {row} is its row there."
    return question(draw, f"{d} ranks. Which of them stores loc {loc}?", right, (row, loc % (d + 1), (right + 1) % d), because)


def _row(draw: Draw) -> Prediction:
    d, loc = draw.int(3, 7), draw.int(40, 99)
    right, rank = local_row(loc, d), owner_rank(loc, d)
    because = f"The owner uses its rows one after another: {loc} // {d} is {right}."
    return question(draw, f"{d} ranks. In which row does the owner keep loc {loc}?", right, (rank, loc, right + 1), because)


def _index_k_page(draw: Draw) -> Prediction:
    d, p, loc = draw.int(2, 3), draw.choice((4, 5, 8)), draw.int(60, 120)
    right, wide = index_k_page(loc, p), allocator_page(loc, p, d)
    because = f"index-K is read by loc, in pages of P locs: {loc} // {p} is {right}. {wide} is the allocator's page, of P * D."
    text = f"D = {d}, P = {p}. On which index-K page is loc {loc}?"
    return question(draw, text, right, (wide, local_row(loc, d), loc % p), because)


def _width(draw: Draw) -> Prediction:
    d, p = draw.choice((3, 4, 8)), draw.choice((16, 32, 64))
    right = widened_page(p, d)
    because = f"Each rank gets a whole page of P rows, so the allocator's page covers P * D = {right} locs."
    return question(draw, f"D = {d}, P = {p}. How many locs has a page of the allocator?", right, (p, p + d, p // d), because)


def _not_mine(draw: Draw) -> Prediction:
    d, rank, row = draw.int(3, 6), draw.int(0, 1), draw.int(5, 20)
    loc = globalize(row, rank + 1, d)
    right = localize(loc, rank, d)
    because = f"{loc} % {d} is {owner_rank(loc, d)}, not {rank}: rank {rank} does not have it, and says -1, not row {row}."
    text = f"{d} ranks. A table of locs has a {loc} in it. What does rank {rank}'s table of rows have in that place?"
    return question(draw, text, right, (row, 0, loc), because)


def _back(draw: Draw) -> Prediction:
    d, rank, row = draw.int(3, 7), draw.int(1, 2), draw.int(5, 20)
    right = globalize(row, rank, d)
    text = f"{d} ranks. Rank {rank} found something in its row {row}. Which loc is that?"
    return question(
        draw, text, right, (row * d, row + rank, row * rank + d), f"row * D + rank: {row} * {d} + {rank} is {right}."
    )


def _padding(draw: Draw) -> Prediction:
    d = draw.int(4, 9)
    right = owner_rank(-1, d)
    because = f"torch rounds down, so -1 % {d} is {right}, a rank like any other: it would take padding for its own."
    return question(draw, f"What is torch.tensor(-1) % {d}?", right, (-1, 0, 1), because)


def _by_what(draw: Draw) -> Prediction:
    because = "index-K is complete on every rank: nobody divides, nobody asks for an owner. c-KV is read by row."
    return question(draw, "By what is index-K read?", "by loc", ("by row", "by position", "by rank"), because)


QUESTIONS = (_owner, _row, _index_k_page, _width, _not_mine, _back, _padding, _by_what)
