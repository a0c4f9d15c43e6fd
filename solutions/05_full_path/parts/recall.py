"""Lab 05 asks on what came before: of each lab the idea that a patch of the incident is about."""

from __future__ import annotations

from itertools import accumulate

from dcplab.course.model import Prediction
from dcplab.course.recall import question
from dcplab.course.seeded import Draw
from dcplab.engine.index_spaces import loc_slots, local_row, owner_rank


def _ragged(draw: Draw) -> Prediction:
    lens = [draw.int(3, 9) for _ in range(3)]
    request = draw.int(1, 2)
    position = draw.int(0, lens[request] - 1)
    starts = [0, *accumulate(lens)]
    right = starts[request] + position
    because = f"Request {request} begins at {starts[request]}; position {position} is {right}."
    text = f"Requests 0, 1 and 2, of {', '.join(map(str, lens))} tokens, lie end to end. Which ragged index has position "
    text += f"{position} of request {request}?"
    return question(draw, text, right, (position, starts[request], starts[request + 1] + position, right + 1), because)


def _shard(draw: Draw) -> Prediction:
    d, position = draw.int(3, 5), draw.int(10, 40)
    right = f"shard {owner_rank(position, d)}, row {local_row(position, d)}"
    wrong = (f"shard {local_row(position, d) % d}, row {owner_rank(position, d)}", f"shard 0, row {position}",
             f"shard {owner_rank(position, d)}, row {position}")  # fmt: skip
    because = f"{position} % {d} and {position} // {d}: the ranks take turns by position too, since a request begins on a page."
    text = f"{d} ranks; a prefix that begins at position 0 is gathered. Where is its position {position}?"
    return question(draw, text, right, wrong, because)


def _transform(draw: Draw) -> Prediction:
    because = "Extend on a sharded pool reads the workspace, which is addressed by ragged index. Decode reads its own rows."
    text = "Which transform of top-k does an extend on a sharded pool need?"
    return question(draw, text, "RAGGED", ("PAGED", "both", "none"), because)


def _merge(draw: Draw) -> Prediction:
    because = "Extend has every key in its workspace. Decode has partial results on D ranks, and merges them by their LSE."
    text = "After which of the two are the ranks' outputs merged?"
    return question(draw, text, "decode", ("extend", "both", "neither"), because)


def _short(draw: Draw) -> Prediction:
    p, d = draw.choice((16, 32, 64)), draw.choice((2, 4, 8))
    c = p * draw.int(20, 90)
    right = loc_slots(c, p, d) - (c * d + p)
    because = f"Legal locs need (C + P) * D slots, so (D - 1) * P = {right} are missing: the end of the last allocator page."
    text = f"P = {p}, D = {d}; P divides C. By how many slots is an index-K of C * D + P too small?"
    return question(draw, text, right, (0, p, d * p), because)


def _row_for_another(draw: Draw) -> Prediction:
    d, row = draw.int(3, 6), draw.int(8, 30)
    text = f"{d} ranks. How many different tokens of one pool have the row number {row}?"
    because = f"A row is a row of some rank, and each of the {d} ranks has one of that number."
    return question(draw, text, d, (1, row, d * row), because)


def _space(draw: Draw) -> Prediction:
    because = "The indexer scores a request's tokens: it picks positions, until a table has told where they are stored."
    text = "In which space are the numbers that top-k gives, before any transform?"
    return question(draw, text, "position", ("loc", "row", "ragged index"), because)


def _witness(draw: Draw) -> Prediction:
    text = "Every rank holds every key. When can one see it?"
    because = "The keys are too many and the LSE is too large from the first token on. Answers stay right for a while."
    wrong = ("at the first wrong word", "above the watermark", "never")
    return question(draw, text, "at the first token", wrong, because)


QUESTIONS = (_ragged, _shard, _transform, _merge, _short, _row_for_another, _space, _witness)
