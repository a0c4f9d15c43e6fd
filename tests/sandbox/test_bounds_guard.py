import gc

import numpy as np
import pytest
import torch

from dcplab.sandbox.kernels.access_record import AccessRecord, small
from dcplab.sandbox.kernels.bounds_guard import SPACE, Guard, OutOfBounds, _run, report, sentence
from dcplab.sandbox.kernels.canary_buffers import CanaryBuffers
from dcplab.sandbox.kernels.read_count import ReadCount


def admit(guard, name, elements, width=8, op="store"):
    start = int(guard.starts[guard.names.index(name)])
    at = np.array([(start + e * width) % 2**64 for e in elements], dtype=np.uint64)
    return guard.admit(op, (0, 0, 0), at, np.ones(len(at), bool), width)


@pytest.fixture
def guard():
    return Guard({"src": torch.arange(4), "dst": torch.zeros(6, dtype=torch.int64), "none": torch.empty(0)})


def test_addresses_inside_become_the_real_ones(guard):
    real, inside = admit(guard, "dst", [0, 5])
    assert inside.all() and [int(a) for a in real] == [guard.tensors[1].data_ptr(), guard.tensors[1].data_ptr() + 40]
    assert guard.events == []


def test_neighbours_that_one_access_touches_are_told_together():
    run = _run(-1, {-8, *range(-7, 0), 0, 1})
    assert run == (-8, -1) and _run(9, {7, 9, 10}) == (9, 10)
    event = report("store", "buf", -1, 192, 8, run)
    assert sentence(event) == "It wrote elements -8 to -1 of `buf`, which has 192 (0 to 191): 1 to 8 before the start."
    said = sentence(report("load", "a", 6, 6, 2, (6, 7)))
    assert "elements 6 to 7 of" in said and said.endswith(": 1 to 2 past the end.")
    assert report("load", "a", 6, 6, 1, (6, 6)) == report("load", "a", 6, 6, 1)


@pytest.mark.parametrize(
    "element, says", [(6, "1 past the end"), (-1, "1 before the start"), (10**14, "99999999999995 past"), (-(10**14), "before")]
)
def test_a_wild_index_is_charged_to_its_own_buffer(guard, element, says):
    _, inside = admit(guard, "dst", [0, element])
    assert inside.tolist() == [True, False]
    (event,) = guard.events
    assert (event["buffer"], event["element"], event["size"], event["lanes"]) == ("dst", element, 6, 1)
    assert says in sentence(event)


def test_a_pointer_before_its_buffer_may_touch_what_is_not_here(guard):
    guard.pointer("dst", before=100)
    _, inside = admit(guard, "dst", [0, -1, -100])
    assert inside.tolist() == [True, False, False] and guard.events == []
    admit(guard, "dst", [-101])
    assert "101 before the start" in sentence(guard.events[0])


def test_an_access_that_hangs_over_the_end(guard):
    start = guard.starts[0]
    _, inside = guard.admit("load", (0, 0, 0), np.array([start + np.uint64(28)]), np.array([True]), 8)
    assert not inside.any()
    _, inside = guard.admit("load", (0, 0, 0), np.array([start + np.uint64(28)]), np.array([True]), 4)
    assert inside.all()


@pytest.mark.parametrize("start, told", [
    (132, "It wrote elements 132 to 135 of `buf`, which has 96 (0 to 95): 37 to 40 past the end."),
    (94, "It wrote elements 96 to 97 of `buf`, which has 96 (0 to 95): 1 to 2 past the end."),
    (-6, "It wrote elements -6 to -3 of `buf`, which has 96 (0 to 95): 3 to 6 before the start."),
])  # fmt: skip
def test_a_float_stored_into_bytes_is_told_by_its_four_bytes(start, told):
    guard = Guard({"buf": torch.zeros(96, dtype=torch.uint8)})
    at = np.array([int(guard.starts[0]) + start], dtype=np.uint64)
    guard.admit("store", (0, 0, 0), at, np.array([True]), 4)
    assert [sentence(event) for event in guard.events] == [told] and guard.events[0]["lanes"] == 1


def test_an_empty_buffer_may_not_be_touched(guard):
    assert not admit(guard, "none", [0], width=4)[1].any()


def test_masked_lanes_may_point_anywhere(guard):
    at = np.array([guard.starts[0], np.uint64(12345), np.uint64(2**64 - 8), np.uint64(99 * SPACE)])
    _, inside = guard.admit("load", (0, 0, 0), at, np.array([True, False, False, False]), 8)
    assert inside[0] and guard.events == []


def test_raise_mode():
    with pytest.raises(OutOfBounds, match="wrote element 9 of `a`, which has 2"):
        admit(Guard({"a": torch.arange(2)}, "raise"), "a", [9])


def test_a_strided_buffer_is_refused():
    with pytest.raises(ValueError, match="contiguous"):
        Guard({"a": torch.arange(8)[::2]})


@pytest.fixture
def arena():
    return CanaryBuffers({"rows": torch.arange(6), "keys": torch.ones(3, 4, dtype=torch.bfloat16), "none": torch.empty(0, 2)})


def test_buffers_hold_what_they_were_given(arena):
    assert arena.views["rows"].tolist() == list(range(6)) and arena.views["rows"].is_contiguous()
    assert arena.views["keys"].shape == (3, 4) and arena.views["none"].shape == (0, 2)
    assert arena.touched() == []


def test_what_a_wild_store_can_reach_beside_a_launch_is_nothing_that_the_next_one_needs():
    """On a GPU it lands in what lies near. A kept canary once charged four right stores with -127 of a buffer."""
    buffers = {"rows": torch.arange(6)}
    alive = {id(t) for t in gc.get_objects() if isinstance(t, torch.Tensor)}
    arena = CanaryBuffers(buffers)
    own = arena.memory.untyped_storage().data_ptr()
    for t in gc.get_objects():
        if isinstance(t, torch.Tensor) and id(t) not in alive and t.untyped_storage().data_ptr() != own:
            t.zero_()
    assert arena.touched() == [] == CanaryBuffers(buffers).touched()


def test_the_end_of_a_larger_buffer_has_its_bands_where_the_larger_one_ends():
    end = CanaryBuffers({"pool": torch.arange(4), "other": torch.arange(2)}, before={"pool": 800})
    whole = end.whole("pool", 800)
    assert whole.numel() == 832 and whole[800:].view(torch.int64).tolist() == [0, 1, 2, 3]
    whole[:800] = 1  # a part of the larger buffer, which a kernel may write
    assert end.touched() == [] and end.views["other"].tolist() == [0, 1]
    for byte, element in ((32, 4), (-808, -101)):
        end.memory[end.spans["pool"][0] + byte] ^= 255
        (event,) = end.touched()
        assert (event["buffer"], event["element"], event["size"]) == ("pool", element, 4)
        end.memory[end.spans["pool"][0] + byte] ^= 255


@pytest.mark.parametrize("name, byte, element", [("rows", 48, 6), ("rows", -8, -1), ("keys", 24 + 300, 162), ("keys", -2, -1)])
def test_a_store_into_a_band_is_found_and_charged(arena, name, byte, element):
    at = arena.spans[name][0] + byte
    arena.memory[at] ^= 255
    (event,) = arena.touched()
    assert (event["buffer"], event["element"]) == (name, element)


def test_a_band_copied_over_another_does_not_pass(arena):
    low, high = arena.spans["rows"][1], arena.spans["keys"][0]
    arena.memory[low:high] = arena.memory[: high - low].clone()
    assert len(arena.touched()) == 1


def test_every_band_is_watched(arena):
    arena.memory[0] ^= 1
    arena.memory[-1] ^= 1
    assert len(arena.touched()) == 2


def test_ones_own_elements_are_free(arena):
    for view in arena.views.values():
        view.fill_(0)
    assert arena.touched() == []


@pytest.mark.slow
def test_a_tensor_descriptor_goes_through_the_guard(judged):
    kernel = """@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    there = tl.make_tensor_descriptor(dst, [n], [1], [BLOCK])
    there.store([start], tl.make_tensor_descriptor(src, [n], [1], [BLOCK]).load([start]) * 2)
"""
    assert judged("91b", kernel).outcome == "passed"
    assert judged("91b", kernel.replace("dst, [n]", "dst, [n + 64]")).outcome == "unsafe"  # a descriptor that is too long


def test_each_access_is_noted_with_its_program_also_outside_and_in_another_width():
    seen = AccessRecord()
    guard = Guard({"a": torch.zeros(4, dtype=torch.int64), "b": torch.zeros(16, dtype=torch.uint8)}, notes=[seen])
    lanes = guard.starts[0] + np.array([0, 8, 16, 24, 32], dtype=np.uint64)
    guard.admit("load", (0,), lanes, np.array([True, True, False, True, True]), 8)
    guard.admit("load", (1,), guard.starts[0] - np.array([8], dtype=np.uint64), np.array([True]), 8)
    guard.admit("store", (1,), guard.starts[1] + np.array([4, 8], dtype=np.uint64), np.array([True, True]), 4)
    guard.admit("atomic", (0,), guard.starts[1] + np.array([0], dtype=np.uint64), np.array([True]), 1)
    assert seen.done() == [
        ("r", "a", (0,), [(0, 2), (3, 2)]),
        ("r", "a", (1,), [(-1, 1)]),
        ("w", "b", (1,), [(4, 8)]),
        ("r", "b", (0,), [(0, 1)]),
        ("w", "b", (0,), [(0, 1)]),
    ]


@pytest.mark.parametrize(("sizes", "grid", "drawn"), [([2_048], (16,), True), ([2_049], (1,), False), ([8], (17,), False)])
def test_only_a_small_launch_is_noted(sizes, grid, drawn):
    assert small(sizes, grid) == drawn


def test_reads_are_counted_against_what_is_asked_for():
    """Element 3 of ``a`` twice, 0 and 1 of ``b`` by one access of two bytes; what is outside is the guard's to tell."""
    may = {"a": torch.tensor([True, True, False, True]), "b": torch.tensor([True, False] + [True] * 14)}
    count = ReadCount(may)
    guard = Guard({"a": torch.zeros(4, dtype=torch.int64), "b": torch.zeros(16, dtype=torch.uint8)}, notes=[count])

    def load(start, at, nbytes, op="load", active=True):
        address = guard.starts[start] + np.array([at], dtype=np.int64).astype(np.uint64)
        guard.admit(op, (0,), address, np.array([active]), nbytes)

    load(0, 24, 8)
    load(0, 8, 8)
    load(0, 16, 8, active=False)
    load(0, 16, 8, op="store")
    load(1, 2, 2)
    load(0, 32, 8)
    load(0, -8, 8)
    assert count.events() == []
    load(0, 24, 8)
    assert count.events() == [{"kind": "again", "argument": "a", "element": 3, "times": 2}]
    load(1, 0, 2)
    load(0, 16, 8, op="atomic")
    assert count.events() == [
        {"kind": "needless", "argument": "a", "element": 2, "times": 1},
        {"kind": "needless", "argument": "b", "element": 1, "times": 1},
    ]
