"""The engine's checkout holds no switch and no word of one, and is the engine as it runs without."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.errors import CourseError
from dcplab.exam import folder as handed_out
from dcplab.exam import taking
from dcplab.field import checkout, drive, faults, outcome, switches

ENGINE = checkout.files("engine")
HINTS = re.compile(r"defect|planted|incident|public_cases|\bbugs?\b|\bswitch(es)?\b|both happened|\(#\d{5}", re.IGNORECASE)


@pytest.mark.parametrize("house", checkout.HOUSES)
def test_no_checkout_says_where_a_fault_may_be(house):
    assert not [(name, line) for name, text in checkout.files(house).items() for line in text.split("\n") if HINTS.search(line)]


def test_what_is_handed_out_beside_a_checkout_says_no_kind():
    texts = [(handed_out._HERE / name).read_text() for name in ("handed_out.md", "reproduce.py")]
    texts += [Path(drive.__file__).read_text(), *faults.spaces().values(), *faults.spaces()]
    for kind in (kind for kind in faults.kinds() if "-" in kind):
        assert not [text for text in texts if kind in text]
    assert not [text for text in texts if any(fault.id in text for fault in faults.every())]


def test_only_switches_are_gone():
    """Each name that is left is one of the engine's, and every module parses."""
    for name in ("allocator", "blocks", "host", "indexer", "index_spaces", "watcher"):
        source = (checkout._home(checkout.engine) / f"{name}.py").read_text()
        assert switches.taken_out(f"{name}.py", source) == source, "what has no switch stays as it is"
    for name, text in ENGINE.items():
        ast.parse(text)
        assert max(map(len, text.split("\n"))) <= 160, name
    assert "engine/public_cases.py" not in ENGINE and "engine/defects.py" not in ENGINE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranks", "retract", "fed", "draft"])
def test_without_switches_it_is_the_engine(name):
    """The checkout answers in a child as the engine does here, word for word, and takes as many steps."""
    traffic = next(f for f in faults.every() if f.house == "engine" and f.shape == faults_shape(name)).traffic(5)
    right = outcome.right("engine", traffic)
    served = drive._Engine.__new__(drive._Engine)
    served.engine, served.refusal = Engine(ServerConfig(**traffic["config"]), watch=False), CourseError
    requests, seen = [], {"refused": [], "error": ""}
    for number in range(1 + max(asked["round"] for asked in traffic["requests"])):
        drive._round(served, [a for a in traffic["requests"] if a["round"] == number], requests, seen)
    assert [served.output(request) if request else [] for request in requests] == [list(words) for words in right.words]
    assert served.counts() == dict(right.counts)


def faults_shape(name):
    return tomllib.loads((faults.CATALOGUE / "faults_engine.toml").read_text())["shape"][name]


SAMPLE = '''
"""Doc."""
from here import helpers, other

RAW = frozenset("a b".split())


def _only(x):
    return helpers.f(x)


def make(config, defects=frozenset()):
    """Make."""
    # why
    raw = defects & RAW
    if "a" in defects:
        size = 1
    elif config.x:  # a comment stays
        size = 2
    else:
        size = 3
    if "b" not in defects:
        size += 1
    elif config.y:
        size = other(size)
    first = _only(size) if "c" in defects else size
    return first, build(config, defects), [one for one in config.all if not (raw and one)]
'''
LEFT = '''
"""Doc."""

def make(config):
    """Make."""
    if config.x:  # a comment stays
        size = 2
    else:
        size = 3
    size += 1
    first = size
    return first, build(config), [one for one in config.all]
'''


def test_a_switch_goes_in_each_form_that_it_has():
    made = switches.taken_out("none.py", SAMPLE)
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(LEFT)), made
    assert "# a comment stays" in made and "# why" not in made, "what is said of a line goes with it"


def test_a_form_that_is_not_known_is_an_error():
    with pytest.raises(NotImplementedError, match="line 2"):
        switches.taken_out("none.py", "def f(defects):\n    try:\n        return 'a' in defects\n    finally:\n        g()\n")


def test_questions_name_no_word_of_a_switch():
    assert not [q for kind in faults.kinds() for q in taking.questions(kind) if HINTS.search(q)]
