"""Pictures of answers as data: which cells hold what came back, which are wrong, and what a program touched."""

import dataclasses
import json

import pytest
import torch

from dcplab.course import catalog
from dcplab.course.cells import Cells
from dcplab.course.drawn import Drawn
from dcplab.course.model import Buf, Case, Launch, Shows
from dcplab.course.trial import Trial
from dcplab.judge.judgement import Judgement
from dcplab.judge.verdict import Verdict
from dcplab.present import answer_cells

ROWS = Shows("row", {"locs": "loc"})
LOCALIZE = Case((torch.tensor([0, 5, 8, -1]), 0, 4), label="rank 0")
NAMES = ("locs", "dcp_rank", "dcp_size")


def texts(strip):
    return [cell.text for cell in strip.cells]


def rights(strip):
    return [cell.right for cell in strip.cells]


def test_what_came_back_stands_under_what_was_given():
    made = answer_cells.draw(ROWS, LOCALIZE, NAMES, torch.tensor([0, -1, 2, -1]), torch.tensor([0, 1, 2, -1]))
    ((given, yours),) = made.groups
    assert (given.label, yours.label) == ("locs", "yours")
    assert [(c.text, c.sub, c.style) for c in given.cells] == [
        ("0", "r0", "owner0"),
        ("5", "r1", "owner1"),
        ("8", "r0", "owner0"),
        ("-1", "pad", "quiet"),
    ]
    assert texts(yours) == ["0", "1", "2", "-1"] and rights(yours) == [None, "-1", None, None]
    assert made.wrong == [("yours", 1, yours.cells[1])]
    assert made.caption == "dcp_rank 0, dcp_size 4. 1 cell is not right: outlined, with the right value after ✓."


def test_nothing_that_came_back_is_the_question_and_no_right_value():
    made = answer_cells.draw(ROWS, LOCALIZE, NAMES, torch.tensor([0, -1, 2, -1]), None)
    yours = made.groups[-1][-1]
    assert texts(yours) == [""] * 4 and rights(yours) == [None] * 4
    assert "Nothing came back" in made.caption


@pytest.mark.parametrize(
    ("got", "held", "right"),
    [
        ([0, -1], ["0", "-1", "nothing", "nothing"], [None, None, "2", "-1"]),
        ([0, -1, 2, -1, 7], ["0", "-1", "2", "-1", "7"], [None] * 4 + ["nothing"]),
    ],
)
def test_too_few_and_too_many_entries_are_seen(got, held, right):
    made = answer_cells.draw(ROWS, LOCALIZE, NAMES, torch.tensor([0, -1, 2, -1]), torch.tensor(got))
    assert (texts(made.groups[-1][-1]), rights(made.groups[-1][-1])) == (held, right)


def test_two_results_have_a_line_each():
    shows = Shows(given={"locs": "loc"}, named={"index-K pages": "index-K page", "c-KV pages": "c-KV page"})
    case = Case((torch.arange(8, 16), 4, 2))
    made = answer_cells.draw(
        shows,
        case,
        ("locs", "page_size", "dcp_size"),
        (torch.tensor([2, 3]), torch.tensor([1])),
        (torch.tensor([2, 3]), torch.tensor([2])),
    )
    assert [(strip.label, texts(strip)) for group in made.groups[1:] for strip in group] == [
        ("your index-K pages", ["2", "3"]),
        ("your c-KV pages", ["2"]),
    ]
    assert [cell.right for *_, cell in made.wrong] == ["1"]


def test_rows_of_tokens_carry_request_and_position():
    side = torch.tensor([[0, 0, 41], [1, 2, 57]])
    made = answer_cells.draw(Shows("token", {"prefix": "token"}), Case((side,)), ("prefix",), side, side.flip(0))
    assert texts(made.groups[-1][-1]) == ["B2", "A0"] and rights(made.groups[-1][-1]) == ["A0", "B2"]


def test_memory_that_is_written_has_its_places_above_it():
    src, pool = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.full((3, 2), 7.0)
    right, mine = pool.clone(), pool.clone()
    right[2], mine[0] = src[1], src[1]
    case = Case((pool, src), writes=(0,))
    made = answer_cells.draw(Shows("content", {"src": "content"}), case, ("kv", "src"), {0: right}, {0: mine})
    places, yours = made.groups[-1]
    assert texts(places) == ["0", "1", "2"] and texts(yours) == ["src 1", "", "not written"]
    assert rights(yours) == ["as before", None, "src 1"]


def test_a_number_too_long_or_a_case_too_large_has_no_picture():
    with pytest.raises(ValueError, match="too long"):
        answer_cells.draw(ROWS, Case((torch.tensor([2**40]), 0, 4)), NAMES, torch.tensor([2**38]), None)
    many = torch.arange(400)
    assert answer_cells.draw(ROWS, Case((many, 0, 4)), NAMES, many, many) is None


@pytest.mark.parametrize(
    ("part", "call", "right", "wrong", "said"),
    [
        ("2a", (14, 4, 2), 31, 27, {"yours": ["", "", "", "27"], "right": ["31"]}),
        ("2a", (12, 4, 2), 31, 23, {"yours": ["", "", "23", "nothing"], "right": ["", "31"]}),
        ("2a", (12, 4, 2), 31, 99, {"yours": ["", "", "", "nothing", "99"], "right": ["31", ""]}),
        ("2c", (20, 4, 3, 1), 72, 64, {"yours": ["all 12"] * 5 + ["4 of 12"], "right": ["all 12"]}),
        ("2c", (24, 4, 2, 2), 32, 40, {"yours": ["all 8"] * 4 + ["8 more"], "right": [""]}),
        ("2d", ("draft", 12, 4, 2), 28, 24, {"the buffer has": ["all 8"] * 3 + ["4 of 8"], "right": ["28"]}),
        ("2e", ("ckv_row", 14, 4, 2), 16, 18, {"rows": ["0 to 3", "4 to 7", "8 to 11", "12 to 15", ""], "right": [""]}),
        ("2g", (1, 4, 3), 1056, 1584, {"yours": ["", "all 528", "all 528", "528 more"]}),
    ],
)
def test_a_number_stands_on_the_pages_that_it_is_of(part, call, right, wrong, said):
    shows = catalog.lab("02").part(part).picture
    (lines,) = answer_cells.draw(shows, Case(call), (), right, wrong).groups
    found = {strip.label: texts(strip) for strip in lines} | {"right": [r for r in rights(lines[-1]) if r is not None]}
    assert {label: found[label] for label in said} == said
    assert answer_cells.draw(shows, Case(call), (), right, None).groups[0][-1].cells[0].text == ""
    assert answer_cells.draw(shows, Case(call), (), right, right).wrong == []
    assert answer_cells.draw(shows, Case(call), (), right, float(right)) is None


LOCS, UNWRITTEN = torch.tensor([8, 5, 4]), torch.full((3,), -7777)
LAUNCH = Launch(
    buffers={"locs": LOCS, "rows": UNWRITTEN},
    args=(Buf("locs"), Buf("rows"), 3),
    grid=(2,),
    constexprs={"DCP_RANK": 0, "DCP_SIZE": 4, "BLOCK": 2},
    writes=("rows",),
)


def drawn(written, accesses):
    return answer_cells.draw(ROWS, LAUNCH, (), {"rows": torch.tensor([2, -1, 1])}, {"rows": written}, accesses)


def test_a_launch_shows_which_program_touched_which_cell():
    seen = [("r", "locs", (0, 0, 0), [(0, 2)]), ("w", "rows", (0, 0, 0), [(0, 2)]), ("r", "locs", (1, 0, 0), [(2, 2)])]
    locs, rows = drawn(torch.tensor([2, -1, -7777]), seen).groups
    assert [strip.label for strip in locs] == ["locs", "program 0", "program 1", "holds"]
    assert [texts(strip) for strip in locs] == [
        ["0", "1", "2", "past it"],
        ["read", "read", "", ""],
        ["", "", "read", "read"],
        ["8", "5", "4", ""],
    ]
    assert rights(locs[2]) == [None, None, None, ""]  # a read past the end is wrong, and nothing would be right there
    assert [texts(strip) for strip in rows] == [["0", "1", "2"], ["write", "write", ""], ["2", "-1", "not written"]]
    assert rights(rows[-1]) == [None, None, "1"]


def test_a_buffer_in_pieces_has_a_line_for_each_that_was_touched_or_is_due():
    pages = {f"page {p}": [(p * 2 + i, 1, f"slot {i}") for i in range(2)] for p in range(4)}
    case = dataclasses.replace(LAUNCH, buffers={"locs": LOCS, "rows": torch.full((8,), -7777)})
    right, mine = (torch.tensor([-7777] * 2 + [5, 6] + [-7777] * 2 + [last, -7777]) for last in (7, -7777))
    seen = [("w", "rows", (0,), [(2, 2)]), ("w", "rows", (1,), [(-1, 1)])]
    shows = Shows("row", {}, units=lambda launch: {"rows": pages})
    groups = answer_cells.draw(shows, case, (), {"rows": right}, {"rows": mine}, seen).groups
    assert [[strip.label for strip in group] for group in groups] == [
        ["before it", "program 1", "yours"],
        ["page 1", "program 0", "yours"],
        ["page 3", "yours"],
        ["rows"],
    ]
    assert texts(groups[1][0]) == ["slot 0", "slot 1"] and rights(groups[2][-1]) == ["7", None]
    assert texts(groups[3][0]) == ["the rest is as it was"]


def test_a_kernel_that_stores_nothing_is_seen_to():
    rows = drawn(UNWRITTEN, [("r", "locs", (0,), [(0, 3)])]).groups[-1]
    assert [strip.label for strip in rows] == ["rows", "yours"]
    assert texts(rows[-1]) == ["not written"] * 3


def test_many_programs_share_one_line():
    case = dataclasses.replace(LAUNCH, grid=(6,))
    seen = [("w", "rows", (p,), [(p % 3, 1)]) for p in range(6)]
    made = answer_cells.draw(ROWS, case, (), {"rows": UNWRITTEN}, {"rows": UNWRITTEN}, seen)
    assert texts(made.groups[-1][1]) == ["0 3", "1 4", "2 5"]


@pytest.mark.parametrize(
    "forged", [[("w", "rows", (0,), [(0, 1)])] * 300, [("w", "rows", (0,), [(0, 1)] * 30_000)], [("w", "rows")], [7]]
)
def test_a_forged_list_of_accesses_costs_a_picture_and_no_check(forged):
    key = catalog.lab("01").key("1h")
    facts = {
        "drawn": Drawn(1, "cpu", (LAUNCH,), (), 0, 1.0),
        "trial": Trial(records={0: {"written": {"rows": UNWRITTEN}, "accesses": forged}}, status="done"),
        "expected": [{"rows": UNWRITTEN + 1}],
        "verdicts": [Verdict(0, "wrong", "compared")],
    }
    judgement = Judgement(key, key.solution, 1, "cpu", "wrong", "failed", **facts)
    made = answer_cells.of_judged(judgement)
    assert made is None or [strip.label for strip in made.groups[-1]] == ["rows", "yours"]


def test_it_goes_through_json():
    made = drawn(torch.tensor([2, -1, 3]), ())
    assert Cells.of_json(json.loads(json.dumps(dataclasses.asdict(made)))) == made
