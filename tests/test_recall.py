"""Questions on what came before: data that is right, a form that keeps nothing."""

import html

import ipywidgets
import pytest

from dcplab import lab, progress, recall
from dcplab.course import catalog
from dcplab.course.recall import ASKED, drawn
from dcplab.course.seeded import Draw
from dcplab.errors import CourseError

LABS = [found for found in catalog.labs() if found.number != "01"]
in_each_lab = pytest.mark.parametrize("found", LABS, ids=lambda found: found.number)


@in_each_lab
def test_a_question_has_its_answer_among_choices_that_differ_and_says_why(found):
    assert len(found.recall) >= ASKED + 2
    for ask in found.recall:
        for seed in range(60):
            one = ask(Draw(seed))
            assert one.answer in one.choices and len(set(one.choices)) == len(one.choices) >= 3, one
            assert one.question.endswith("?") and one.because.endswith(".") and len(one.question) <= 160


@in_each_lab
def test_numbers_are_drawn_and_places_too(found):
    for ask in found.recall:
        asked = [ask(Draw(seed)) for seed in range(40)]
        assert len({one.choices.index(one.answer) for one in asked}) >= 3, asked[0].question
    assert sum(len({ask(Draw(seed)).question for seed in range(40)}) > 3 for ask in found.recall) >= 4


@in_each_lab
def test_a_seed_asks_the_same_five_and_another_others(found):
    assert drawn(found.recall, 7) == drawn(found.recall, 7) and len(drawn(found.recall, 7)) == ASKED
    assert len({drawn(found.recall, seed) for seed in range(20)}) == 20


@in_each_lab
def test_text_and_page_need_no_kernel(found):
    shown = lab.recall(found.number, seed=7)
    page = shown._repr_html_()
    for one in shown.asked:
        assert one.question in shown.text and one.answer in shown.answers.text and one.question in html.unescape(page)
    assert page.count("<details>") == ASKED
    assert f'lab.recall("{found.number}", seed=7)' in shown.text
    assert shown._repr_mimebundle_().keys() == {"text/plain", "text/html"}


def test_the_first_lab_asks_nothing_and_says_so():
    with pytest.raises(CourseError, match="asks nothing about what came before"):
        lab.recall("01")


@in_each_lab
def test_a_choice_is_answered_at_once_and_nothing_is_kept(found, monkeypatch):
    monkeypatch.setattr("IPython.get_ipython", lambda: object())
    monkeypatch.setattr(progress, "change", lambda *args: pytest.fail("progress was changed"))
    shown = recall.questions(found, seed=7)
    _, *boxes, _ = shown.widget.children
    for one, box in zip(shown.asked, boxes, strict=True):
        _, row, said = box.children
        assert [button.description for button in row.children] == list(one.choices)
        for button in row.children:
            assert isinstance(button, ipywidgets.Button)
            button.click()
            told = html.unescape(said.value)
            assert f"You said {button.description}" in told and one.because in told
            assert (button.icon == "check") == (button.description == one.answer)


@in_each_lab
def test_a_lab_asks_before_its_first_part_and_a_check_does_not_see_it(found):
    sources = [cell.source.strip() for cell in found.cells]
    at = sources.index(f'lab.recall("{found.number}")')
    assert found.cells[at].role is None
    assert at < next(i for i, cell in enumerate(found.cells) if cell.role == "answer")
    for part in found.parts:
        assert "recall" not in found.solution(part.id).source


def test_the_progress_file_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path))
    lab.recall("02", seed=1)
    assert list(tmp_path.iterdir()) == []
