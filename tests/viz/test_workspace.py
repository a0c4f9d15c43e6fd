"""The workspace picture: every buffer and every landing against a count done here, without the engine's functions."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplab import viz
from dcplab.viz.views.workspace import scene as workspace_scene
from dcplab.viz.views.workspace import state as workspace_state

from .live_parts import choose
from .test_drawing import check_boxes
from .test_owner import controls, said

lengths = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=3)


def batch(lens):
    """Requests whose words say who they are: A0, A1, ..."""
    words = {name: [f"{name}{p}" for p in range(old + new)] for name, (old, new) in zip("ABCD", lens, strict=False)}
    return {n: (" ".join(w[: lens[i][0]]), " ".join(w[lens[i][0] :])) for i, (n, w) in enumerate(words.items())}


def named(state, numbers):
    return ["" if n < 0 else state.requests[state.tokens[n][0]].words[state.tokens[n][1]] for n in numbers]


@settings(max_examples=60, deadline=None)
@given(lengths, st.integers(1, 5), st.integers(1, 3))
def test_every_buffer_by_counting(lens, dcp_size, page_size):
    if not any(old + new for old, new in lens):
        lens = [(1, 0), *lens[1:]]
    state = workspace_state.make(batch(lens), dcp_size, page_size)
    made = workspace_state.buffers(state)
    spelled = [[f"{name}{p}" for p in range(old + new)] for name, (old, new) in zip("ABCD", lens, strict=False)]
    assert named(state, made.workspace) == [w for words in spelled for w in words]
    prefixes = [w for words, (old, _) in zip(spelled, lens, strict=True) for w in words[:old]]
    assert named(state, made.prefixes) == prefixes
    assert named(state, made.other) == prefixes + [
        w for words, (old, _) in zip(spelled, lens, strict=True) for w in words[old:]
    ]
    for rank in range(dcp_size):  # a shard, request by request: this rank's words, then garbage
        expected = []
        for words, (old, _) in zip(spelled, lens, strict=True):
            own = [w for p, w in enumerate(words[:old]) if p % dcp_size == rank]
            expected += own + [""] * (-(-old // dcp_size) - len(own))
        assert named(state, made.gathered[rank]) == expected
    seen = [loc for r in state.requests for loc in r.locs]
    assert len(set(seen)) == len(seen) and min(seen) >= page_size * dcp_size
    for r in state.requests:
        for word, loc in zip(r.words, r.locs, strict=True):
            assert named(state, [made.pools[loc % dcp_size][loc // dcp_size]]) == [word]


@settings(max_examples=40, deadline=None)
@given(lengths, st.integers(1, 4), st.data())
def test_every_landing_by_counting(lens, dcp_size, data):
    lens = [(old, new + (i == 0)) for i, (old, new) in enumerate(lens)]
    state = workspace_state.make(batch(lens), dcp_size)
    i = data.draw(st.sampled_from([i for i, n in enumerate(lens) if sum(n)]))
    p = data.draw(st.integers(0, sum(lens[i]) - 1))
    state = workspace_state.with_token(state, i, p)
    loc, word = state.requests[i].locs[p], f"{'ABCD'[i]}{p}"
    before = sum(map(sum, lens[:i]))
    flat = named(state, workspace_state.buffers(state).workspace)
    other = named(state, workspace_state.buffers(state).other)
    pool = {row: n for row, n in enumerate(named(state, workspace_state.buffers(state).pools[loc % dcp_size]))}
    wanted = {
        "ragged": (before + p, dict(enumerate(flat))),
        "row": (loc // dcp_size, pool),
        "position": (p, dict(enumerate(flat))),
        "loc": (loc, dict(enumerate(flat))),
        "prefix": (sum(old for old, _ in lens[:i]) + p, dict(enumerate(flat))),
        "layout": (before + p, dict(enumerate(other))),
        "raw": (loc, pool),
        "pool": (before + p, pool),
    }
    assert set(wanted) == set(workspace_state.USES)
    for use, (index, held) in wanted.items():
        found = workspace_state.landing(state, use)
        there = held.get(index) or None
        token = None if found.token is None else named(state, [found.token])[0]
        assert (found.index, token, found.right) == (index, there, there == word), use
    assert all(workspace_state.landing(state, use).right for use in ("ragged", "row"))
    check_boxes(viz.workspace(batch(lens), dcp_size, 2, "ABCD"[i], p, data.draw(st.sampled_from(list(wanted)))).picture.scene)


def test_at_first_every_wrong_use_meets_another_requests_word():
    rows = {row[0].removeprefix("> "): row[1:] for row in viz.workspace().picture.table.rows}
    right = {"ragged index in the workspace", "row in the owner's c-KV"}
    assert {use for use, (_, token, verdict) in rows.items() if (token, verdict) == ("B1 'cat'", "right")} == right
    assert {verdict for use, (*_, verdict) in rows.items() if use not in right} == {"another request"}
    assert rows["position in the workspace"][:2] == ("1", "A1 'red'")


def test_the_words_say_where_it_lands_and_the_cell_is_marked():
    picture = viz.workspace(use="position").picture
    assert "Used as position in the workspace: row 1 holds A1 'red', another request's token" in picture.caption
    (wrong,) = [b for b in picture.scene.boxes if b.mark == "last"]
    assert (wrong.text, wrong.sub, wrong.style) == ("red", "A1", "notice")
    followed = [b for b in picture.scene.boxes if b.mark == "selected"]
    assert [b.text for b in followed] == ["cat"] * 4, "in the pool, the shard, layout B and the workspace"
    assert len(picture.scene.lines) == 3
    new = viz.workspace(request="B", position=4).picture.scene
    assert len([b for b in new.boxes if b.mark == "selected"]) == 3, "a new token is in no shard"


def test_a_right_landing_by_luck_is_called_so():
    state = workspace_state.make(request="A", position=2, use="position")
    assert "right, by luck" in workspace_scene.lands(state, workspace_state.landing(state))


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: viz.workspace(3), "requests must map a name to two texts"),
        (lambda: viz.workspace({"A": "one two"}), "must be two texts"),
        (lambda: viz.workspace({"A": ("", "")}), "0 words in all"),
        (lambda: viz.workspace({"A": ("w " * 25, "")}), "25 words in all"),
        (lambda: viz.workspace({"A": ("unpronounceable", "")}), "more than 12 letters"),
        (lambda: viz.workspace({n: ("w", "") for n in "ABCDE"}), "5 requests"),
        (lambda: viz.workspace(dcp_size=0), "D (dcp_size) must be at least 1, not 0."),
        (lambda: viz.workspace(dcp_size=9), "at most 8 ranks"),
        (lambda: viz.workspace(page_size=0), "P (page_size) must be at least 1"),
        (lambda: viz.workspace(request="C"), "there is no request C; there are A, B."),
        (lambda: viz.workspace(request="B", position=5), "positions 0 to 4, and no position 5"),
        (lambda: viz.workspace(position=1.5), "the position must be a whole number"),
        (lambda: viz.workspace(use="wrong"), "there is no use 'wrong'"),
        (lambda: viz.workspace({"A": ("w", ""), "B": ("", "")}, request="B"), "request B has no token to follow."),
        (lambda: viz.shards_picture([]), "0 requests"),
        (lambda: viz.shards_picture([0, 0]), "nothing is gathered"),
        (lambda: viz.shards_picture([5, 3], [0]), "2 prefix_lens but 1 start_positions"),
        (lambda: viz.shards_picture([5, -1]), "prefix_lens[1] must be at least 0"),
        (lambda: viz.shards_picture([200], dcp_size=2), "too many cells"),
        (lambda: viz.shards_picture([5], dcp_size=17), "at most 16 ranks"),
        (lambda: viz.workspace_picture([5], [3, 2]), "1 prefix_lens but 2 extend_lens"),
        (lambda: viz.workspace_picture([0], [0]), "there are 0 tokens"),
        (lambda: viz.workspace_picture([97], [0]), "there are 97 tokens"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(call, says):
    picture = call()
    assert isinstance(picture, viz.Picture) and says in picture.text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**40)), min_size=1, max_size=4), st.integers(1, 5))
def test_shards_by_the_definition(requests, dcp_size):
    """The token at position p of request i is in shard p % D, in row p // D - start // D of the request's rows."""
    lens, starts = zip(*requests, strict=True)
    if not any(lens):
        return
    picture = viz.shards_picture(lens, starts, dcp_size)
    rows, first, n = [], 0, 0
    for name, length, start in zip("ABCD", lens, starts, strict=False):
        for p in range(start, start + length):
            rows.append(
                (
                    f"{name}{p:,}" if p >= 10_000 else f"{name}{p}",
                    f"r{p % dcp_size}",
                    str(first + p // dcp_size - start // dcp_size),
                    str(n),
                )
            )
            n += 1
        first += -(-(length + start % dcp_size) // dcp_size) if length else 0
    assert list(picture.table.rows) == rows
    garbage = [b for b in picture.scene.boxes if b.sub == "garbage"]
    assert len(garbage) == dcp_size * first - n and all(b.style == "unused" for b in garbage)
    check_boxes(picture.scene)


def test_layouts_by_hand():
    rows = viz.workspace_picture([2, 1], [1, 2]).table.rows
    assert [r[0] for r in rows] == ["A0", "A1", "A2", "B0", "B1", "B2"]
    assert [r[1] for r in rows] == ["prefix", "prefix", "new", "prefix", "new", "new"]
    assert [r[2] for r in rows] == ["0", "1", "2", "3", "4", "5"]
    assert [r[3] for r in rows] == ["0", "1", "3", "2", "4", "5"]


@pytest.fixture
def live():
    return viz.workspace()


def requests(live):
    """The buttons that choose the request."""
    return next(c for c in live.widget.children[1].children if type(c).__name__ == "ToggleButtons")


def test_every_way_to_use_an_id_by_one_button(live):
    c = controls(live)
    seen = []
    for _ in workspace_state.USES:
        seen.append(live.state.use)
        c["next use"].click()
    assert seen == list(workspace_state.USES) and live.state.use == "ragged" == c["used as"].value


def test_controls_move_everything(live):
    c = controls(live)
    assert "B1 &#39;cat&#39;" in said(live)
    c["position + 1"].click()
    assert live.state.position == 2 and c["position"].value == 2
    c["position"].value = 4
    assert "B4 &#39;me&#39;" in said(live)
    requests(live).value = 0
    assert (live.state.request, live.state.position) == (0, 0) and c["position"].max == 7 and c["cached"].value == 5
    c["used as"].value = "layout"
    c["position"].value = 6
    assert "ragged index in layout B: row 6 holds B1 &#39;cat&#39;" in said(live)
    c["D"].value = 4
    assert live.state.dcp_size == 4 and "owner" in said(live)
    c["cached"].value = 7
    assert live.state.requests[0].cached == 7


def test_a_bad_value_is_a_message_and_the_picture_stays(live):
    c = controls(live)
    good = live.state
    for control, bad, says in (("cached", 6, "6 of them cannot be cached"), ("cached", -1, "cached must be at least 0")):
        c[control].value = bad
        assert says in said(live).lower() and "last good values" in said(live) and live.state == good
    c["position - 1"].click()
    assert "last good values" not in said(live)
    c["position - 1"].click()
    assert "the position must be at least 0" in said(live).lower() and live.state.position == 0


def test_a_request_without_tokens_can_be_asked_for_and_refused():
    live = viz.workspace({"A": ("one", "two"), "B": ("", "")})
    requests(live).value = 1
    assert "Request B has no token to follow" in said(live)
    assert live.state.request == 0


def test_a_click_on_a_cell_follows_its_token(live):
    choose(live, live.state.requests[0].locs[3])
    assert (live.state.request, live.state.position) == (0, 3)


def test_the_static_view_is_small_and_the_live_one_quick(live):
    picture = live.picture
    assert len(picture.html) + len(picture.svg) + len(picture.text) < 150_000
    c = controls(live)
    start = time.process_time()
    for value in (0, 1, 2, 3, 4, 3, 2, 1, 0, 1):
        c["position"].value = value
    assert (time.process_time() - start) / 10 < 0.3, "a redraw, in this process's own time"
