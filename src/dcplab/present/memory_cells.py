"""Turns one launch of a kernel into cells: each buffer's contents, and which program read or wrote which of its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import torch

from dcplab.course.cells import DrawnCell, Strip
from dcplab.course.model import Launch, Shows, Unit
from dcplab.present.value_cells import BLANK, VECTORS, Surroundings, cell, filled

Access = tuple[str, str, Sequence[int], Sequence[Sequence[int]]]  # "r" or "w", buffer, program, (first element, how many) each

MATRIX = 4  # programs that have a line each; more stand in the cells of one line
REST = DrawnCell("the rest is as it was", "quiet")
WORDS = {("r",): "read", ("w",): "write", ("r", "w"): "both"}
Program = tuple[int, ...]


def groups(
    shows: Shows, case: Launch, expected: Mapping[str, torch.Tensor], got: Any, accesses: Sequence[Access]
) -> list[tuple[Strip, ...]]:
    """Return the strips of each buffer that is shown: its cells' names, the programs that touched them, what it holds.

    Of a buffer in pieces, those are left out which no program touched and in which nothing is due.
    """
    said = shows.units(case) if shows.units else {}
    pieces = {name: given for name, given in said.items() if isinstance(given, Mapping)}
    whole = {name: list(given) for name, given in said.items() if not isinstance(given, Mapping)}
    units = {name: _units(buffer) for name, buffer in case.buffers.items()} | whole
    units |= {name: [unit for piece in given.values() for unit in piece] for name, given in pieces.items()}
    around = Surroundings.of(case.constexprs.get("DCP_SIZE"), case.constexprs.get("DCP_RANK"), _known(case, units))
    seen = _seen(accesses, len(case.grid))
    programs = sorted({program for _, program in seen})
    found = []
    for name in [*(n for n in shows.given if n in case.buffers), *case.writes]:
        space = shows.result if name in case.writes else shows.given[name]
        cells = units[name]
        before = _entries(case.buffers[name], cells, space)
        if name in case.writes:
            mine = got.get(name) if isinstance(got, dict) else None
            came = _entries(mine, cells, space) if _like(mine, case.buffers[name]) else None
            holds = filled(space, _entries(expected[name], cells, space), came, around, before)
        else:
            holds = [cell(space, entry, around) for entry in before]
        size = case.buffers[name].numel()
        sides = _outside(seen, name, size)
        shown = [unit for unit in (sides[0], *cells, sides[1]) if unit is not None]
        extra = [BLANK] * bool(sides[0]), [BLANK] * bool(sides[1])
        here = [program for program in programs if (name, program) in seen]
        lines = [Strip(name, tuple(DrawnCell(label, "header") for *_, label in shown))]
        lines += _matrix(shown, seen, name, here, size) if len(here) <= MATRIX else [_line(shown, seen, name, here)]
        lines += [Strip("yours" if name in case.writes else "holds", (*extra[0], *holds, *extra[1]))]
        lengths = {label: len(piece) for label, piece in pieces.get(name, {}).items()}
        outside = [{"before it": 1} if sides[0] else {}, {"past it": 1} if sides[1] else {}]
        found += _cut(lines, outside[0] | lengths | outside[1]) if lengths else [tuple(lines)]
    return found


def _cut(lines: Sequence[Strip], lengths: Mapping[str, int]) -> list[tuple[Strip, ...]]:
    """Cut the strips of a buffer into its pieces, each under its own name. What nobody touched is told in one cell."""
    found, start, left = [], 0, False
    for label, length in lengths.items():
        cells = [strip.cells[start : start + length] for strip in lines]
        start += length
        did = [i for i in range(1, len(lines) - 1) if any(cell.text for cell in cells[i])]
        if not did and not any(cell.text or cell.right is not None for cell in cells[-1]):
            left = True
            continue
        names = [label, *(strip.label for strip in lines[1:])]
        found.append(tuple(Strip(names[i], cells[i]) for i in (0, *did, len(lines) - 1)))
    return [*found, (Strip(lines[0].label, (REST,)),)] if left or not found else found


def _units(buffer: torch.Tensor) -> list[Unit]:
    """Make one cell an element, or a row of two dimensions."""
    if buffer.dim() < 2:
        return [(i, 1, str(i)) for i in range(buffer.numel())]
    width = buffer.numel() // max(1, len(buffer))
    return [(i * width, width, str(i)) for i in range(len(buffer))]


def _entries(buffer: torch.Tensor, units: Sequence[Unit], space: str) -> list:
    values = (buffer.double() if buffer.dtype.is_floating_point else buffer).reshape(-1).tolist()
    return [values[a : a + n] if n > 1 or space in VECTORS else values[a] for a, n, _ in units]


def _like(mine: Any, buffer: torch.Tensor) -> TypeGuard[torch.Tensor]:
    return isinstance(mine, torch.Tensor) and mine.numel() == buffer.numel()


def _known(case: Launch, units: Mapping[str, Sequence[Unit]]) -> dict[tuple[float, ...], str]:
    """Name the contents of the buffers that are only read: by their values, and by their bytes, as memory of bytes has them."""
    found: dict[tuple[float, ...], str] = {}
    for name, buffer in case.buffers.items():
        if name in case.writes:
            continue
        flat = buffer.reshape(-1)
        for start, count, label in units[name]:
            piece = flat[start : start + count]
            found.setdefault(tuple(piece.double().tolist()), f"{name} {label}")
            if buffer.dtype.itemsize > 1:
                found.setdefault(tuple(map(float, piece.view(torch.uint8).tolist())), f"{name} {label}")
    return found


def _seen(accesses: Sequence[Access], deep: int) -> dict[tuple[str, Program], dict[str, list[tuple[int, int]]]]:
    """Sort accesses: by buffer and program, then by operation. ``deep``: the grid's dimensions."""
    found: dict[tuple[str, Program], dict[str, list[tuple[int, int]]]] = {}
    for op, name, program, runs in accesses:
        mine = found.setdefault((str(name), tuple(map(int, program[:deep]))), {})
        mine.setdefault("w" if op == "w" else "r", []).extend((int(start), int(count)) for start, count in runs)
    return found


def _outside(seen: Mapping, name: str, size: int) -> list[Unit | None]:
    """Return a cell for the memory before a buffer and one for that behind it, where a program touched any."""
    runs = [run for (buffer, _), ops in seen.items() if buffer == name for op in ops.values() for run in op]
    first, last = min((a for a, _ in runs), default=0), max((a + n for a, n in runs), default=0)
    return [(first, -first, "before") if first < 0 else None, (size, last - size, "past it") if last > size else None]


def _touched(ops: Mapping[str, Sequence[tuple[int, int]]], unit: Unit) -> tuple[str, ...]:
    start, count, _ = unit
    return tuple(op for op in "rw" if any(a < start + count and start < a + n for a, n in ops.get(op, ())))


def _matrix(shown: Sequence[Unit], seen: Mapping, name: str, here: Sequence[Program], size: int) -> list[Strip]:
    """Draw a line a program: what it did to each cell."""
    lines = []
    for i, program in enumerate(here):
        did = [(unit, WORDS.get(_touched(seen[name, program], unit), "")) for unit in shown]
        cells = (
            DrawnCell(word, f"request{i % 4}" if word else "yes", right="" if word and not 0 <= unit[0] < size else None)
            for unit, word in did
        )
        lines.append(Strip(_program(program), tuple(cells)))
    return lines


def _line(shown: Sequence[Unit], seen: Mapping, name: str, here: Sequence[Program]) -> Strip:
    """Draw one line for all programs: whose they are that touched each cell."""
    which = [[program for program in here if _touched(seen[name, program], unit)] for unit in shown]
    texts = [" ".join(_number(p) for p in those[:3]) + (" ..." if len(those) > 3 else "") for those in which]
    return Strip("programs", tuple(DrawnCell(text, "request0" if text else "yes") for text in texts))


def _program(program: Program) -> str:
    return f"program {_number(program)}"


def _number(program: Program) -> str:
    return str(program[0]) if len(program) == 1 else f"({','.join(map(str, program))})"
