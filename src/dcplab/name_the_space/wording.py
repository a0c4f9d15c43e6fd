"""Reads an answer about a snippet, and words what is wrong with it: never what is right."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcplab.codec import Other
from dcplab.name_the_space.drawing import Snippet
from dcplab.name_the_space.typing import (
    ALLOCATOR_PAGE,
    BYTE,
    ELEMENT,
    FLOAT,
    GATHERED,
    LOC,
    PAGES,
    POSITION,
    RAGGED,
    RANK,
    REQUEST,
    ROW,
    SENT,
    SRC_LOC,
    SRC_RANK,
    SRC_ROW,
    TOKEN,
)
from dcplab.name_the_space.words import CALLED

_ALSO = {
    "page of row": ALLOCATOR_PAGE, "widened page": ALLOCATOR_PAGE, "allocator's page": ALLOCATOR_PAGE, "owner": RANK,
    "ragged": RAGGED, "ragged indice": RAGGED, "gathered": GATHERED, "fp32": FLOAT, "sender": SRC_RANK,
}  # fmt: skip
_NUMBERS = {5: "five", 6: "six", 7: "seven", 8: "eight"}
_NONE = {"none", "no", "-"}
MOST = 100  # characters of an answer that are read


@dataclass(frozen=True)
class Said:
    """What an answer says: a space's word (None: no word of the list, and ``word`` is what stood there), and a line."""

    space: str | None
    line: int | None
    word: str


def parse(answer: object) -> Said | None:
    """Read ``"row, 3"``, also as a pair, in the plural or with "line" before the number. None: nothing is said yet."""
    text = as_text(answer)
    found = re.fullmatch(r"(.*?)[\s,;:]*\b(?:line\s*)?(\d{1,3}|none|no)?", text.strip().lower())
    if answer is None or found is None or "?" in text or not text.strip():
        return None
    word = " ".join(found[1].replace("_", " ").replace("-", " ").split()).rstrip(",;: ")
    line = None if found[2] is None else 0 if found[2] in _NONE else int(found[2])
    known = {_plain(space): space for space in CALLED} | _ALSO
    return Said(known.get(_plain(word)), line, word)


def as_text(answer: object) -> str:
    """Return the beginning of an answer as text: a stranger's, which is read in the grader's own process."""
    parts = answer[:4] if isinstance(answer, tuple | list) else [answer]
    return ", ".join(part.text if isinstance(part, Other) else str(part)[:MOST] for part in parts)[:MOST]


def _plain(word: str) -> str:
    return word.lower().replace("-", " ").removesuffix("s")


def not_right(answer: object, snippet: Snippet) -> tuple[str, ...]:
    """Return which of the two, "space" and "line", are not right."""
    said = parse(answer)
    if said is None:
        return ("space", "line")
    marks = ("space", said.space == snippet.space), ("line", said.line == snippet.line)
    return tuple(half for half, right in marks if not right)


def name_of_the_mistake(n: int, answer: object, snippet: Snippet) -> str | None:
    """Return one sentence on the answer to snippet ``n``, or None where both halves are right."""
    told = reasons(answer, snippet)
    return f"Snippet {n}{told[0]}" if told else None


def reasons(answer: object, snippet: Snippet) -> list[str]:
    """Return why an answer is not right, a clause for each half of it that is not."""
    said = parse(answer)
    if said is None:
        return [" is not answered yet: a space and a line, as in 'row, 3'."]
    if said.line is None:
        return [": the line is missing; 0 if none mixes two spaces."]
    if said.space not in snippet.spaces:
        return [f", space: {said.word[:20]!r} is none of the {_NUMBERS[len(snippet.spaces)]} words."]
    told = [f", space: {_space(said.space, snippet)}"] if said.space != snippet.space else []
    return told + [f", line: {_line(said.line, snippet)}"] * (said.line != snippet.line)


def _space(said: str, snippet: Snippet) -> str:
    right = snippet.space
    if said == snippet.lies:
        return "that is what its name says; where does it come from?"
    if {said, right} == PAGES:
        return "it is a page of the other kind; how wide is this one?"
    if (right, said) in _PAIRS:
        return _PAIRS[right, said]
    for one, says in (({RANK, SRC_RANK}, _WHO), ({REQUEST}, _WHOSE), (PAGES, _GROUPS)):
        if right in one or said in one:
            return says[right not in one]
    return f"it does not count {_COUNTS[said]}."


# What is said where the right space is one of these, and where the answer is.
_GROUPS = "it counts whole pages, not what lies in them one by one.", "it counts what lies in a page, one by one, not pages."
_WHO = "it says who, and not where.", "it says where, and not who."
_WHOSE = "it says whose, and not which token.", "it says which token, and not whose."
_PAIRS = {  # right, said
    (LOC, ROW): "it counts slots of all ranks, not of one.",
    (ROW, LOC): "it counts within one rank, not over all of them.",
    (POSITION, LOC): "no table has told yet where that token is stored.",
    (LOC, POSITION): "a table has told already where that token is stored.",
    (TOKEN, LOC): "no table has told yet where that token is stored.",
    (LOC, TOKEN): "a table has told already where that token is stored.",
    (POSITION, ROW): "it counts tokens of a request, not places in a pool.",
    (ROW, POSITION): "it counts places in a pool, not tokens of a request.",
    (TOKEN, POSITION): "it counts through the whole step, not through one request.",
    (POSITION, TOKEN): "it counts through one request, not through the whole step.",
    (ELEMENT, ROW): "it has been multiplied since it was that.",
    (ROW, ELEMENT): "nothing has multiplied it yet.",
    (BYTE, FLOAT): "nothing has divided it by the bytes of a float yet.",
    (FLOAT, BYTE): "it has been divided by the bytes of a float.",
    (RAGGED, POSITION): "it counts places of the workspace, not tokens of one request.",
    (POSITION, RAGGED): "no start of a request stands before it.",
    (RAGGED, TOKEN): "it counts cached tokens too, not new ones only.",
    (TOKEN, RAGGED): "it counts new tokens only, not cached ones.",
    (GATHERED, ROW): "it says where a token lies after the gather, not before.",
    (ROW, GATHERED): "it says where a token lies before the gather, not after.",
    (SRC_LOC, LOC): "it counts slots of the node that sends.",
    (LOC, SRC_LOC): "it counts slots of the node that receives.",
    (SRC_ROW, ROW): "it counts rows of the node that sends.",
    (ROW, SRC_ROW): "it counts rows of the node that receives.",
    (SRC_RANK, RANK): "it says who sends, and not who receives.",
    (RANK, SRC_RANK): "it says who receives, and not who sends.",
    (SRC_LOC, SRC_ROW): "it counts slots of all ranks, not of one.",
    (SRC_ROW, SRC_LOC): "it counts within one rank, not over all of them.",
    (SENT, SRC_ROW): "it says where a token lies in a message, not in a pool.",
    (SRC_ROW, SENT): "it says where a token lies in a pool, not in a message.",
    (SENT, POSITION): "it counts what one rank sends, not a whole request.",
    (POSITION, SENT): "it counts tokens of a request, not those that one rank sends.",
}
_COUNTS = {
    POSITION: "tokens of a request",
    LOC: "slots of all ranks",
    ROW: "rows of a pool",
    BYTE: "bytes",
    FLOAT: "floats",
    TOKEN: "tokens of the step",
    ELEMENT: "numbers of a pool",
    RAGGED: "places of the workspace",
    GATHERED: "rows of a shard",
    SRC_LOC: "slots of the node that sends",
    SRC_ROW: "rows of the sender's pool",
    SENT: "rows of a message",
}


def _line(said: int, snippet: Snippet) -> str:
    if said > len(snippet.lines):
        return f"it has {len(snippet.lines)} lines."
    if snippet.line == 0:
        return "each index on that line is in the space asked for."
    if said == 0:
        return "one of them takes another space than it is given."
    if said < snippet.line:
        return "that one is in order still; two spaces meet after it."
    return "two spaces meet before that one."
