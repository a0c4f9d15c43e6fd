"""Lab 02 in JupyterLab: the questions at its head, answered by keyboard, and the snippets of its last part."""

import pytest
from desk import NEEDED, plain

from dcplab import progress
from dcplab.course import catalog
from dcplab.course.recall import ASKED, drawn
from dcplab.name_the_space import drawing

pytestmark = NEEDED


@pytest.fixture(scope="module")
def opened(house):
    with house.lab("02") as it:
        it.run(it.find("lab.start"))
        yield it


def test_a_question_is_answered_by_keyboard_at_once_and_nothing_is_kept(opened, shots):
    cell = opened.find('lab.recall("02")')
    opened.write(cell, 'lab.recall("02", seed=7)')
    opened.run(cell)
    first = drawn(catalog.lab("02").recall, 7)[0]
    buttons = opened.cell(cell).locator("button.jupyter-button")
    assert buttons.count() == sum(len(one.choices) for one in drawn(catalog.lab("02").recall, 7))
    buttons.first.focus()
    wrong = next(i for i, choice in enumerate(first.choices) if choice != first.answer)
    for _ in range(wrong):
        opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    said = opened.until(lambda: (text := plain(opened.output(cell))) and "You said" in text and text)
    assert f"You said {first.choices[wrong]}. The answer: {first.answer}." in said and plain(first.because) in said
    opened.page.keyboard.press("Shift+Tab" if first.choices.index(first.answer) < wrong else "Tab")
    opened.shot(shots / "recall_light.png")
    opened.theme("JupyterLab Dark")
    opened.cell(cell)
    opened.shot(shots / "recall_dark.png")
    assert said.count("You said") == 1 and progress.read()["labs"] == {}


def test_without_a_kernel_the_page_has_the_questions_and_its_answers_are_folded(opened):
    saved = opened.save()
    cell = next(c for c in saved["cells"] if c["id"] == opened.find("lab.recall("))
    (output,) = cell["outputs"]
    page = "".join(output["data"]["text/html"])
    assert page.count("<details>") == ASKED and page.count("<li") == ASKED and "widgets" not in saved["metadata"]


def test_the_snippets_of_the_last_part_are_there_in_either_theme(opened, shots):
    cell = opened.find('investigate.snippets("2i")')
    opened.write(cell, 'investigate.snippets("2i", seed=7)')
    said = plain(opened.run(cell))
    for snippet in drawing.draw("2i", 7):
        assert all(plain(line) in said for line in snippet.lines)
    opened.shot(shots / "snippets_dark.png")
    opened.theme("JupyterLab Light")
    opened.cell(cell)
    opened.shot(shots / "snippets_light.png")
    assert opened.faults == []
