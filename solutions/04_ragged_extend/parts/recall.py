"""Lab 04 asks on what came before: lab 01's tables, lab 02's bounds, lab 03's writes and merges."""

from __future__ import annotations

import math

from dcplab.course.model import Prediction
from dcplab.course.recall import question
from dcplab.course.seeded import Draw
from dcplab.engine.index_spaces import ckv_rows, loc_slots, local_row, localize, owner_rank


def _twice(draw: Draw) -> Prediction:
    d, loc = draw.int(3, 5), draw.int(60, 120)
    row = local_row(loc, d)
    because = f"{loc} // {d} is row {row}. Divided once more it is {local_row(row, d)}, a row too, of another token."
    text = f"{d} ranks. A writer gets {loc}, a loc. In which row does the owner store the token?"
    return question(draw, text, row, (local_row(row, d), owner_rank(loc, d), loc), because)


def _compacted(draw: Draw) -> Prediction:
    d, rank = 3, draw.int(0, 2)
    own, others = ([loc for loc in range(12, 48) if (loc % d == rank) is mine] for mine in (True, False))
    locs = draw.shuffled([*draw.sample(own, 2), *draw.sample(others, 3)])
    owned = [loc for loc in locs if localize(loc, rank, d) >= 0]
    right = [local_row(loc, d) for loc in owned] + [-1] * 3
    wrong = ([localize(loc, rank, d) for loc in locs], owned + [-1] * 3, [local_row(loc, d) for loc in locs], right[::-1])
    because = f"Rank {rank} owns {owned[0]} and {owned[1]}. Their rows come first, in that order, then -1."
    return question(draw, f"{d} ranks, top-k {locs}. Which table does 3d give to rank {rank}?", right, wrong, because)


def _too_large(draw: Draw) -> Prediction:
    d = draw.choice((2, 4, 8, 16))
    right = int(math.log2(d))
    because = f"{d} equal weights add up to {d} times one: log2({d}) = {right} more. The output stays the same."
    text = f"{d} ranks all hold all keys by mistake. By how much is the merged LSE (base 2) too large?"
    return question(draw, text, right, (d, 0, right + 1, 1), because)


def _half_fixed(draw: Draw) -> Prediction:
    text = "A server writes and reads locs as rows. Only its write is mended. What becomes of a fresh server's answers?"
    because = "The two mistakes cancelled out. Now the read looks in rows that the write did not use, at the first question."
    wrong = ("right, below the watermark", "right, always", "right, on rank 0")
    return question(draw, text, "wrong at once", wrong, because)


def _alarm(draw: Draw) -> Prediction:
    k, d = draw.choice((8, 12, 20)), draw.choice((2, 4))
    text = f"Top-k selects {k} keys, and {d} ranks count the keys that each of them reads. What must their sum be?"
    because = f"Each key lies on one rank, so the counts sum to {k}. {k * d} would mean that every rank holds every key."
    return question(draw, text, k, (k * d, k // d, d), because)


def _draft(draw: Draw) -> Prediction:
    because = "Its pool is whole on every rank and is read by loc. A localized write would leave most rows empty."
    text = "Must the write of a draft's pool be localized?"
    return question(draw, text, "no", ("yes", "only if D > 1", "only on its owner"), because)


def _empty(draw: Draw) -> Prediction:
    because = "It has seen no key: its LSE is -inf, and 2 to that power is 0, whatever its output is."
    text = "A rank owns none of the selected keys. How much does its output weigh in the merge?"
    return question(draw, text, "nothing", ("1/D", "as much as the others", "1"), because)


def _bound(draw: Draw) -> Prediction:
    c, p, d = 8 * draw.int(3, 8), 8, draw.choice((2, 3, 4))
    right = loc_slots(c, p, d)
    because = f"The table holds locs, which go up to {right - 1}. {ckv_rows(c, p)} bounds rows."
    text = f"C = {c}, P = {p}, D = {d}. Below which bound are the entries of a flattened table of locs?"
    return question(draw, text, right, (ckv_rows(c, p), c * d + p, c * d), because)


QUESTIONS = (_twice, _compacted, _too_large, _half_fixed, _alarm, _draft, _empty, _bound)
