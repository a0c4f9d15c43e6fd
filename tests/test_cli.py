"""The command line: what it lists, what it loads, and how it ends."""

import argparse
import subprocess
import sys
import types

import pytest

from dcplab import cli
from dcplab.errors import CourseError


def run(*words: str, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "dcplab", *words], capture_output=True, text=True, timeout=180, **kwargs)


def command(action) -> types.SimpleNamespace:
    """A command module whose ``run`` is ``action``."""
    return types.SimpleNamespace(HELP="a test", __doc__="A test.", arguments=lambda parser: None, run=action)


@pytest.fixture
def only(monkeypatch):
    """Puts one command, "it", in place of all."""

    def put(action):
        monkeypatch.setattr(cli, "names", lambda: ["it"])
        monkeypatch.setattr(cli, "load", lambda name: command(action))

    return put


def test_help_lists_every_command_and_loads_nothing_heavy():
    code = (
        "import sys; from dcplab import cli; cli.main(['--help']);"
        "print([m for m in ('torch', 'triton', 'tilelang', 'jupyterlab', 'nbgrader', 'plotly', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180)
    assert done.stdout.splitlines()[-1] == "[]"
    for name in [*cli.names(), "test"]:
        assert f"\n  {name:<10}" in done.stdout


def test_the_commands_that_the_course_promises_are_there():
    promised = "lab doctor check grade progress hint reset incident isolate bench release workshop build".split()
    assert set(promised) <= set(cli.names())


@pytest.mark.parametrize("name", cli.names())
def test_every_command_keeps_to_its_contract(name, capsys):
    module = cli.load(name)
    assert module.HELP and "\n" not in module.HELP and len(module.HELP) <= 90
    parser = argparse.ArgumentParser()
    module.arguments(parser)
    assert callable(module.run)
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0 and f"usage: ./course {name}" in capsys.readouterr().out


def test_an_unknown_command_is_answered_with_the_nearest_one(capsys):
    assert cli.main(["docter"]) == 2
    assert capsys.readouterr().err == "course: there is no command 'docter'; did you mean `./course doctor`?\n"


def test_a_course_error_is_one_sentence_and_status_2(only, capsys):
    def action(args):
        raise CourseError("the lab is out.")

    only(action)
    assert cli.main(["it"]) == 2
    assert capsys.readouterr().err == "course: the lab is out.\n"


def test_an_unexpected_error_is_one_line_too_unless_asked(only, capsys, monkeypatch):
    def action(args):
        raise KeyError("loc")

    only(action)
    monkeypatch.delenv("DCPLAB_DEBUG", raising=False)
    assert cli.main(["it"]) == 2
    assert capsys.readouterr().err == "course: KeyError: 'loc' (DCPLAB_DEBUG=1 shows where)\n"
    monkeypatch.setenv("DCPLAB_DEBUG", "1")
    with pytest.raises(KeyError):
        cli.main(["it"])


def test_ctrl_c_is_quiet(only, capsys):
    def action(args):
        raise KeyboardInterrupt

    only(action)
    assert cli.main(["it"]) == 130
    assert capsys.readouterr().err == "\n"


def test_the_status_of_a_command_is_passed_on(only):
    only(lambda args: 1)
    assert cli.main(["it"]) == 1


def test_a_wrong_word_is_status_2_and_not_a_traceback():
    done = run("lab", "--port", "many")
    assert done.returncode == 2 and "invalid int value: 'many'" in done.stderr and "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error():
    line = f"'{sys.executable}' -u -m dcplab --help | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, timeout=180)
    assert done.stdout.strip() == "0" and done.stderr == ""


def test_benches_are_found_by_their_files_and_run_apart(tmp_path, monkeypatch, capfd):
    (tmp_path / "bench").mkdir()
    lines = ['"""Rows a second."""', "import sys", 'if __name__ == "__main__":']
    lines += ['    print("ran", sys.argv[1:])', "    sys.exit(len(sys.argv) - 3)"]
    (tmp_path / "bench/rows.py").write_text("\n".join(lines))
    (tmp_path / "bench/tools.py").write_text("# what rows.py imports\n")
    monkeypatch.setenv("DCPLAB_ROOT", str(tmp_path))
    assert cli.main(["bench"]) == 0
    assert capfd.readouterr().out == "  rows  Rows a second.\n"
    assert cli.main(["bench", "rows", "--json", "out"]) == 0
    assert capfd.readouterr().out == "ran ['--json', 'out']\n"
    assert cli.main(["bench", "rows", "a", "b", "c"]) == 2
    assert capfd.readouterr().err == "course: the bench rows ended with status 1.\n"
    assert cli.main(["bench", "nothing"]) == 2
    assert "there is no bench 'nothing'; there are rows." in capfd.readouterr().err


def test_a_teachers_sheet_has_a_question_mistakes_and_three_hints_of_each_part(capsys):
    from dcplab.course import catalog

    assert cli.main(["workshop", "notes", "03"]) == 0
    said = capsys.readouterr().out
    lab = catalog.lab("03")
    sheets = said.split("\n## ")[1:]
    assert [sheet.split()[0] for sheet in sheets] == [part.id for part in lab.parts]
    for sheet, part in zip(sheets, lab.parts, strict=True):
        assert sheet.count("* Reveal ") == 3 and ("* Ask first: " in sheet) == bool(part.prediction)
        wrong = [one for one in lab.wrong if one.part == part.id]
        assert sheet.count("* Goes wrong: ") == min(4, len({one.family or one.says for one in wrong}))
