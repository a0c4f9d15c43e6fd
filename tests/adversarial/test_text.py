"""What the grader itself reads and says: it costs it no time, steers no terminal, and stays of a size."""

import time

import pytest

from dcplab.notebook.extract import CELL_SIZE, extract
from dcplab.present.strangers import printable

SLOW = {
    "blank lines in a bracket": "x = (\n" + "\n" * 50_000,
    "blank lines before a magic": "\n" * 50_000 + "x = (",
    "spaces before a magic": " " * 50_000 + "?x",
    "question marks": "? " * 25_000,
    "equal signs": "=  " * 15_000 + "(",
    "magics": "!x\n" * 15_000,
    "many statements": "a=1\n" * 14_000,
    "a long sum": "x=" + "1+" * 25_000 + "1",
    "brackets": "(" * 50_000,
    "a megabyte": "x = 1\n" * 200_000,
}


@pytest.mark.parametrize("what", [pytest.param(w, marks=[pytest.mark.slow] * (w == "many statements")) for w in SLOW])
def test_a_cell_costs_the_grader_seconds_at_most_and_once(what):
    began = time.process_time()
    for entry in "abcdefgh":  # the parts of a lab
        assert extract([SLOW[what], f"def {entry}(x):\n    return x\n"], entry).problem is None
    assert time.process_time() - began < 8


def test_a_cell_of_any_size_that_holds_the_answer_is_named():
    found = extract(["def f(x):\n    return x\n" + "# ...\n" * CELL_SIZE], "f")
    assert found.unreadable and f"a cell may have {CELL_SIZE:,} characters" in found.problem


def test_what_an_answer_says_is_cut_and_steers_nothing(judged):
    body = "def localize(locs, dcp_rank, dcp_size):\n    raise ValueError('\\x1b[2J\\x1b]0;owned\\x07' + 'x' * 3_000_000)\n"
    found = judged("91a", body)
    assert found.outcome == "crashed" and len(found.message) < 20_000 and len(found.detail) < 250_000
    assert "\x1b" not in found.message + found.detail and "\x07" not in found.message + found.detail
    long = judged("91a", "def localize(locs, dcp_rank, dcp_size):\n    return 'w' * 3_000_000\n")
    assert long.outcome == "wrong" and len(long.message) < 20_000


def test_a_text_is_made_plain():
    assert printable("a\tb\nc") == "a\tb\nc"
    assert printable("\x1b[2J \u202eabc\x07") == " abc"
    assert printable("x" * 50, 10) == "xxxxxxxxxx ... (40 more characters)"
