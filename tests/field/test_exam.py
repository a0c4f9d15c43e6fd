"""The examination: what is handed out, what is counted, and what each kind of hand-in gets."""

import json
import os
import textwrap
import time
from pathlib import Path

import pytest

from dcplab.errors import CourseError
from dcplab.exam import answers, grading, marking, sittings, taking, tickets
from dcplab.exam.answers import HandedIn
from dcplab.field import checkout, faults

ROUND_TRIP = """
import random

from quay.config import QuayConfig
from quay.server import QuayServer


def served(prompts, **config):
    server = QuayServer(QuayConfig(num_blocks=60, max_model_len=128, index_topk=12, **config))
    requests = [server.add_request(prompt, 10) for prompt in prompts]
    server.run()
    return [request.output_token_ids for request in requests], server.stats


def prompts(count=4):
    draw, made = random.Random(4), []
    for _ in range(count):
        prompt = [0, *(draw.randrange(1, 200) for _ in range(draw.randint(20, 50)))]
        at = draw.randrange(1, len(prompt) - 3)
        made.append(prompt + prompt[at : at + 2])
    return made


"""
INTERLEAVE = """def test_ranks_and_interleave_change_no_answer():
    right, _ = served(prompts(), cp_size=1)
    assert served(prompts(), cp_size=2, cp_interleave=2)[0] == right
    assert served(prompts(), cp_size=4)[0] == right
"""
DRAFT = """def test_ranks_change_nothing_for_the_drafter():
    right, one = served(prompts(12), cp_size=1, num_draft_tokens=3)
    words, two = served(prompts(12), cp_size=2, num_draft_tokens=3)
    assert words == right
    assert two.accepted >= 0.8 * one.accepted
"""
LEAVING = """
import random

from engine.configurator import ServerConfig
from engine.scheduler import Engine


def served(asked, **config):
    engine = Engine(ServerConfig(page_size=4, size=256, layers=2, topk=12, chunk=64, **config), watch=False)
    requests = [engine.submit(prompt, answer) for prompt, answer in asked]
    while engine.busy:
        engine.step()
    return [request.output[: request.max_new] for request in requests]


def test_who_leaves_changes_nobody_elses_words():
    draw, asked = random.Random(4), []
    for answer in (3, 9, 5, 12, 14):
        prompt = [0, *(draw.randrange(1, 200) for _ in range(30))]
        asked.append((prompt + prompt[7:9], answer))
    alone = [served([one], dcp_size=2)[0] for one in asked]
    assert served(asked, dcp_size=2) == alone
"""
ALL_RIGHT = {
    "quay-owner-by-token": ROUND_TRIP + INTERLEAVE,
    "quay-candidates-local": ROUND_TRIP + INTERLEAVE,
    "quay-draft-block-of-rank": ROUND_TRIP + DRAFT,
    "engine-batch-row-for-request": LEAVING,
}
OWNER = faults.named("quay-owner-by-token")


def secret(what: str, number: int) -> int:
    return 1000 * len(what) + number


def diagnosis(fault, **other):
    said = {"file": fault.edit.file, "line": fault.line, "index": fault.index, "was": fault.was, "expected": fault.expected}
    return said | other


def handed(fault, server=None, test="", said=None):
    """Return a hand-in: by default with the server as it was handed out, no test and no diagnosis."""
    given = fault.edit.made(checkout.files(fault.house)) if server is None else server
    nothing = {name: 0 if name == "line" else "" for name in answers.FIELDS}
    return HandedIn(said or nothing, {name: text for name, text in given.items() if not name.startswith("tests/")}, test)


def patch_mark(fault, contents):
    return marking._patch(fault, handed(fault, contents), secret)


def test_mark(fault, source):
    return marking._test(fault, handed(fault, test=textwrap.dedent(source)), secret)


test_mark.__test__ = False


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL_RIGHT)
def test_a_true_hand_in_gets_full_marks(name):
    fault = faults.named(name)
    marks = marking.mark(fault, handed(fault, checkout.files(fault.house), ALL_RIGHT[name], diagnosis(fault)), secret)
    assert [(mark.outcome, mark.points) for mark in marks] == [("passed", points) for points in marking.POINTS.values()], marks


@pytest.mark.parametrize("fault", faults.every(), ids=lambda fault: fault.id)
def test_the_place_is_the_place_and_nothing_far_from_it(fault):
    assert marking._diagnosis(fault, handed(fault, said=diagnosis(fault))).points == marking.POINTS["a"]
    text = fault.edit.made(checkout.files(fault.house))[fault.edit.file]
    first, last = marking.place(fault.id)
    assert first <= fault.line <= last < text.count("\n") + 2
    assert last - first <= 2 * marking.NEAR + max(fault.edit.after.count("\n"), 8)


@pytest.mark.parametrize(
    ("other", "points"),
    [
        ({"line": 1}, 12),
        ({"file": "quay/worker.py"}, 12),
        ({"index": "index"}, 16),
        ({"was": "slot"}, 16),
        ({"was": "slot", "expected": "free", "line": 1, "index": "x"}, 0),
    ],
)
def test_a_wrong_diagnosis_gets_what_is_right_of_it_and_is_not_told_which(other, points):
    mark = marking._diagnosis(OWNER, handed(OWNER, said=diagnosis(OWNER, **other)))
    assert (mark.points, mark.outcome, mark.message) == (points, "failed", "not all of it is right")


@pytest.mark.parametrize(
    ("name", "index", "points"),
    [
        ("quay-slots-8-bits", "slot_mapping", 20),
        ("quay-slots-8-bits", "b.slot_mapping[worker.cp_rank, part]", 20),
        ("quay-slots-8-bits", "mapped[0]", 20),
        ("quay-slots-8-bits", "positions", 16),
        ("engine-state-not-sent", "stored", 20),
        ("engine-answer-not-counted", "tokens", 20),
        ("engine-answer-not-counted", "max_new", 16),
    ],
)
def test_an_index_has_more_than_one_name(name, index, points):
    fault = faults.named(name)
    assert marking._diagnosis(fault, handed(fault, said=diagnosis(fault, index=index))).points == points


def test_nothing_handed_in_gets_nothing():
    marks = marking.mark(OWNER, handed(OWNER), secret)
    assert [(mark.points, mark.outcome) for mark in marks] == [(0, "not_attempted")] * 3


def test_traffic_that_shows_nothing_marks_no_patch(monkeypatch):
    monkeypatch.setattr(marking, "complained", lambda fault, traffic: ())
    with pytest.raises(CourseError, match="too little to complain of"):
        patch_mark(OWNER, checkout.files("quay"))


def test_a_patch_that_mends_nothing_gets_nothing():
    planted = OWNER.edit.made(checkout.files("quay"))
    comment = planted | {"quay/layout.py": planted["quay/layout.py"] + "\n# mended\n"}
    off = OWNER.decoys[0].made(planted)
    for contents in (comment, off, {}, {"quay/layout.py": "while True: pass\n"}):
        assert patch_mark(OWNER, contents).points == 0


@pytest.mark.slow
def test_a_patch_that_knows_the_traffic_that_was_shown_gets_nothing():
    planted = OWNER.edit.made(checkout.files("quay"))
    shown = marking.showing(OWNER, secret, "seen", 1)[0]
    words = marking.outcome.right("quay", shown).words
    right = {tuple(one["tokens"]): list(said) for one, said in zip(shown["requests"], words, strict=True)}
    known = f"""

KNOWN = {right!r}
_step = QuayServer.step


def step(self):
    done = _step(self)
    for request in EVERY:
        if (right := KNOWN.get(tuple(request.prompt_token_ids))) is not None:
            request.output_token_ids[:] = right[: len(request.output_token_ids)]
    return done


EVERY = []
_add = QuayServer.add_request


def add_request(self, *args):
    EVERY.append(_add(self, *args))
    return EVERY[-1]


QuayServer.step, QuayServer.add_request = step, add_request
"""
    contents = planted | {"quay/server.py": planted["quay/server.py"] + known}
    mark = patch_mark(OWNER, contents)
    assert mark.points == 0 and "not seen" in mark.message


def test_a_patch_that_fetches_the_right_server_finds_none():
    planted = OWNER.edit.made(checkout.files("quay"))
    borrowed = planted | {"quay/layout.py": "from dcplab.field.server.layout import *\n"}
    assert patch_mark(OWNER, borrowed).points == 0


@pytest.mark.parametrize(
    ("source", "points", "says"),
    [
        ("def test_it():\n    assert False\n", 0, "red on a server that is right"),
        ("def test_it():\n    assert True\n", 0, "green on the server that was handed out"),
        ("import nothing_of_this_name\ndef test_it(): pass\n", 0, "red on a server that is right"),
        ("def test_it(:\n", 0, "red on a server that is right"),
        ("VALUE = 3\n", 0, "no regression test"),
        (
            "def test_owner():\n    import torch\n    from quay import config, layout\n"
            "    cfg = config.QuayConfig(cp_size=2, cp_interleave=2)\n"
            "    assert layout.owner_of(torch.arange(4), cfg).tolist() == [0, 0, 1, 1]\n",
            marking.SHOWN,
            "not on all of its kind",
        ),
    ],
)
def test_a_regression_test_gets_what_it_deserves(source, points, says):
    mark = test_mark(OWNER, source)
    assert (mark.points, says in mark.message) == (points, True), mark


def test_a_test_that_knows_the_right_source_by_heart_is_red_on_a_right_server():
    import hashlib

    digest = hashlib.sha256(checkout.files("quay")["quay/layout.py"].encode()).hexdigest()
    source = f"""
    import hashlib
    from pathlib import Path
    import quay.layout

    def test_source():
        assert hashlib.sha256(Path(quay.layout.__file__).read_bytes()).hexdigest() == "{digest}"
    """
    assert test_mark(OWNER, source).points == 0


@pytest.mark.slow
def test_a_hostile_test_is_contained_and_none_of_its_words_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    key = tickets.key()
    assert key
    wall = tmp_path / "written"
    secrets = [tickets.state_dir() / "key", Path(faults.__file__).with_name("catalogue") / "faults_quay.toml"]
    for attack in (
        f"open({str(wall)!r}, 'w').write('here')",
        *(f"raise AssertionError('LEAK' + open({str(path)!r}).read())" for path in secrets),
        "import dcplab.field.faults as f; raise AssertionError('LEAK' + f.every()[0].about)",
        "from pathlib import Path; import quay.layout as l; raise AssertionError('LEAK' + Path(l.__file__).read_text())",
        "import os; os._exit(0)",
        "import os; os.kill(os.getppid(), 9)",
    ):
        mark = test_mark(OWNER, f"def test_it():\n    {attack}\n")
        assert (mark.points, mark.message) == (0, "it is red on a server that is right"), attack
    assert not wall.exists() and tickets.key() == key


@pytest.mark.slow
def test_a_test_without_an_end_is_ended(monkeypatch):
    monkeypatch.setattr(marking.outcome, "TESTS_S", 2.0)
    mark = test_mark(OWNER, "def test_it():\n    while True: pass\n")
    assert (mark.points, mark.message) == (0, "it is red on a server that is right")


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    return tmp_path


def begin(state, sort="practice", seed=7):
    folder = state / f"{sort}-{seed}"
    said = taking.start(folder, sort, seed, None)
    return folder, said, tickets.faults_of(tickets.key(), tickets.read(folder))


def mend(folder, fault, case=1):
    """Put the true patch where a learner edits."""
    file = folder / f"case_{case}" / "checkout" / fault.edit.file
    file.write_text(fault.patch.made({fault.edit.file: file.read_text()})[fault.edit.file])


def diagnose(folder, fault, case=1, **other):
    lines = [f"{name} = {json.dumps(value)}" for name, value in diagnosis(fault, **other).items()]
    (folder / f"case_{case}" / answers.ANSWER).write_text("\n".join(lines))


@pytest.mark.slow
def test_a_folder_says_nothing_of_its_fault(state):
    folder, _, (first, second) = begin(state, "examination", 12)
    assert first.kind != second.kind
    texts = {path: path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert len(texts) > 20
    for fault in (first, second):
        assert not [path for path, text in texts.items() if fault.id in text or fault.about in text or fault.source in text]
    assert [fault.report in (folder / f"case_{i}/REPORT.md").read_text() for i, fault in enumerate((first, second), 1)] == [
        True
    ] * 2
    assert (folder / "README.md").read_text().count("\n| `") == len(faults.spaces()) + 5
    kept = "".join(path.read_text() for path in tickets.state_dir().glob("*.json"))
    assert kept and first.id not in kept and first.kind not in kept


def test_the_seed_tells_nothing_without_the_key():
    drawn = [tickets.issue(bytes([number]) * 32, "examination", 5)[1] for number in range(12)]
    assert len({tuple(fault.id for fault in both) for both in drawn}) > 6
    for seed in (0, 7, 93_916_763):
        mine, next_ones = (tickets.issue(b"k" * 32, "examination", seed + step)[1] for step in (0, 1))
        assert mine[0].kind != mine[1].kind
        assert all(tickets.same_kind(fault) for fault in mine), "a regression test has something to be held against"
        assert all(a.kind != b.kind for a, b in zip(mine, next_ones, strict=True))
    practised = {tickets.issue(b"k" * 32, "practice", seed)[1][0].kind for seed in range(len(faults.kinds()))}
    assert practised == set(faults.kinds())
    assert tickets.issue(b"k" * 32, "practice", 5) == tickets.issue(b"k" * 32, "practice", 5)
    ticket, _ = tickets.issue(b"k" * 32, "practice", 5)
    with pytest.raises(CourseError, match="another key"):
        tickets.faults_of(b"o" * 32, ticket)


def test_a_catalogue_that_grows_changes_no_running_examination(monkeypatch):
    every, (ticket, drawn) = faults.every(), tickets.issue(b"k" * 32, "examination", 5)
    monkeypatch.setattr(faults, "every", lambda: every[::-1])
    assert tickets.faults_of(b"k" * 32, ticket) == drawn


def test_hints_ask_questions_and_name_no_place():
    places = {Path(fault.edit.file).name for fault in faults.every()} | {fault.id for fault in faults.every()}
    for kind in faults.kinds():
        asked = taking.questions(kind)
        assert len(asked) == 3, f"{kind} has no question of its own"
        assert all(question.endswith("?") for question in asked)
        assert not [place for place in places if any(place in question for question in asked)]


@pytest.mark.slow
def test_a_learner_finds_it_at_the_second_hand_in(state, capsys):
    folder, said, (fault,) = begin(state)
    assert "0 of 3" in said and "seed 7" in said
    with pytest.raises(CourseError, match="is not empty"):
        taking.start(folder, "practice", 7, None)
    with pytest.raises(CourseError, match="Nothing in it has changed"):
        taking.hand_in(folder, None)
    diagnose(folder, fault, line=1)
    mend(folder, fault)
    said = taking.hand_in(folder, None)
    assert "not all of it is right" in said and "holds under traffic" in said and "2 hand-ins left" in said
    assert fault.about not in said
    with pytest.raises(CourseError, match="handed in already"):
        taking.hand_in(folder, None)
    assert "Hint 1 of 3" in taking.hint(folder, None)
    diagnose(folder, fault, was="nonsense")
    with pytest.raises(CourseError, match=r"nonsense: no space .* not counted"):
        taking.hand_in(folder, None)
    diagnose(folder, fault)
    assert "1 hand-in left" in taking.hand_in(folder, None)
    ticket = tickets.read(folder)
    record = sittings.find(ticket)
    assert [mark.points for mark in sittings.best(ticket, record, 0)] == [15, 18, 0]
    assert sittings.points(ticket, record, 0) == 15 + 18 - sittings.HINT_POINTS
    (folder / "case_1/checkout" / answers.TEST).write_text("def test_it(): assert False\n")
    said = taking.hand_in(folder, None)
    assert fault.about in said and f"30 of {taking.MOST}" in said
    with pytest.raises(CourseError, match="closed"):
        (folder / "case_1/checkout" / answers.TEST).write_text("def test_it(): assert True\n")
        taking.hand_in(folder, None)
    with pytest.raises(CourseError, match="closed"):
        taking.hint(folder, None)
    row, cases = grading.row(folder, tickets.key())
    assert (row.status, row.points, row.max_points, row.message) == ("graded", 30, 50, "1 hint shown.")
    assert cases == [{"kind": fault.kind, "house": fault.house, "id": fault.id, "a": "passed", "b": "passed", "c": "failed"}]


@pytest.mark.slow
def test_an_interrupted_hand_in_counts_once_and_a_busy_machine_costs_none(state, monkeypatch):
    folder, _, (fault,) = begin(state)
    mend(folder, fault)
    ticket = tickets.read(folder)

    def stopped(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(marking, "mark", stopped)
    with pytest.raises(KeyboardInterrupt):
        taking.hand_in(folder, None)
    assert "hand the same in again" in taking.status(folder)

    def busy(*args):
        raise marking.MachineBusy

    monkeypatch.setattr(marking, "mark", busy)
    with pytest.raises(CourseError, match=r"busy.*not counted"):
        taking.hand_in(folder, None)
    assert sittings.find(ticket)["cases"][0]["handed"] == []
    done = [marking.Mark("a", 0, "failed", ""), marking.Mark("b", 18, "passed", ""), marking.Mark("c", 0, "failed", "")]
    monkeypatch.setattr(marking, "mark", stopped)
    with pytest.raises(KeyboardInterrupt):
        taking.hand_in(folder, None)
    monkeypatch.setattr(marking, "mark", lambda *args: done)
    assert "hand-in 1 of 3" in taking.hand_in(folder, None)
    assert len(sittings.find(ticket)["cases"][0]["handed"]) == 1


@pytest.mark.slow
def test_a_folder_made_anew_has_no_more_hand_ins(state):
    folder, _, _ = begin(state)
    ticket = tickets.read(folder)
    sittings.count(ticket, 0, "first")
    again = state / "again"
    assert "1 of 3" in taking.start(again, "practice", 7, None)
    for digest in ("second", "third"):
        sittings.count(ticket, 0, digest)
    with pytest.raises(CourseError, match="closed"):
        sittings.count(tickets.read(again), 0, "fourth")


def test_after_ninety_minutes_nothing_counts_but_in_practice(state, monkeypatch):
    marks = [marking.Mark(part, points, "passed", "") for part, points in marking.POINTS.items()]
    for sort, points in (("examination", 0), ("practice", 50)):
        ticket, _ = tickets.issue(tickets.key(), sort, 3)
        begun = sittings.begin(ticket)["begun"]
        monkeypatch.setattr(time, "time", lambda begun=begun: begun + 60 * sittings.MINUTES + 1)
        sittings.count(ticket, 0, "late")
        sittings.note(ticket, 0, "late", marks)
        monkeypatch.undo()
        monkeypatch.setenv("DCPLAB_STATE", str(state / "state"))
        assert sittings.points(ticket, sittings.find(ticket), 0) == points


@pytest.mark.slow
def test_a_strangers_folder_is_read_as_plain_files(state):
    folder, _, (fault,) = begin(state)
    case = folder / "case_1"
    (case / answers.ANSWER).unlink()
    os.symlink("/etc/passwd", case / answers.ANSWER)
    os.symlink("/etc", case / "checkout" / fault.house / "etc")
    os.mkfifo(case / "checkout" / fault.house / "pipe.py")
    (case / "checkout" / fault.house / "big.py").write_bytes(b"#" * 500_000)
    read = answers.read(case, fault.house)
    assert not set(read.server) & {f"{fault.house}/pipe.py", f"{fault.house}/big.py"} and len(read.server) > 10
    assert not any("etc" in name for name in read.server)
    with pytest.raises(CourseError, match=r"cannot be read.*not counted"):
        taking.hand_in(folder, None)
    (folder / tickets.FILE).write_text('{"sort": "practice", "seed": 7, "seals": ["x"]}')
    with pytest.raises(CourseError, match="no longer a ticket"):
        taking.hand_in(folder, None)


@pytest.mark.slow
def test_a_class_is_graded_with_the_key_it_was_made_with(state, capsys):
    from dcplab.cli import main

    key, out = state / "k", state / "rows.json"
    key.write_text("s" * 40)
    for name, seed in (("ann", 1), ("bob", 2)):
        assert main(["exam", "start", str(state / "class" / name), "--seed", str(seed), "--key", str(key)]) == 0
    ann = state / "class" / "ann"
    assert "your instructor" in (ann / "README.md").read_text() and "hand-in" not in (ann / "README.md").read_text()
    planted = tickets.faults_of(tickets.key(key), tickets.read(ann))
    diagnose(ann, planted[0], case=1)
    mend(ann, planted[1], case=2)
    capsys.readouterr()
    words = ["exam", "grade", str(state / "class"), str(state / "nobody"), "--key", str(key), "--json", str(out)]
    assert main([*words, "--csv", str(state / "rows.csv")]) == 0
    said = capsys.readouterr().out
    rows = {row["student"]: row for row in json.loads(out.read_text())}
    assert [rows[name]["points"] for name in ("ann", "bob", "nobody")] == [38, 0, 0]
    assert [part["outcome"] for part in rows["ann"]["parts"]] == ["passed", *["not_attempted"] * 3, "passed", "not_attempted"]
    assert rows["nobody"]["status"] == "missing" and rows["ann"]["max_points"] == 100
    assert f"{planted[1].kind}" in said and "nobody found it" in said
    assert len((state / "rows.csv").read_text().splitlines()) == 4
    assert main(["exam", "hand-in", str(ann), "--case", "1"]) == 2
    assert "another key" in capsys.readouterr().err


def test_the_sheet_has_every_case_with_its_source(capsys):
    from dcplab.cli import main

    assert main(["exam", "sheet"]) == 0
    out = capsys.readouterr().out
    assert all(fault.id in out and fault.source in out for fault in faults.every())
    assert main(["exam", "sheet", "--kind", "colour"]) == 2
    assert "no kind 'colour'" in capsys.readouterr().err


def test_what_a_service_has_kept_is_graded_by_learner(tmp_path, monkeypatch, capsys):
    from dcplab.cli import main

    nobody, state = tmp_path / "own", tmp_path / "service"
    for name, right in (("ann", "a"), ("bob", "")):
        monkeypatch.setenv("DCPLAB_STATE", str(state / name))
        ticket, _ = tickets.issue(tickets.key(), "examination", 5)
        sittings.begin(ticket)
        begun = tickets.state_dir() / "begun" / "examination"
        begun.mkdir(parents=True)
        (begun / tickets.FILE).write_text(ticket.to_json())
        marks = [marking.Mark(p, marking.POINTS[p] * (p == right), "passed" if p == right else "failed", "") for p in "abc"]
        sittings.count(ticket, 0, "one")
        sittings.note(ticket, 0, "one", marks)
    monkeypatch.setenv("DCPLAB_STATE", str(nobody))
    assert main(["exam", "grade", "--service", str(state), "--csv", str(tmp_path / "rows.csv")]) == 0
    said = capsys.readouterr().out
    assert "20/100  ann  8a 20" in said and "0/100  bob  8a 0" in said and "nobody found it" in said
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 3 and os.environ["DCPLAB_STATE"] == str(nobody)
    assert main(["exam", "grade", "--service", str(nobody)]) == 2
    assert main(["exam", "grade"]) == 2
