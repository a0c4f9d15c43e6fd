"""What pictures say, against arithmetic done here by counting."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplab import viz

from .samples import MEMORY

locs = st.lists(st.integers(-1, 2**40), min_size=1, max_size=20)
ranks = st.integers(1, 9)


def plain(cell: str) -> str:
    return cell.replace(",", "").replace("> ", "")


def counted(loc: int, dcp_size: int) -> tuple[int, int]:
    """Owner and row by the definition: locs are dealt to the ranks in turn."""
    rank, row = divmod(loc, dcp_size)[::-1]
    return rank, row


def dealt(n: int, dcp_size: int) -> dict[int, tuple[int, int]]:
    """Owner and row of locs 0..n-1, by dealing them out one at a time."""
    hands: list[list[int]] = [[] for _ in range(dcp_size)]
    for loc in range(n):
        hands[loc % dcp_size].append(loc)
    return {loc: (rank, row) for rank, hand in enumerate(hands) for row, loc in enumerate(hand)}


@pytest.mark.parametrize("dcp_size", [1, 2, 3, 4, 7, 8])
def test_strip_deals_locs_to_ranks_in_turn(dcp_size):
    where = dealt(64, dcp_size)
    for loc, owner in viz.owner_strip(range(64), dcp_size).table.rows:  # and no row: 1b, after it, asks for that
        assert owner == f"r{where[int(loc)][0]}"


def test_worked_numbers():
    assert viz.owner_strip([10], 4).table.rows == (("10", "r2"),)
    assert viz.owner_strip([3_646_463], 8).table.rows == (("3,646,463", "r7"),)
    assert viz.localized([3_646_463], 8).table.rows == (("3,646,463", *["-1"] * 7, "455,807"),)
    localized = viz.localized([2, 5, 8, 10], 4).table.rows
    assert [row[1:] for row in localized] == [
        ("-1", "-1", "0", "-1"),
        ("-1", "1", "-1", "-1"),
        ("2", "-1", "-1", "-1"),
        ("-1", "-1", "2", "-1"),
    ]
    page = {row[0]: row[1:] for row in viz.widened_page(3, 4, 2).table.rows}
    assert list(page) == [str(v) for v in range(24, 32)] and page["29"] == ("r1", "14", "7", "3")


@settings(max_examples=40, deadline=None)
@given(locs, ranks)
def test_each_loc_has_one_row_and_padding_none(values, dcp_size):
    for cells, loc in zip(viz.localized(values, dcp_size).table.rows, values, strict=True):
        rows = [int(plain(c)) for c in cells[1:]]
        assert sum(v >= 0 for v in rows) == (loc >= 0)
        if loc >= 0:
            assert (loc, 0) == (max(rows) * dcp_size + rows.index(max(rows)), rows.count(-1) - dcp_size + 1)


@settings(max_examples=40, deadline=None)
@given(locs, ranks)
def test_rank_table_places_every_loc_once(values, dcp_size):
    shown = {v for v in values if v >= 0}
    table = viz.rank_table(values, dcp_size).table
    if not shown:
        assert table.header == ("message",)
        return
    found = {}
    for row, *cells in table.rows:
        for rank, cell in enumerate(cells):
            if cell != ".":
                found[int(plain(cell))] = (rank, int(plain(row)))
    assert found == {v: counted(v, dcp_size) for v in shown}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), ranks, st.lists(st.integers(1, 50), min_size=1, max_size=4, unique=True), st.data())
def test_both_page_ids(page_size, dcp_size, pages, data):
    width = page_size * dcp_size
    every = [v for q in pages for v in range(q * width, (q + 1) * width)]
    held = every[: data.draw(st.integers(1, min(200, len(every))))]
    index_k, ckv = {}, {}
    for q in range(52 * dcp_size):
        index_k |= dict.fromkeys(range(q * page_size, (q + 1) * page_size), q)
    for q in range(52):
        ckv |= dict.fromkeys(range(q * width, (q + 1) * width), q)
    picture = viz.two_page_tables(held, page_size, dcp_size)
    for position, cells in enumerate(picture.table.rows):
        loc = held[position]
        assert [plain(c) for c in cells] == [str(v) for v in (position, loc)] + [f"r{loc % dcp_size}"] + [
            str(index_k[loc]),
            str(ckv[loc]),
        ]
    tables = {b.text: b for b in picture.scene.boxes if b.text.endswith("table")}
    assert set(tables) == {"index-K page table", "c-KV page table"}
    for name, ids in (("index-K", index_k), ("c-KV", ckv)):
        wanted = list(dict.fromkeys(ids[v] for v in held))
        lines = [b.y for b in picture.scene.boxes if b.text == f"{name} page table"]
        drawn = [int(plain(b.text)) for b in picture.scene.boxes if b.y in lines and not b.text.endswith("table")]
        assert drawn == wanted


def test_flattened_goes_request_by_request():
    pool = torch.tensor([[8, 9, 10, 11], [0, 0, 0, 0], [16, 17, 18, 19]])
    picture = viz.flattened(pool, torch.tensor([2, 0, 1]), torch.tensor([3, 2, 0]))
    assert [row[-1] for row in picture.table.rows] == ["16", "17", "18", "8", "9"]
    assert [row[1] for row in picture.table.rows] == ["A", "A", "A", "B", "B"]
    assert "No token: C." in picture.caption


def test_lanes_of_the_kernel():
    rows = viz.kernel_lanes([16, 17, 18, -1, 20, 21], 1, 4, 4).table.rows
    assert [row[-1] for row in rows] == ["-1", "4", "-1", "-1", "-1", "5", "nothing", "nothing"]
    assert [row[3] for row in rows] == ["yes"] * 6 + ["no"] * 2
    assert [row[5] for row in rows] == ["no", "yes", "no", "no", "no", "yes", "no", "no"]


@pytest.mark.parametrize("dcp_size, page_size, size", [(4, 4, 12), (2, 4, 14), (3, 5, 22), (1, 4, 8), (8, 2, 6)])
def test_owner_table_rows_are_all_right(dcp_size, page_size, size):
    largest = (size // page_size + 1) * page_size * dcp_size - 1
    last = min(largest, 127)
    table = viz.owner_table(dcp_size, page_size, size, first=0, last=last).picture.table
    where = dealt(largest + 1, dcp_size)
    assert len(table.rows) == last + 1
    for cells in table.rows:
        loc = int(plain(cells[0]))
        assert cells[1:3] == (f"r{where[loc][0]}", str(where[loc][1]))
        assert [int(c) for c in cells[3:5]] == [loc // page_size, loc // (page_size * dcp_size)]
        assert ("never issued" in cells[6]) == (loc < page_size * dcp_size)
        assert ("last loc" in cells[6]) == (loc == largest)


def test_an_access_is_shown_where_it_lands():
    picture = viz.memory_map(MEMORY, [("loc 8", "layer 0", 8), ("loc 24", "layer 0", 24), ("loc 29", "layer 1", 48)])
    assert picture.table.rows == (
        ("loc 8", "layer 0", "8", "layer 0", "8", "yes"),
        ("loc 24", "layer 0", "24", "layer 1", "8", "no"),
        ("loc 29", "layer 1", "48", "not mapped", "-", "no"),
    )
    assert "2 of 3 accesses" in picture.caption
    assert [b.text for b in picture.scene.boxes if b.mark] == [
        "loc 24: row 24, meant for layer 0",
        "loc 29: row 48, meant for layer 1",
    ]


def test_the_sentence_names_every_space():
    sentence = viz.owner_table(4, 4, 12, selected=21).picture.caption
    for fact in ("owner r1", "row 5", "index-K page 5", "c-KV page 1", "Request A holds it at position 5"):
        assert fact in sentence
    assert re.search(r"16 rows, 0 to 15", sentence)


def test_a_decode_step_follows_its_numbers_from_stage_to_stage():
    """Rows on the ranks are those of the chosen locs, the chosen are the highest scores, and what is not lit is only named."""
    from dcplab.viz.figures import decode_step as step

    best = sorted(sorted(range(len(step.SCORES)), key=lambda i: -step.SCORES[i])[: len(step.CHOSEN)])
    assert tuple(best) == step.CHOSEN
    assert step._tables() == [(-1, 5, -1, -1), (2, -1, -1, -1), (-1, -1, 5, -1), (-1, -1, -1, -1)]
    whole, piece = viz.decode_step(), viz.decode_step("attend")
    assert [row[0] for row in whole.table.rows] == [*"request write index-K indexer top-k localize attend merge".split()]
    assert [row[0] for row in piece.table.rows] == ["attend"]
    said = [(box.text, box.sub) for box in piece.scene.boxes]
    assert ("row 2", "rank 1: output, LSE") in said and ("nothing", "rank 3: LSE is -inf") in said
    assert {box.text for box in piece.scene.boxes if box.style == "header"} == {"attend"}


def test_an_extend_step_follows_its_numbers_from_stage_to_stage():
    """The workspace has each request's prefix, then its new token; ragged indices lead to the chosen tokens."""
    from dcplab.viz.figures import extend_step as step

    names = [name for name, _, _ in step._tokens()]
    assert names == ["A0", "A1", "A2", "A3", "A4", "B0", "B1", "B2"]
    assert [names[i] for i in step.BEGINS] == ["A0", "B0"]
    for request, chosen, ragged in zip(step.NAMES, step.CHOSEN, step._ragged(), strict=True):
        assert [names[i] for i in ragged] == [f"{request}{p}" for p in chosen]
    whole, piece = viz.extend_step(), viz.extend_step("gather")
    assert [row[0] for row in whole.table.rows] == "request,write,index-K,gather,assemble,top-k,to ragged,attend".split(",")
    said = [(box.text, box.sub) for box in piece.scene.boxes]
    assert ("rows 4 8", "rank 0 sends") in said and ("row 4", "rank 3 sends") in said
    assert "the stages are request, write" in viz.extend_step("merge").caption
