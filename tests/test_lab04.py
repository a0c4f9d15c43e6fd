"""The solutions of lab 04 against the engine's allocator and against brute force: every token is a name, and is looked for."""

import itertools
import random
from itertools import accumulate

import pytest
import torch

from dcplab.course import catalog
from dcplab.course.model import Launch
from dcplab.course.seeded import Draw
from dcplab.demos import ragged_engine
from dcplab.engine.allocator import PagedAllocator
from dcplab.engine.configurator import flattened_bound
from dcplab.viz.views.workspace import state as workspace_state

LAB = catalog.lab("04")
LENS = list(itertools.product((0, 1, 4, 5), repeat=3))
RANKS = (1, 2, 3, 4, 6)


def solved(part):
    names = {}
    exec(LAB.key(part).solution.source, names)
    return names


def ints(values):
    return torch.tensor(list(values), dtype=torch.int64)


def issued(lens, page_size, dcp_size):
    """Locs of requests that arrive one after another, request by request."""
    allocator = PagedAllocator(64 * page_size, page_size, dcp_size)
    return [allocator.locs(allocator.issue(allocator.pages_needed(0, n)), 0, n).tolist() for n in lens]


def in_pools(requests, dcp_size):
    """Where the tokens of requests lie: per rank, row -> (request, position)."""
    pools = [{} for _ in range(dcp_size)]
    for i, locs in enumerate(requests):
        for p, loc in enumerate(locs):
            pools[loc % dcp_size][loc // dcp_size] = (i, p)
    return pools


@pytest.mark.parametrize("dcp_size", RANKS)
def test_the_ranks_rows_hold_every_prefix_token_once_and_in_order(dcp_size):
    local_prefix_rows = solved("4a")["local_prefix_rows"]
    for lens in LENS:
        requests = issued(lens, 2, dcp_size)
        pools, flat = in_pools(requests, dcp_size), ints(loc for locs in requests for loc in locs)
        seen = []
        for rank in range(dcp_size):
            read = [pools[rank][row] for row in local_prefix_rows(flat, ints(lens), rank, dcp_size).tolist()]
            assert read == sorted(read)
            seen += read
        assert sorted(seen) == [(i, p) for i, n in enumerate(lens) for p in range(n)]


def test_every_dth_entry_is_right_on_a_slide_and_its_luck_ends():
    local_prefix_rows = solved("4a")["local_prefix_rows"]
    found = {}
    for lens in ((8, 4), (5, 4), (5, 3)):
        locs = ints(loc for locs in issued(lens, 4, 4) for loc in locs)
        owned = [locs[locs % 4 == rank].tolist() == locs[rank::4].tolist() for rank in range(4)]
        right = [local_prefix_rows(locs, ints(lens), r, 4).tolist() == (locs[r::4] // 4).tolist() for r in range(4)]
        found[lens] = (all(owned), all(right))
    assert found == {(8, 4): (True, True), (5, 4): (False, True), (5, 3): (False, False)}


def gathered(lens, starts, dcp_size):
    """Shards as ranks send them: each rank goes through the positions of a request turn by turn and sends what it has."""
    sent = [[] for _ in range(dcp_size)]
    for i, (n, start) in enumerate(zip(lens, starts, strict=True)):
        for turn in sorted({p // dcp_size for p in range(start, start + n)}):
            for rank in range(dcp_size):
                p = turn * dcp_size + rank
                sent[rank].append([i, p] if start <= p < start + n else [-9, -9])
    return torch.tensor(sent, dtype=torch.int64).reshape(dcp_size, -1, 2)


@pytest.mark.parametrize("dcp_size", RANKS)
def test_a_gather_is_put_in_order_for_any_lengths_and_starts(dcp_size):
    interleave_shards = solved("4b")["interleave_shards"]
    for lens in LENS:
        for starts in ((0, 0, 0), (3, 1, 2), (7, 0, 2**40 + 5)):
            found = interleave_shards(gathered(lens, starts, dcp_size), ints(lens), ints(starts), dcp_size)
            assert found.tolist() == [
                [i, p] for i, (n, s) in enumerate(zip(lens, starts, strict=True)) for p in range(s, s + n)
            ]


def test_the_workspace_has_every_token_at_its_requests_start_plus_position():
    assemble_ragged, transforms = solved("4c")["assemble_ragged"], solved("4d")
    for prefix_lens, extend_lens in itertools.product(LENS[::5], LENS[1::7]):
        prefix = [[i, p] for i, n in enumerate(prefix_lens) for p in range(n)]
        extend = [[i, prefix_lens[i] + j] for i, m in enumerate(extend_lens) for j in range(m)]
        sides = (torch.tensor(side, dtype=torch.int64).reshape(-1, 2) for side in (prefix, extend))
        workspace = assemble_ragged(*sides, ints(prefix_lens), ints(extend_lens))
        lens = [p + e for p, e in zip(prefix_lens, extend_lens, strict=True)]
        cu = ints(accumulate(lens, initial=0))
        for i, n in enumerate(lens):
            if n:
                ids = transforms["topk_to_ragged"](torch.arange(n)[None, :], ints([i]), cu)[0]
                assert workspace[ids].tolist() == [[i, p] for p in range(n)]


def test_paged_ids_are_the_locs_of_the_engines_allocator():
    topk_to_paged = solved("4d")["topk_to_paged"]
    lens, chance = (5, 0, 9), random.Random(7)
    requests = issued(lens, 2, 3)
    table = torch.full((3, 12), 10**6)
    for i, locs in enumerate(requests):
        table[i, : len(locs)] = ints(locs)
    rows = [(i, chance.sample(range(lens[i]), 3)) for i in (2, 0, 2)]
    found = topk_to_paged(torch.tensor([[*picked, -1] for _, picked in rows]), ints(i for i, _ in rows), table)
    assert found.tolist() == [[*(requests[i][p] for p in picked), -1] for i, picked in rows]


def test_the_choice_of_transform_serves_mixed_batches_in_the_engine_and_that_of_36989_does_not():
    choose_transform = solved("4e")["choose_transform"]
    modes = set()

    def ids(choose):
        def give(rank, positions):
            modes.add(rank.batch.forward_mode)
            chosen = ragged_engine.ragged if choose(rank.batch.forward_mode, True) == "RAGGED" else ragged_engine.paged
            return chosen(rank, positions)

        return give

    asked = {mode: choose_transform(mode, True) for mode in ("decode", "target_verify", "extend", "mixed")}
    assert asked == {"decode": "PAGED", "target_verify": "PAGED", "extend": "RAGGED", "mixed": "RAGGED"}
    assert {choose_transform(mode, False) for mode in asked} == {"PAGED"}
    right = {"A": "old bridge . where", "B": "grey cloud all day"}
    assert ragged_engine.serve_mixed(ids(choose_transform)).said == right
    assert ragged_engine.serve_mixed(ids(lambda mode, _: "RAGGED" if mode == "extend" else "PAGED")).said != right
    assert modes == {"extend", "mixed"}


@pytest.mark.parametrize("size, page_size, dcp_size", [(12, 4, 2), (14, 4, 3), (5, 5, 1), (9, 2, 5)])
def test_a_table_is_in_range_exactly_if_the_allocator_could_have_issued_it(size, page_size, dcp_size):
    capacity_ok = solved("4f")["capacity_ok"]
    allocator = PagedAllocator(size, page_size, dcp_size)
    pages = allocator.issue(allocator.available)
    largest = int(allocator.locs(pages, 0, len(pages) * page_size * dcp_size).max())
    assert flattened_bound(size, page_size, dcp_size) == largest + 1
    for consumer in ("ckv_write_loc", "ckv_row", "index_k_loc", "draft_loc", "flattened_page_table"):
        last = largest // dcp_size if consumer == "ckv_row" else largest
        for index in range(-3, largest + 4):
            assert capacity_ok(ints([0, index, 1]), consumer, size, page_size, dcp_size) is (0 <= index <= last)
        assert capacity_ok(ints([]), consumer, size, page_size, dcp_size) is True


def test_the_kernels_cases_reach_every_kind_of_lane():
    """Programs without a row, programs of old rows only, of new ones only, of both; strides that differ; a segment of none."""
    kinds = set()
    for launch in LAB.part("4g").cases(Draw(1)):
        assert isinstance(launch, Launch)
        rows, lens = launch.constexprs["ROWS"], [launch.buffers[n].diff().tolist() for n in ("cu_prefix", "cu_extend")]
        assert launch.grid == (len(lens[0]), -(-max(map(sum, zip(*lens, strict=True))) // rows))
        kinds.add(("strides", len(set(launch.args[5:]))))
        for p, e in zip(*lens, strict=True):
            kinds.add(("segment", p > 0, e > 0))
            for block in range(launch.grid[1]):
                made = range(block * rows, min((block + 1) * rows, p + e))
                kinds.add(("program", any(r < p for r in made), any(r >= p for r in made)))
    both = set(itertools.product((False, True), repeat=2))
    assert {k[1:] for k in kinds if k[0] == "program"} == both == {k[1:] for k in kinds if k[0] == "segment"}
    assert {("strides", 1), ("strides", 3)} <= kinds


def test_the_figures_of_the_story():
    capacity_ok = solved("4f")["capacity_ok"]
    report = (382_912, 64, 8)
    assert capacity_ok(ints([2_937_855]), "flattened_page_table", *report)  # what the report's assert refused
    assert not capacity_ok(ints([2_937_855]), "ckv_row", *report)
    heads, width, chunk, prefix = 16, 512, 2048, 8192
    assert (heads * (width + 1) * 4, chunk * heads * (width + 1) * 4, prefix * 1024) == (32_832, 67_239_936, 8_388_608)


def test_what_the_notebook_and_the_predictions_promise():
    rows = solved("4a")["local_prefix_rows"]
    locs, lens = ints([16, 17, 18, 19, 20, 32, 33, 34]), ints([5, 3])
    assert [rows(locs, lens, rank, 4).tolist() for rank in (0, 3)] == [[4, 5, 8], [4]]
    shards = torch.tensor([[[0], [2]], [[1], [9]]])
    assert solved("4b")["interleave_shards"](shards, ints([3]), ints([0]), 2).tolist() == [[0], [1], [2]]
    assert gathered((5, 3), (3, 0), 4).shape[:2] == (4, 3) and gathered((5,), (3,), 4).shape[1] == 2
    joined = solved("4c")["assemble_ragged"](ints([10, 11, 20, 21, 22]), ints([12, 23]), ints([2, 3]), ints([1, 1]))
    assert joined.tolist() == [10, 11, 12, 20, 21, 22, 23]
    transforms, picked, req_of_row = solved("4d"), torch.tensor([[1, -1], [3, 0]]), ints([0, 1])
    assert transforms["topk_to_ragged"](picked, req_of_row, ints([0, 3, 7])).tolist() == [[1, -1], [6, 3]]
    table = torch.tensor([[16, 17, 18, 0], [32, 33, 34, 35]])
    assert transforms["topk_to_paged"](picked, req_of_row, table).tolist() == [[17, -1], [35, 32]]
    answers = {part.id: part.prediction.answer for part in LAB.parts}
    assert gathered((6,), (11,), 4).shape[1] == int(answers["4b"])
    assert (answers["4a"], answers["4e"]) == ("[4, 5, 8]", str(10 + 5 + 8 + 1))
    assert answers["4c"] == str(joined.tolist().index(20))
    assert answers["4d"] == str(transforms["topk_to_ragged"](ints([3, 0, -1])[None], ints([1]), ints([0, 3, 7]))[0].tolist())
    launch = LAB.part("4g").launch([[0.0]] * 5, [[0.0]] * 3, [2, 3], [1, 2], 2)
    assert answers["4g"] == str(launch.grid[0] * launch.grid[1])
    largest = int(answers["4f"])
    table = [solved("4f")["capacity_ok"](ints([i]), "flattened_page_table", 12, 4, 2) for i in (largest, largest + 1)]
    assert table == [True, False]
    assert [solved("4f")["capacity_ok"](ints([i]), c, 12, 4, 2) for c, i in (("index_k_loc", 31), ("ckv_row", 15))] == [
        True
    ] * 2
    assert [solved("4f")["capacity_ok"](ints([i]), c, 12, 4, 2) for c, i in (("index_k_loc", 32), ("ckv_row", 16))] == [
        False
    ] * 2


def test_the_two_answers_below_the_picture():
    """Which uses of a token's id read another token of its request, and which is right by chance."""
    state, other, chance = workspace_state.make(), set(), set()
    for number, (request, position) in enumerate(state.tokens):
        here = workspace_state.with_token(state, request, position)
        for use in workspace_state.USES:
            there = workspace_state.landing(here, use).token
            name = f"{'AB'[request]}{position}"
            if there == number:
                chance |= {(use, name)} if request and use not in ("ragged", "row", "layout") else set()
            elif there is not None and state.tokens[there][0] == request:
                other.add((use, name))
    assert chance == {("loc", "B4")} and not any(use == "position" for use, _ in other)
    assert all(workspace_state.landing(workspace_state.with_token(state, 0, p), "position").right for p in range(8))
    said = {"raw": ("A0", "A1", "B2"), "pool": ("A4", "A5"), "prefix": ("B3", "B4")}
    assert other == {(use, token) for use, tokens in said.items() for token in tokens}
