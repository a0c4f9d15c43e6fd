"""Draws eight snippets from a seed: which templates, with a slip or without, in whose words, in which order of lines.

What is right about a snippet is read from its own text by `typing`, after every name has been replaced.
"""

from __future__ import annotations

import ast
import functools
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcplab.name_the_space import matters, typing
from dcplab.name_the_space.typing import Bound, Call, Index, Store, Type
from dcplab.name_the_space.words import (
    CALLED,
    COUNTED,
    HOUSES,
    NO_COUNT,
    NO_INDEX,
    ON_THE_WAY,
    SAYS_NOTHING,
    Matter,
    Name,
    Template,
)

COUNT = 8
SIZES = ((2, 16), (2, 64), (3, 16), (4, 32), (4, 64), (6, 16), (8, 64))  # D and P, where they are written as numbers
MOST_A_SPACE, FEWEST_SPACES, MOST_A_LINE, LYING = 2, 5, 3, 4


@dataclass(frozen=True)
class Snippet:
    """A few lines, and what is asked about them. ``given``: (code, words) of each name that it does not make. ``asked``: the
    index, as it stands in line ``at``. ``space`` and ``line`` are what is right; ``lies``: the space that the index's name
    says, where it is in another."""

    house: str
    template: str
    lines: tuple[str, ...]
    given: tuple[tuple[str, str], ...]
    asked: str
    at: int
    space: str
    line: int
    lies: str | None
    spaces: tuple[str, ...]  # that the part asks for


@dataclass(frozen=True)
class _Chosen:
    template: Template
    lines: tuple[str, ...]
    asked: str
    at: int
    space: str
    line: int


@functools.lru_cache(maxsize=32)
def draw(part: str, seed: int) -> tuple[Snippet, ...]:
    """Return the eight snippets of a part for a seed: the same on every machine."""
    r, matter = random.Random(f"name the space {part} {seed}"), matters.of(part)
    while True:
        chosen = _choose(r, matter)
        if not chosen:
            continue
        houses = r.sample([house for house in HOUSES for _ in range(3)], COUNT)
        drawn = tuple(_dressed(r, matter, one, house) for one, house in zip(chosen, houses, strict=True))
        if len(set(houses)) == len(HOUSES) and sum(s.lies is not None for s in drawn) >= LYING:
            return drawn


def _choose(r: random.Random, matter: Matter) -> list[_Chosen]:
    """Choose eight templates, and a question for each, so that no answer is right often. An empty list: it did not work out."""
    clean = r.choice((2, 3))
    flags = r.sample([True] * clean + [False] * (COUNT - clean), COUNT)
    spaces: Counter[str] = Counter()
    chosen: list[_Chosen] = []
    for template, right in zip(r.sample(matter.templates, COUNT), flags, strict=True):
        written = list(template.lines)
        if not right:
            number, slip = r.choice(template.slips)
            written[number - 1] = slip
        lines = tuple(reordered(r, written))
        found = reading(matter, lines)
        options = [one for one in askable(matter, lines) if spaces[one[2]] < MOST_A_SPACE]
        if not options:
            return []
        at, asked, space = r.choice([one for one in options if spaces[one[2]] == min(spaces[o[2]] for o in options)])
        spaces[space] += 1
        chosen.append(_Chosen(template, lines, asked, at, space, found.line))
    lines_at = Counter(one.line for one in chosen)
    return chosen if len(spaces) >= FEWEST_SPACES and max(lines_at.values()) <= MOST_A_LINE else []


@functools.cache
def reading(matter: Matter, lines: tuple[str, ...]) -> typing.Reading:
    """Read the lines of a template, in its own names."""
    return typing.read("\n".join(lines), matter.types)


@functools.cache
def askable(matter: Matter, lines: tuple[str, ...]) -> tuple[tuple[int, str, str], ...]:
    """List the indices that a learner may be asked for, as (line, text, space): what the lines themselves make."""
    used, types = dict.fromkeys(reading(matter, lines).used), matter.types
    return tuple((at, text, space) for at, text, space in used if space in matter.spaces and _made_here(text, types))


def _made_here(text: str, types: Mapping[str, Type]) -> bool:
    """Tell if an index is computed in the lines, or is one of their names: what is given needs no thought."""
    node: ast.expr = ast.parse(text, mode="eval").body
    while isinstance(node, ast.Subscript | ast.Call | ast.Attribute):  # x[mask], x.max()
        node = node.func if isinstance(node, ast.Call) else node.value
    return not (isinstance(node, ast.Name) and node.id in types and not isinstance(types[node.id], Store))


def reordered(r: random.Random, lines: Sequence[str]) -> list[str]:
    """Exchange some neighbours of which neither needs the other."""
    lines = list(lines)
    for i in range(len(lines) - 1):
        (makes, needs), (makes_too, needs_too) = map(_names, lines[i : i + 2])
        if not (makes & (needs_too | makes_too) or makes_too & needs) and r.random() < 0.5:
            lines[i], lines[i + 1] = lines[i + 1], lines[i]
    return lines


def _names(line: str) -> tuple[set[str], set[str]]:
    """Return the names that a line makes or changes, and those that it needs."""
    statement = ast.parse(line).body[0]
    names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        return {"free", "refs"}, names  # a call has effects
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    return {next(n.id for n in ast.walk(target) if isinstance(n, ast.Name))}, names


def _dressed(r: random.Random, matter: Matter, chosen: _Chosen, house: str) -> Snippet:
    """Put a house's names, and other ones for what the lines make, in the place of the template's."""
    given = matter.given
    words = {name: one.at(house) for name, one in given.items()}
    types = reading(matter, chosen.lines).names
    own = _own_names(r, matter, chosen, {name: types[name] for name in types if name not in given})
    numbers = r.choice(SIZES) if r.random() < 0.35 else None
    renamed = dict(words) | own
    lines, asked = [*chosen.lines], chosen.asked
    if numbers:
        d, p = numbers
        lines, asked = [_multiplied(line, p * d) for line in lines], _multiplied(asked, p * d)
        renamed |= {"D": str(d), "P": str(p)}
    lines = [_replaced(line, renamed) for line in lines]
    found = typing.read(
        "\n".join(lines),
        {words[name]: kind for name, kind in matter.types.items()},
        {numbers[0]: typing.D, numbers[1]: typing.P, numbers[0] * numbers[1]: typing.W} if numbers else None,
    )
    asked = _replaced(asked, renamed)
    space = next(space for at, text, space in found.used if (at, text) == (chosen.at, ast.unparse(ast.parse(asked))))
    says = next((s for called in (CALLED, COUNTED) for s, names in called.items() if asked in names), None)
    return Snippet(
        house=house,
        template=chosen.template.name,
        lines=tuple(lines),
        given=_given(chosen.lines, given, house, numbers),
        asked=asked,
        at=chosen.at,
        space=space,
        line=found.line,
        lies=says if says != space else None,
        spaces=matter.spaces,
    )


def _multiplied(text: str, width: int) -> str:
    return re.sub(r"(?<!\w)\((\d+)\)", r"\1", text.replace("P * D", str(width)))


def _replaced(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"(?<![.\w])[a-zA-Z_]\w*", lambda m: names.get(m[0], m[0]), text)


def _own_names(r: random.Random, matter: Matter, chosen: _Chosen, types: Mapping[str, Type]) -> dict[str, str]:
    """Name what the lines make: rightly, in a way that says nothing, or by another space. What is asked for lies more often."""
    names: dict[str, str] = {}
    pool: Sequence[str]
    for name, kind in types.items():
        if isinstance(kind, Index | Bound) and kind.space in matter.spaces:
            called, nothing = (CALLED, SAYS_NOTHING) if isinstance(kind, Index) else (COUNTED, NO_COUNT)
            chance = r.random()
            lie = r.choice([s for s in matter.spaces if s != kind.space and s in called])
            liar = 0.75 if name == chosen.asked else 0.3
            pool = called[lie] if chance < liar else nothing if chance < liar + 0.12 else called[kind.space]
        elif isinstance(kind, Index):
            pool = ON_THE_WAY
        else:
            pool = NO_INDEX[typing.MASK if kind == typing.MASK else typing.VALUES]
        names[name] = r.choice([one for one in pool if one not in names.values()])
    return names


def _given(
    lines: Sequence[str], given: Mapping[str, Name], house: str, numbers: tuple[int, int] | None
) -> tuple[tuple[str, str], ...]:
    """Say of each name that is given what it is, in the course's words, in order of appearance."""
    order = dict.fromkeys(n for line in lines for n in re.findall(r"(?<![.\w])[a-zA-Z_]\w*", line) if n in given)
    said = [(_shown(given[n].at(house), given[n].kind), given[n].words) for n in order if given[n].words and n not in "DP"]
    if numbers:
        d, p = numbers
        return *said, (str(d), "is D"), (str(p), "is P"), (str(d * p), "is W")
    return *said, *((given[name].at(house), given[name].words) for name in "DP" if name in order)


def _shown(name: str, kind: Type) -> str:
    match kind:
        case Store(keys):
            return f"{name}[{', '.join(keys)}]"
        case Call(takes):
            return f"{name}({', '.join(space or 'query' for space in takes)})"
    return name
