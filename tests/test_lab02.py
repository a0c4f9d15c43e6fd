"""The solutions of lab 02 against counting: every loc that the engine's allocator really issues, on many small servers."""

import ast
import itertools
from dataclasses import replace

import pytest

from dcplab import checking, paths, viz
from dcplab.course import catalog, lab_source
from dcplab.engine.allocator import PagedAllocator

LAB = catalog.lab("02")
SERVERS = [(s, p, d) for p, d in itertools.product(range(1, 7), (1, 2, 3, 5)) for s in range(p, 5 * p + 1)]


def solved(part):
    names = {}
    exec(LAB.key(part).solution.source, names)
    return names


def issued(size, page_size, dcp_size):
    allocator = PagedAllocator(size, page_size, dcp_size)
    pages = allocator.issue(allocator.available)
    return allocator.locs(pages, 0, len(pages) * page_size * dcp_size).tolist()


def test_the_largest_loc_is_the_largest_that_is_issued():
    largest_loc = solved("2a")["largest_loc"]
    assert all(largest_loc(*server) == max(issued(*server)) for server in SERVERS)


def test_index_k_has_a_slot_for_every_loc_and_no_page_to_spare():
    index_k_slots = solved("2c")["index_k_slots"]
    for size, page_size, dcp_size in SERVERS:
        largest = max(issued(size, page_size, dcp_size))
        for scale in {1, dcp_size}:
            slots = index_k_slots(size * scale, page_size, dcp_size, scale)
            assert slots % page_size == 0 and slots - page_size <= largest < slots


def test_the_opening_picture_is_of_another_server_than_the_examples():
    """2a, 2c and 2d ask for the numbers that its lines stand at."""
    cells = lab_source.read(paths.solutions() / LAB.name / f"{LAB.name}.py")
    (call,) = (c.source for c in cells if c.kind == "code" and c.source.startswith("viz.watermark("))
    picture = eval(compile(ast.parse(call, mode="eval"), "opening", "eval"), {"viz": viz})
    shown = {word.strip(".,:") for word in str(getattr(picture, "picture", picture)).split()}
    assert {"25", "45", "50"} <= shown and not {"16", "28", "31", "32"} & shown


@pytest.mark.parametrize("consumer", ["index_k", "ckv_raw", "draft"])
def test_the_first_loc_outside_is_the_first_that_is_issued_there(consumer):
    first_loc_out = solved("2d")["first_loc_out"]
    for size, page_size, dcp_size in SERVERS:
        if consumer == "index_k" and (page_size < 2 or size % page_size):
            continue  # what upstream's rounding makes of these is no part of the exercise
        have = {
            "index_k": (size + page_size + 1) // page_size * page_size,  # upstream's count of pages
            "ckv_raw": size + page_size,
            "draft": size * dcp_size + page_size,
        }[consumer]
        outside = [loc for loc in issued(size, page_size, dcp_size) if loc >= have]
        assert first_loc_out(consumer, size, page_size, dcp_size) == min(outside, default=None)


def test_a_bound_lets_the_largest_legal_index_pass_and_no_other():
    check_bound = solved("2e")["check_bound"]
    for size, page_size, dcp_size in SERVERS:
        largest = max(issued(size, page_size, dcp_size))
        for consumer in ("ckv_write_loc", "index_k_loc", "draft_loc", "flattened_page_table"):
            assert check_bound(consumer, size, page_size, dcp_size) == largest + 1
        assert check_bound("ckv_row", size, page_size, dcp_size) == largest // dcp_size + 1


def test_the_figures_of_the_report():
    size, page_size, dcp_size = 455_744, 64, 8
    assert solved("2a")["largest_loc"](size, page_size, dcp_size) == 3_646_463
    assert solved("2c")["index_k_slots"](size, page_size, dcp_size, 1) - (size * dcp_size + page_size) == 448
    first = solved("2d")["first_loc_out"]("index_k", size, page_size, dcp_size)
    assert (first, first // (page_size * dcp_size), size // page_size) == (455_808, 890, 7_121)
    assert solved("2e")["check_bound"]("flattened_page_table", 382_912, page_size, dcp_size) == 3_063_808
    bill = solved("2g")
    assert bill["index_k_extra_bytes"](11, size, dcp_size) == 4_632_182_016
    assert bill["capacity_gain"](11, 11, 1024, dcp_size) == pytest.approx(4.446, abs=5e-4)


@pytest.mark.parametrize(
    ("first", "second"), [("whole-index-k", "gain-d"), ("no-scales", "gain-one-rank"), ("one-layer", "gain-whole")]
)
def test_of_two_functions_with_a_mistake_each_the_first_is_named(first, second):
    """An answer that forgets one thing in one function and another in the next agrees with no answer of the bank as a whole."""
    bank = {wrong.id: wrong.source for wrong in LAB.wrong}
    halves = [bank[f"2g-{slug}"] for slug in (first, second)]
    found = checking.check(LAB.key("2g"), LAB.program(replace(LAB.wrong[0], part="2g", source="\n\n".join(halves))), seed=5)
    assert found.diagnosis == f"2g-{first}", found.message
