"""Lab 07 asks on what came before: labs 01 to 06, a question or two each."""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.course.recall import question
from dcplab.course.seeded import Draw
from dcplab.engine.index_spaces import globalize, loc_slots, local_row, localize, owner_rank, widened_page


def _who_and_where(draw: Draw) -> Prediction:
    d, loc = draw.int(3, 7), draw.int(40, 99)
    rank, row = owner_rank(loc, d), local_row(loc, d)
    wrong = (f"rank {row % d}, row {rank}", f"rank {rank}, row {loc}", f"rank {(rank + 1) % d}, row {row}")
    text = f"{d} ranks take turns loc by loc. Who keeps loc {loc}, and in which row?"
    return question(draw, text, f"rank {rank}, row {row}", wrong, f"{loc} % {d} is {rank}, {loc} // {d} is {row}.")


def _back(draw: Draw) -> Prediction:
    d, row = draw.int(3, 7), draw.int(5, 20)
    rank = draw.int(1, d - 1)
    right = globalize(row, rank, d)
    text = f"{d} ranks take turns loc by loc. Which loc lies in row {row} of rank {rank}?"
    return question(draw, text, right, (row * d, row + rank, rank * d + row), f"{row} * {d} + {rank} is {right}.")


def _first_loc(draw: Draw) -> Prediction:
    p, d, page = draw.choice((4, 16, 64)), draw.choice((2, 4, 8)), draw.int(2, 9)
    right = page * widened_page(p, d)
    text = f"P = {p}, D = {d}. With which loc does allocator page {page} begin?"
    because = f"Its page is W = P * D = {p * d} locs: {page} * {p * d}."
    return question(draw, text, right, (page * p, page * d, right + 1), because)


def _index_k(draw: Draw) -> Prediction:
    p, d = 4, draw.choice((2, 3, 4))
    c = p * draw.int(4, 9)
    right = loc_slots(c, p, d)
    because = f"It is replicated: every rank holds a key for each loc up to {right - 1}, that is (C + P) * D."
    text = f"C = {c}, P = {p}, D = {d}. How many slots of index-K has each rank?"
    return question(draw, text, right, (c + p, c, c * d + p), because)


def _writer(draw: Draw) -> Prediction:
    d = draw.int(3, 5)
    locs = draw.sample(range(16, 60), 5)
    rank = owner_rank(locs[0], d)
    right = [local_row(loc, d) for loc in locs if localize(loc, rank, d) >= 0]
    wrong = ([loc for loc in locs if loc % d == rank], [loc // d for loc in locs], [localize(loc, rank, d) for loc in locs])
    because = f"Those with loc % {d} == {rank}, each divided by {d}."
    return question(draw, f"{d} ranks, a batch at locs {locs}. Which rows does rank {rank} write?", right, wrong, because)


def _held(draw: Draw) -> Prediction:
    d = draw.choice((3, 4, 8))
    length = d * draw.int(3, 9) + draw.int(1, d - 1)
    rank = draw.int(0, d - 1)
    right = sum(owner_rank(position, d) == rank for position in range(length))
    text = f"{d} ranks take turns. A request of {length} tokens begins on a widened page. How many has rank {rank}?"
    because = f"{length // d} full turns, and {length % d} tokens of another, of which rank {rank} has {right - length // d}."
    return question(draw, text, right, (length // d + (right == length // d), length, length % d, right + 2), because)


def _which_buffer(draw: Draw) -> Prediction:
    start, position = draw.int(5, 30), draw.int(1, 4)
    text = (
        f"A request begins at {start} in the workspace, top-k picked its position {position}. Which index does attention get?"
    )
    because = f"RAGGED: cu_seqlens_k[request] + position = {start + position}. It is an index of this buffer and of no other."
    return question(draw, text, start + position, (position, start, f"its loc, {position} + {start} * D"), because)


def _same_rule(draw: Draw) -> Prediction:
    because = "What is written by a wrong rule is found again by the same one. A layout is right if writer and reader share it."
    text = "A server writes and reads c-KV by one rule, which is not the documented one. Which words are wrong?"
    wrong = ("all of them", "those of rank 0", "every D-th one")
    return question(draw, text, "none, while each index fits its buffer", wrong, because)


def _two_nodes(draw: Draw) -> Prediction:
    s, t = draw.choice((1, 2)), draw.choice((4, 8))
    src, dst = draw.int(60, 99), draw.int(120, 180)
    right = f"{local_row(src, s)} read, {local_row(dst, t)} written"
    wrong = (
        f"{src} read, {dst} written",
        f"{local_row(src, t)} read, {local_row(dst, t)} written",
        f"{local_row(src, s)} read, {local_row(src, t)} written",
    )
    ranks = f"Prefill has {s} rank{'s' * (s > 1)}, decode {t}."
    text = f"{ranks} A token lies at loc {src} there and {dst} here. Rows read and written?"
    return question(draw, text, right, wrong, f"Each side divides its own loc by its own D: {src} // {s}, {dst} // {t}.")


QUESTIONS = (_who_and_where, _back, _first_loc, _index_k, _writer, _held, _which_buffer, _same_rule, _two_nodes)
