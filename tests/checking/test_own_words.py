"""Who raises an exception writes its message: what is wrong with an answer does not hang on these words."""

import re

import pytest

from dcplab import mode
from dcplab.checking import check, judge
from dcplab.course import catalog
from dcplab.course.drawn import draw
from dcplab.notebook.extract import extract
from dcplab.present import check_result
from dcplab.reference import Reference
from dcplab.sandbox.attempts import attempt

pytestmark = pytest.mark.slow
RAISED = re.compile(r"raise (\w+)\(.*\)")


@pytest.mark.parametrize("part", ["6a", "6c"])
@pytest.mark.parametrize("words", [r"raise \1", r'raise \1(f"{1 + 1} other words")'])
def test_a_mistake_has_its_name_whatever_its_exception_says(part, words):
    key = catalog.lab("06").key(part)
    bank = [wrong for wrong, _ in key.wrong if RAISED.search(wrong.source)]
    reference = Reference(key, draw(key.part, 5, "cpu"), whole=True)
    programs = [extract(["import torch", RAISED.sub(words, wrong.source)], key.part.names) for wrong in bank]
    trials = attempt(programs, key.part, reference.drawn.packed, "cpu", reference.drawn.own_s)
    assert len(bank) > 20
    for wrong, program, trial in zip(bank, programs, trials, strict=True):
        told = check_result.result(judge(program, reference, trial=trial), mode.versions(), trial.own_s)
        assert told.message.partition("\n")[0] == wrong.says, wrong.id


def test_what_was_changed_before_an_exception_was_not_only_to_be_read():
    key = catalog.lab("06").key("6b")
    late = next(program for wrong, program in key.wrong if wrong.id == "6b-writes-first")
    message = check(key, late, seed=5).message
    assert "It has changed `pool` by the time that it raises." in message and "may only read" not in message
