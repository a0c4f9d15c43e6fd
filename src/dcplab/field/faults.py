"""Faults of two servers, each of the kind of a public report, planted as an edit of one place in a checkout.

They are data, in ``catalogue/*.toml``; the comments there say what each field is. A fault is planted as source: nothing in a
checkout says that there is one.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcplab import files
from dcplab.field import checkout, outcome
from dcplab.field import traffic as drawn
from dcplab.field.outcome import ServedOutcome

CATALOGUE = Path(__file__).with_name("catalogue")
SEEDS = (1, 2, 3)  # of the traffic under which each fault must show


@dataclass(frozen=True)
class Edit:
    """Replaces ``before``, which stands once in ``file`` of a checkout, by ``after``."""

    file: str
    before: str
    after: str

    def made(self, contents: Mapping[str, str]) -> dict[str, str]:
        """Return a checkout's files with the edit. LookupError where the anchor is not there exactly once."""
        text = contents.get(self.file, "")
        if (times := text.count(self.before)) != 1:
            raise LookupError(f"{self.file} holds {times} times, and not once: {self.before!r}")
        return {**contents, self.file: text.replace(self.before, self.after)}

    @property
    def undone(self) -> Edit:
        return Edit(self.file, self.after, self.before)


@dataclass(frozen=True)
class PlantedFault:
    """One fault. ``index``: which index is wrong, by its name in the source; it was in the space ``was`` and ``expected`` is
    read there (both of `spaces`); ``also``: other names of that number there. ``report``: what a user writes. ``about``: what
    is wrong, for whoever grades."""

    id: str
    kind: str
    house: str
    edit: Edit
    index: str
    was: str
    expected: str
    source: str
    report: str
    about: str
    shape: Mapping[str, Any]
    decoys: Sequence[Edit]
    also: Sequence[str] = ()

    @property
    def patch(self) -> Edit:
        """The true patch."""
        return self.edit.undone

    @property
    def line(self) -> int:
        """The first line, from 1, of the place in the planted checkout."""
        text = self.edit.made(checkout.files(self.house))[self.edit.file]
        same = next((i for i, (a, b) in enumerate(zip(self.edit.before, self.edit.after, strict=False)) if a != b), 0)
        return text[: text.index(self.edit.after) + same].count("\n") + 1

    def traffic(self, seed: int) -> dict[str, Any]:
        """Draw traffic under which the fault shows."""
        return drawn.traffic(seed, self.shape)


@functools.cache
def spaces() -> Mapping[str, str]:
    """Return the spaces that an answer may name, each with a sentence."""
    return dict(tomllib.loads((CATALOGUE / "spaces.toml").read_text(encoding="utf-8")))


@functools.cache
def every() -> tuple[PlantedFault, ...]:
    """Return all faults, in the order of their files."""
    return tuple(fault for path in sorted(CATALOGUE.glob("faults_*.toml")) for fault in _read(path))


def kinds() -> list[str]:
    """List the kinds of faults, in alphabetical order."""
    return sorted({fault.kind for fault in every()})


def named(name: str) -> PlantedFault:
    """Return the fault with this id."""
    return next(fault for fault in every() if fault.id == name)


def plant(fault: PlantedFault, folder: Path) -> Path:
    """Write the checkout of the fault's house with the fault in it. Returns the folder."""
    return checkout.write(fault.edit.made(checkout.files(fault.house)), folder)


@dataclass(frozen=True)
class Proof:
    """``symptoms``: the complaints, by seed of the traffic. ``broken``: what does not hold of the fault; nothing if it is
    proved."""

    fault: PlantedFault
    symptoms: Mapping[int, Sequence[str]]
    broken: Sequence[str]


def prove(fault: PlantedFault, seeds: Sequence[int] = SEEDS) -> Proof:
    """Prove a fault: it shows under its traffic of each seed, the unit tests pass, the true patch mends it, no decoy does."""
    contents = checkout.files(fault.house)
    planted = fault.edit.made(contents)
    broken = [] if fault.patch.made(planted) == contents else ["the true patch does not give the server back"]
    symptoms = {}
    for seed in seeds:
        traffic = fault.traffic(seed)
        right = outcome.right(fault.house, traffic)
        if right.error or right.counts.get("lost"):
            broken.append(f"seed {seed}: the right server has {right.error or 'lost blocks'}")
        symptoms[seed] = outcome.complaints(_served(planted, traffic), right)
        if not symptoms[seed]:
            broken.append(f"seed {seed}: nothing shows")
    with files.scratch("units") as folder:
        said = outcome.unit_tests(checkout.write(planted, Path(folder)))
        broken += [f"unit test {name}: {why}" for name, why in said.items() if why]
    for decoy in [*fault.decoys, *(d for d in common(fault.house) if d.before in planted[d.file])]:
        patched = decoy.made(planted)
        if not any(outcome.complaints(_served(patched, t), outcome.right(fault.house, t)) for t in map(fault.traffic, seeds)):
            broken.append(f"a decoy mends it: {decoy.file}: {decoy.after!r}")
    return Proof(fault, symptoms, broken)


def _served(contents: Mapping[str, str], traffic: Mapping[str, Any]) -> ServedOutcome:
    with files.scratch("case") as folder:
        return outcome.run(checkout.write(contents, Path(folder)), traffic)


@functools.cache
def common(house: str) -> tuple[Edit, ...]:
    """Return patches that people try on any fault of a house."""
    data = tomllib.loads((CATALOGUE / "decoys.toml").read_text(encoding="utf-8"))
    return tuple(Edit(**one) for one in data[house])


def _read(path: Path) -> list[PlantedFault]:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    shapes = data["shape"]
    found = []
    for one in data["fault"]:
        edit = Edit(one.pop("file"), one.pop("before"), one.pop("after"))
        shape = shapes[one.pop("shape")]
        decoys = [Edit(d.get("file", edit.file), d["before"], d["after"]) for d in one.pop("decoys", [])]
        found.append(PlantedFault(edit=edit, house=data["house"], shape=shape, decoys=decoys, **one))
    return found
