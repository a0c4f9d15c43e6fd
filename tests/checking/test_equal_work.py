"""Equal work is done once: what is right, and what the bank does, for each part, seed and mode."""

import pytest

from dcplab import checking, reference
from dcplab.notebook.extract import extract
from dcplab.sandbox.attempts import attempt

WRONG = "def localize(locs, dcp_rank, dcp_size):\n    return torch.where(locs >= 0, locs // dcp_size, -1)"
OTHER = "def localize(locs, dcp_rank, dcp_size):\n    return locs"


@pytest.fixture
def ran(monkeypatch):
    """The ids of the course's own programs that ran, a list a call."""
    calls = []
    monkeypatch.setattr(reference, "attempt", lambda programs, *how: calls.append(len(programs)) or attempt(programs, *how))
    return calls


def answers(small, *sources):
    return [extract([*small.setup(), source], "localize") for source in sources]


def test_a_grading_run_computes_what_is_right_and_what_the_bank_does_once(small, ran):
    key, kept = small.key("91a"), reference.References()
    first, second = (checking.check(key, program, seed=4, kept=kept) for program in answers(small, WRONG, OTHER))
    alone = [checking.check(key, program, seed=4) for program in answers(small, WRONG, OTHER)]
    assert [r.message for r in (first, second)] == [r.message for r in alone], "kept or not, the words are the same"
    before = len(ran)
    again = checking.check(key, answers(small, WRONG)[0], seed=4, kept=kept)
    assert again.diagnosis == first.diagnosis == "91a-no-filter" and len(ran) == before, "nothing ran but the answer"
    checking.check(key, answers(small, WRONG)[0], seed=5, kept=kept)
    assert len(ran) > before, "another seed draws other cases"


def test_one_check_alone_runs_the_bank_on_one_case_first(small, ran):
    key = small.key("91a")
    checking.check(key, answers(small, WRONG)[0], seed=4)
    bank = [n for n in ran if n > 1]
    assert bank and bank[0] == len(key.bank("wrong")) and ran[-1] < len(key.bank("wrong"))


def test_what_was_taken_over_does_not_run(small, ran):
    key = small.key("91a")
    of = reference.Reference(key, reference.draw(key.part, 4, "cpu"), whole=True)
    wrong = [w for w, _ in key.bank("wrong")]
    trials = attempt([program for _, program in key.bank("wrong")], key.part, of.drawn.packed, "cpu", of.drawn.own_s)
    of.keep("cpu", {w.id: trial for w, trial in zip(wrong, trials, strict=True)})
    assert len(of.bank(wrong, "cpu", None)) == len(wrong) and ran == []
