"""An index outside its buffer is what lies there: the arena's layout, its bands, and what the watcher says of it."""

import itertools

import pytest
import torch

from dcplab.engine.arena import ALIGN, Arena, Spec
from dcplab.engine.space_tags import Space, SpaceError, tag
from dcplab.engine.watcher import OutsideError, Watcher

SPECS = (
    Spec("ckv.0", Space.ROW, (6, 512), torch.bfloat16),
    Spec("ckv.1", Space.ROW, (6, 512), torch.bfloat16),
    Spec("index_k.0", Space.LOC, (3, 4 * 132), torch.uint8, 4),
    Spec("conv_state", Space.STATE, (3, 128), torch.bfloat16),
)


@pytest.fixture
def arena():
    return Arena(SPECS, tail=2000)


def test_regions_follow_one_another_without_gap_or_overlap(arena):
    table = arena.table()
    assert table[0][1] == 0 and table[-1][2] == arena.size == arena.bytes.numel()
    assert all(a[2] == b[1] for a, b in itertools.pairwise(table))
    for name, start, end in table:
        assert arena.locate(start).region == name and arena.locate(end - 1).region == name
    assert arena.locate(arena.size).region == "not mapped" == arena.locate(-1).region
    assert all(b.start % ALIGN == 0 for b in arena.buffers.values())


def test_one_row_past_a_buffer_is_its_canary_and_the_next_is_the_neighbours_row_zero(arena):
    window = arena.window("ckv.0")
    window[6] = 1.0
    assert [d.band for d in arena.damage()] == ["canary after ckv.0"] and arena.damage()[0].changed == 1024
    window[7] = 2.0
    assert (arena.view("ckv.1")[0] == 2.0).all() and (arena.view("ckv.1")[1] == 0).all()
    assert arena.view("ckv.0").shape == (6, 512) and (arena.view("ckv.0") == 0).all()
    place = arena.locate(arena.buffers["ckv.0"].start + 7 * 1024 + 5)
    assert (place.region, place.row, place.byte) == ("ckv.1", 0, 5)
    shown = arena.dump(arena.buffers["ckv.1"].start, 2)
    assert [v for _, _, v in shown] == [0x00, 0x40] and shown[0][1].row == 0  # bf16 2.0


def test_an_index_k_page_past_its_buffer_reaches_the_recurrent_state(arena):
    pages = arena.window("index_k.0")
    assert pages.shape[0] == arena.buffers["index_k.0"].reach // 4 > 3
    start = arena.buffers["index_k.0"].start
    state = arena.buffers["conv_state"].start
    page, byte = divmod(state - start, 528)
    pages[page, byte] = 0x40
    pages[page, byte + 1] = 0x40
    assert arena.view("conv_state")[0, 0] == 3.0


def use(watcher, arena, name, index, space, write=True, locs=None):
    return watcher.use(arena, 0, name, tag(torch.tensor(index), space), "op", write, locs)


def test_what_would_fault_is_dropped_and_counted(arena):
    watcher = Watcher(dcp_size=2)
    reach = arena.buffers["ckv.1"].reach
    assert use(watcher, arena, "ckv.1", [2, reach, -1, reach - 1], Space.ROW).tolist() == [2, -1, -1, reach - 1]
    assert watcher.faults(0, torch.device("cpu")).item() == 1
    assert watcher.first_unmapped.first == reach


def test_a_masked_read_outside_reads_nothing_and_faults_nowhere(arena):
    watcher = Watcher(dcp_size=2, neighbours=False)
    assert use(watcher, arena, "ckv.0", [5, 6, 10**6], Space.ROW, write=False).tolist() == [5, -1, -1]
    assert watcher.faults(0, torch.device("cpu")).item() == 0 and watcher.first_outside.first == 6


def test_an_overwrite_knows_its_victim(arena):
    watcher = Watcher(dcp_size=2)
    use(watcher, arena, "ckv.1", [0, 3], Space.ROW, locs=torch.tensor([40, 46]))
    use(watcher, arena, "ckv.0", [7, 10, 8], Space.LOC, locs=torch.tensor([7, 10, 8]))
    access = watcher.first_outside
    assert (access.outside, access.first, access.low, access.high, access.slots) == (3, 7, 7, 10, 6)
    assert access is watcher.first_misuse and access.given is Space.LOC and access.needed is Space.ROW
    (hit,) = access.hits
    assert (hit.region, hit.low, hit.high, hit.count, hit.held, hit.loc) == ("ckv.1", 0, 3, 3, 2, 40)
    assert watcher.overwritten["ckv.0", "ckv.1"].held == 2
    use(watcher, arena, "ckv.0", [7, 8], Space.LOC, locs=torch.tensor([7, 8]))
    assert watcher.overwritten["ckv.0", "ckv.1"].held == 2, "a slot is counted once"


def test_strict_names_the_index_and_the_slots_there_are(arena):
    with pytest.raises(OutsideError, match=r"op writes ckv.0 at row 6, which has slots 0\.\.5 \(row space\)"):
        use(Watcher(dcp_size=2, strict=True), arena, "ckv.0", [6], Space.ROW)


def test_typed_names_both_spaces_and_one_rank_has_only_one(arena):
    with pytest.raises(SpaceError, match=r"op on ckv\.0 takes a row and was given a loc"):
        use(Watcher(dcp_size=2, typed=True), arena, "ckv.0", [1], Space.LOC)
    untagged = torch.tensor([1])
    with pytest.raises(SpaceError, match="no stated space"):
        Watcher(dcp_size=2, typed=True).use(arena, 0, "ckv.0", untagged, "op", True)
    use(Watcher(dcp_size=1, typed=True), arena, "ckv.0", [1], Space.LOC)


def test_a_tag_is_of_the_name_and_not_of_the_memory():
    locs = tag(torch.arange(4), Space.LOC)
    rows = tag(locs, Space.ROW)
    assert (locs.space, rows.space) == (Space.LOC, Space.ROW) and rows.data_ptr() == locs.data_ptr()
    assert not hasattr(locs // 2, "space"), "arithmetic gives a new meaning, which must be stated"
