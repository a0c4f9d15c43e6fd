"""The solutions of lab 07 against dealing by hand, against the engine's own rules and against each other: no formula of theirs
stands here."""

import itertools
import random

import pytest
import torch
from dcp_kernels import reference

from dcplab.course import catalog
from dcplab.course.drawn import draw
from dcplab.course.model import Case
from dcplab.course.seeded import Draw
from dcplab.demos import layouts
from dcplab.engine import index_spaces

LAB = catalog.lab("07")
LAYOUTS = [(d, i) for d in (1, 2, 3, 4, 6, 8) for i in (1, 2, 3, 5, 16, 64)]
in_each_layout = pytest.mark.parametrize("dcp_size, interleave", LAYOUTS)


def alike(got, right):
    if isinstance(right, torch.Tensor):
        return isinstance(got, torch.Tensor) and got.dtype == right.dtype and torch.equal(got, right)
    if isinstance(right, tuple):
        return len(got) == len(right) and all(map(alike, got, right))
    return type(got) is type(right) and got == right


def solved(part):
    names = {}
    exec(LAB.key(part).solution.source, names)
    return names


def dealt(n, dcp_size, interleave):
    """(rank, row) of the first n locs, dealt as cards: ``interleave`` to a rank, which keeps them in a line. Then the next."""
    hands, found = [0] * dcp_size, []
    for rank in itertools.cycle(range(dcp_size)):
        for _ in range(interleave):
            found.append((rank, hands[rank]))
            hands[rank] += 1
        if len(found) >= n:
            return found[:n]


@in_each_layout
def test_owner_and_row_are_what_dealing_gives_and_the_way_back_is_exact(dcp_size, interleave):
    n = 3 * dcp_size * interleave + 7
    hand = dealt(n, dcp_size, interleave)
    owner_and_row, loc_of_row = solved("7a")["owner_and_row"], solved("7b")["loc_of_row"]
    ranks, rows = owner_and_row(torch.arange(n), dcp_size, interleave)
    assert list(zip(ranks.tolist(), rows.tolist(), strict=True)) == hand
    assert [owner_and_row(loc, dcp_size, interleave) for loc in range(n)] == hand
    for rank in range(dcp_size):
        mine = torch.arange(n)[ranks == rank]
        assert torch.equal(loc_of_row(rows[ranks == rank], rank, dcp_size, interleave), mine)
        assert loc_of_row(torch.tensor([-1, 0]), rank, dcp_size, interleave).tolist()[0] == -1


@in_each_layout
def test_lengths_are_counted_owners(dcp_size, interleave):
    local_lengths, owner_and_row = solved("7c")["local_lengths"], solved("7a")["owner_and_row"]
    lengths = [0, 1, interleave, interleave + 1, dcp_size * interleave - 1, dcp_size * interleave, 517]
    for length, counts in zip(lengths, local_lengths(torch.tensor(lengths), dcp_size, interleave).tolist(), strict=True):
        owners = owner_and_row(torch.arange(length), dcp_size, interleave)[0].tolist()
        assert counts == [owners.count(rank) for rank in range(dcp_size)]
        assert counts == layouts.held_by_rank(length, dcp_size, interleave)


@in_each_layout
def test_the_engine_deals_alike(dcp_size, interleave):
    locs = torch.cat([torch.arange(2 * dcp_size * interleave), 2**31 + torch.arange(50), 2**58 + torch.arange(50)])
    rank, row = solved("7a")["owner_and_row"](locs, dcp_size, interleave)
    assert torch.equal(rank, index_spaces.owner_rank(locs, dcp_size, interleave))
    assert torch.equal(row, index_spaces.local_row(locs, dcp_size, interleave))
    for r in range(dcp_size):
        back = solved("7b")["loc_of_row"](row[rank == r], r, dcp_size, interleave)
        assert torch.equal(back, index_spaces.globalize(row[rank == r], r, dcp_size, interleave))
        counts = solved("7c")["local_lengths"](torch.arange(200), dcp_size, interleave)[:, r]
        assert torch.equal(counts, index_spaces.held(torch.arange(200), r, dcp_size, interleave))


def test_one_loc_a_turn_is_lab_01():
    names, first = solved("7a"), {}
    for part in ("1a", "1b"):
        exec(catalog.lab("01").key(part).solution.source, first)
    locs = torch.arange(100)
    for d in range(1, 9):
        rank, row = names["owner_and_row"](locs, d, 1)
        assert torch.equal(rank, first["owner_rank"](locs, d)) and torch.equal(row, first["local_row"](locs, d))


@pytest.mark.parametrize("size, small", [(128, 64), (64, 16), (48, 16), (5, 1), (16, 16)])
def test_a_slot_is_the_same_by_either_table_and_another_by_a_mixture(size, small):
    names, draw = solved("7d"), random.Random(size)
    table = torch.tensor([draw.sample(range(1, 60), 4), [*draw.sample(range(60, 90), 2), -1, -1]], dtype=torch.int32)
    kernels = names["kernel_block_table"](table, size, small)
    assert kernels.shape == (2, 4 * (size // small)) and kernels.dtype == torch.int32
    reqs, positions = map(torch.tensor, zip(*itertools.product((0, 1), range(4 * size)), strict=True))
    slots = names["slot_mapping"](table, reqs, positions, size)
    assert torch.equal(slots, names["slot_mapping"](kernels, reqs, positions, small))
    held = slots[slots >= 0].tolist()
    assert len(held) == len(set(held)) == 6 * size and (slots < 0).sum() == 2 * size
    if small < size:
        mixed = names["slot_mapping"](table, reqs, positions % (4 * small), small)
        assert not torch.equal(mixed, slots)


def test_five_ids_of_a_token_and_only_one_asks_the_rank():
    read_ids, draw = solved("7g")["read_ids"], random.Random(7)
    for _ in range(50):
        d, i, kpool = draw.choice([2, 3, 4]), draw.choice([1, 2, 5]), draw.choice([1, 4, 256])
        loc = draw.randrange(300)
        token = {"position": draw.randrange(100), "loc": loc, "req_pool_idx": draw.randrange(8)}
        server = {"dcp_size": d, "interleave": i, "kpool": kpool, "window_slot_of": draw.sample(range(900), 300)}
        server["state_slot_of"] = draw.sample(range(900), 8)
        every = [read_ids(token, {**server, "dcp_rank": rank}) for rank in range(d)]
        rank, row = dealt(loc + 1, d, i)[loc]
        assert [ids.pop("ckv") for ids in every] == [row if r == rank else -1 for r in range(d)]
        assert all(ids == every[0] for ids in every)
        groups = [range(n, n + kpool) for n in range(0, 512, kpool)]
        assert loc in groups[every[0]["kpool"]] and every[0]["index_k"] == loc
        assert every[0]["window"] == server["window_slot_of"][loc]
        assert every[0]["state"] == server["state_slot_of"][token["req_pool_idx"]]


def test_the_entries_of_a_pair_have_the_names_of_the_function_that_gave_it():
    key, cases = LAB.key("7f"), LAB.part("7f").cases(Draw(1))
    named = {case.call: key.result_names(case) for case in cases}
    assert named == {"exact_topk": ("positions", "sent"), "union_topk": ("positions_of_rank", "extra")}


def test_a_prediction_s_answer_is_what_the_solutions_give():
    def said(part):
        return LAB.part(part).prediction.answer

    assert said("7a") == "rank {}, row {}".format(*solved("7a")["owner_and_row"](10, 4, 2))
    assert said("7c") == ", ".join(map(str, solved("7c")["local_lengths"](torch.tensor([300]), 4, 64)[0].tolist()))
    turn, place = divmod(-1, 2)
    assert [(turn * 4 + rank) * 2 + place for rank in (3, 0)] == [-1, -7] and said("7b") == "-1"
    slot_mapping = solved("7d")["slot_mapping"]
    at = torch.tensor([0]), torch.tensor([70])
    assert said("7d").endswith(f"slot {slot_mapping(torch.tensor([[5, 9]]), *at, 64).item()}")
    assert slot_mapping(torch.tensor([[5, 9]]), *at, 128).item() == 710


def test_what_the_text_says_of_its_demonstrations():
    uneven = layouts.uneven().text.splitlines()
    assert [line.split()[0] for line in uneven[3:]] == ["1", "16", "64", "512"]
    assert [int(line.split()[3]) for line in uneven[3:]] == [1, 16, 64, 512]
    lines = layouts.two_block_sizes().text.splitlines()[3:]
    assert [line.split()[-1] for line in lines] == ["710", "582", "1350", "710"]
    assert [line.split()[3] for line in lines] == ["1000", "0", "0", "1000"]


@pytest.mark.parametrize("part", [part.id for part in LAB.parts])
def test_every_seed_gives_cases_and_the_solution_is_what_the_oracle_says(part):
    found, names = LAB.part(part), solved(part)
    for seed in range(40):
        cases = found.cases(Draw(seed))
        assert cases
        for case in cases if found.oracle else ():
            if isinstance(case, Case) and not case.raises:
                assert alike(names[case.call or found.entry](*case.args), found.oracle(*case.args)), (seed, case.label)


FEW = [(1, 1), (2, 1), (3, 2), (4, 16), (8, 1)]


def keys_of_ranks(scores, size, run):
    """Each rank's scores and positions of one request's keys."""
    positions = torch.arange(len(scores))
    mine = [positions // run % size == rank for rank in range(size)]
    return [scores[m] for m in mine], [positions[m] for m in mine]


@pytest.mark.parametrize(("size", "run"), FEW)
def test_exact_is_one_rank_s_choice_and_union_holds_it(size, run):
    """Against the oracle of the course's own top-k, with few scores so that many are equal, and with more ranks than keys."""
    names = solved("7f")
    exact_topk, union_topk = names["exact_topk"], names["union_topk"]
    draws = random.Random(size)
    for _ in range(60):
        n, topk = draws.choice([0, 1, 5, 40, 130]), draws.choice([1, 4, 33])
        scores = torch.tensor([draws.randint(-3, 3) / 4 for _ in range(n)])
        ranks = keys_of_ranks(scores, size, run)
        right = reference.topk_select(scores[None], topk)[0]
        right = right[right >= 0].long()
        positions, sent = exact_topk(*ranks, topk)
        assert torch.equal(positions, right) and sent == sum(min(topk, len(s)) for s in ranks[0])
        read, extra = union_topk(*ranks, topk)
        every = torch.cat(read)
        assert torch.isin(right, every).all() and extra == len(every) - len(right) >= 0
        assert all(torch.equal(one, one.sort().values) for one in read)


def test_union_depends_on_the_layout_and_exact_does_not():
    names = solved("7f")
    exact_topk, union_topk = names["exact_topk"], names["union_topk"]
    scores = torch.randperm(200, generator=torch.Generator().manual_seed(7)).float()
    ranks = [keys_of_ranks(scores, *layout) for layout in FEW]
    assert len({tuple(exact_topk(*of, 20)[0].tolist()) for of in ranks}) == 1
    assert [len(torch.cat(union_topk(*of, 20)[0])) for of in ranks] == [20, 40, 60, 80, 160]


@pytest.mark.parametrize("seed", range(3))
def test_what_may_be_read_is_what_moves_and_all_pairs_together_read_it_once(seed):
    """Of a case's piece, the launches of all pairs: their rows that may be read are disjoint, and as many as tokens."""
    part = LAB.part("7e")
    names = part.oracle.__globals__
    for case in draw(part, seed, "cpu").cases:
        source, target = names["_nodes"](case)
        if max(source[1], target[1]) > 8:
            continue
        _, _, dst_first, src_first, n, *_ = case.args
        seen = []
        for s in range(source[1]):
            for t in range(target[1]):
                moved = names["_moved"]((src_first, dst_first, n), (s, *source[1:]), (t, *target[1:]))
                seen += [(s, of) for of, _ in moved]
        assert len(seen) == len(set(seen)) == n
        mine = names["_moved"]((src_first, dst_first, n), source, target)
        assert int(case.reads["src"].sum()) == len(mine) * case.constexprs["DIM"]


def test_the_cases_of_7e_have_what_each_mistake_needs():
    cases = LAB.part("7e").cases(Draw(5))
    assert any(max(case.args[2:4]) < 2**31 <= max(case.args[2:4]) + case.args[4] for case in cases)  # passes loc 2^31
    assert any(max(case.args[2:4]) > 2**33 for case in cases)
    assert sum(case.args[i].before >= 2**31 and max(case.args[2:4]) < 2**31 for case in cases for i in (0, 1)) == 2
    assert any(case.grid[0] > 1 and case.backwards for case in cases)
