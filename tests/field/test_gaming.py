"""Hand-ins that want points for nothing: each gets what it deserves, and one that is merely odd keeps its own."""

import textwrap
import threading

import pytest
from test_exam import INTERLEAVE, OWNER, ROUND_TRIP, begin, patch_mark, secret, state, test_mark  # noqa: F401

from dcplab.errors import CourseError
from dcplab.exam import answers, marking, respelling, sittings, taking, tickets
from dcplab.field import checkout, faults, outcome

pytestmark = pytest.mark.slow
PLANTED = OWNER.edit.made(checkout.files("quay"))

# What knows how the server that was handed out is written, and not what it does.
READS_THE_SOURCE = """
    import inspect, quay.layout
    def test_it():
        assert "// cfg.cp_interleave % cfg.cp_size" in inspect.getsource(quay.layout)
"""
READS_THE_FILE = """
    from pathlib import Path
    import quay.layout
    def test_it():
        assert "cp_interleave % cfg.cp_size" in Path(quay.layout.__file__).read_text()
"""
COMPARES_BYTECODE = """
    import quay.layout
    MINE = {code!r}
    def test_it():
        assert quay.layout.owner_of.__code__.co_code != MINE
"""


@pytest.mark.parametrize("source", [READS_THE_SOURCE, READS_THE_FILE])
def test_a_test_that_reads_the_server_is_red_on_a_right_one(source):
    mark = test_mark(OWNER, source)
    assert (mark.points, mark.message) == (0, "it is red on a server that is right")


def test_a_test_that_knows_the_bytecode_of_its_own_server_is_green_on_the_fault():
    space: dict = {}
    exec(compile(PLANTED["quay/layout.py"].replace("from .config", "from dcplab.field.server.config"), "layout", "exec"), space)
    mark = test_mark(OWNER, COMPARES_BYTECODE.format(code=space["owner_of"].__code__.co_code))
    assert (mark.points, mark.message) == (0, "it is green on the server that was handed out")


def test_a_test_that_goes_by_the_clock_gets_nothing(monkeypatch):
    """It is green for the first run, and red for all that come later."""
    ran = []

    def timed(contents, test):
        ran.append(contents)
        return len(ran) > 1

    monkeypatch.setattr(marking, "_is_red", timed)
    mark = test_mark(OWNER, "def test_it():\n    assert early()\n")
    assert (mark.points, mark.message) == (0, "on a server that is right it is not green each time")
    assert ran[0] == ran[-1] == checkout.files("quay")


def test_a_test_that_throws_dice_throws_the_same_each_time():
    source = "import random, torch\ndef test_it():\n    assert random.random() + float(torch.rand(1)) > {}\n"
    assert {test_mark(OWNER, source.format(bound)).points for bound in (0.5, 1.0, 1.5)} == {0}


@pytest.mark.parametrize("house", checkout.HOUSES)
def test_another_spelling_is_the_same_server(house, tmp_path):
    contents = checkout.files(house)
    other = respelling.respelled(contents)
    modules = [name for name in contents if not name.startswith("tests/")]
    assert [name for name in modules if other[name] == contents[name]] == []
    respelling.without_source(checkout.write(other, tmp_path))
    said = outcome.unit_tests(tmp_path)
    assert len(said) >= 10 and not any(said.values())
    asked = next(f for f in faults.every() if f.house == house).traffic(4)
    assert outcome.run(tmp_path, asked) == outcome.right(house, asked)


FEWER_RANKS = """
_init = QuayServer.__init__


def __init__(self, cfg):
    import dataclasses
    whole = cfg.block_size * cfg.cp_size
    _init(self, dataclasses.replace(cfg, cp_size=1, cp_interleave=1, block_size=whole))


QuayServer.__init__ = __init__
"""
ONE_BY_ONE = """
_step = QuayServer.step


def step(self):
    cfg = self.cfg
    object.__setattr__(cfg, "max_num_seqs", 1)
    return _step(self)


QuayServer.step = step
"""


@pytest.mark.parametrize(
    "addition",
    [
        FEWER_RANKS,
        ONE_BY_ONE,
        "import os\nos._exit(0)\n",
        "raise SystemExit(0)\n",
        "def step(self):\n    while True: pass\nQuayServer.step = step\n",
        "import sys\nprint('all right ' * 10_000)\nsys.stdout.flush()\n",
        "import gc, sys\nfor one in list(sys.modules): sys.modules[one] = None\n",
    ],
    ids=["fewer ranks", "one by one", "leaves", "exits", "never ends", "prints", "breaks imports"],
)
def test_a_patch_that_mends_nothing_gets_nothing(addition, monkeypatch):
    monkeypatch.setattr(outcome, "OWN_S", 6.0)
    contents = PLANTED | {"quay/server.py": PLANTED["quay/server.py"] + addition}
    assert patch_mark(OWNER, contents).points == 0


def test_the_true_patch_on_fewer_ranks_is_none():
    right = checkout.files("quay")
    mark = patch_mark(OWNER, right | {"quay/server.py": right["quay/server.py"] + FEWER_RANKS})
    assert mark.points == 0 and "still something to complain of" in mark.message


def test_a_patch_may_say_something_and_take_away_its_tests():
    right = {name: text for name, text in checkout.files("quay").items() if not name.startswith("tests/")}
    chatty = right | {"quay/layout.py": right["quay/layout.py"] + "\nprint('mended')\n"}
    assert patch_mark(OWNER, chatty).points == marking.POINTS["b"]


def test_a_patch_that_breaks_something_else_gets_nothing():
    """The fault is mended, and blocks are never given back."""
    text = PLANTED["quay/kv_manager.py"].replace("        self.pool.release(seq.block_ids)\n", "")
    right = checkout.files("quay")
    assert patch_mark(OWNER, right | {"quay/kv_manager.py": text}).points == 0


@pytest.mark.parametrize("name", ["../out.py", "/tmp/out.py", "quay/../../out.py", "quay/a/b/c/d/e.py", "tests/test_layout.py"])
def test_a_file_goes_nowhere_else(name):
    right = checkout.files("quay")
    files = {f"{answers.CHECKOUT}/{name}": "1", answers.ANSWER: "", f"{answers.CHECKOUT}/quay/x.py": "2"}
    handed = answers.of(files, "quay")
    assert set(handed.server) == {"quay/x.py"} and not set(handed.server) & set(right)


def test_hand_ins_side_by_side_are_counted_one_by_one(state, monkeypatch):  # noqa: F811
    """One is taken back while another is marked: each keeps its own marks, and five at a time leave three."""
    folder, _, _ = begin(state)
    ticket = tickets.read(folder)
    sittings.count(ticket, 0, "first")
    sittings.count(ticket, 0, "second")
    sittings.uncount(ticket, 0, "first")
    done = [marking.Mark(part, 0, "failed", "") for part in "abc"]
    sittings.note(ticket, 0, "second", done)
    assert [(one["digest"], one["marks"] is None) for one in sittings.find(ticket)["cases"][0]["handed"]] == [("second", False)]
    refused = []

    def one(digest):
        try:
            sittings.count(ticket, 0, digest)
        except CourseError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=one, args=(f"{number}",)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sittings.find(ticket)["cases"][0]["handed"]) == 3 and len(refused) == 3


def test_a_ticket_that_was_changed_has_no_sitting(state):  # noqa: F811
    folder, _, _ = begin(state)
    path = folder / tickets.FILE
    text = path.read_text()
    ticket = tickets.read(folder)
    for changed in (
        text.replace(f'"seed": {ticket.seed}', '"seed": 8'),
        text.replace(ticket.seals[0], "0" * 64),
        text.replace('"practice"', '"examination"'),
    ):
        path.write_text(changed)
        with pytest.raises(CourseError):
            taking.hand_in(folder, 1)
    path.write_text(text)
    assert len(sittings.find(ticket)["cases"][0]["handed"]) == 0


def test_a_whole_test_is_red_where_it_must_be():
    """The other way round: what is no trick loses nothing by the other spelling."""
    mark = marking._test(OWNER, marking.HandedIn(None, {}, textwrap.dedent(ROUND_TRIP + INTERLEAVE)), secret)
    assert mark.points == marking.POINTS["c"], mark
