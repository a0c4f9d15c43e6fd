"""The public cases as switches: what the answers, the monitor, the typed spaces and strict bounds each say of them."""

from dataclasses import replace

import pytest
import torch

from dcplab.engine import backend, public_cases, scenario, tokenizer
from dcplab.engine import defects as switches
from dcplab.engine.allocator import DoubleFree
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.runner import ServerCrash
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import Space, SpaceError, TagError, tag

CONFIG = ServerConfig(page_size=4, dcp_size=4, size=scenario.default_size(4, 4), layers=3, topk=scenario.TOPK)
QUIET, ALARM = False, True
NOTHING = ""

# Below the watermark: are answers wrong, and does the monitor sound? Above it: what do typed spaces and strict bounds refuse?
SAYS = {
    "prefix_stride": (True, QUIET, NOTHING, NOTHING),
    "topk_unfused": (True, QUIET, "sparse_mla_extend on workspace takes a ragged index and was given a position", NOTHING),
    "lse_base": (True, QUIET, NOTHING, NOTHING),  # the witness's attention is soft
    "lse_plus_inf": (True, QUIET, NOTHING, NOTHING),
    "lse_uninitialised": (True, QUIET, NOTHING, NOTHING),
    "index_k_localized": (True, None, "write_index_k on index_k.0 takes a loc and was given a row", NOTHING),
    "decode_raw": (True, QUIET, "write_ckv on ckv.0 takes a row and was given a loc", "write_ckv writes ckv.0 at loc"),
    "fp8_write": (True, QUIET, "write_ckv on ckv.0 takes a row and was given a loc", "write_ckv writes ckv.0 at loc"),
    "draft_unmerged": (False, None, NOTHING, NOTHING),  # no answer: the proposals
    "index_k_half_pages": (True, QUIET, "takes an index-K page of 2 slots and was given an index-K page of 4 slots", NOTHING),
    "ranks_rotated": (True, QUIET, "takes a row of rank 0 and was given a row of rank 1", NOTHING),
    "positions_as_rows": (True, ALARM, "tagged a row: no token of the query's request lies there", NOTHING),
    "retract_stride": (True, QUIET, NOTHING, NOTHING),
    "resolved_twice": (False, QUIET, "get_cpu_copy on draft.ckv takes a loc and was given a row", NOTHING),
    "restore_old_locs": (True, QUIET, NOTHING, NOTHING),
    "index_k_stale": (True, QUIET, NOTHING, NOTHING),
    "draft_stale": (False, QUIET, NOTHING, NOTHING),
    "free_mid_page": (False, QUIET, NOTHING, "is free already"),  # it needs a full pool
    "transfer_raw": (True, QUIET, "receive_ckv on ckv.0 takes a row and was given a loc", "receive_ckv writes ckv.0 at loc"),
    "transfer_interleave": (
        True,
        QUIET,
        "receive_ckv on ckv.0 takes a row of rank 0 of (D = 4, I = 4) and was given a row of rank 0 of (D = 4, I = 1)",
        NOTHING,
    ),
    "interleave_other": (
        True,
        QUIET,
        "sparse_mla_decode on ckv.0 takes a row of rank 0 of (D = 4, I = 4) and was given a row of rank 0 of (D = 4, I = 1)",
        NOTHING,
    ),
    "kernel_block": (True, QUIET, "takes an index-K page of 2 slots and was given an index-K page of 4 slots", NOTHING),
    "index_k_unsharded": (True, QUIET, "write_index_k on index_k.0 takes a row and was given a loc", "index_k.0 at loc"),
    "stores_localized": (False, QUIET, "write_kpool on kpool takes a pooled key and was given a row", NOTHING),  # a count
    "ties_by_rank": (False, QUIET, NOTHING, NOTHING),  # other keys of the same score: a count says it
    "exact_unfiltered": (True, ALARM, "tagged a row: no token of the query's request lies there", NOTHING),
    "transfer_twice": (True, QUIET, "receive_ckv on ckv.0 takes a loc and was given a row", NOTHING),
}
SELECTION_LOST = ("restore_old_locs", "index_k_stale", "draft_stale")


def test_every_switch_is_held_by_a_test():
    assert {*SAYS, "draft_budget"} == set(switches.PUBLIC)


def told(name, level, **more):
    chosen = switches.parse(name)
    return scenario.story(Engine(scenario.settings(CONFIG, chosen), chosen, Local(4), **more), level, stored=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAYS)
def test_what_each_instrument_says(name):
    wrong, alarm, typed, strict = SAYS[name]
    out = told(name, "below")
    assert out.verdict == ("silent corruption" if out.wrong else "right") and out.first_outside is None
    assert wrong in (None, bool(out.wrong)) and alarm in (None, out.monitor.alarm)
    assert out.metrics.selection_lost == (name in SELECTION_LOST) and (out.choices.otherwise > 0) == (name == "ties_by_rank")
    assert ("selection" in out.signs) == (name in (*SELECTION_LOST, "ties_by_rank"))
    for mode, said in (("typed", typed), ("strict", strict)):
        out = told(name, "above", **{mode: True})
        assert (out.verdict == "refused") == bool(said) and said in out.why
        assert not said or isinstance(out.error, SpaceError if mode == "typed" else (IndexError, DoubleFree))


@pytest.mark.slow
def test_a_draft_that_merges_nothing_is_seldom_accepted():
    right, alone = (told(name, "below").metrics for name in ("draft_page", "draft_unmerged"))
    assert right.accepted > right.proposed // 2 and alone.accepted < alone.proposed // 5


def answered(defects, **more):
    """How many of six questions are answered, three tokens of prompt to a request in every step."""
    config = ServerConfig(page_size=4, dcp_size=4, size=1024, layers=3, **more)
    engine = Engine(config, defects, Local(4))
    asked = [q for salt in (0, 1) for q in tokenizer.questions(61 + salt, salt)]
    got = engine.generate([q.prompt for q in asked], [q.words for q in asked])
    return sum(engine.tokenizer.decode(o) == q.answer for o, q in zip(got, asked, strict=True))


@pytest.mark.slow
def test_a_stride_over_the_batch_is_wrong_where_several_prefixes_are_no_multiples_of_the_ranks():
    """And nothing but answers tells: rows of the right space, inside, as many as there should be."""
    crowd = {"mixed": True, "chunk": 17, "topk": 8}
    assert (answered((), **crowd), answered(("prefix_stride",), **crowd)) == (6, 2)
    # With all keys selected the heads that find meet most rows by what they hold. The witness misses those that went elsewhere.
    alone = {"witness": False, "heads": 1, "index_heads": 1}
    most, few = (answered(("prefix_stride",), **(crowd | {"topk": 64} | more)) for more in (alone, {}))
    assert most > 4 > few


def test_a_budget_that_forgets_the_drafts_replicas_ends_the_start():
    chosen = switches.parse("draft_budget")
    config = scenario.settings(CONFIG, chosen)
    assert Engine(config, (), Local(4)).config.size == CONFIG.size, "charged right, the budget is this size's"
    with pytest.raises(ServerCrash, match="out of memory at the start"):
        Engine(config, chosen, Local(4))


# The arithmetic, on numbers that can be counted on fingers.


def test_a_stride_takes_the_next_requests_rows():
    """Prefixes of 5 and 3 at locs 16 and 32, D = 4: rank 0 has rows 4, 5 and 8, and the stride gives it 4 and 5."""
    locs = torch.tensor([16, 17, 18, 19, 20, 32, 33, 34])
    there = torch.tensor([True, True, True])
    assert public_cases.strided_prefix(locs, there, 0, 4).tolist() == [4, 5, -1]
    assert public_cases.strided_prefix(locs[:4], torch.tensor([True]), 2, 4).tolist() == [4], "a whole page is right"


def test_half_pages_reach_half_of_the_positions():
    got = public_cases.half_page_locs(torch.tensor([[3, 7]]), 4)
    assert got.tolist() == [[6, 7, 14, 15, -1, -1, -1, -1]]


def test_a_rank_without_keys_hands_in_what_was_there():
    left = {}
    minus = float("-inf")
    first = public_cases.left_over(torch.ones(2, 1, 3), torch.tensor([[5.0], [minus]]), left)
    assert first[1].tolist() == [[5.0], [0.0]] and first[0][:, 0, 0].tolist() == [1.0, 0.0]
    second = public_cases.left_over(2 * torch.ones(2, 1, 3), torch.tensor([[minus], [7.0]]), left)
    assert second[1].tolist() == [[5.0], [7.0]] and second[0][:, 0, 0].tolist() == [1.0, 2.0]


def test_a_merge_that_believes_plus_inf_gives_zeros():
    outs = torch.tensor([4.0, 8.0]).reshape(2, 1, 1, 1).expand(2, 2, 1, 1).clone()
    lses = torch.tensor([[[1.0], [1.0]], [[1.0], [float("inf")]]])
    out, _ = public_cases.merge_believing(outs, lses)
    assert out.flatten().tolist() == [6.0, 0.0]


# A tag written by hand.


def refused(decode):
    engine = Engine(CONFIG, comm=Local(4), typed=True, paths=backend.Paths(decode=decode, verify=decode, extend=backend.extend))
    with pytest.raises(SpaceError) as caught:
        engine.generate(["one two three one two", "four five six four"], 3)
    return caught.value


def decoding(rows_of):
    def decode(step):
        parts = []
        for rank in step.ranks:
            rank.write_ckv(step.batch.out_cache_loc)
            rank.write_index_k(step.batch.out_cache_loc)
            parts.append(rank.attend(*rows_of(rank, rank.select_paged())))
        return step.merge(parts)

    return decode


def test_a_tag_written_by_hand_is_held_against_the_request_table():
    def positions(rank, selected):
        return tag(selected, Space.ROW), (selected >= 0).sum(-1).to(torch.int32)

    error = refused(decoding(positions))
    assert isinstance(error, TagError) and "no token of the query's request lies there" in str(error)


def test_rows_of_another_request_are_refused_too():
    def of_the_other(rank, selected):
        rows, counts = rank.localize(rank.to_locs(selected))
        return tag(rows.flip(0), Space.ROW), counts.flip(0)

    assert isinstance(refused(decoding(of_the_other)), TagError)


def test_what_no_tag_and_no_table_can_tell():
    """Wrong tokens of the right request: every statement is true, and the choice is another one."""

    def four_before(rank, selected):
        return rank.localize(rank.to_locs(tag(torch.where(selected >= 4, selected - 4, selected), Space.POSITION)))

    decode = decoding(four_before)
    wired = backend.Paths(decode=decode, verify=decode, extend=backend.extend)
    engine = Engine(replace(CONFIG, topk=8), comm=Local(4), typed=True, strict=True, paths=wired)
    [asked] = [q for q in tokenizer.questions(100) if q.name == "recite a passage"]
    [got] = engine.generate([asked.prompt], asked.words)
    assert engine.tokenizer.decode(got) != asked.answer, "only the answer shows it"
