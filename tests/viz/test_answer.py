"""The picture of an answer, drawn: wrong cells are told by form and in words, and it stays small."""

import base64
import re

import pytest

from dcplab import checking, paths, viz
from dcplab.course import catalog
from dcplab.course.cells import Cells, DrawnCase, DrawnCell, Strip
from dcplab.course.seeded import Draw
from dcplab.notebook.extract import extract
from dcplab.present import answer_cells, card
from dcplab.viz.core import palette
from dcplab.viz.figures import answer
from dcplab.viz.figures.question import FORMS

from .test_drawing import check_boxes

GIVEN = Strip("loc", (DrawnCell("5"), DrawnCell("6")))
YOURS = Strip("yours", (DrawnCell("r1", "owner1"), DrawnCell("r9", "quiet", right="r2")))
CAPTION = "dcp_size 4. 1 cell is not right: outlined, with the right value after ✓."
WRONG = Cells("Two locs", CAPTION, ((GIVEN, YOURS),))


def test_a_wrong_cell_has_an_outline_a_cross_and_the_right_value():
    picture = answer.answer(WRONG)
    (wrong,) = [box for box in picture.scene.boxes if box.mark]
    assert (wrong.text, wrong.sub, wrong.mark) == ("r9", "✓ r2", "wrong")
    assert picture.svg.count("<circle") == 1
    check_boxes(picture.scene)


def test_the_words_beside_it_tell_the_same():
    picture = answer.answer(WRONG)
    says = f"Two locs. {WRONG.caption} Not right: yours, place 1: r9, right is r2."
    assert f"<desc>{says}</desc>" in picture.svg and f'alt="{says}"' in picture.image
    assert picture.table.rows == (
        ("loc", "0", "5", "5"),
        ("loc", "1", "6", "6"),
        ("yours", "0", "r1", "r1"),
        ("yours", "1", "r9", "r2"),
    )


@pytest.mark.parametrize("shown", [True, False])
def test_in_a_card_it_is_open_or_closed(shown):
    assert ("<details open" in answer.in_card(WRONG, shown)) == shown
    assert answer.in_card(None, shown) == ""


@pytest.mark.parametrize("page", palette.PAGES)
def test_pass_and_fail_are_told_apart_by_mark_by_form_and_by_colour(page):
    looks = [card.NOT_RIGHT, *card.LOOKS.values()]
    assert len({mark for mark, *_ in looks}) == len(looks)
    assert card.NOT_RIGHT[1] != card.LOOKS["passed"][1] and card.NOT_RIGHT[3] != card.LOOKS["passed"][3]
    for *_, colour in looks:
        assert palette.contrast(colour, page) >= 3, (colour, page)


def test_what_an_answer_says_is_no_markup():
    held = Cells("<b>", "<i>", ((Strip("yours", (DrawnCell("<script>", "no such style", right="&"),)),),))
    card = answer.in_card(held, True)
    svg = base64.b64decode(re.search('base64,([^"]*)', card)[1]).decode()
    assert "<script>" not in svg + card and "<b>" not in card and "<i>" not in card


TABLE = [[40, 41, 42, 17], [8, 9, 33, 34]]
ASKED = {  # figure -> its arguments, how many of its cells are empty, and a text of each kind that would be the answer
    "owner_strip": ((range(12), 4), 12, ["r1", "r3"]),
    "rank_table": ((range(12), 4), 12, ["5", "11"]),
    "localized": (([2, 5, 8, 10], 4), 16, ["-1", "1"]),
    "widened_page": ((3, 4, 2), 16, ["24", "31", "index-K page 6", "row 12"]),
    "two_page_tables": (([*range(24, 32), 8, 9, 10], 4, 2), 10, ["6", "3", "index-K page 6"]),
    "flattened": ((TABLE, [1, 0], [2, 3]), 5, ["A0", "B2"]),
    "kernel_lanes": (([2, 5, 8, 10, -1], 0, 4, 8), 24, ["yes", "no"]),
    "pages": ((12, 4, 2, 28), 4, ["all 8", "4 of 8"]),
    "shards_picture": (([5, 3], [3, 0], 4), 8, []),
}


@pytest.mark.parametrize("figure", ASKED)
def test_a_question_has_the_cells_of_its_figure_and_not_the_answer(figure):
    given, empty, answers = ASKED[figure]
    picture = viz.question(figure, *given)
    texts = [box.text for box in picture.scene.boxes] + [box.sub for box in picture.scene.boxes]
    assert texts.count("?") + texts.count("r?") == empty + texts.count("garbage")
    assert not set(answers) & set(texts)
    assert not set(answers) & {cell for row in picture.table.rows for cell in row}
    assert "hover" not in picture.svg and len(picture.scene.boxes) == len(getattr(viz, figure)(*given).scene.boxes)
    check_boxes(picture.scene)


def test_every_question_of_the_labs_is_one_of_these():
    sources = [path.read_text(encoding="utf-8") for path in paths.solutions().glob("*/[0-9]*.py")]
    asked = {name for source in sources for name in re.findall(r'(?m)^viz\.question\("(\w+)"', source)}
    assert asked == {*ASKED, *ASKED_OF_PARTS} and set(ASKED) == set(FORMS)


ASKED_OF_PARTS = {"3c": 12, "3e": 8, "3f": 1, "4e": 8, "4f": 14, "5a": 26, "5b": 19, "5d": 27}  # part -> its empty cells
ASKED_OF_PARTS |= {"7a": 48, "7b": 7, "7c": 8, "7d": 12, "7f": 8, "7g": 5}


@pytest.mark.parametrize("part", ASKED_OF_PARTS)
def test_a_parts_question_is_its_picture_without_results(part):
    picture = viz.question(part)
    empty = [box for box in picture.scene.boxes if box.style == "unused"]
    assert len(empty) == ASKED_OF_PARTS[part] and not any(box.text or box.sub or box.mark for box in empty)
    check_boxes(picture.scene)


def test_there_is_no_question_of_what_is_no_part():
    assert "no question of '9z'" in viz.question("9z").caption and "no question of '2b'" in viz.question("2b").caption


def cells_of(part, got, wrong, expected=None):
    """The picture of a part that shows all its cases: what came back, and which are wrong, by the case's arguments."""
    key = catalog.of_part(part).key(part)
    cases = key.part.cases(Draw(1))
    tried = [DrawnCase(case, got(*case.args), expected and expected(*case.args), wrong(*case.args)) for case in cases]
    return answer_cells.of_all(key.part.picture, tried)


def test_a_grid_has_each_case_in_its_place_and_outlines_what_is_wrong():
    made = cells_of(
        "3c", lambda kind, d: kind != "draft" and d > 1, lambda kind, d: kind == "unified_resolved" and d > 1, lambda *_: False
    )
    (lines,) = made.groups
    assert [strip.label for strip in lines] == ["pool", "target", "draft", "unified_resolved"]
    assert [cell.text for cell in lines[0].cells][:2] == ["1 rank", "2 ranks"]
    assert [cell.text for cell in lines[1].cells] == ["False", "True", "True", "True"]
    assert [cell.right for cell in lines[3].cells] == [None, "False", "False", "False"]
    assert made.caption == "3 cells are not right: outlined, with the right value after ✓."


def test_what_would_be_right_in_the_matrix_is_not_said():
    made = cells_of("5c", lambda row: "silent", lambda row: row == "all, above", lambda row: "right")
    assert made.caption == "1 cell is not right: outlined." and [(label, cell.text) for label, _, cell in made.wrong] == [
        ("all", "silent")
    ]
    ((head, *lines),) = made.groups
    assert [cell.text for cell in head.cells] == ["below", "above", "full"] and len(lines) == 8
    assert [cell.text for cell in lines[0].cells] == ["silent", "silent", ""], "there is no such server"


STORES_NOTHING = """
import triton
import triton.language as tl

@triton.jit
def localize_page_table_kernel(locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    loc = tl.load(locs_ptr + i, mask=i < n, other=-1)
"""


@pytest.mark.slow
def test_a_checked_kernel_is_drawn_from_what_it_touched():
    key = catalog.of_part("1h").key("1h")
    found = checking.check(key, extract([STORES_NOTHING], "localize_page_table_kernel"), seed=1, mode="cpu")
    locs, rows = found.cells.groups
    programs = [[cell.text for cell in strip.cells] for strip in locs if strip.label.startswith("program")]
    assert [sorted(texts) for texts in zip(*programs, strict=True)] == [["", "read"]] * len(programs[0]), "each by one program"
    assert [strip.label for strip in rows] == ["rows", "yours"]
    assert {cell.text for cell in rows[-1].cells} == {"not written"} and len(found.cells.wrong) == len(rows[-1].cells)
    assert len(answer.in_card(found.cells, True)) < 60_000


@pytest.mark.slow
@pytest.mark.parametrize("part", ["1a", "1f", "3b", "3c", "3e", "3f", "4b", "4e", "4f"])
def test_every_wrong_answer_of_these_banks_that_gives_values_has_a_picture_of_its_mistake(part):
    key = catalog.of_part(part).key(part)
    wrong = [(w, program) for w, program in key.bank("wrong")][:4]
    assert wrong
    for w, program in wrong:
        found = checking.check(key, program, seed=2, mode="cpu")
        assert found.cells is not None and found.cells.wrong, w.id
        assert len(answer.in_card(found.cells, True)) < 60_000
