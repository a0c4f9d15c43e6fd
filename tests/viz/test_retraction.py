"""The retraction: pages and words by counting them one by one, and the live view's controls."""

import pytest

from dcplab import viz
from dcplab.viz.views.retraction import scene as retraction_scene
from dcplab.viz.views.retraction import state as retraction_state

from .live_parts import choose, outlined
from .test_owner import controls, said

NEW, OLD, NOT = retraction_state.RESTORES


@pytest.fixture
def live():
    return viz.retraction()


def locs(pages, width, tokens):
    return tuple(pages[p // width] * width + p % width for p in range(tokens))


@pytest.mark.parametrize("dcp_size, page_size, tokens", [(4, 2, 13), (3, 4, 24), (2, 1, 3), (1, 4, 9), (4, 1, 4)])
@pytest.mark.parametrize("need_sort", [True, False])
def test_pages_and_words_are_what_counting_gives(dcp_size, page_size, tokens, need_sort):
    """With n pages a request: B had the first n. Freed pages wait: A has the next n, C the last, A comes back to B's. Last
    freed first: A has B's, C comes to these, and A goes to the next n."""
    w = dcp_size * page_size
    n = -(-tokens // w)
    first, second, third = (list(range(1 + i * n, 1 + (i + 1) * n)) for i in range(3))
    before, c, after = (second, third, first) if need_sort else (first, first, second)
    tenant = "B" if need_sort else None
    for restore in (NEW, OLD, NOT):
        state = retraction_state.make(dcp_size, page_size, tokens, need_sort, restore)
        stored, retracted, other, back = retraction_state.moments(state)
        assert stored.locs == locs(before, w, tokens) and back.locs == locs(after, w, tokens)
        assert retracted.locs == other.locs == () and retracted.host == other.host == tokens and back.host == 0
        assert other.held == dict.fromkeys(c, "C") and retracted.held == {}
        lies = retraction_state.reads(state)
        assert lies == tuple(("A", p) if restore == NEW else tenant and (tenant, p) for p in range(tokens))
        assert retraction_state.wrong(state) == (0 if restore == NEW else tokens)
        assert retraction_state.overwritten(state) == (tokens if restore == OLD and not need_sort else 0)


def test_a_token_keeps_its_owner_and_not_its_row(live):
    rows = live.picture.table.rows
    assert rows[5] == ("5", "29", "r1", "7", "13", "r1", "3", "A 5")
    assert all(row[2] == row[5] and row[3] != row[6] for row in rows)


def test_moments_and_tokens_by_their_controls(live):
    c = controls(live)
    assert "Moment 3 back. Position 0 of A was at loc 24 (owner r0, row 6) and is at loc 8 (owner r0, row 2)" in said(live)
    before = outlined(live)
    c["moment - 1"].click()
    assert live.state.at == c["moment"].value == 2 and "it is on the host, and has no loc" in said(live)
    c["position"].value = 12
    assert "Position 12 of A was at loc 36" in said(live) and outlined(live) != before
    c["moment + 1"].click()
    c["moment + 1"].click()
    assert live.state.at == 3 and "There are 4 moments, 0 to 3, and no moment 4" in said(live)
    choose(live, 5)
    assert live.state.selected == c["position"].value == 5


def test_other_ways_to_restore(live):
    c = controls(live)
    c["restored"].value = OLD
    assert "There lies B 0: wrong. Restored at the old locs, 13 of 13 words of A are wrong, and 0 of C" in said(live)
    c["freed pages wait"].value = False
    assert "There lies nobody: wrong" in said(live) and "13 of C" in said(live)
    c["D"].value = 2
    assert live.state.dcp_size == 2 and "what was freed last is issued first" in said(live)


@pytest.mark.parametrize(
    "given, says",
    [
        (dict(dcp_size=5), "D is at most 4 and P at most 4 here, not 5 and 2"),
        (dict(tokens=0), "tokens must be at least 1, not 0"),
        (dict(tokens=40), "A has at most 24 tokens and 4 pages here"),
        (dict(restore="somewhere"), "restore must be one of 'at the new locs'"),
        (dict(at=4), "no moment 4"),
        (dict(selected=13), "A has 13 tokens, and no position 13"),
        (dict(tokens=2.5), "must be a whole number"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(given, says):
    picture = viz.retraction(**given)
    assert isinstance(picture, viz.Picture) and says in picture.text


def test_the_lines_lead_to_the_host_and_back(live):
    scene = retraction_scene.scene(live.state)
    first, second = [b for b in scene.boxes if b.text == "A, 13 tokens"]
    assert [line.points[-1] for line in scene.lines[:2]] == [first.top, second.top]
    assert [line.points[0] for line in scene.lines[1:]] == [first.bottom, second.bottom]
