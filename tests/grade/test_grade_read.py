"""Whatever a path holds, reading it gives a submission with a status, and runs nothing."""

import json
import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from dcplab.grade import grader, layout, read

LABS = [("01_a", ["1a", "1b"], ["owner_rank", "local_row"]), ("02_b", ["2a"], ["largest_loc"])]


def notebook(*cells, **metadata):
    return nbformat.writes(new_notebook(cells=list(cells), metadata=metadata)).encode()


def answer(part, source="x = 1"):
    return new_code_cell(source, metadata={"nbgrader": {"grade_id": part, "solution": True, "grade": False}})


GOOD = notebook(answer("1a"), answer("1b", "y = 2"))


@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        (b"", "empty", "empty"),
        (b" \n", "empty", "empty"),
        (GOOD[:-40], "unreadable", "is the file complete?"),
        (GOOD[:60] + b"\0" + GOOD[60:], "unreadable", "null byte at byte 60"),
        (b"\0" * 4096, "unreadable", "null byte at byte 0"),
        (GOOD.decode().encode("utf-16"), "unreadable", "UTF-16 text"),
        ("é".encode("latin-1") + GOOD, "unreadable", "Not UTF-8"),
        (b"[" * 100_000, "unreadable", "JSON that cannot be read"),
        (b'{"cells": ' + b"9" * 5000 + b"}", "unreadable", "JSON that cannot be read"),
        (b"[1, 2]", "not_a_notebook", "no list of cells"),
        (b'{"cells": {"a": 1}}', "not_a_notebook", "no list of cells"),
        (b'{"cells": null}', "not_a_notebook", "no list of cells"),
        (b'{"cells": [], "nbformat": 4}', "empty", "without a cell"),
        (b'{"cells": [1, "a", null]}', "empty", "without a cell"),
        (notebook(new_code_cell("print(1)")), "unknown_lab", "No lab"),
        (notebook(answer("9z")), "unknown_lab", "No lab"),
        (GOOD, "graded", ""),
        (b"\xef\xbb\xbf" + GOOD, "graded", ""),
    ],
)
def test_bytes(tmp_path, data, status, says):
    path = tmp_path / "renamed by hand.ipynb"
    path.write_bytes(data)
    found = read.read(path, LABS)
    assert (found.status, says in found.message) == (status, True), found.message
    assert (found.lab == "01_a") == (status == "graded")


def test_places_without_a_file(tmp_path):
    (tmp_path / "folder.ipynb").mkdir()
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "loop.ipynb").symlink_to("loop.ipynb")
    (tmp_path / "notes.txt").write_text("hello")
    found = {
        name: read.read(tmp_path / name, LABS).status
        for name in ("folder.ipynb", "pipe.ipynb", "loop.ipynb", "notes.txt", "no")
    }
    assert found == {
        "folder.ipynb": "no_notebooks",
        "pipe.ipynb": "not_a_notebook",
        "loop.ipynb": "unreadable",
        "notes.txt": "not_a_notebook",
        "no": "missing",
    }


def test_too_big(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "LIMIT_BYTES", 10)
    (tmp_path / "a.ipynb").write_bytes(GOOD)
    assert read.read(tmp_path / "a.ipynb", LABS).status == "too_big"


@pytest.mark.parametrize(
    ("data", "name", "lab"),
    [
        (notebook(answer("2a"), dcplab={"lab": "01_a"}), "01_a", "02_b"),  # its cells decide, not its name or its stamp
        (notebook(answer("1a"), answer("2a"), answer("1b")), "x", "01_a"),
        (notebook(answer("1a-check")), "x", "01_a"),
        (notebook(new_code_cell("def largest_loc(size):\n    pass")), "x", "02_b"),  # metadata stripped by another editor
        (notebook(new_code_cell("1"), dcplab={"lab": "02_b"}), "x", "02_b"),
        (notebook(new_markdown_cell("1")), "02_b", "02_b"),
        (notebook(new_code_cell("1"), dcplab=["02_b"]), "x", None),
    ],
)
def test_the_lab_is_recognised(tmp_path, data, name, lab):
    path = tmp_path / f"{name}.ipynb"
    path.write_bytes(data)
    assert read.read(path, LABS).lab == lab


def test_sources_are_text_in_document_order(tmp_path):
    raw = {
        "cells": [
            {"cell_type": "code", "source": ["a = 1\n", "b = 2", 7], "metadata": {"nbgrader": {"grade_id": "1a"}}},
            {"cell_type": "markdown", "source": "c = 3"},
            {"cell_type": "code", "source": "s = '\ud800'", "metadata": None},
            {"cell_type": "code", "source": 5},
            {"cell_type": "code"},
        ]
    }
    found = read.parse(Path("a.ipynb"), json.dumps(raw).encode(), LABS)
    assert found.cells == ("a = 1\nb = 2", "s = '?'", "", "")


def test_format_3_keeps_its_cells_in_a_worksheet():
    raw = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["def owner_rank(loc, d):\n", "    return 0"]}]}]}
    found = read.parse(Path("a.ipynb"), json.dumps(raw).encode(), LABS)
    assert (found.status, found.cells) == ("graded", ("def owner_rank(loc, d):\n    return 0",))


def test_find_lists_every_notebook_once_and_leaves_checkpoints_out(tmp_path):
    for name in ("b/x.ipynb", "a/y.IPYNB", "a/.ipynb_checkpoints/y.ipynb", "a/z.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "b" / "folder.ipynb").mkdir()
    (tmp_path / "none").mkdir()
    found = layout.find([tmp_path / "b" / "x.ipynb", tmp_path, tmp_path / "none", tmp_path / "gone"])
    assert [str(one.path.relative_to(tmp_path)) for one in found] == [
        "b/x.ipynb",
        "a/y.IPYNB",
        "b/folder.ipynb",
        "none",
        "gone",
    ]


@pytest.mark.parametrize(
    ("path", "given", "student"),
    [
        ("/c/submitted/ann/01_a/01_a.ipynb", "/c", "ann"),
        ("/c/submitted/ann/01_a/01_a.ipynb", "/c/submitted/ann/01_a/01_a.ipynb", "ann"),
        ("/submitted/x/submitted/Li, Ann/01_a/sub/01_a.ipynb", "/submitted/x/submitted", "Li, Ann"),
        ("/c/autograded/bob/01_a/01_a.ipynb", "/c/autograded/bob", "bob"),
        ("/c/submitted/bob/01_a/submitted/ann/01_a/01_a.ipynb", "/c", "bob"),  # a tree of bob's own does not make him ann
        ("/c/submitted/bob/01_a/submitted/ann/01_a/01_a.ipynb", "/c/submitted/", "bob"),
        ("/c/submitted/01_a.ipynb", "/c", None),
        ("/home/ann/01_a.ipynb", "/home/ann", None),
    ],
)
def test_the_student_of_an_nbgrader_tree(path, given, student):
    assert layout.student_of(Path(path), Path(given))[0] == student


def test_a_link_below_a_folder_is_nobodys_work(tmp_path):
    """It may point to another's notebook. One that the grader gives is meant."""
    (tmp_path / "bob").mkdir()
    (tmp_path / "ann").mkdir()
    (tmp_path / "bob/x.ipynb").write_text("{}")
    (tmp_path / "ann/x.ipynb").symlink_to("../bob/x.ipynb")
    assert [(one.student, one.status) for one in layout.find([tmp_path])] == [("ann", "not_a_notebook"), ("bob", "")]
    assert [one.status for one in layout.find([tmp_path / "ann/x.ipynb"])] == [""]
    ((_, row),) = grader.grade_all([one for one in layout.find([tmp_path]) if one.status], {}, seed=1)
    assert (row.status, row.points, row.message) == ("not_a_notebook", 0, layout.LINK)
