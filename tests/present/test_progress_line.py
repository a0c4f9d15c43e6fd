"""One line of progress, wherever it is shown."""

import sys

import nbformat
import pytest
from nbclient import NotebookClient

from dcplab.present import progress_line


def on_a_terminal(monkeypatch, capsys, show):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    show()
    return capsys.readouterr()


def test_a_terminal_counts_steps_and_the_line_is_removed(monkeypatch, capsys):
    def show():
        with progress_line.line("runs", 3, done=1) as say:
            say("one", 1)
            with progress_line.aside():
                print("a row")
            say("two", 1)

    out, err = on_a_terminal(monkeypatch, capsys, show)
    assert out == "a row\n"
    assert "1 of 3 runs" in err and "2 of 3 runs: one" in err and "3 of 3 runs: two" in err
    assert err.endswith("\r") and not err.rstrip("\r").rpartition("\r")[2].strip(), "something is left on the line"
    assert "\n" not in err


def test_a_terminal_shows_a_text_that_does_not_count(monkeypatch, capsys):
    def show():
        with progress_line.line("the incident") as say:
            for step in range(1000):
                say(f"step {step}")

    err = on_a_terminal(monkeypatch, capsys, show).err
    assert err.count("the incident") < 100, "it is drawn ten times a second, not a thousand"
    assert not err.rstrip("\r").rpartition("\r")[2].strip()


def test_a_file_and_a_graded_notebook_get_no_line(monkeypatch, capsys):
    with progress_line.line("runs", 2) as say:
        say("one", 1)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")

    def show():
        with progress_line.line("runs", 2) as say:
            say("one", 1)

    assert on_a_terminal(monkeypatch, capsys, show) == ("", "")


@pytest.mark.slow
def test_a_notebook_keeps_the_last_count_and_no_line_that_does_not_count():
    code = ["from dcplab.present import progress_line", "print('before')", "with progress_line.line('runs', 2) as say:"]
    code += ["    say('a', 1)", "    say('b', 1)", "with progress_line.line('case 1') as say:", "    say('step 7')", "'after'"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(code))])
    NotebookClient(book, timeout=120, store_widget_state=False).execute()
    told = [o.get("text") or o["data"]["text/plain"] for o in book.cells[0].outputs]
    assert told == ["before\n", "2 of 2 runs", "", "'after'"]
