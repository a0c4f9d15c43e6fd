"""Lab 06 asks on what came before: labs 01 to 05, a question or two each."""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.course.recall import question
from dcplab.course.seeded import Draw
from dcplab.engine.index_spaces import ckv_rows, largest_loc, loc_slots, local_row, localize, owner_rank, widened_page


def _first_loc(draw: Draw) -> Prediction:
    p, d, page = draw.choice((4, 16, 64)), draw.choice((2, 4, 8)), draw.int(2, 9)
    right = page * widened_page(p, d)
    text = f"P = {p}, D = {d}. With which loc does allocator page {page} begin?"
    because = f"Its page is W = P * D = {p * d} locs: {page} * {p * d}."
    return question(draw, text, right, (page * p, page * d, right + 1), because)


def _who_and_where(draw: Draw) -> Prediction:
    d, loc = draw.int(3, 7), draw.int(40, 99)
    rank, row = owner_rank(loc, d), local_row(loc, d)
    wrong = (f"rank {row % d}, row {rank}", f"rank {rank}, row {loc}", f"rank {(rank + 1) % d}, row {row}")
    text = f"{d} ranks. Who keeps loc {loc}, and in which row?"
    return question(draw, text, f"rank {rank}, row {row}", wrong, f"{loc} % {d} is {rank}, {loc} // {d} is {row}.")


def _legal(draw: Draw) -> Prediction:
    p, d = 8, draw.choice((2, 4))
    c = p * draw.int(4, 9)
    right, rows = largest_loc(c, p, d), ckv_rows(c, p)
    text = f"C = {c}, P = {p}, D = {d}. A backup takes locs for rows. From which loc on does it leave the pool?"
    because = f"c-KV has C + P = {rows} rows. Legal locs go on to {right}: those from {rows} on have no row of that number."
    return question(draw, text, rows, (right + 1, c, c * d), because)


def _index_k(draw: Draw) -> Prediction:
    p, d = 4, draw.choice((2, 3, 4))
    c = p * draw.int(4, 9)
    right = loc_slots(c, p, d)
    because = f"Every rank holds a key for each loc up to {right - 1}: that is (C + P) * D."
    text = f"C = {c}, P = {p}, D = {d}. How many slots of index-K has each rank?"
    return question(draw, text, right, (c + p, c, c * d + p), because)


def _cancel(draw: Draw) -> Prediction:
    because = (
        "What is written by a wrong rule is found again by the same one. Only where one side changes does a word go wrong."
    )
    wrong = ("because top-k skips wrong rows", "because the merge repairs it", "because locs are rows below C")
    text = "A server wrote and read locs as rows. Why was every answer right below the watermark?"
    return question(draw, text, "because both sides used one rule", wrong, because)


def _writer(draw: Draw) -> Prediction:
    d = draw.int(3, 5)
    locs = draw.sample(range(16, 60), 5)
    rank = owner_rank(locs[0], d)
    right = [local_row(loc, d) for loc in locs if localize(loc, rank, d) >= 0]
    wrong = ([loc for loc in locs if loc % d == rank], [loc // d for loc in locs], [localize(loc, rank, d) for loc in locs])
    because = f"Those with loc % {d} == {rank}, each divided by {d}."
    return question(draw, f"{d} ranks, a batch at locs {locs}. Which rows does rank {rank} write?", right, wrong, because)


def _turns(draw: Draw) -> Prediction:
    d = draw.choice((4, 8))
    start = draw.int(1, d - 1)
    text = f"{d} ranks. A piece of a request begins at position {start}. Whose is its first token?"
    because = (
        f"A request begins on a widened page, so position {start} lies on rank {start} % {d}. [0::{d}] would "
        f"take it for rank 0's."
    )
    return question(draw, text, f"rank {start}", ("rank 0", f"rank {d - start}", f"rank {(start + 1) % d}"), because)


def _which_buffer(draw: Draw) -> Prediction:
    start, position = draw.int(5, 30), draw.int(1, 4)
    text = (
        f"A request begins at {start} in the workspace, and top-k picked its position {position}. Which "
        f"index does attention get?"
    )
    because = f"RAGGED: cu_seqlens_k[request] + position = {start + position}. It dies with the step: no backup holds it."
    return question(draw, text, start + position, (position, start, f"its loc, {position} + {start} * D"), because)


def _half(draw: Draw) -> Prediction:
    because = (
        "The two mistakes had cancelled out below the watermark. Now the read looks where the write no longer puts anything."
    )
    text = "Of the five patches you apply the c-KV write alone. What does a fresh server say?"
    wrong = ("right answers until the watermark", "right answers", "nothing: it crashes at the start")
    return question(draw, text, "wrong answers at once", wrong, because)


QUESTIONS = (_first_loc, _who_and_where, _legal, _index_k, _cancel, _writer, _turns, _which_buffer, _half)
