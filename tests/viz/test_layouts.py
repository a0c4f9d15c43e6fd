"""Two layouts side by side: owners and rows by dealing tokens one by one, and the live view's controls."""

import pytest

from dcplab import viz
from dcplab.viz.views.layouts import scene as layouts_scene
from dcplab.viz.views.layouts import state as layouts_state

from .live_parts import choose, outlined
from .test_owner import controls, said


@pytest.fixture
def live():
    return viz.layouts()


def dealt(first, tokens, size, run):
    """Rank and row of each token: all locs from 0 on are dealt by turns, and each rank counts its own."""
    counts, places = [0] * size, []
    for loc in range(first + tokens):
        rank = loc // run % size
        places.append((rank, counts[rank]))
        counts[rank] += 1
    return places[first:]


@pytest.mark.parametrize("source, target", [((2, 1), (4, 4)), ((1, 1), (8, 1)), ((3, 5), (5, 2)), ((8, 16), (3, 16))])
@pytest.mark.parametrize("tokens", [1, 13, 32])
def test_places_are_those_of_dealing_one_by_one(source, target, tokens):
    state = layouts_state.make(source, target, tokens, tokens - 1)
    firsts, sides = (source[0] * source[1], 2 * target[0] * target[1]), []
    for node, (size, run), first in zip(state.nodes, (source, target), firsts, strict=True):
        places = dealt(first, tokens, size, run)
        sides.append(places)
        assert [(node.owner(t), node.row(t)) for t in range(tokens)] == places
        assert {row for _, row in places} <= set(node.rows(tokens)) and node.rows(tokens).stop % run == 0
    mine = [(a, b) for (a, _), (b, _) in zip(*sides, strict=True)]
    assert layouts_state.together(state) == [t for t in range(tokens) if mine[t] == mine[-1]]


def test_every_token_is_once_in_either_grid_and_thrice_above(live):
    boxes = layouts_scene.scene(live.state).boxes
    assert sorted(b.loc for b in boxes if b.loc is not None) == sorted(5 * [*range(24)])
    assert live.picture.table.rows[9] == ("9", "11", "r1", "5", "41", "r2", "9")


def test_the_line_leads_from_the_one_cell_to_the_other(live):
    scene = layouts_scene.scene(live.state)
    (line,) = scene.lines
    below = [b for b in scene.boxes if b.loc == 9][-2:]
    assert line.points[0] == below[0].bottom and line.points[-1] == below[1].top


def test_sliders_buttons_and_clicks(live):
    c = controls(live)
    assert "Token 9: source loc 11: rank 1 (11 // 1 % 2), row 5" in said(live)
    assert "From source rank 1 to target rank 2 go 2 of 24 tokens, one launch of 8." in said(live)
    before = outlined(live)
    c["target I"].value = 1
    assert live.state.target.interleave == 1 and outlined(live) != before
    assert "target loc 17: rank 1 (17 // 1 % 4), row 4" in said(live) and "go 6 of 24 tokens" in said(live)
    c["source D"].value = 3
    assert "one launch of 12." in said(live)
    c["token + 1"].click()
    assert live.state.selected == c["token"].value == 10
    choose(live, 20)
    assert live.state.selected == c["token"].value == 20
    c["tokens"].value = 7
    assert live.state.selected == c["token"].value == 6 and c["token"].max == 6
    c["token + 1"].click()
    assert live.state.selected == 6 and "There are 7 tokens, 0 to 6, and no token 7" in said(live)


@pytest.mark.parametrize(
    "given, says",
    [
        (dict(source=(9, 1)), "D is at most 8 and I at most 16 here, and the source's are 9 and 1"),
        (dict(target=(2, 17)), "and the target's are 2 and 17"),
        (dict(target=(0, 1)), "the target's D must be at least 1, not 0"),
        (dict(source=4), "source must be two numbers, D and I, not 4"),
        (dict(source=(2, 1, 3)), "source must be two numbers"),
        (dict(tokens=33), "at most 32 tokens here, not 33"),
        (dict(selected=24), "no token 24"),
        (dict(tokens=2.5), "must be a whole number"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(given, says):
    picture = viz.layouts(**given)
    assert isinstance(picture, viz.Picture) and says in picture.text
