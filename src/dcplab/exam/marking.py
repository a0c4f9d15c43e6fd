"""Marks what is handed in for a case. A stranger's code runs in the sandbox's children only, and none of its words is told:
a test that runs on the right server could otherwise say what stands there."""

from __future__ import annotations

import ast
import difflib
import functools
import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dcplab import files
from dcplab.errors import CourseError
from dcplab.exam import answers, respelling
from dcplab.exam.answers import HandedIn
from dcplab.exam.tickets import keyed_number, same_kind
from dcplab.field import checkout, faults, outcome
from dcplab.field.faults import PlantedFault
from dcplab.sandbox.attempts import MachineBusy

POINTS = {"a": 20, "b": 18, "c": 12}  # of a case; an examination has two
DIAGNOSIS = {"place": 8, "index": 4, "was": 4, "expected": 4}
Secret = Callable[[str, int], int]
SHOWN = 6  # points of (c) for a test that is red on the fault; the rest for its neighbours
NEAR = 1  # lines beside a place that are the place too
UNSEEN, TRIES, NEIGHBOURS = 3, 16, 4
TEST_S, UNITS_S = 15.0, 30.0  # of a processor, for a run of the regression test, and of the server's own tests; most take 3


@dataclass(frozen=True)
class Mark:
    """One of the three parts. ``outcome``: "passed" (all points), "failed" or "not_attempted". ``message`` tells a learner no
    more than may be told while hand-ins are left."""

    part: str
    points: float
    outcome: str
    message: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def mark(fault: PlantedFault, handed: HandedIn, secret: Secret, say: Callable[[str], None] = lambda text: None) -> list[Mark]:
    """Mark the three parts of a case. ``secret(what, number)``: seeds that nobody can foresee (`secret_seeds`)."""
    say("the diagnosis")
    marks = [_diagnosis(fault, handed)]
    say("the patch, under traffic that nobody has seen")
    marks.append(_patch(fault, handed, secret))
    say("the regression test, on other servers")
    marks.append(_test(fault, handed, secret))
    return marks


def secret_seeds(key: bytes, seal: str) -> Secret:
    """Return what makes the seeds of a case's traffic."""
    return lambda what, number: keyed_number(key, seal, what, number)


def showing(fault: PlantedFault, secret: Secret, what: str, count: int) -> list[dict[str, Any]]:
    """Draw so much traffic under which a fault shows. A proof holds for three seeds; others are tried here. Raises CourseError
    if there is not so much among `TRIES`: under what shows nothing every patch would hold."""
    drawn = (fault.traffic(secret(what, number)) for number in range(TRIES))
    found = list(itertools.islice((traffic for traffic in drawn if complained(fault, traffic)), count))
    if len(found) < count:
        raise CourseError("This seed's traffic shows too little to complain of: begin with another --seed.")
    return found


@functools.cache
def place(name: str) -> tuple[int, int]:
    """Return the first and the last line, from 1, that are the place of a fault in its planted checkout: its edit, the
    statement around it, and one line on each side."""
    fault = faults.named(name)
    text = fault.edit.made(checkout.files(fault.house))[fault.edit.file]
    first, last = _edited(fault)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.lineno <= fault.line <= (node.end_lineno or 0):
            first, last = min(first, node.lineno), max(last, node.end_lineno or 0)
    return first - NEAR, last + NEAR


def _edited(fault: PlantedFault) -> tuple[int, int]:
    """Return the first and the last line of the edit in the planted checkout."""
    before, after = fault.edit.before.split("\n"), fault.edit.after.split("\n")
    text = fault.edit.made(checkout.files(fault.house))[fault.edit.file]
    start = text[: text.index(fault.edit.after)].count("\n") + 1
    matched = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changed = [code for code in matched if code[0] != "equal"]
    return start + changed[0][3], start + max(changed[-1][3], changed[-1][4] - 1)


def _diagnosis(fault: PlantedFault, handed: HandedIn) -> Mark:
    said = handed.diagnosis or {}
    if not any(said.values()):
        return Mark("a", 0, "not_attempted", "no diagnosis")
    first, last = place(fault.id)
    right = {
        "place": said["file"] == fault.edit.file and first <= int(said["line"]) <= last,
        "index": _name(str(said["index"])) in {_name(name) for name in (fault.index, *fault.also)},
        "was": said["was"] == fault.was,
        "expected": said["expected"] == fault.expected,
    }
    points = sum(DIAGNOSIS[name] for name, is_right in right.items() if is_right)
    whole = all(right.values())
    return Mark("a", points, "passed" if whole else "failed", "right" if whole else "not all of it is right")


def _name(index: str) -> str:
    """Return an index's name without what it is an attribute of, and without its subscripts."""
    plain = re.sub(r"\[[^\[\]]*\]", "", "".join(index.split()))
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+", "", plain)


def _patch(fault: PlantedFault, handed: HandedIn, secret: Secret) -> Mark:
    right = checkout.files(fault.house)
    if handed.server == answers.given(fault):
        return Mark("b", 0, "not_attempted", "the server is as it was handed out")
    patched = {**handed.server, **{name: text for name, text in right.items() if name.startswith("tests/")}}
    with files.scratch("patched") as place:
        folder = checkout.write(patched, Path(place))
        if not (folder / fault.house).is_dir():
            return Mark("b", 0, "failed", f"there is no {fault.house} in it")
        for traffic in showing(fault, secret, "unseen", UNSEEN):
            if outcome.complaints(_rested(outcome.run(folder, traffic)), outcome.right(fault.house, traffic)):
                return Mark("b", 0, "failed", "under traffic that you have not seen there is still something to complain of")
        if broken := _red(outcome.unit_tests(folder, own_s=UNITS_S)):
            return Mark("b", 0, "failed", f"the server's own unit tests fail: {broken}")
    return Mark("b", POINTS["b"], "passed", "it holds under traffic that you have not seen")


def _test(fault: PlantedFault, handed: HandedIn, secret: Secret) -> Mark:
    if not answers.tested(handed.test):
        return Mark("c", 0, "not_attempted", "no regression test")
    right = checkout.files(fault.house)
    if _is_red(right, handed.test):
        return Mark("c", 0, "failed", "it is red on a server that is right")
    if not _is_red(fault.edit.made(right), handed.test):
        return Mark("c", 0, "failed", "it is green on the server that was handed out")
    others = _neighbours(fault, secret)
    caught = sum(_is_red(other.edit.made(right), handed.test) for other in others)
    if _is_red(right, handed.test):  # it was green before: it goes by chance, by the clock, or by how often it was run
        return Mark("c", 0, "failed", "on a server that is right it is not green each time")
    points = SHOWN + (POINTS["c"] - SHOWN) * (caught / len(others) if others else 1)
    if points == POINTS["c"]:
        return Mark("c", points, "passed", "green on a right server; red on the fault, and on its kind")
    return Mark("c", round(points, 1), "failed", "green on a right server, red on the fault, but not on all of its kind")


def _neighbours(fault: PlantedFault, secret: Secret) -> list[PlantedFault]:
    """Return other faults of the kind in the same server that show under the case's traffic: no test need see another."""
    traffic = showing(fault, secret, "unseen", UNSEEN)
    return [other for other in same_kind(fault) if any(complained(other, t) for t in traffic)][:NEIGHBOURS]


def _is_red(contents: Mapping[str, str], test: str) -> bool:
    with files.scratch("regression") as place:
        folder = checkout.write({**respelling.respelled(contents), answers.TEST: test}, Path(place))
        return bool(_red(outcome.unit_tests(respelling.without_source(folder), [answers.TEST], TEST_S)))


def _red(said: Mapping[str, str]) -> int:
    if said.get("") == outcome.BUSY:
        raise MachineBusy
    return sum(bool(why) for why in said.values()) or not said


def _rested(seen: outcome.ServedOutcome) -> outcome.ServedOutcome:
    if seen.error == outcome.BUSY:
        raise MachineBusy
    return seen


def complained(fault: PlantedFault, traffic: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the complaints about a planted server under traffic. Remembered: a case asks several times."""
    return _complained(fault.id, json.dumps(traffic, sort_keys=True))


@functools.lru_cache(maxsize=1024)
def _complained(name: str, traffic: str) -> tuple[str, ...]:
    fault, asked = faults.named(name), json.loads(traffic)
    with files.scratch("case") as place:
        seen = _rested(outcome.run(faults.plant(fault, Path(place)), asked))
    return tuple(outcome.complaints(seen, outcome.right(fault.house, asked)))
