"""Lab 03 asks on what came before: lab 01's owners and rows, lab 02's sizes."""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.course.recall import question
from dcplab.course.seeded import Draw
from dcplab.engine.index_spaces import ckv_rows, largest_loc, loc_slots, local_row, localize, owner_rank


def _server(draw: Draw) -> tuple[int, int, int]:
    """C, P and D of a small server; P divides C."""
    p = draw.choice((4, 8))
    return p * draw.int(4, 9), p, draw.choice((2, 3, 4))


def _where_and_who(draw: Draw) -> Prediction:
    d, loc = draw.int(3, 7), draw.int(40, 99)
    rank, row = owner_rank(loc, d), local_row(loc, d)
    wrong = (f"rank {row % d}, row {rank}", f"rank {rank}, row {loc}", f"rank {(rank + 1) % d}, row {row}")
    because = f"{loc} % {d} is {rank}, {loc} // {d} is {row}."
    return question(draw, f"{d} ranks. Who keeps loc {loc}, and where?", f"rank {rank}, row {row}", wrong, because)


def _largest(draw: Draw) -> Prediction:
    c, p, d = _server(draw)
    right = largest_loc(c, p, d)
    because = f"Page 0 is never issued, so the last page is C // P = {c // p}: ({c // p} + 1) * {p * d} - 1."
    text = f"C = {c}, P = {p}, D = {d}. Which is the largest loc that the allocator can issue?"
    return question(draw, text, right, (c * d - 1, c * d + p - 1, c + p - 1), because)


def _first_out(draw: Draw) -> Prediction:
    c, p, d = _server(draw)
    right = ckv_rows(c, p)
    because = f"c-KV has C + P = {right} rows, 0 to {right - 1}."
    text = f"C = {c}, P = {p}, D = {d}. A write takes locs for rows. Which is the first loc that falls outside c-KV?"
    return question(draw, text, right, (c, right * d, c * d), because)


def _slots(draw: Draw) -> Prediction:
    c, p, d = _server(draw)
    right = loc_slots(c, p, d)
    because = f"A slot for each loc up to {right - 1}. C * D + P, the published fix, is {right - c * d - p} short."
    text = f"C = {c}, P = {p}, D = {d}. How many slots must index-K have on each rank?"
    return question(draw, text, right, (c * d + p, c + p, c * d), because)


def _draft(draw: Draw) -> Prediction:
    d = draw.choice((3, 4, 8))
    because = "A draft's pool is whole on every rank: it is read by loc, and has a row for each."
    text = f"{d} ranks. How many times a rank's share of c-KV must a draft's pool hold?"
    return question(draw, text, d, (1, d - 1, d * d), because)


def _watermark(draw: Draw) -> Prediction:
    because = "Freed pages come back first there, so only pages that somebody holds push the largest live loc up."
    wrong = ("the number of requests served", "the number of tokens served", "the length of the longest answer")
    return question(draw, "What makes the watermark of the report's server rise?", "pages that stay held", wrong, because)


def _mine(draw: Draw) -> Prediction:
    d, rank = draw.int(3, 5), draw.int(0, 2)
    locs = draw.sample(range(16, 60), 6)
    right = sum(localize(loc, rank, d) >= 0 for loc in locs)
    because = f"Those with loc % {d} == {rank}: {', '.join(str(loc) for loc in locs if loc % d == rank) or 'none'}."
    text = f"{d} ranks, locs {', '.join(map(str, locs))}. How many of them does rank {rank} own?"
    return question(draw, text, right, [n for n in (right + 1, right + 2, right - 1, 6) if n >= 0], because)


QUESTIONS = (_where_and_who, _largest, _first_out, _slots, _draft, _watermark, _mine)
