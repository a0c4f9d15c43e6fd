"""The arena map: where accesses landed, by address, against the engine's own arena; and what strict mode says."""

import pytest

from dcplab import viz
from dcplab.demos.server import replay
from dcplab.engine.arena import CANARY
from dcplab.engine.space_tags import Space
from dcplab.engine.watcher import slot_address
from dcplab.viz.views.arena import scene as arena_scene
from dcplab.viz.views.arena import state as arena_state

from .samples import engine, spilled, written
from .test_owner import controls, said


@pytest.fixture(scope="module")
def above():
    return replay("above")


@pytest.fixture
def live():
    return viz.arena_map(spilled())


def test_landings_by_address():
    """Index by index: its byte address, and the region that holds it."""
    server = spilled()
    arena = server.workers[0].arena
    spots = {"index_k.0": [*range(16, 20), 31], "index_k.1": [*range(20, 32), 40, 10**6], "ckv.0": [17]}
    wanted: dict[tuple[str, str], int] = {}
    for name, locs in spots.items():
        for loc in locs:
            region = arena.locate(slot_address(arena.buffers[name], loc)).region
            wanted[name, region] = wanted.get((name, region), 0) + 1
    wanted["ckv.0", "ckv.0"] = 2  # rows 9 and 11 exist; they are other tokens'
    found = {(v.source, v.region): v.count for v in arena_state.landings(arena_state.make(server))}
    assert found == wanted and found["index_k.1", "not mapped"] == 1


def test_the_same_sums_as_the_watcher(above):
    state = arena_state.make(above)
    found = {(v.source, v.region): (v.count, v.low, v.high) for v in arena_state.landings(state)}
    assert found == {k: (h.count, h.low, h.high) for k, h in above.engine.watcher.overwritten.items()}
    assert sum(v.count for v in arena_state.landings(state)) == sum(a.outside for a in state.accesses)


def test_canaries_are_read_off_the_memory(above):
    state = arena_state.make(above)
    arena = above.engine.workers[0].arena
    for part in (p for p in state.parts if p.canary):
        changed = int((arena.bytes[part.region.first : part.region.end] != CANARY).sum())
        assert arena_state.changed_canaries(state).get(part.name) == (f"{changed} bytes changed" if changed else None)
    assert set(arena_state.changed_canaries(arena_state.looked_at(state, 1))) == {"canary after index_k.0"}
    assert arena_state.changed_canaries(arena_state.looked_at(state, 0)) == {}


def test_strict_mode_raises_the_sentence_that_the_map_shows(above):
    strict = replay("above", strict=True)
    shown = viz.arena_map(above, at=1).picture
    assert strict.outcome.why in arena_scene.strict_says(viz.arena_map(above).state)
    assert "Stops the server here, before a byte is changed" in shown.caption and strict.outcome.why in shown.caption
    picture = viz.arena_map(strict).picture
    assert f"Raised: {strict.outcome.why}" in picture.caption and "nothing is written" in picture.caption
    use = {row[0]: row[3:] for row in picture.table.rows}
    assert all(row[1] == "nothing" for row in use.values()) and "refused" in picture.text
    assert {use[name][0] for name in use if name.startswith("canary")} == {"intact"}


def test_every_region_is_shown_or_counted():
    few, many = viz.arena_map(spilled(2)).picture, viz.arena_map(spilled(14)).picture
    for picture, layers in ((few, 2), (many, 14)):
        regions = len(spilled(layers).workers[0].arena.table())
        boxes = [b.text for b in picture.scene.boxes if b.sub.startswith(("bytes", "nothing"))]
        skipped = sum(int(text.split()[0]) for text in boxes if "more region" in text)
        assert skipped + sum("more region" not in text and text != "not mapped" for text in boxes) == regions
        assert len(picture.table.rows) == regions + 1  # and what is not mapped
        assert "not mapped" in boxes


def test_a_right_server_has_nothing_to_show():
    picture = viz.arena_map(engine("")).picture
    assert "no writes left a buffer" in picture.caption and "refuses nothing" in picture.caption
    assert not [b for b in picture.scene.boxes if b.mark or b.style == "notice"]


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: viz.arena_map(None), "refused to start"),
        (lambda: viz.arena_map(3), "needs an engine, not 3"),
        (lambda: viz.arena_map(spilled(), rank=7), "ranks 0, 1, and no rank 7"),
        (lambda: viz.arena_map(spilled(), at=99), "there is no access 99"),
        (lambda: viz.arena_map(replay("above", typed=True)), "refused to start"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(call, says):
    picture = call()
    assert isinstance(picture, viz.Picture) and says in picture.text


def test_going_through_the_accesses(live):
    c = controls(live)
    assert c["access"].value == c["access"].max == 5
    c["where strict stops"].click()
    assert live.state.at == 1 and "write index_k.0 writes index_k.0 at loc 16" in said(live)
    c["access + 1"].click()
    assert live.state.access.buffer == "index_k.1"
    c["access - 1"].click()
    c["access - 1"].click()
    assert live.state.at == 0 and "No access has left its buffer so far" in said(live)
    c["access - 1"].click()
    assert "must be at least 0" in said(live) and live.state.at == 0
    c["access"].value = 5
    assert "not mapped" in said(live)
    c["rank"].value = 1
    assert "Rank 1: no writes" in said(live) and c["access"].max == 0


def test_reads_can_be_shown(above):
    live = viz.arena_map(above, at=3)
    c = controls(live)
    writes, access = len(live.state.accesses), live.state.access
    c["reads too"].value = True
    assert len(live.state.accesses) > writes and live.state.access is access
    assert any(not v.write for v in arena_state.landings(arena_state.looked_at(live.state, len(live.state.accesses))))
    c["reads too"].value = False
    assert len(live.state.accesses) == writes and live.state.access is access


def test_the_picture_of_a_past_is_not_changed_by_what_the_server_does_next():
    server = written(engine("index_k_size", size=16), ("index_k.0", [20]))
    state = arena_state.make(server)
    written(server, ("index_k.0", [21]))
    assert len(state.accesses) == 1 and len(arena_state.make(server).accesses) == 2
    assert state.access.given is Space.LOC


def test_the_static_view_is_small(above):
    picture = viz.arena_map(above, reads=True).picture
    assert len(picture.html) + len(picture.svg) + len(picture.text) < 100_000
