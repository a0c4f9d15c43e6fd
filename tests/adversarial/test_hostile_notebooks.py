"""A notebook made to hurt its reader costs its own row: the next one is graded, and the grader's own process stays small."""

import json
import resource

import pytest

from dcplab import paths
from dcplab.grade import slices
from dcplab.grade.reader import Reader

LABS = {"lab": {"a": ["f"]}}


def _notebook(*cells: str) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", "source": cell, "metadata": {}} for cell in cells]}).encode()


# Made when they are asked for: together they are most of a gigabyte.
HOSTILE = {
    "a million brackets of JSON": (lambda: b"[" * 1_000_000, "unreadable"),
    "a million objects in one another": (lambda: b'{"cells":' * 1_000_000, "unreadable"),
    "lists that take 20 times their bytes": (lambda: b'{"cells": [' + b"[],[]," * (30 << 20) + b"[]]}", "too_big"),
    "bytes that are no UTF-8": (lambda: b'{"cells": ["\xff\xfe"]}', "unreadable"),
    "half a surrogate": (lambda: b'{"cells": [{"cell_type": "code", "source": "def f(x): return 1 # \\ud800"}]}', "graded"),
    "brackets of Python": (lambda: _notebook("(" * 59_000, "def f(x): return 1"), "graded"),
    "a sum of 25,000 ones": (lambda: _notebook("x = " + "1+" * 25_000 + "1", "def f(x): return x"), "graded"),
    "minus signs": (lambda: _notebook("x = " + "-" * 50_000 + "1", "def f(x): return x"), "graded"),
    "blocks in blocks": (
        lambda: _notebook("".join(" " * i + "if 1:\n" for i in range(99)) + " " * 99 + "x = 1", "def f(x): x"),
        "graded",
    ),
    "attributes of attributes": (lambda: _notebook("def f(x):\n    return x" + ".a" * 29_000), "graded"),
    "a power that no constant folds": (lambda: _notebook("x = 9**9**9**9", "def f(y): return x"), "graded"),
}


SLOW = ("lists that take 20 times their bytes",)


@pytest.mark.parametrize("what", [pytest.param(w, marks=[pytest.mark.slow] * (w in SLOW)) for w in HOSTILE])
def test_it_costs_its_own_row(tmp_path, what):
    data, status = HOSTILE[what]
    (tmp_path / "bad.ipynb").write_bytes(data())
    _costs_its_own_row(tmp_path, status)


def test_half_a_gigabyte_costs_its_own_row(tmp_path):
    with (tmp_path / "bad.ipynb").open("wb") as file:  # nobody reads so much: a hole does
        file.truncate(500 << 20)
    _costs_its_own_row(tmp_path, "too_big")


def _costs_its_own_row(tmp_path, status):
    (tmp_path / "good.ipynb").write_bytes(_notebook("D = 2", "def f(x):\n    return x % D"))
    with Reader() as reader:
        bad = reader.read(tmp_path / "bad.ipynb", LABS)
        good = reader.read(tmp_path / "good.ipynb", LABS)
    assert bad.status == status, bad
    assert good.programs["a"].source == "D = 2\ndef f(x):\n    return x % D\n" and good.programs["a"].problem is None


@pytest.mark.parametrize(
    "body, says",
    [("while True: pass", "takes more than"), ("bytearray(4 << 30)", "of memory"), ("os.abort()", "SIGABRT")],
)
def test_each_limit_ends_the_reader_and_is_told(tmp_path, monkeypatch, body, says):
    """What no notebook that we know does: its reader runs without end, takes memory, or dies of the parser."""
    (tmp_path / "hurts.py").write_text(
        "import os\nfrom dcplab.grade import slices\nfrom dcplab.grade.slices import cut\nslices.PROCESSOR_S = 1\n"
        f"def parse(path, labs, folder):\n    slices._limit()\n    {body}\n"
    )
    here = paths.python_path()
    monkeypatch.setattr(paths, "python_path", lambda: f"{here}:{tmp_path}")
    monkeypatch.setattr(slices, "__name__", "hurts")
    with Reader() as reader:
        found = reader.read(tmp_path / "a.ipynb", LABS)
        assert found.status == "unreadable" and says in found.message, found
        assert reader.cut(["def f(x): return x"], {"a": ["f"]}, None)["a"].problem is None


def test_a_whole_answer_has_a_size(tmp_path):
    cells = [f"X{i} = '{'x' * 50_000}'" for i in range(5)] + ["def f(x):\n    return X0 + X1 + X2 + X3 + X4"]
    with Reader() as reader:
        found = reader.cut(cells, {"a": ["f"]}, None)["a"]
    assert found.unreadable and "at most 200,000 are read" in found.problem


def test_the_limits_are_the_reader_s_and_not_ours(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_AS)
    with Reader() as reader:
        reader.cut(["x = 1"], {"a": ["f"]}, None)
    assert resource.getrlimit(resource.RLIMIT_AS) == before and slices.MEMORY_BYTES < 4 << 30
