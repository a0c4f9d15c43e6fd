"""The solutions of lab 03 against counting, against brute force, and against attention over all keys in float64."""

import itertools
import math

import pytest
import torch

from dcplab import checking
from dcplab.course import catalog
from dcplab.demos import norope
from dcplab.engine import index_spaces

LAB = catalog.lab("03")
RANKS = (1, 2, 3, 4, 8)


def solved(part):
    names = {}
    exec(LAB.key(part).solution.source, names)
    return names[LAB.part(part).entry]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def batch(dcp_size, rows, pads, seed=0):
    """Every loc of rows 1 .. rows - 1 on all ranks, and padding, shuffled; each token's values are its own number."""
    locs = torch.cat([torch.arange(dcp_size, rows * dcp_size), torch.full((pads,), -1)])
    locs = locs[torch.randperm(len(locs), generator=generator(seed))]
    return locs, (1.0 + torch.arange(len(locs)))[:, None].expand(-1, 2).contiguous()


def by_hand(locs, src, dcp_rank, dcp_size, rows, blank):
    pool = [[blank] * src.shape[1] for _ in range(rows)]
    for token, loc in enumerate(locs.tolist()):
        if loc >= 0 and index_spaces.owner_rank(loc, dcp_size) == dcp_rank:
            pool[index_spaces.local_row(loc, dcp_size)] = src[token].tolist()
    return pool


def attention(scores, values):
    """Output and LSE (base 2) of attention over all keys at once, float64. scores [T, H, n], values [n, V]."""
    weight = torch.softmax(scores.double(), -1)
    return weight @ values.double(), torch.logsumexp(scores.double(), -1) / math.log(2)


@pytest.mark.parametrize("dcp_size", RANKS)
def test_the_torch_branch_stores_every_token_once_where_it_is_looked_for(dcp_size):
    write = solved("3b")
    locs, src = batch(dcp_size, rows=6, pads=3)
    for rank in range(dcp_size):
        kv = torch.full((7, 2), -7.0)
        write(kv, src, locs, rank, dcp_size)
        assert kv.tolist() == by_hand(locs, src, rank, dcp_size, 7, -7.0)


def test_the_kernels_store_every_token_once_where_it_is_looked_for():
    for part, values in (("3a", None), ("3g", (0.5, 448.0, -13.0, 0.0625))):
        key = LAB.key(part)
        locs, src = batch(3, rows=3, pads=2)
        if values:
            src = torch.tensor(values).repeat(len(locs))[: len(locs), None].expand(-1, 2).contiguous()
        for rank in range(3):
            case = checking.own_case(key.part, (src, locs, rank, 3, 4), {})
            kv, said = checking.call(key.part, key.solution, case, "cpu")
            assert (kv.float().tolist(), said) == (by_hand(locs, src, rank, 3, 4, 7.0), "")


def test_only_the_split_pool_that_is_given_locs_localizes():
    should = solved("3c")
    kinds = ("target", "draft", "unified_resolved")
    assert {(k, d) for k, d in itertools.product(kinds, range(1, 10)) if should(k, d) is True} == {
        ("target", d) for d in range(2, 10)
    }


@pytest.mark.parametrize("dcp_size", RANKS)
def test_the_ranks_share_the_selected_keys_out_without_rest(dcp_size):
    localize_topk = solved("3d")
    table = torch.stack([torch.randperm(90, generator=generator(q))[:24] for q in range(5)])
    table[1, ::3], table[2] = -1, -1
    found = [localize_topk(table, rank, dcp_size) for rank in range(dcp_size)]
    assert torch.equal(sum(counts for _, counts in found), (table >= 0).sum(-1).int())
    for rank, (rows, counts) in enumerate(found):
        for query, row_list, count in zip(table.tolist(), rows.tolist(), counts.tolist(), strict=True):
            mine = [loc for loc in query if loc >= 0 and loc % dcp_size == rank]
            back = [index_spaces.globalize(row, rank, dcp_size) for row in row_list[:count]]
            assert back == mine and set(row_list[count:]) <= {-1}


@pytest.mark.parametrize("dcp_size, level", [(1, 0), (3, 0), (4, 400), (4, -400), (8, 100)])
def test_the_merge_is_attention_over_all_keys_however_they_are_shared_out(dcp_size, level):
    merge, g = solved("3e"), generator(dcp_size)
    scores, values = 3 * torch.randn(4, 2, 40, generator=g).double() + level, torch.randn(40, 5, generator=g).double()
    owner = torch.randint(0, max(dcp_size - 1, 1), (40,), generator=g)  # the last of several ranks has nothing
    outs, lses = torch.full((dcp_size, 4, 2, 5), math.nan), torch.full((dcp_size, 4, 2), -math.inf)
    for rank in set(owner.tolist()):
        out, lse = attention(scores[:, :, owner == rank], values[owner == rank])
        outs[rank], lses[rank] = out.float(), lse.float()
    out, lse = merge(outs, lses)
    right, right_lse = attention(scores, values)
    assert (out - right).abs().max() < 1e-4 and ((lse - right_lse) / right_lse).abs().max() < 1e-5


def test_nobody_has_a_key():
    out, lse = solved("3e")(torch.full((3, 2, 1, 4), math.nan), torch.full((3, 2, 1), -math.inf))
    assert out.tolist() == torch.zeros(2, 1, 4).tolist() and (lse == -math.inf).all()


@pytest.mark.parametrize("dcp_size", [1, 2, 4])
def test_the_alarm_hears_copies_and_nothing_else(dcp_size):
    alarm, merge, g = solved("3f"), solved("3e"), generator(dcp_size)
    scores, values = torch.randn(3, 2, 24, generator=g), torch.randn(24, 4, generator=g)
    single = attention(scores, values)[1].float()
    topk = torch.full((3,), 24, dtype=torch.int32)
    for copies in (False, True):
        parts = [
            attention(scores, values) if copies else attention(scores[..., r::dcp_size], values[r::dcp_size])
            for r in range(dcp_size)
        ]
        lse = merge(*(torch.stack(x).float() for x in zip(*parts, strict=True)))[1]
        held = [24 if copies else len(range(r, 24, dcp_size)) for r in range(dcp_size)]
        valid = torch.tensor(held, dtype=torch.int32)[:, None].expand(-1, 3)
        assert alarm(valid, topk, lse, single) is (copies and dcp_size > 1)
        assert (lse - single).mean() == pytest.approx(math.log2(dcp_size) if copies else 0, abs=1e-4)


def test_what_the_notebook_says_of_the_server():
    seen, alarm = norope.replicas(), solved("3f")
    assert "54 tokens stored" in str(seen)
    assert seen.unpatched.valid_counts[:, 0].tolist() == [50] * 4 and int(seen.unpatched.topk_counts[0]) == 50
    assert seen.unpatched.off == pytest.approx(2, abs=1e-3) and seen.patched.off == pytest.approx(0, abs=1e-3)
    assert alarm(*seen.unpatched.arguments) is True and alarm(*seen.patched.arguments) is False


def test_the_figures_of_the_notebook():
    outs, lses = torch.tensor([0.0, 10.0]).reshape(2, 1, 1, 1), torch.tensor([1.0, 3.0]).reshape(2, 1, 1)
    out, lse = solved("3e")(outs, lses)
    assert (float(out), float(lse)) == (pytest.approx(8), pytest.approx(3.3219, abs=5e-5))

    def share(base):
        weight = base ** lses.flatten().double()
        return float(10 * weight[1] / weight.sum())

    assert share(math.e) == pytest.approx(8.81, abs=5e-3) and share(2 ** math.log(2)) == pytest.approx(7.23, abs=5e-3)
    assert torch.tensor(31.1).to(torch.float8_e4m3fn).float() == 32
    assert (-1 % 8, -1 // 8, -1 % 1) == (7, -1, 0)


def test_the_bank_names_every_misconception_that_can_be_made_here():
    """M12, a scale applied twice, needs a size, and no part of this lab has one."""
    assert {w.family for w in LAB.wrong if w.family} == {f"M{i}" for i in range(1, 17)} - {"M12"}


def test_a_case_of_the_write_lies_past_two_to_the_31_elements():
    from dcplab.course.seeded import Draw

    for seed in range(20):
        far = [case for case in LAB.part("3a").cases(Draw(seed)) if case.args[0].before]
        assert [case.args[0].before >= 2**31 for case in far] == [True]
