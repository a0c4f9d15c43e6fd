"""Lab 08 asks on what came before: labs 01 to 07, in the course's own words."""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.course.recall import question
from dcplab.course.seeded import Draw
from dcplab.engine.index_spaces import held, loc_of, loc_slots, local_row, owner_rank, widened_page


def _layout(draw: Draw) -> tuple[int, int]:
    """Draw the ranks and the run of a layout."""
    return draw.int(2, 5), draw.choice((2, 4))


def _owner(draw: Draw) -> Prediction:
    d, i = _layout(draw)
    loc = draw.int(20, 90)
    rank, row = owner_rank(loc, d, i), local_row(loc, d, i)
    wrong = (f"rank {loc % d}, row {loc // d}", f"rank {(rank + 1) % d}, row {row}", f"rank {rank}, row {row + 1}")
    text = f"{d} ranks get runs of {i} locs by turns. Who keeps loc {loc}, and in which row?"
    because = f"{loc} // {i} % {d} is {rank}, and {loc // (i * d)} whole rounds came before."
    return question(draw, text, f"rank {rank}, row {row}", wrong, because)


def _back(draw: Draw) -> Prediction:
    d, i = _layout(draw)
    row, rank = draw.int(5, 20), draw.int(1, d - 1)
    right = loc_of(row, rank, d, i)
    text = f"{d} ranks get runs of {i} locs by turns. Which loc lies in row {row} of rank {rank}?"
    run = row // i * d + rank
    because = f"Run {row // i} of rank {rank} is run {run} of all, and begins at loc {run * i}."
    return question(draw, text, right, (row * d + rank, rank * i + row, right + d), because)


def _how_many(draw: Draw) -> Prediction:
    d, i = _layout(draw)
    length, rank = draw.int(30, 80), draw.int(0, d - 1)
    right = held(length, rank, d, i)
    text = f"{d} ranks, runs of {i}. A request of {length} tokens begins with a round. How many has rank {rank}?"
    because = f"{length // (d * i)} whole rounds give {length // (d * i) * i}, the last one {right - length // (d * i) * i}."
    return question(draw, text, right, (length // d, right + i, right + 1, length), because)


def _a_block(draw: Draw) -> Prediction:
    p, d = draw.choice((4, 16, 64)), draw.choice((2, 4, 8))
    right = widened_page(p, d)
    text = f"An allocator's page has {p} rows on each of {d} ranks. How many locs has it?"
    return question(draw, text, right, (p, d, p + d), f"P * D = {p} * {d}. Whoever counts it in P frees or reads another page.")


def _size(draw: Draw) -> Prediction:
    p, d = 4, draw.choice((2, 3, 4))
    c = p * draw.int(4, 9)
    right = loc_slots(c, p, d)
    text = f"C = {c}, P = {p}, D = {d}. How many slots has a pool that is whole on every rank and addressed by loc?"
    return question(draw, text, right, (c + p, c * d, c), "(C + P) * D: a loc of any rank, and the spare page.")


def _rank_without_keys(draw: Draw) -> Prediction:
    text = "A rank stores none of the chosen keys. What does it send to the LSE merge?"
    wrong = ("zeros and LSE 0", "the mean of its rows and LSE 0", "nothing: it leaves the merge out")
    because = "exp(-inf) is a weight of 0. An LSE of 0 is a weight of 1 before it is shared out."
    return question(draw, text, "zeros and LSE -inf", wrong, because)


def _came_back(draw: Draw) -> Prediction:
    text = "A retracted request gets other locs. Which of these must come back beside its c-KV rows?"
    wrong = ("its old locs", "the pages of other requests", "nothing, they are computed from c-KV")
    because = "They were made when the token was new. Those of whoever had the slot before are of the right space, and wrong."
    return question(draw, text, "its index keys and their scales", wrong, because)


def _blind(draw: Draw) -> Prediction:
    text = "A slot holds the keys of a token that left. What do typed spaces say of the next read?"
    wrong = ("the space is wrong", "the slot is out of its buffer", "the rank is another one")
    because = "The number is of the right space. What lies there is asked by the fourth question, and no type asks it."
    return question(draw, text, "nothing", wrong, because)


def _first_wrong(draw: Draw) -> Prediction:
    at = draw.int(3, 9)
    text = f"Step {at} writes by a wrong index, step {at + 2} reads there, step {at + 4} says a wrong word. What is mended?"
    wrong = (f"the read of step {at + 2}", f"the word of step {at + 4}", "each of the three")
    because = "The first wrong operation. What comes after it does as it is told."
    return question(draw, text, f"the write of step {at}", wrong, because)


QUESTIONS = (_owner, _back, _how_many, _a_block, _size, _rank_without_keys, _came_back, _blind, _first_wrong)
