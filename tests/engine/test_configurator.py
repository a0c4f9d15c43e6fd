"""Slots, page sizes and bytes, consumer by consumer, against the incident's own figures."""

from dataclasses import replace

import pytest

from dcplab.engine import configurator as c
from dcplab.engine import index_spaces
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.space_tags import Space
from dcplab.errors import CourseError

REPORT = dict(size=455_744, page_size=64, dcp_size=8)


def test_the_incidents_index_k():
    assert c.index_k_slots(**REPORT) == 3_646_464 == index_spaces.largest_loc(**REPORT) + 1
    assert c.index_k_slots(**REPORT, defects={"index_k_size"}) == 455_808
    assert c.index_k_slots(**REPORT, defects={"index_k_short"}) == 3_646_016, "448 slots, (D-1)*P, are missing"


@pytest.mark.parametrize("page_size", [4, 16, 64])
def test_upstreams_pages_of_index_k_are_as_many_where_the_page_divides_the_size(page_size):
    for size in range(4 * page_size, 7 * page_size):
        upstream = (size + page_size + 1) // page_size
        ours = c.index_k_slots(size, page_size, 8, defects={"index_k_size"}) // page_size
        assert ours - upstream == (0 < size % page_size < page_size - 1)


def test_the_drafts_rows():
    assert c.draft_rows(16, 4, 4) == 80 == index_spaces.largest_loc(16, 4, 4) + 1
    assert c.draft_rows(16, 4, 4, {"draft_page"}) == 68
    assert c.loc_space_scale(True, 4) == 4 and c.loc_space_scale(False, 4) == 1
    assert c.pool_page_size(64, 8) == 512


def test_bounds():
    assert c.flattened_bound(382_912, 64, 8) == 3_063_808
    assert c.flattened_bound(382_912, 64, 8, {"assert"}) == 382_976
    assert c.flattened_bound(382_912, 64, 8, {"assert_short"}) == 3_063_360
    assert c.write_bound(8192, 64, 4, {"oob_bound"}) == 8_256 and c.write_bound(8192, 64, 4) == 33_024


@pytest.mark.parametrize("size", [8, 11, 64, 100])
@pytest.mark.parametrize("dcp_size", [1, 2, 3, 8])
def test_every_buffer_covers_the_space_that_addresses_it(size, dcp_size):
    config = ServerConfig(size=size, page_size=4, dcp_size=dcp_size, draft_tokens=2)
    largest = index_spaces.largest_loc(size, 4, dcp_size)
    need = {Space.LOC: largest + 1, Space.ROW: largest // dcp_size + 1}
    seen = set()
    for spec in c.specs(config):
        if spec.space in need:
            assert spec.slots >= need[spec.space]
            seen.add(spec.name)
    assert {"ckv.0", "index_k.2", "draft.ckv", "draft.index_k"} <= seen


def test_the_bill_is_the_sum_of_the_buffers_and_replication_is_charged():
    config = ServerConfig(size=64, page_size=4, dcp_size=4, layers=2)
    bill = {x.consumer: x for x in c.charges(config)}
    assert bill["ckv.0"].bytes == 68 * 1024 and bill["ckv.0"].stored == "sharded" and bill["ckv.0"].page == 4
    assert bill["index_k.0"].bytes == 68 * 4 * 132 and bill["index_k.0"].stored == "replicated" and bill["index_k.0"].page == 4
    # 11 layers at D=8: replication doubles the row (11,264 B of c-KV, 11,616 B of index-K).
    assert c.bytes_per_row(replace(config, dcp_size=8, layers=11)) == 11_264 + 11_616


def test_size_for_a_budget_fits_and_the_next_page_does_not():
    config = ServerConfig(page_size=4, dcp_size=4, layers=2)
    pools = ("ckv", "index_k")
    for budget in (200_000, 1_234_567):
        size = c.size_for(budget, config)

        def cost(size):
            return sum(x.bytes for x in c.charges(replace(config, size=size)) if x.consumer.startswith(pools))

        assert cost(size) <= budget < cost(size + 4)
    with pytest.raises(CourseError, match="do not hold one page"):
        c.size_for(10_000, config)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(dcp_size=0), "dcp_size must be at least 1"),
        (dict(size=3), "does not hold one page"),
        (dict(context_len=10**6), "does not fit"),
        (dict(chunk=4), "cannot feed"),
        (dict(draft_tokens=99), "0 to 16"),
    ],
)
def test_a_server_that_cannot_be_built_is_refused_in_a_sentence(change, words):
    with pytest.raises(CourseError, match=words):
        replace(ServerConfig(), **change).check()
