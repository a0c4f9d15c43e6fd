"""Words the facts that may hold for a wrong answer to any part, whatever its reason (`judge.observed`, `judge.related`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.judge.judgement import Judgement
from dcplab.judge.related import Relation
from dcplab.present import kernel_slips
from dcplab.present.sentences import argument
from dcplab.present.values import short

# Facts about every case: id, sentence, question (empty: the part's).
PLAIN = {
    "nothing": (
        "stores-nothing",
        "Nothing was stored: {} is as it was in every case.",
        "Which line stores, where to, and does its mask let anything through?",
    ),
    "always": ("always-the-same", "It gives {} in every case.", "Which of the arguments must it depend on?"),
    "silent": ("returns-nothing", "It gives None in every case.", "Does every way through it end in a return?"),
    "argument": ("returns-argument", "It gives back {} as it got it.", ""),
    "missing": ("branch-missing", "Nothing comes back where {}.", "Which line is reached there, and does it return?"),
    "related": ("fact", "", ""),
}

# What a wrong value is, beside the right one. {0}, {1}: facts; {it} and {its}: the result.
_RELATED = {
    "more": "{it} is {0} too large",
    "less": "{it} is {0} too small",
    "times": "{it} is {0} times too large",
    "part": "{it} is {0} times too small",
    "divided": "{it} is the right one, divided by {0}",
    "rest": "{it} is the right one modulo {0}",
    "negative": "{it} has the wrong sign",
    "above": "{it} is too large",
    "below": "{it} is too small",
    "gives": "{it} is {0}",
    "constant": "{it} is {0}",
    "nan": "{it} is NaN",
    "unchanged": "{it} is that of `{0}`, unchanged",
    "taken": "each wrong entry of {it} is one of `{0}`, from another place",
    "none": "{it} is None",
    "for_none": "{it} is a value and None is right",
    "for": "{it} is {0} and {1} is right",
    "kind": "{it} is of the type {0} and not {1}",
    "kind_only": "{it} has the right values, as {0} and not as {1}",
    "dtype": "{it} has the right values, but its dtype is {0}{1}",
    "dtype_down": "{it} is right when rounded down, but its dtype is {0}{1}",
    "swapped": "its two results are swapped",
    "shape": "{it} has the right values in another shape",
    "reversed": "{it} has the right entries, the last one first",
    "sorted": "{it} has the right entries, but sorted",
    "order": "{it} has the right entries in another order",
    "order_in_rows": "{it} has the right entries in another order within the last axis",
    "empty": "{it} is empty",
    "ends_early": "{it} is right as far as it goes, and ends too early",
    "axis_ends_early": "{it} is right as far as it goes, and ends too early along its last axis",
    "axis_ends_late": "{it} begins right and then goes on too far along its last axis",
    "begins_late": "the beginning of {it} is missing, and the rest is right",
    "ends_late": "{it} begins right and then goes on too far",
    "begins_early": "{it} ends right, with too much before it",
    "some_missing": "entries of {it} are missing, those behind them have moved up, and no other is wrong",
    "some_more": "{it} has all right entries in order, and others between them",
    "some_missing_order": "entries of {it} are missing, and the rest is in another order",
    "some_more_order": "{it} has all right entries in another order, and others too",
    "begins_right": "{it} begins right and goes wrong later",
    "ends_right": "{it} ends right and is wrong before that",
    "too_short": "{it} has too few entries",
    "too_long": "{it} has too many entries",
    "moved": "the right values are stored in {it}, at wrong places",
    "misplaced": "each wrong value that was stored in {it} belongs to another place of it",
    "lacks_and_value": "some of what belongs into {it} is missing, and some is wrong",
    "lacks_and_extra": "{it} lacks some of what belongs there, and has something where nothing belongs",
    "stored_lacks": "what is stored in {it} is right, but some of it is missing",
    "stored_extra": "all that belongs into {it} is there, and more is stored where nothing belongs",
    "stored_value": "{it} was written at the right places, with wrong values",
    "wrong": "{it} is wrong and the rest is right",
}
_ENTRY_PLACES = {
    "all": "Where it fails, every entry of {it} is wrong",
    "where_right": "Of {it} only entries are wrong where {0} is right",
    "where_negative": "Of {it} only entries are wrong where `{0}` is negative",
    "where_equal": "Of {it} only entries are wrong where `{0}` is {1}",
    "last": "Of {it} only the last entry is wrong",
    "first": "Of {it} only the first entry is wrong",
    "not_first_row": "Of {it} the first row is always right and later ones are not",
}
_WHERE = {
    "is": "where `{0}` is {1}",
    "not": "where `{0}` is not {1}",
    "both": "where {0} and {1}",
    "more": "where `{0}` is more than {1}",
    "empty": "where `{0}` is empty",
    "negative": "where `{0}` has negative entries",
    "zero": "where `{0}` has a 0",
    "far": "where `{0}` has entries of 2^31 and more",
    "tensor": "where `{0}` is a tensor",
    "number": "where `{0}` is a number",
    "int32": "where `{0}` is int32",
    "int64": "where `{0}` is int64",
    "no_power": "where `{0}` is no power of two",
    "odd": "where `{0}` is odd",
    "no_multiple": "where `{0}` is no multiple of `{1}`",
    "multiple": "where `{0}` is a multiple of `{1}`",
    "equal": "where `{0}` equals `{1}`",
    "last": "where `{0}` is `{1}` - 1",
    "less": "where `{0}` is less than `{1}`",
    "strided": "where `{0}` is a strided view",
    "twice": "where `{0}` has an entry twice",
}
# What an exception's message means in an answer: part of the message, id, sentence. Triton and torch word them for others.
_MEANS = (
    (
        "bound inconsistent with step sign",
        "range-backwards",
        "The end of a range lies before its beginning: is a pair of parentheses missing?",
    ),
    (
        "stack expects each tensor to be equal size",
        "stack",
        "`torch.stack` lays pieces of one shape side by side, on a new axis; these differ in shape.",
    ),
    ("The shape of the mask", "mask-shape", "A mask must have the shape of what it selects from."),
    (
        "received an invalid combination of arguments",
        "arguments",
        "torch has no such call with these arguments in these places: name them, as in `dim=-1`.",
    ),
    ("split_with_sizes expects", "split-lengths", "The lengths do not add up to the number of what is split."),
    (
        "source and destination dtypes match",
        "store-dtype",
        "What is stored must have the dtype of the memory that it is stored in: `.to(...)` converts it.",
    ),
    (
        "Sizes of tensors must match except in dimension",
        "join-shapes",
        "Pieces that are joined must have one shape, but for the axis along which they are joined.",
    ),
    ("is invalid for input of size", "view-size", "There are more or fewer values than that shape has places."),
    ("is out of bounds for dimension", "beyond", "An index lies beyond the end of the axis that it is used for."),
    (
        "simultaneous multiple comparison",
        "no-parentheses",
        "`&` binds more tightly than a comparison: each condition needs parentheses of its own.",
    ),
    (
        "Boolean value of Tensor with more than one value",
        "one-bool",
        "A whole tensor is asked for one bool: by `if`, `and`, `or`, `not`, `a < b < c`, or by conditions without parentheses.",
    ),
    ("tensors used as indices must be", "index-dtype", "An index must be an integer tensor or a mask: `.long()` makes one."),
    (
        "only integer tensors of a single element can be converted to an index",
        "tensor-for-int",
        "A tensor stands where one int is asked for, as in a slice: `.item()` or `.tolist()` gives ints.",
    ),
    ("slice indices must be integers", "slice-of-float", "A slice needs ints: `/` gives a float, `//` an int."),
    (
        "'float' object cannot be interpreted as an integer",
        "float-for-int",
        "A float stands where an int is asked for: `/` gives a float, `//` an int.",
    ),
    (
        "Expected reduction dim",
        "largest-of-none",
        "An empty tensor has no largest and no smallest entry: that case needs an answer of its own.",
    ),
    (
        "'int' object is not iterable",
        "number-walked",
        "A number is walked like a list: `.tolist()` of a tensor without axes is one.",
    ),
    (
        "cannot unpack non-iterable",
        "one-of-several",
        "A single value comes where several are taken apart: is all returned that is asked for?",
    ),
    ("iteration over a 0-d tensor", "number-walked", "A tensor without axes has no entries to walk."),
    ("dimension specified as 0 but tensor has no dimensions", "no-axes", "A tensor without axes is asked for its axis 0."),
    (
        "The size of tensor a",
        "shapes-apart",
        "The shapes of two tensors do not go together, entry by entry: one of them may need a further axis, `[:, None]`.",
    ),
    (
        "Cannot make_shape_compatible",
        "shapes-apart",
        "The shapes of two blocks do not go together: rows need `[:, None]`, columns `[None, :]`.",
    ),
)
INSIDE = "`{}`, the course's own, cannot use what your line gives it: what does it take?"
_KINDS = {
    "changed": "changes what it may only read",
    "shares": "shares memory with an argument",
    "between": "writes between the elements of a view",
    "again": "reads an element more than once",
    "needless": "reads elements that the launch does not need",
}
_SIDES = {"before": "before the start of", "past": "past the end of"}
_SAID = ("none", "kind", "dtype")  # what the sentence on the displayed case says as well
_LITTLE = (
    "touches",
    "above",
    "below",
    "begins_right",
    "ends_right",
    "too_short",
    "too_long",
    "wrong",
    "lacks_and_extra",
    "lacks_and_value",
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def of_plain(what: str, fact: Any, names: Sequence[str]) -> str:
    """Describe a fact that holds for every case of an answer, or for every case that fails."""
    match what:
        case "nothing":
            fact = " and ".join(f"`{argument(which, names)}`" for which in fact)
        case "always":
            fact = short(fact)
        case "argument":
            fact = f"`{argument(fact, names)}`"
        case "missing":
            *others, last = map(_value, fact[1])
            fact = f"`{fact[0]}` is {', '.join(others)}{' or ' if others else ''}{last}"
        case "related":
            return f"{_of_relation(fact[0])}." if fact[0] and fact[0].what not in _SAID else ""
    return PLAIN[what][1].format(fact)


def leads(plain: tuple[str, Any] | None) -> bool:
    """Return True if a fact says more than the sentence on the displayed case does."""
    if plain is None or plain[0] != "related":
        return plain is not None
    relation = plain[1][0]
    if relation is None or relation.what in _SAID or relation.what in _LITTLE:
        return False
    return relation.what != "entries" or bool(relation.facts[0]) or relation.facts[1][0] not in _LITTLE


def besides(judgement: Judgement, first: str, names: Sequence[Sequence[str]]) -> list[str]:
    """Return the facts about all cases that the first sentence does not tell."""
    plain, shown = judgement.plain, judgement.shown
    told = of_plain(*plain, names[shown.number]) if plain and shown else ""
    return [told if told != first else "", of_condition(plain, _drawn(judgement))]


def _drawn(judgement: Judgement) -> str:
    """Name the cases that a condition speaks of: those of one function, where a part asks for several."""
    if len(judgement.alongside) == len(judgement.drawn.cases):
        return "cases drawn"
    case = judgement.drawn.cases[judgement.shown.number]
    return f"cases of `{getattr(case, 'call', '') or judgement.part.entry}`"


def of_condition(plain: tuple[str, Any] | None, drawn: str = "cases drawn") -> str:
    """Say which cases fail, if it is known. ``drawn``: what the cases are that it was found among."""
    where = plain[1][1] if plain and plain[0] == "related" else None
    return f"Of the {drawn} those fail {_of_where(where)}, and no others." if where else ""


def meaning(judgement: Judgement) -> tuple[str, str] | None:
    """Return the id and the meaning of the exception of the displayed case, or of Triton's refusal, if it is known."""
    shown, raised, slip = judgement.shown, judgement.refusal, None
    if not raised and shown.outcome == "crashed":
        raised = judgement.trial.records.get(shown.number, {}).get("raised") or {}
    if judgement.drawn.launches:
        source, endless = judgement.program.source, judgement.outcome == "timeout"
        slip = kernel_slips.of_raised(source, raised) if raised else kernel_slips.of_endless(source) if endless else None
    found = slip or of_raised(raised.get("message", ""))
    inside = raised.get("inside")
    if found and isinstance(inside, str) and inside.isidentifier():  # what torch says there is about the course's own line
        return "inside", INSIDE.format(inside)
    return found


def of_raised(message: str) -> tuple[str, str] | None:
    """Return the id and the meaning of an exception's message, if it is known."""
    return next(((identity, says) for part, identity, says in _MEANS if part in message), None)


def _of_relation(relation: Relation) -> str:
    if relation.what in ("right_but", "touches"):
        touched = " and ".join(dict.fromkeys(map(_of_access, relation.facts)))
        return f"Where it fails, {'its values are right, but ' if relation.what == 'right_but' else ''}it {touched}"
    it = "the result" if relation.which is None else _which(relation.which)
    if relation.what == "entries":
        return _of_entries(relation.facts[0], relation.facts[1], it)
    if relation.what == "stored_value" and relation.facts:
        told = _of_entries(relation.facts[0], relation.facts[1], it)
        return f"{it[0].upper()}{it[1:]} was written at the right places with wrong values. {told}"
    facts = [_value(fact) if relation.what == "for" else _word(fact) for fact in relation.facts]
    if relation.what in ("dtype", "dtype_down"):
        mine, right = (str(dtype).removeprefix("torch.") for dtype in relation.facts)
        facts = [mine, "" if right == "None" else f" and not {right}"]
    only = ", and the rest is right" if relation.alone and relation.what != "wrong" else ""
    where = "Where it gives a wrong result" if relation.raises else "Where it is wrong"
    return f"{where}, {_RELATED[relation.what].format(*facts, it=it)}{only}"


def _of_access(access: tuple) -> str:
    kind, *more = access
    if kind != "outside":
        return _KINDS.get(kind, "touches what it must not")
    op, side, buffer = more
    verb = {"load": "reads", "store": "writes"}.get(op, "updates")
    return f"{verb} {_SIDES[side]} `{buffer}`"


def _of_entries(place: tuple | None, value: tuple | None, it: str) -> str:
    if place is not None and value is None:
        return _ENTRY_PLACES[place[0]].format(*map(_word, place[1]), it=it)
    if place is None or value is None:  # one of the two is known
        assert value is not None
        return _RELATED[value[0]].format(*map(_word, value[1]), it=f"Each wrong entry of {it}")
    each = _RELATED[value[0]].format(*map(_word, value[1]), it="each")
    return f"{_ENTRY_PLACES[place[0]].format(*map(_word, place[1]), it=it)}: {each}"


def _of_where(where: tuple) -> str:
    what, *facts = where
    if what == "both":
        return " and ".join([_of_where(facts[0]), _of_where(facts[1]).removeprefix("where ")])
    values = map(_value, facts[1:]) if what in ("is", "not") else facts[1:]  # else a name, or a number
    return _WHERE[what].format(facts[0], *values)


def _which(which: int | str) -> str:
    return (
        f"`{which}`" if isinstance(which, str) else f"its {_ORDINALS[which]} result" if which < 6 else f"its result {which + 1}"
    )


def _word(fact: Any) -> str:
    """Leave words as they are; floats that are whole are told as ints."""
    if isinstance(fact, float):
        return f"{fact:g}"
    return fact if isinstance(fact, str) else str(fact)


def _value(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
