"""Lab 05: the engine's own right wiring is not in the child that an answer is asked for it in, by whatever door."""

import pytest

from dcplab.course import catalog
from dcplab.course.drawn import draw
from dcplab.notebook.extract import extract
from dcplab.sandbox.attempts import attempt

LAB = catalog.lab("05")
# Each gives the engine's module of wirings as a dict, or the wiring itself.
DOORS = {
    "a class's function": "space = type(step).merge.__globals__",
    "the standard paths": "standard = type(step).merge.__globals__['STANDARD']; space = {'WIRING': standard.ROLE}",
    "a frame": "space = vars(sys._getframe(2).f_globals['backend'])",
    "a frame of frozen code": "space = vars(beyond('from dcplab.engine import backend as found', '<frozen x>'))",
    "a frame of the driver": "space = vars(beyond('from dcplab.engine import backend as found', '<drive>'))",
    "all objects": "space = dict(WIRING=beyond('import gc\\nfound = [o for o in gc.get_objects() if "
    'getattr(o, "__module__", 0) == "dcplab.engine.backend" and getattr(o, "__name__", 0) == "WIRING"][0]\', '
    "'<frozen x>'))",
}
# Runs code under a file name in a thread of its own: no rail sees the answer behind it.
BEYOND = """
import concurrent.futures, sys
def beyond(code, name):
    space = {}
    concurrent.futures.ThreadPoolExecutor(1).submit(exec, compile(code, name, "exec"), space).result()
    return space["found"]
"""


def _asked(entry: str, door: str, wiring: str, role: str) -> str:
    body = DOORS[door].replace("WIRING", wiring).replace("ROLE", role)
    return f"{BEYOND}\ndef {entry}(step):\n    {body}\n    return space['{wiring}'](step)\n"


def _raised(part: str, source: str, label: str) -> str:
    """What an answer raised in the case with that label, run as a check runs it."""
    key = LAB.key(part)
    drawn = draw(key.part, 1, "cpu")
    number = next(i for i, case in enumerate(drawn.cases) if case.label.startswith(label))
    (trial,) = attempt([extract([source], key.part.names)], key.part, drawn.packed[: number + 1], "cpu", drawn.own_s)
    return trial.records[number]["raised"]["message"]


@pytest.mark.parametrize("door", DOORS)
def test_the_wiring_of_decode_is_not_there(door):
    says = _raised("5a", _asked("decode_path", door, "decode", "decode"), "one request of 12")
    assert says in ("the course's own wiring is not in this process", "list index out of range")


@pytest.mark.parametrize(
    "label, wiring, role",
    [("one request in", "extend", "extend"), ("target", "decode", "verify"), ("the draft", "draft", "draft")],
)
def test_none_of_the_three_of_5b_is_there(label, wiring, role):
    entries = [_asked(f"{name}_path", "the standard paths", wiring, role) for name in ("extend", "verify")]
    entries.append(_asked("draft_path", "a class's function", wiring, role))
    assert _raised("5b", "\n".join(entries), label) == "the course's own wiring is not in this process"


def test_what_an_early_case_could_keep_is_gone_in_a_later_one():
    kept = "KEPT = []\ndef extend_path(step):\n    KEPT.append(type(step).merge.__globals__['decode'])\n    raise ValueError\n"
    kept += "def verify_path(step):\n    return KEPT[0](step)\ndef draft_path(step):\n    return KEPT[0](step)\n"
    assert _raised("5b", kept, "target") == "list index out of range"
