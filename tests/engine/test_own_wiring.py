"""A learner's own wiring on whole servers: the same over several processes as in one, and a sentence for what goes wrong."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from dcplab import lab, own_answers
from dcplab.cli import main
from dcplab.course import catalog
from dcplab.errors import CourseError
from dcplab.on_ranks import full_path, wiring

pytestmark = pytest.mark.slow  # servers run

SMALL = ["--dcp-size", "4", "--page-size", "4", "--layers", "2", "--device", "cpu"]
TWO = ["--ranks", "gloo", "--processes", "2"]
RIGHT = catalog.of_part("5b").key("5b").solution.source


def wrong(part, identity):
    """The four functions with a wrong answer of a part's bank in the place of the solution's."""
    return RIGHT + next(program.source for answer, program in catalog.of_part(part).key(part).wrong if answer.id == identity)


def told(tmp_path, source, *words):
    """Run the story with a wiring in one process and in two, and return both outcomes."""
    (tmp_path / "own.py").write_text(source)
    found = {}
    for name, ranks in (("one", []), ("two", TWO)):
        asked = ["incident", "--answer", str(tmp_path / "own.py"), *SMALL, *words, *ranks, "--json", str(tmp_path / name)]
        assert main(asked) == 0
        found[name] = json.loads((tmp_path / name).read_text())
    return found["one"], found["two"]


@pytest.mark.parametrize(
    ("part", "identity", "words"),
    [("5a", "5a-no-localize", []), ("5b", "5b-no-interleave", []), ("5a", "5a-raw-write", ["--draft", "2"])],
)
def test_a_wrong_wiring_says_the_same_wrong_words_in_two_processes(tmp_path, part, identity, words):
    one, two = told(tmp_path, wrong(part, identity), *words)
    assert full_path.differences(one, two) == [] and one["verdict"] == "silent corruption"
    assert (one["first_misuse"] is None) == (identity == "5b-no-interleave")


THIRD = """
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        locs = rank.to_locs(rank.select_paged())
        rows, counts = rank.as_rows(locs) if rank.rank == 3 else rank.localize(locs)
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)
"""


def test_the_first_wrong_operation_is_found_on_a_rank_of_another_process(tmp_path):
    one, two = told(tmp_path, RIGHT + THIRD, "--level", "below")
    assert full_path.differences(one, two) == []
    assert (one["first_misuse"]["rank"], one["first_misuse"]["op"]) == (3, "sparse_mla_decode")


def test_a_right_wiring_over_own_functions_is_that_of_one_process(monkeypatch, capfd):
    parts = ("1c", "3a", "3d", "3e", "4b", "4c", "4d")  # 2h writes as 3a does, in the interpreter too, and for longest
    taken = {part: catalog.of_part(part).key(part).solution.source for part in parts}
    monkeypatch.setattr(own_answers, "_taken", taken)
    program = replace(catalog.of_part("5b").key("5b").solution, source=RIGHT)
    shown = full_path.full_path(own_answers.carry(program), 2, "gloo", 2, None)
    assert "2 processes over gloo" in shown.text and "Every word, and every figure of the servers, is that of one" in shown.text
    _, table, _ = shown.pieces
    assert [row[1] for row in table.rows] == ["one process", "several processes"] * 2
    assert {row[2:4] for row in table.rows} == {("right", "3/3 2/2 3/3")} and len({row[4] for row in table.rows}) == 1


def test_a_wrong_function_under_the_wiring_is_used_in_every_process(monkeypatch):
    source = "def localize_topk(topk_locs, dcp_rank, dcp_size):\n    raise LookupError('mine')\n"
    monkeypatch.setattr(own_answers, "_taken", {"3d": source})
    program = replace(catalog.of_part("5b").key("5b").solution, source=RIGHT)
    said = full_path.full_path(own_answers.carry(program), 4, "gloo", 2, None).text
    assert said == "Your wiring raised LookupError: mine (line 2 of your answer to 3d)."


def ended(tmp_path, source, *words):
    (tmp_path / "own.py").write_text(source)
    command = [sys.executable, "-m", "dcplab", "incident", "--answer", str(tmp_path / "own.py"), *SMALL, *TWO, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "Verdict" not in done.stdout
    return [line for line in done.stderr.splitlines() if line.startswith("course: ")]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("        rank.rank / 0\n", r"Your wiring raised ZeroDivisionError: division by zero \(line \d+ of code cell \d+\)\."),
        ("        1 // (3 - rank.rank)\n", r"Your wiring raised ZeroDivisionError: .* \(line \d+ of code cell \d+\)\."),
        ("        step.ranks[rank.rank]\n", r"IndexError: .* Of the 4 ranks step.ranks has the 2 that this process holds\."),
        ("        step.all_gather(parts[:1])\n", "raised ValueError: 0 tensors to gather, and this process hosts 2 ranks"),
        (
            "        rank.write_ckv(step.batch.out_cache_loc + (10**7 if rank.rank == 3 else 0), raw=True)\n",
            "The server ended on ranks 2 to 3 only: alarm|The server did not end alike on all ranks",
        ),
    ],
)
def test_what_goes_wrong_on_some_rank_is_a_sentence(tmp_path, line, sentence):
    first = "        rank.write_ckv(step.batch.out_cache_loc)\n"
    source = RIGHT + THIRD.replace("rank.as_rows(locs) if rank.rank == 3 else ", "").replace(first, first + line)
    said = ended(tmp_path, source)
    assert re.search(sentence, said[0]), said
    assert all(re.search("ends? too|has ended with an error|Another process has ended", other) for other in said[1:]), said


def test_an_answer_that_is_not_there_is_refused_before_a_server(tmp_path, capsys):
    (tmp_path / "half.py").write_text(RIGHT.replace("def verify_path", "def other_path"))
    (tmp_path / "starter.py").write_text(RIGHT + "\ndef draft_path(step):\n    raise NotImplementedError\n")
    for words, sentence in (
        (["--answer", str(tmp_path / "half.py")], "No cell defines `verify_path`: the path takes 5a's and 5b's answers."),
        (["--answer", str(tmp_path / "starter.py")], "`draft_path` is not finished yet"),
        (["--answer", str(tmp_path / "none.py")], "There is no"),
        (["--mine"], "give --answer too"),
        (["--answer", "x.py", "--mine", "1c", "--interleave", "2"], "with --mine there is no --interleave"),
    ):
        assert main(["incident", *SMALL, *words]) == 2
        assert sentence in capsys.readouterr().err


def test_the_notebooks_call_takes_the_same_words(monkeypatch):
    program = replace(catalog.of_part("5b").key("5b").solution, source=RIGHT)
    monkeypatch.setattr(lab, "program_of", lambda *given: program)
    asked = []
    monkeypatch.setattr(full_path, "full_path", lambda *given: asked.append(given[1:]))
    lab.full_path()
    lab.full_path(dcp_size=8, gpus=2)
    lab.full_path(ranks="local", processes=None)
    assert asked == [(4, "gloo", 2, None), (8, "gloo", None, 2), (4, "local", None, None)]
    monkeypatch.undo()
    monkeypatch.setattr(lab, "program_of", lambda *given: program)
    assert "3 DCP ranks cannot be dealt evenly to 2 processes" in str(lab.full_path(dcp_size=3))
    with pytest.raises(CourseError, match="No cell defines"):
        wiring.ready(replace(program, problem="No cell defines `decode_path`, the name that the check looks for."))
