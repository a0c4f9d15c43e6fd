"""Several geometries in one server: each consumer is found by ids of its own, whatever happens to its request."""

import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_interleave import answers_alike, servers
from test_schedules import BASE, engine

from dcplab.engine import configurator, stores
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.space_tags import Space, SpaceError, space_of
from dcplab.errors import CourseError


@settings(max_examples=5, deadline=None)
@given(config=servers(), window=st.sampled_from([0, 1, 7]), groups=st.integers(0, 3), seed=st.integers(0, 2**16))
def test_each_id_leads_to_its_token(config, window, groups, seed):
    """A pooled key for each page, or for all of a widened page; a window of any length; replicated or sharded index-K."""
    kpool = (0, 1, config.page_size, config.width)[groups]
    indexer = ("replicated", "exact")[seed % 2]
    server = answers_alike(replace(config, kpool=kpool, window=window, indexer=indexer), seed, often=0.6)
    assert server.metrics.misplaced == 0
    assert ("kpool" in server.watcher.highest) == bool(kpool) and ("window" in server.watcher.highest) == bool(window)


def busy(defects=(), **more):
    draw = random.Random(4)
    config = replace(BASE, dcp_size=4, page_size=4, size=64, kpool=4, window=6, draft_tokens=2, **more)
    server = engine(config, defects=defects)
    server.generate([[0, *(draw.randrange(1, 12) for _ in range(n))] for n in (21, 30, 45)], 8)
    return server


def test_stores_that_are_taken_for_sharded_lose_tokens():
    assert busy().metrics.misplaced == 0
    assert busy(("stores_localized",)).metrics.misplaced > 0
    words = "write_kpool on kpool takes a pooled key and was given a row."
    with pytest.raises(SpaceError, match=words):
        engine(replace(BASE, dcp_size=4, kpool=4), defects=("stores_localized",), typed=True).generate([[0, 1, 2]], 1)


@pytest.mark.parametrize("name", ["kpool", "window"])
def test_a_store_that_a_retraction_does_not_put_back_is_missed(name, monkeypatch):
    server = engine(replace(BASE, dcp_size=2, size=64, kpool=4, window=6, need_sort=True, prefix_cache=False))
    real = stores.Stores._all
    request = server.submit([0, *range(1, 30)], 6)
    while not request.output:
        server.step()
    server.retract(request)
    for buffer in ("kpool", "window"):
        server.workers[0].arena.view(buffer).zero_()
    monkeypatch.setattr(
        stores.Stores,
        "restore",
        lambda pool, saved, locs, idx: [
            pool.arena.view(of).index_copy_(0, ids, rows)
            for (of, ids), rows in zip(real(pool, locs, idx), saved, strict=True)
            if of != name
        ],
    )
    server.run()
    assert server.metrics.misplaced > 0


def test_the_bill_has_a_line_for_each():
    config = ServerConfig(size=448, page_size=64, dcp_size=8, kpool=256, window=128, indexer="exact")
    bill = {c.consumer: c for c in configurator.charges(config)}
    assert {
        name: (bill[name].space, bill[name].stored, bill[name].slots, bill[name].page)
        for name in ("ckv.0", "index_k.0", "kpool", "window", "conv_state")
    } == {
        "ckv.0": (Space.ROW, "sharded", 512, 64),
        "index_k.0": (Space.ROW, "sharded", 512, 64),
        "kpool": (Space.POOLED, "replicated", 16, 2),  # 512 rows * 8 ranks / 256
        "window": (Space.WINDOW, "own slots", 9 * 129, 129),
        "conv_state": (Space.STATE, "own slots", 9, 1),
    }


def test_the_ids_of_one_token():
    """Position 37 of the request with req_pool_idx 3, at loc 101, four locs to a pooled key, a ring of ten."""
    assert stores.pooled_key(torch.tensor([101, -1]), 4).tolist() == [25, -1]
    slots = stores.window_slot(torch.tensor([3, 3]), torch.tensor([37, -1]), 10)
    assert slots.tolist() == [37, -1] and space_of(slots) is Space.WINDOW
    assert stores.window_slot(torch.tensor([3]), torch.tensor([47]), 10).tolist() == [37], "and ten later"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(kpool=5), "The locs of a pooled key must divide the widened page of 32, and 5 do not"),
        (dict(window=-1), "A window has 0 tokens or more, not -1"),
        (dict(window=4, prefill_dcp=2), "sends neither pooled keys nor a window"),
    ],
)
def test_what_cannot_be_is_refused(change, words):
    with pytest.raises(CourseError, match=words):
        replace(ServerConfig(), **change).check()
