"""The watermark: every number by counting locs one by one, and the live view's controls."""

import statistics
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplab import viz
from dcplab.engine import configurator
from dcplab.engine.arena import Arena
from dcplab.engine.watcher import slot_address
from dcplab.viz.views.watermark import scene as watermark_scene
from dcplab.viz.views.watermark import state as watermark_state

from .test_owner import controls, said


def plain(text: str) -> int:
    return int(text.replace(",", "").replace("> ", ""))


def live_locs(state) -> dict[int, str]:
    """Every live loc with its holder, page by page: what the engine's pages mean, without a formula of the picture's."""
    found = {}
    for held in state.step.held:
        locs = [loc for page in held.pages for loc in range(page * state.config.width, (page + 1) * state.config.width)]
        found |= dict.fromkeys(locs[: held.tokens], held.name)
    return found


@pytest.mark.parametrize(
    "geometry, unpatched, published, right",
    [((12, 4, 2), 16, 28, 32), ((8, 4, 2), 12, 20, 24), ((455_744, 64, 8), 455_808, 3_646_016, 3_646_464)],
)
def test_the_lines_are_those_of_the_report(geometry, unpatched, published, right):
    slots = {row[0]: plain(row[1]) for row in viz.watermark(*geometry).picture.tables[1].rows}
    assert slots == {
        "index-K, unpatched": unpatched,
        "index-K, #36989": published,
        "index-K, right": right,
        "c-KV, loc used as row": unpatched,
        "draft pool, #32828": published,
        "draft pool, right": right,
        "table assert, unpatched": unpatched,
        "table assert, #36989": published,
        "table assert, right": right,
        "write check, unpatched": unpatched,
        "write check, right": right,
    }


def test_the_real_server_breaks_at_page_890_though_a_million_tokens_did_nothing():
    shown = viz.watermark(455_744, 64, 8, 11)
    breaks = {row[0]: row[2:] for row in shown.picture.tables[1].rows}
    assert breaks["index-K, unpatched"] == ("loc 455,808: page 890 of 7121, 12.5%", "overflows, step 7")
    assert breaks["index-K, right"] == ("no loc that is issued", "holds")
    steps = shown.picture.table.rows
    assert steps[6][2:4] == ("900,000", "300,031") and steps[6][5] == "none"  # three prompts served, one of them kept
    assert steps[7][2:5] == ("1,200,000", "600,031", "1171") and steps[7][5] == "455,808"
    assert steps[9][3:5] == ("3,646,463", "7121")


def test_traffic_that_is_freed_never_rises():
    state = watermark_state.make()
    state = watermark_state.with_all(watermark_state.emptied(state), [8, "free A", 8, "free B", 8, "free C", 8])
    steps = watermark_state.played(state)
    assert [s.largest for s in steps] == [-1, 15, -1, 15, -1, 15, -1, 15] and steps[-1].served == 32


def test_traffic_alone_rises_where_freed_pages_wait():
    state = watermark_state.make(need_sort=True)
    state = watermark_state.with_all(watermark_state.emptied(state), [8, "free A", 8, "free B", 8, "free C", 8])
    assert [s.largest for s in watermark_state.played(state)] == [-1, 15, -1, 23, -1, 31, -1, 15], "then from the start again"
    assert "freed pages wait until the others run short" in watermark_scene.legend(state)
    assert "need_sort" in viz.watermark(need_sort=1).text


def test_the_cache_makes_room_as_a_server_does():
    state = watermark_state.with_all(watermark_state.emptied(watermark_state.make()), [8, "keep A", 8, "keep B", 24])
    assert state.step.evicted == ("A", "B") and {r.name for r in state.step.runs} == {"C"}
    assert "lets go of A, B" in watermark_scene.sentence(state)


deeds = st.lists(st.one_of(st.integers(1, 30), st.sampled_from(["free", "keep", "evict"])), max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 20), st.booleans(), deeds)
def test_live_locs_by_counting(page_size, dcp_size, more, need_sort, wanted):
    state = watermark_state.emptied(watermark_state.make(page_size + more, page_size, dcp_size, need_sort=need_sort))
    for deed in wanted:
        running = [h.name for h in state.step.held if not h.kept]
        item = f"{deed} {running[0]}" if deed in ("free", "keep") and running else deed
        try:
            state = watermark_state.with_all(state, [item])
        except ValueError:
            continue  # does not fit, or nobody to finish: the state stays
    found = live_locs(state)
    assert {loc: r.name for r in state.step.runs for loc in range(r.first, r.last + 1)} == found
    assert state.step.largest == max(found, default=-1)
    assert all(a.last < b.first for a, b in zip(state.step.runs, state.step.runs[1:], strict=False))
    for consumer in watermark_state.consumers(state.config):
        outside = sorted(loc for loc in found if loc >= consumer.slots)
        assert watermark_state.first_outside(state.step, consumer.slots) == (outside[0] if outside else None)
        hits = watermark_state.hits(state, consumer)
        assert bool(hits) == bool(outside and consumer.buffers)
        assert {h.loc for h in hits} <= set(outside)
        assert not outside or consumer.defect


@pytest.mark.parametrize("geometry", [(12, 4, 2, 2), (8, 4, 2, 3), (22, 5, 3, 2), (10, 1, 2, 1)])
def test_hits_are_the_bytes_of_the_engines_own_arena(geometry):
    """Byte by byte against a real arena: what a write changes is what the hit says."""
    state = watermark_state.make(*geometry)
    for consumer in watermark_state.consumers(state.config):
        for hit in watermark_state.hits(state, consumer):
            draft = int(hit.buffer.startswith("draft"))
            config = configurator.ServerConfig(*geometry[:3], layers=geometry[3], draft_tokens=draft)
            arena = Arena(configurator.specs(config, {consumer.defect}), canary=0, tail=configurator.tail_bytes(config))
            buffer = arena.buffers[hit.buffer]
            start = slot_address(buffer, hit.loc)
            count = 128 if "index_k" in hit.buffer else buffer.spec.row_bytes
            wanted: dict[str, int] = {}
            for address in range(start, min(start + count, arena.size)):
                name = next(n for n, a, b in arena.table() if a <= address < b)
                wanted[name] = wanted.get(name, 0) + 1
            said = {name: last - first + 1 for name, first, last in hit.parts}
            assert list(said.values()) == list(wanted.values()), hit
            assert hit.buffer not in said


@pytest.fixture
def live():
    return viz.watermark()


def test_every_preset_is_one_click(live):
    c = controls(live)
    for name, geometry in (("real: 455,744, 64, 8", (455_744, 64, 8, 11)), ("toy: 8, 4, 2", (8, 4, 2, 2))):
        c[name].click()
        state = live.state
        assert (state.size, state.page_size, state.dcp_size, state.layers) == geometry
        assert (c["C"].value, c["P"].value, c["D"].value) == geometry[:3]


def test_both_allocators_are_one_click_and_stay_chosen(live):
    c = controls(live)
    assert not c["need_sort"].value and "come back first" in said(live)
    c["need_sort"].value = True
    assert live.state.need_sort and "wait until" in said(live)
    c["toy: 8, 4, 2"].click()
    assert live.state.need_sort and live.state.size == 8
    c["start over"].click()
    assert live.state.need_sort


def test_requests_arrive_hold_and_leave(live):
    c = controls(live)
    c["start over"].click()
    assert "the server is empty" in said(live) and c["step"].max == 0
    c["tokens"].value = 6
    c["new request"].click()
    assert live.state.step.largest == 13 and "request A of 6 tokens arrives" in said(live)
    c["finish, free"].click()
    c["tokens"].value = 9
    c["new request"].click()
    assert live.state.step.largest == 16 and "beyond 16" in said(live)  # locs 8 to 16: A's page first, one more
    c["finish, keep"].click()
    assert live.state.step.largest == 15
    c["evict"].click()
    assert live.state.step.largest == -1 and live.state.step.served == 15
    c["evict"].click()
    assert "prefix cache is empty" in said(live)
    c["finish, free"].click()
    assert "no request is running" in said(live).lower()
    c["tokens"].value = 0
    c["new request"].click()
    assert "at least 1" in said(live) and live.state.at == 5


def test_going_back_and_doing_something_else_drops_what_came_after(live):
    c = controls(live)
    c["step"].value = 6
    assert "900" not in said(live) and "24 tokens served" in said(live)
    c["new request"].click()
    c["new request"].click()
    assert len(live.state.actions) == 8 and c["step"].max == 8 and live.state.step.largest == 31


@pytest.mark.parametrize("control, bad", [("C", 3), ("P", 0), ("D", -1), ("D", 65)])
def test_a_bad_geometry_is_a_message_and_the_picture_stays(live, control, bad):
    before = live.state
    controls(live)[control].value = bad
    assert "last good values" in said(live) and live.state == before


def test_the_real_server_redraws_in_less_than_100_ms():
    live = viz.watermark()
    c = controls(live)
    times = []
    c["real: 455,744, 64, 8"].click()
    for act in (*(("step", v) for v in range(10)), *[("new", 0), ("keep", 0)] * 4):
        start = time.process_time()
        if act[0] == "step":
            c["step"].value = act[1]
        else:
            c["new request" if act[0] == "new" else "finish, keep"].click()
        times.append(time.process_time() - start)
    assert statistics.median(times) < 0.1, times


def test_the_static_view_is_small_and_complete():
    picture = viz.watermark(455_744, 64, 8, 11).picture
    assert len(picture.html) + len(picture.svg) + len(picture.text) < 200_000
    for fact in ("890 of 7121", "1,200,000", "600,031", "index_k.7"):
        assert fact in picture.text and fact in picture.html
