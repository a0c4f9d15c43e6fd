"""The demonstrations of lab 03 show what its text says they show, on the machine that runs them."""

import math
import re

import pytest
import torch

from dcplab import mode, subprocess_call
from dcplab.demos import norope
from dcplab.demos.norope import compaction, negative_division, tma_store, toy_server
from dcplab.demos.norope.needle_test import NEW, OLD
from dcplab.engine import index_spaces, ops

ON_CPU = pytest.mark.skipif(mode.current().name == "gpu", reason="there is a GPU: the same is measured there instead")


def test_the_needle_test_passes_on_the_broken_server_and_its_watermark_is_low():
    told = norope.needle().text
    said = dict(re.findall(r"^(answer|right) +(.*)$", told, re.MULTILINE))
    assert said["answer"] == said["right"] == "copper violin under green moss ."
    rows = re.findall(r"^ckv\.\d +(\d+) +(\d+)  below$", told, re.MULTILINE)
    assert len(rows) == toy_server.FOUR.layers and all(int(loc) < int(slots) for slots, loc in rows)


def test_as_it_was_every_rank_holds_every_token_and_mended_only_its_own():
    before, after = toy_server.ask(toy_server.BOTH), toy_server.ask()
    locs, words = before.locs.tolist(), before.words
    assert locs == after.locs.tolist() and words[1:4] == ["note:", "vault", "17"]
    everything = dict(zip(locs, words, strict=True))
    for layer in range(toy_server.FOUR.layers):
        assert toy_server.held(before, layer) == [everything] * 4
        for rank, rows in enumerate(toy_server.held(after, layer)):
            assert {index_spaces.globalize(row, rank, 4): word for row, word in rows.items()} == {
                loc: word for loc, word in everything.items() if loc % 4 == rank
            }


def test_the_two_numbers_that_tell_it():
    found = norope.replicas()
    old, new = found.unpatched, found.patched
    assert torch.equal(old.valid_counts, old.topk_counts.expand(4, -1))
    assert torch.equal(new.valid_counts.sum(0, dtype=torch.int32), new.topk_counts)
    assert torch.allclose(old.merged_lse - old.single_lse, torch.tensor(2.0), atol=1e-3)
    assert torch.allclose(new.merged_lse, new.single_lse, atol=1e-3)
    assert math.isclose(old.off, math.log2(4), abs_tol=1e-3) and abs(new.off) < 1e-3
    assert found.text.count("right") == 2 and "WRONG" not in found.text
    counts, selected, merged, single = old.arguments
    assert counts.shape == (4, len(selected)) and merged.shape == single.shape == (len(selected), toy_server.FOUR.heads)


@pytest.mark.slow
def test_each_half_of_the_fix_is_wrong_at_once_and_neither_only_above():
    found = norope.half_fixes()
    assert len(found.outcomes) == 8
    for (write, read, level), out in found.outcomes.items():
        asked = {when: [a.right for a in out.answers if a.when == when] for when in ("fresh", "again")}
        assert (out.largest_loc >= toy_server.FOUR.size + toy_server.FOUR.page_size) == (level == "above")
        if write != read:  # wrong from the first question on, whatever the watermark
            assert not any(asked["fresh"]) and out.verdict == "silent corruption"
        elif write == OLD and level == "above":  # the incident: a fresh server right, the same questions wrong
            assert all(asked["fresh"]) and not any(asked["again"])
        else:
            assert out.verdict == "right" and all(asked["fresh"] + asked["again"])
        first = out.first_misuse
        if write == read == NEW:
            assert first is None and out.first_outside is None
        else:
            assert first.op == ("write_ckv" if write == OLD else "sparse_mla_decode")
            assert (out.first_outside is not None) == (level == "above")
    assert "8 of 8 right" in found.text and "3 of 8 right: " in found.text


@pytest.fixture(scope="module")
def minus_one():
    return norope.minus_one()


@pytest.mark.slow
def test_minus_one_four_ways(minus_one):
    found = dict(minus_one.found)
    floor, truncated = [(7, -1), (2, -1), (0, -1)], [(-1, 0), (-1, 0), (0, -1)]
    device = "cuda" if mode.current().name == "gpu" else "cpu"
    assert found.pop(f"torch, {device}") == floor
    assert found.pop("Triton, interpreter") == truncated
    assert found.pop("TileLang, CUDA" if device == "cuda" else "TileLang, C target") == floor
    assert found == ({"Triton, compiled": truncated} if device == "cuda" else {})


@pytest.mark.slow
@ON_CPU
def test_what_was_not_run_is_said_and_the_rank_is_d_minus_one(minus_one):
    told = minus_one.text
    assert "Triton, compiled: it needs a GPU, and there is none here, so it was not run." in told
    assert "divides by arith.divsi and arith.remsi: signed, rounded toward zero" in told
    assert "for sm_90a, divides by & 7 and >> 3: rounded down" in told
    for d in negative_division.SIZES:
        assert re.search(rf"^torch, cpu +{d} .*on rank {d - 1}, as row -1$", told, re.MULTILINE)


@pytest.mark.slow
def test_the_real_kernels_from_write_to_merge():
    found = norope.real_decode()
    assert [r["writer"] for r in found.results] == ["norope", "rope", "fp8"], found.text
    bound = 2e-2 if mode.current().name == "gpu" else 1e-5
    for r in found.results:
        tokens = sum(r["stored"])
        assert max(r["stored"]) - min(r["stored"]) < tokens / 4, "every rank holds its share and no more"
        assert r["error"] < bound * r["largest"] and r["lse_error"] < bound
        summed = [sum(c) for c in zip(*r["counts"], strict=True)]
        assert len(set(summed)) == 1, "the ranks' keys add up to top-k for every query"
        assert r["counts"][-1][-1] == 0 and r["empty"][-1][-1] and not any(r["empty"][0])
    assert "LSE -inf, weighs zero" in found.text


def test_a_compacted_list_is_walked_for_what_it_holds():
    for d in compaction.SIZES:
        holes, rows, counts = compaction.lists(d)
        for q in range(3):
            owned = holes[q][holes[q] >= 0]
            assert torch.equal(rows[q, : counts[q]], owned) and (rows[q, counts[q] :] == -1).all()
        long, short = compaction.keys_walked(d)
        assert long == compaction.TOPK and short / long == pytest.approx(1 / d, rel=0.15)


def test_holes_and_compacted_are_the_same_attention():
    holes, rows, counts = compaction.lists(4)
    gen = torch.Generator().manual_seed(1)
    q, kv = torch.randn(3, 1, 512, generator=gen), torch.randn(compaction.CONTEXT // 4, 512, generator=gen)
    slow = ops.attend_rows(q, kv, holes[:3], (holes[:3] >= -1).sum(1), 0.04)
    fast = ops.attend_rows(q, kv, rows[:3], counts[:3], 0.04)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(slow, fast, strict=True))


@ON_CPU
def test_without_a_gpu_no_time_is_claimed():
    found = norope.times()
    assert found.ms is None and "Not measured here" in found.text and " ms" not in found.text
    assert "counted" in found.picture.title and found.picture.table.header[-1] == "keys"
    assert found._repr_html_().count("data:image/svg+xml") == 1


@pytest.mark.gpu
@pytest.mark.skipif(mode.current().name == "cpu", reason="times are a GPU's, and there is none here")
def test_holes_cost_time_on_a_gpu():
    found = norope.times()
    assert found.ms and all(slow > fast > 0 for slow, fast in found.ms), found.text
    assert found.picture.table.header[-1] == "ms"


@pytest.mark.parametrize(
    "capability, row_bytes, d, bulk",
    [((8, 9), 1024, 1, False), ((9, 0), 1024, 1, True), ((10, 0), 1024, 1, True), ((9, 0), 1026, 1, False)]
    + [((9, 0), 1024, d, False) for d in (2, 3, 8)],
)
def test_the_wrapper_may_choose_the_bulk_store_only_where_nothing_is_sharded(capability, row_bytes, d, bulk):
    assert tma_store.may_use_bulk(capability, row_bytes, d) == bulk


@pytest.mark.slow
def test_the_bulk_store_writes_every_token_at_its_loc_on_every_rank():
    device = "cuda" if mode.current().name == "gpu" else "cpu"
    env = {"TRITON_INTERPRET": None if device == "cuda" else "1"}
    done = subprocess_call.call(tma_store.MODULE, "every_rank", {"device": device}, env)
    assert len(done["value"]) == 4, done["errors"]
    for rank, r in enumerate(done["value"]):
        assert r["lost"] == r["owned"] == [4, 5, 6, 7]
        assert r["hurt"] == list(range(16, 24)) and r["belong"] == [4 * row + rank for row in r["hurt"]]
        assert r["dropped"] == 8 and r["bytes"] == 12 * 1024
    told = norope.tma().text
    assert re.findall(r"<- wrong", told) == ["<- wrong"] and re.search(r"^sm_90 +1024 B +4 +Triton +bulk", told, re.MULTILINE)
    if device == "cpu":
        assert "not run: cp.async.bulk.tensor" in told


def test_a_child_that_dies_is_told_in_a_sentence(monkeypatch):
    dead = {"value": None, "how": "SIGSEGV", "why": "ended by SIGSEGV", "said": "", "errors": "what it last said"}
    monkeypatch.setattr(subprocess_call, "call", lambda *_, **__: dead)
    for demo in (norope.minus_one, norope.real_decode, norope.tma):
        assert demo().text.startswith("The process ended before it could tell: ended by SIGSEGV. It was one of its own")


def test_a_grader_does_not_wait_for_servers_and_kernels(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(subprocess_call, "call", None)  # a call would raise
    left_out = norope.half_fixes()
    assert left_out.text == "Not run while the notebook is graded." and left_out.outcomes == {}
    for demo in (norope.minus_one, norope.real_decode, norope.tma):
        assert demo().text == "Not shown while the notebook is graded."
    assert norope.times().ms is None
