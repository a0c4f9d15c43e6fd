"""What a learner's notebook calls, outside a kernel and in a real one."""

import json
import os
from types import SimpleNamespace

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from dcplab import front_end, lab, paths, progress
from dcplab.cli import main
from dcplab.errors import CourseError
from dcplab.notebook import reset
from dcplab.notebook.runs import CellRun, Judged, judged

pytestmark = pytest.mark.slow  # notebooks and commands, each in a process

RIGHT = """def localize(locs, dcp_rank, dcp_size):
    m = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(m, locs // dcp_size, -1)"""
WRONG = "def localize(locs, dcp_rank, dcp_size):\n    return torch.where(locs >= 0, locs // dcp_size, -1)"


@pytest.fixture
def notebook(small):
    """The learner's notebook of the small lab, as it is first given."""
    reset.notebook(small)
    return reset.path_of(small)


def put(path, source, entry="localize"):
    """Types an answer into the notebook file."""
    nb = nbformat.read(path, as_version=4)
    cell = next(c for c in nb.cells if f"def {entry}" in c.source)
    cell.source = source
    nbformat.write(nb, path)


# ---- outside a kernel: the notebook on disk ----------------------------------------------------------------------------


def test_start_says_mode_and_progress(small):
    said = repr(lab.start("91"))
    assert "Lab 91: A small lab. 6 parts, about 6 minutes." in said and "CPU (Triton interpreter)" in said
    assert "0 of 100 points. Next: part 91a" in said


def test_start_warns_in_a_notebook_of_another_checkout(small, tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "_shell", lambda: SimpleNamespace(events=None))
    other = tmp_path / "their course"
    for home, warns in ((other, True), (paths.root(), False), (tmp_path / "no course", False)):
        if home == other:
            (home / "labs").mkdir(parents=True)
            (home / "course").write_text("")
        monkeypatch.setattr(lab, "_open_notebook", lambda of, home=home: home / "labs" / of.name / f"{of.name}.ipynb")
        said = repr(lab.start("91"))
        assert (f"This notebook lies in {other}, and the course that runs here is that of {paths.root()}" in said) == warns
        assert (f"progress goes to {paths.state_dir()}" in said) == warns


def test_check_reads_the_file_and_notes_progress(notebook):
    assert lab.check("91a").outcome == "not_attempted"
    put(notebook, WRONG)
    found = lab.check("91a", seed=3)
    assert (found.outcome, found.seed, float(found)) == ("wrong", 3, 0.0)
    assert repr(found).startswith("Every rank took every loc") and "<table" in found._repr_html_()
    put(notebook, RIGHT)
    assert float(lab.check("91a")) == 20
    assert progress.part("91_small", "91a")["attempts"] == 2 and "20 of 20" in repr(lab.progress())


def test_explain_uses_the_last_seed_and_shows_every_case(notebook):
    put(notebook, WRONG)
    lab.check("91a", seed=77)
    said = repr(lab.explain("91a"))
    assert "seed 77," in said and said.count("wrong         ") == 3 and "The case: small: locs = [-1, 0" in said


def test_hints_one_after_another(small):
    assert "hint 1 of 3: Look at the smallest loc." in repr(lab.hint("91a"))
    assert "hint 2 of 3" in repr(lab.hint("91a"))
    assert "hint 3 of 3" in repr(lab.hint("91a")) and "last hint" in repr(lab.hint("91a"))
    assert "hint 1 of 3" in repr(lab.hint("91a", 1))
    for bad in (0, 4, "x"):
        with pytest.raises(CourseError, match="hints 1 to 3"):
            lab.hint("91a", bad)


def test_predictions(small):
    said = repr(lab.predict("91a"))
    assert "2 + 2?" in said and 'lab.predict("91a", "one of these")' in said
    assert repr(lab.predict("91a", "3")).startswith("✗ You said 3. The answer: 4. It is four.")
    assert repr(lab.predict("91a", 4)).startswith("✓ You said 4: right.")
    assert repr(lab.predict("91a", "[4].")).startswith("✓ You said [4].: right.")
    assert progress.part("91_small", "91a")["prediction"]["right"] is False
    assert "You said 3" in repr(lab.predict("91a"))
    with pytest.raises(CourseError, match="none of the choices: 3, 4"):
        lab.predict("91a", "5")
    with pytest.raises(CourseError, match="at most 1,000 characters"):
        lab.predict("91a", "4" + " " * 1_000)  # it is kept as it was said
    with pytest.raises(CourseError, match="asks for no prediction"):
        lab.predict("91b")


def test_run_calls_the_present_answer(notebook, capsys, monkeypatch):
    import torch

    monkeypatch.setattr(lab, "_said_where", set())
    put(notebook, RIGHT.replace("    m =", "    print('here')\n    m ="))
    got = lab.run("91a", torch.tensor([0, 5, -1]), 1, 4)
    assert got.tolist() == [-1, 1, -1] and "[CPU (Triton interpreter)]\nhere" in capsys.readouterr().out
    lab.run("91a", torch.tensor([3]), 1, 4)
    assert capsys.readouterr().out == "here\n"  # where it ran is said once a session
    assert lab.run("91a", "not a tensor", 1, 4) is None
    assert "It raised TypeError" in capsys.readouterr().out


def test_reset_of_a_part_keeps_everything_else_and_a_copy(notebook, small):
    put(notebook, RIGHT)
    put(notebook, "def mean(x):\n    return 7", "mean")
    lab.check("91a")
    before = notebook.read_bytes()
    said = repr(lab.reset("91a"))
    nb = nbformat.read(notebook, as_version=4)
    nbformat.validate(nb)
    sources = [c.source for c in nb.cells]
    assert small.starter_cell("91a") in sources and "def mean(x):\n    return 7" in sources
    (copy,) = (paths.state_dir() / "backups").glob("91_small-*.ipynb")
    assert copy.read_bytes() == before and str(copy) in said
    assert progress.part("91_small", "91a") == {}
    assert "already is its starter" in repr(lab.reset("91a"))


def test_reset_of_a_lab(notebook):
    fresh = notebook.read_text()
    put(notebook, RIGHT)
    assert "as it was at the start" in repr(lab.reset("91")) and notebook.read_text() == fresh


def test_names_that_are_none(small):
    for call, says in (
        (lambda: lab.check("91z"), "has no part '91z'; it has 91a"),
        (lambda: lab.check("12a"), "There is no lab '12'; there are: 91_small"),
        (lambda: lab.check("nonsense"), "names no part"),
        (lambda: lab.start("7"), "There is no lab"),
        (lambda: lab.check("91a"), "There is no .*91_small.ipynb; `./course lab 91` makes it"),
    ):
        with pytest.raises(CourseError, match=says):
            call()


def test_what_nbgrader_gets(notebook, monkeypatch, capsys):
    put(notebook, WRONG)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    got = lab.check("91a")
    out = capsys.readouterr()
    assert type(got) is float and got == 0.0 and out.out.startswith("Every rank") and out.err == ""
    put(notebook, RIGHT)
    assert type(lab.check("91a")) is float and lab.check("91a") == 20.0
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert lab.check("91a").outcome == "passed"
    put(notebook, WRONG)
    with pytest.raises(AssertionError, match=r"^Every rank took every loc: nothing selected an owner\.$"):
        lab.check("91a")


# ---- from a terminal ---------------------------------------------------------------------------------------------------


def test_check_command(notebook, tmp_path, capsys):
    put(notebook, WRONG)
    assert main(["check", "91", "a", "--seed", "5"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Every rank took") and "`./course hint 91a`" in said and "lab.hint" not in said
    assert progress.part("91_small", "91a")["attempts"] == 1
    out = tmp_path / "out.json"
    assert main(["check", "91_small", "91a", "--seed", "5", "--json", str(out)]) == 0
    data = json.loads(out.read_text())
    assert (data["outcome"], data["diagnosis"], data["seed"]) == ("wrong", "91a-no-filter", 5)
    capsys.readouterr()
    assert main(["check", "91", "a", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["part"] == "91a"


def test_an_answer_in_a_file(small, tmp_path, capsys):
    answer = tmp_path / "answer.py"
    answer.write_text(RIGHT)
    assert main(["check", "91", "a", "--answer", str(answer)]) == 0
    assert "20 of 20 points" in capsys.readouterr().out
    assert progress.part("91_small", "91a") == {}, "somebody's file is not the learner's progress"


@pytest.mark.parametrize(
    "words, says",
    [
        (["check", "91", "z"], "has no part 'z'"),
        (["check", "3", "a"], "There is no lab '3'"),
        (["check", "91", "a"], "`./course lab 91` makes it"),
        (["check", "91", "a", "--answer", "/nowhere/x.py"], "There is no /nowhere/x.py"),
        (["check", "91", "a", "--answer", "{tmp}/binary.py"], "cannot be read as text"),
        (["check", "91", "a", "--answer", "{tmp}/broken.ipynb"], "is no readable notebook"),
        (["check", "91", "a", "--answer", "{tmp}/list.ipynb"], "it has no list of cells"),
        (["check", "91", "a", "--answer", "{tmp}"], "cannot be read"),
        (["check", "91", "a", "--answer", "{tmp}/ok.py", "--json", "/nowhere/x.json"], "There is no folder for"),
        (["check", "91"], "Say which part of lab 91: 91a"),
        (["hint", "91", "a", "9"], "hints 1 to 3"),
        (["hint", "91a", "9"], "hints 1 to 3"),
        (["hint", "91"], "Say which part of lab 91: 91a"),
        (["check", "c"], "There is no lab 'c'"),
        (["check", "a91"], 'Did you mean "91a"?'),
        (["check", "91", "a91"], 'Did you mean "91a"?'),
        (["check", "91z"], "has no part '91z'"),
        (["reset", "91", "a"], "`./course lab 91` makes it"),
        (["progress", "55"], "There is no lab '55'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_status_2(small, tmp_path, capsys, words, says):
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "broken.ipynb").write_text('{"cells": [')
    (tmp_path / "list.ipynb").write_text("[]")
    (tmp_path / "ok.py").write_text(RIGHT)
    assert main([w.format(tmp=tmp_path) for w in words]) == 2
    said = capsys.readouterr()
    assert says in said.err and said.err.count("\n") == 1 and said.out == ""


def test_progress_hint_and_reset_commands(notebook, capsys):
    assert main(["progress"]) == 0 and "91a   Mine, or -1" in capsys.readouterr().out
    assert main(["hint", "91", "a"]) == 0 and "`./course hint 91a`" in capsys.readouterr().out
    put(notebook, RIGHT)
    assert main(["reset", "91", "a"]) == 0 and "is its starter again" in capsys.readouterr().out
    assert main(["reset", "91"]) == 0 and "as it was at the start" in capsys.readouterr().out


def test_a_part_alone_is_enough_as_in_a_notebook(notebook, capsys):
    put(notebook, RIGHT)
    assert main(["check", "91a"]) == 0 and "20 of 20 points" in capsys.readouterr().out
    assert main(["hint", "91a", "2"]) == 0 and "91a, hint 2 of 3" in capsys.readouterr().out
    assert main(["reset", "91a"]) == 0 and "prediction start anew. Your notebook as it was: " in capsys.readouterr().out


@pytest.mark.parametrize("words", [["check", "91a"], ["reset", "91a"]])
def test_a_notebook_with_conflict_marks_has_a_way_out(notebook, capsys, words):
    text = notebook.read_text()
    notebook.write_text(text[:30] + "\n<<<<<<< HEAD\n=======\n>>>>>>> b\n" + text[30:])
    assert main(words) == 2
    assert "git's conflict marks are in it. `./course reset 91` keeps a copy" in capsys.readouterr().err
    assert main(["reset", "91"]) == 0 and "as it was at the start" in capsys.readouterr().out


# ---- in a real kernel --------------------------------------------------------------------------------------------------


def execute(cells, cwd, **env):
    """Runs cells in a kernel of this Python; gives for each its text outputs and what it raised."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    nb = new_notebook(cells=[new_code_cell(c) for c in cells])
    kernel = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    client = NotebookClient(nb, km=kernel, timeout=300, allow_errors=True, resources={"metadata": {"path": str(cwd)}})
    client.execute(env=os.environ | env)
    found = []
    for cell in nb.cells:
        text = [o.get("text") or o.get("data", {}).get("text/plain") or "\n".join(o.get("traceback", [])) for o in cell.outputs]
        found.append("\n".join(text))
    return found, nb


def test_in_a_kernel(course, small, tmp_path):
    out, nb = execute(
        [
            "import torch\nfrom dcplab import lab",
            "lab.start('91')",
            "lab.check('91a')",  # before any answer was run
            "%time D = 1\n" + WRONG.replace("locs // dcp_size", "locs // dcp_size * D"),
            "lab.check('91a', seed=2)",
            RIGHT,
            "float(lab.check('91a'))",
            "def localize(:\n    pass",  # a cell that cannot be read
            "lab.check('91a')",
            WRONG + "\nfloat(lab.check('91a'))",  # an answer and its check in one cell
            "import dcplab.lab, IPython\nIPython.core.interactiveshell.InteractiveShell.showtraceback = lambda *a, **k: None\n"
            "torch.equal = torch.allclose = lambda *a, **k: True",
            "float(lab.check('91a'))",
            "lab.reset('91a')",
            "lab.predict('91a')",
            "lab.run('91a', torch.tensor([5]), 1, 4)",
        ],
        tmp_path,
        DCPLAB_MODE="cpu",
    )
    assert "A small lab" in out[1]
    assert out[2].endswith("91a: not attempted, 0 of 20 points") and "run the cell with your answer first" in out[2]
    # On a line of its own: a note stands before it where the checker is still starting.
    assert "\nEvery rank took every loc" in "\n" + out[4] and "seed 2," in out[4]
    assert out[6].endswith("20.0")
    assert out[8].startswith("Line 1 of the cell with `localize` cannot be read")
    assert out[9].endswith("0.0") and out[11].endswith("0.0")
    assert "raise NotImplementedError" in out[12]
    form = nb.cells[13].outputs[0].data
    assert "application/vnd.jupyter.widget-view+json" in form and "2 + 2?" in form["text/plain"]
    assert "tensor([1])" in out[14]


def test_a_slip_with_a_name_of_the_notebook_is_over_once_it_is_mended(course, small, tmp_path):
    slip = RIGHT.replace("locs % dcp_size", "rows % dcp_size")
    out, _ = execute(
        [
            "import torch\nfrom dcplab import lab",
            RIGHT,
            "rows = lab.run('91a', torch.tensor([5]), 1, 4)",
            slip,
            "lab.check('91a')",
            RIGHT,
            "float(lab.check('91a'))",
        ],
        tmp_path,
        DCPLAB_MODE="cpu",
    )
    assert "Your answer uses `rows`, which [3] made with lab.run:" in out[4] and "an argument?" in out[4]
    assert "may not import" not in out[4] and out[6].endswith("20.0")


def test_a_kernel_says_one_sentence_for_a_wrong_name(course, small, tmp_path):
    out, _ = execute(["from dcplab import lab", "lab.check('91z')"], tmp_path, DCPLAB_MODE="cpu")
    assert out[1] == "Lab 91_small has no part '91z'; it has 91a, 91b, 91c, 91d, 91e, 91f."


def test_a_card_says_which_run_of_which_cell_it_is_about(course, small, tmp_path):
    """A cell that has changed since it ran, one whose function has another name now, a second cell that defines it."""
    reset.notebook(small)
    folder = reset.path_of(small).parent
    save = (
        "import json; nb = json.load(open('91_small.ipynb'))\ncell = next(c for c in nb['cells'] if c['id'] == 'answer-91a')\n"
    )
    write = "json.dump(nb, open('91_small.ipynb', 'w'))"
    out, _ = execute(
        [
            "import torch\nfrom dcplab import lab",  # [1]
            RIGHT,
            f"{save}cell['source'] = {RIGHT!r}\n{write}",
            "lab.check('91a')",
            f"{save}cell['source'] = {WRONG!r}\n{write}",
            "lab.check('91a')",
            WRONG,
            "lab.check('91a')",
            f"{save}nb['cells'].append(dict(cell, id='second', metadata={{}}))\n{write}",
            "lab.check('91a')",
        ],
        folder,
        DCPLAB_MODE="cpu",
    )
    assert "\n[2] was judged, seed " in out[3] and "cell" not in out[3].partition("Right on all")[2]
    assert "The cell has changed since it ran as [2]: run it, then check again." in out[5] and out[5].count("passed") == 1
    assert "\n[7] was judged, seed " in out[7] and "changed" not in out[7]
    assert "2 cells of the notebook define it; judged was the one that ran last, as [7]." in out[9]


def test_a_file_with_two_answers_is_said_to_have_them(notebook, capsys):
    put(notebook, RIGHT)
    assert main(["check", "91a"]) == 0 and "define it" not in capsys.readouterr().out
    nb = nbformat.read(notebook, as_version=4)
    nb.cells.append(new_code_cell(WRONG))
    nbformat.write(nb, notebook)
    assert main(["check", "91a"]) == 0
    assert "2 cells of the notebook define it; judged was the last of them." in capsys.readouterr().out


def test_a_run_is_known_by_its_own_number_whenever_the_shell_counts_on(monkeypatch):
    """A check that ran before the answer's cell is not taken for it."""
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell(config=config)
    monkeypatch.setattr(lab, "_shell", lambda: shell)
    monkeypatch.setattr(front_end, "ran", {})
    shell.events.register("post_run_cell", front_end.note_the_cell)
    ran = [("a = 1", "answer"), ("b = 2", "check"), ("a = 3", "answer"), ("1 / 0", "check"), ("b = 2", "check")]
    for text, cell in ran:
        shell.run_cell(text, store_history=True, cell_id=cell)
    shell.run_cell("c = 1", store_history=False, cell_id="hidden")
    history = list(enumerate(shell.history_manager.input_hist_raw))[1:]
    assert [(text, front_end.ran[i][0]) for i, text in history] == ran
    assert front_end.ran[1][1] <= front_end.ran[3][1], "when they ended, in order"
    runs = [CellRun(i, text, *front_end.ran[i]) for i, text in history]
    assert judged("1c", "a", runs, []) == Judged(3)
