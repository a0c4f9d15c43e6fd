"""`dcplab build` in a course of its own: what is written, what is refused, what is executed."""

import json
import shutil

import nbformat
import pytest

from dcplab import cli, paths
from dcplab.author import build, execute, lint, notebook
from dcplab.course import catalog
from dcplab.present import check_result

pytestmark = pytest.mark.slow  # notebooks run

NAME = "01_tiny.ipynb"


@pytest.fixture
def path(course):
    return course / "labs" / "01_tiny" / NAME


def edit(path, change):
    nb = nbformat.read(path, as_version=4)
    change(nb)
    path.write_text(notebook.to_text(nb))
    return path.read_text()


def answer(nb):
    next(c for c in nb.cells if c.id == "answer-1a").source = "def owner_rank(loc, dcp_size):\n    return 0"


def ran(nb):
    nb.cells[1].execution_count = 1


def backups(tmp_path):
    return sorted((tmp_path / "state" / "backups").glob("*"))


def test_build_and_build_again(path, capsys):
    assert cli.main(["build", "--check"]) == 1
    assert "not built yet" in capsys.readouterr().out
    assert cli.main(["build"]) == 0
    assert path.exists()
    assert cli.main(["build", "--check"]) == 0
    assert "up to date" in capsys.readouterr().out
    before = path.stat().st_mtime_ns
    assert cli.main(["build", "1"]) == 0
    assert path.stat().st_mtime_ns == before


def test_edits_are_refused_and_with_force_kept(path, tmp_path, capsys):
    cli.main(["build"])
    mine = edit(path, answer)
    assert cli.main(["build", "--check"]) == 1
    assert cli.main(["build"]) == 2
    assert "--force replaces it and keeps a dated copy" in capsys.readouterr().err
    assert path.read_text() == mine
    assert backups(tmp_path) == []
    assert cli.main(["build", "--force"]) == 0
    assert build.compare(build.make(catalog.lab("01"))) == "equal"
    assert [copy.read_text() for copy in backups(tmp_path)] == [mine]


def test_what_is_no_notebook_may_be_somebodys_work(path, tmp_path):
    cli.main(["build"])
    path.write_text("{ half a note")
    assert cli.main(["build"]) == 2
    assert path.read_text() == "{ half a note"
    assert cli.main(["build", "--force"]) == 0
    assert [copy.read_text() for copy in backups(tmp_path)] == ["{ half a note"]


def test_an_older_notebook_is_renewed_and_a_run_one_too(course, path, tmp_path):
    cli.main(["build"])
    made = build.make(catalog.lab("01"))
    old = edit(path, ran)
    assert build.compare(made) == "run"
    source = course / "solutions" / "01_tiny" / "01_tiny.py"
    source.write_text(source.read_text().replace("The end.", "The very end."))
    newer = build.make(catalog.lab("01"))
    assert build.compare(newer) == "stale"
    assert cli.main(["build"]) == 0
    assert build.compare(newer) == "equal"
    assert [copy.read_text() for copy in backups(tmp_path)] == [old]


def test_a_fault_is_named_and_fails(course, capsys):
    parts = course / "solutions" / "01_tiny" / "parts" / "1a.py"
    parts.write_text(parts.read_text().replace('"three"', '""'))
    assert cli.main(["build"]) == 2
    said = capsys.readouterr()
    assert "01_tiny: 1a: three hints are asked for, and there are 2." in said.out
    assert "1 fault in the labs" in said.err


def test_two_backups_of_one_second_are_two(tmp_path, course):
    from dcplab.notebook import backup

    (tmp_path / "a.ipynb").write_text("one")
    first, second = backup.keep(tmp_path / "a.ipynb"), backup.keep(tmp_path / "a.ipynb")
    assert first != second
    assert first.read_text() == second.read_text() == "one"


def test_the_solved_notebook_is_executed_and_stamped(course):
    assert cli.main(["build", "--execute"]) == 0
    home = course / "solutions" / "01_tiny"
    nb = nbformat.read(home / NAME, as_version=4)
    nbformat.validate(nb)
    assert nb.metadata.dcplab.executed.mode in ("cpu", "gpu")
    assert f"torch {nb.metadata.dcplab.executed.versions.torch}" in nb.cells[0].source
    checks = [c for c in nb.cells if c.id in ("check-1a", "check-1b")]
    assert all("1 of" not in str(c.outputs) and "passed" in str(c.outputs) for c in checks)
    assert all(c.execution_count for c in nb.cells if c.cell_type == "code")
    assert "SOLUTION" not in notebook.to_text(nb)
    assert not (course / ".dcplab").exists()


def test_a_solution_that_fails_its_check_is_not_kept(course, capsys):
    source = course / "solutions" / "01_tiny" / "01_tiny.py"
    source.write_text(source.read_text().replace('lab.check("1b")', 'print("no check")\nlab.hint("1b")'))
    with pytest.raises(build.CourseError, match="1b not checked"):
        build.execute(catalog.lab("01"), lambda done, total: None)
    assert not (course / "solutions" / "01_tiny" / NAME).exists()


def test_a_solution_that_raises_names_its_cell(course):
    source = course / "solutions" / "01_tiny" / "01_tiny.py"
    source.write_text(source.read_text().replace('lab.check("1b")', "1 / 0"))
    with pytest.raises(build.CourseError, match="stopped at cell check-1b: ZeroDivisionError: division by zero"):
        execute.execute(build.make(catalog.lab("01")).source, lambda done, total: None)


def test_a_notebook_over_a_megabyte_is_not_kept(tmp_path):
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x" * 1_000_001)])
    with pytest.raises(build.CourseError, match="is the most a reader can open"):
        execute.save(nb, tmp_path / "a.ipynb")
    assert not (tmp_path / "a.ipynb").exists()


def test_widgets_leave_text_and_pictures():
    def output(**data):
        return nbformat.v4.new_output("display_data", data={k.replace("__", "/"): v for k, v in data.items()})

    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}
    kept = [output(text__plain="1a, predict: who?"), output(text__plain="VBox(children=())", text__html="<p>table</p>")]
    bare = [output(text__plain="VBox(children=(IntSlider(value=0),))"), output(text__plain=""), output()]
    for shown in (*kept, *bare):
        shown["data"] |= view
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[*kept, *bare])], metadata={"widgets": {}})
    found = execute._without_widgets(nb)
    assert found.cells[0].outputs == kept
    assert "widget-view" not in json.dumps(found)
    assert "widgets" not in found.metadata


REAL = [lab.name for lab in catalog.labs() if lab.cells]


@pytest.mark.parametrize("name", REAL)
def test_labs_are_what_solutions_generate(name):
    made = build.make(catalog.lab(name))
    state = build.compare(made)
    if state in ("edited", "run"):  # a learner works here: the notebook as committed is what must be right
        import subprocess

        where = made.path.relative_to(paths.root()).as_posix()
        text = subprocess.run(["git", "-C", str(paths.root()), "show", f"HEAD:{where}"], capture_output=True, check=True).stdout
        assert text.decode() == notebook.to_text(made.learner)
    else:
        assert state == "equal", build.SAYS[state]


@pytest.mark.parametrize("name", REAL)
def test_labs_have_no_fault_and_give_nothing_away(name):
    lab = catalog.lab(name)
    assert build.faults(lab, build.make(lab)) == []


@pytest.mark.parametrize("name", REAL)
def test_the_kept_solved_notebook_is_of_this_source(name):
    """What people read in solutions/ has the text that its source gives, ran whole, and says where."""
    lab = catalog.lab(name)
    nb = nbformat.read(paths.solutions() / name / f"{name}.ipynb", as_version=4)
    expected = execute.readable(build.make(lab).source)
    assert [(c.id, c.source) for c in nb.cells[1:]] == [(c.id, c.source) for c in expected.cells]
    assert all(c.execution_count for c in nb.cells if c.cell_type == "code")
    assert nb.metadata.dcplab.executed.mode in ("cpu", "gpu")
    assert len(notebook.to_text(nb).encode()) <= execute.LIMIT_BYTES
    assert "widgets" not in nb.metadata


@pytest.mark.parametrize("name", REAL)
def test_no_solved_notebook_shows_what_failed(name):
    """What is on show are demonstrations: they may name an error, and none of them was kept from running."""
    assert execute.failures(nbformat.read(paths.solutions() / name / f"{name}.ipynb", as_version=4)) == []


def test_a_failed_run_is_seen_in_whatever_a_cell_puts_out():
    new = nbformat.v4
    raised = "It raised PermissionError: [Errno 13] Permission denied: 'ckv_write.py'"
    shown = [
        new.new_output("stream", text=f"[CPU]\nD 1: right\n{raised}\n"),
        new.new_output("execute_result", data={"text/plain": "5b is not finished yet: it still ends in a raise."}),
        new.new_output("error", ename="ValueError", evalue="", traceback=[]),
    ]
    fine = new.new_output("stream", text="torch writes loc 300: raised IndexError: index 4\n0 errors\nverdict: refused")
    nb = new.new_notebook(cells=[new.new_code_cell("x", id=f"c{i}", outputs=[out]) for i, out in enumerate([*shown, fine])])
    assert [line.partition(":")[0] for line in execute.failures(nb)] == ["c0", "c1", "c2"]
    assert execute.failures(nb)[0] == f"c0: {raised}"


def test_the_learners_tree_holds_notebooks_and_nothing_else():
    files = shutil.which("git") and _tracked()
    assert all(name.endswith(".ipynb") for name in files or []), files


def _tracked():
    import subprocess

    done = subprocess.run(["git", "-C", str(paths.root()), "ls-files", "-z", "labs"], capture_output=True, text=True)
    return [name for name in done.stdout.split("\0") if name]


def test_the_width_of_a_diagnosis_is_that_of_a_learners_line():

    assert lint.SAYS_WIDTH == check_result.WIDTH
