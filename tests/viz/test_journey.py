"""The journey: what every rank holds and reads by counting rows one by one, and the live view's controls."""

import itertools
import math

import pytest

from dcplab import viz
from dcplab.viz.views.journey import scene as journey_scene
from dcplab.viz.views.journey import state as journey_state

from .live_parts import choose
from .test_owner import controls, said

BOTH = (False, True)
EVERY = list(itertools.product((2, 3, 4), (1, 2), journey_state.LEVELS, BOTH, BOTH))


def simulated(state):
    """Rank -> {address: (layer, word)} after both requests were written, addresses in rows from layer 0's row 0, by the rules
    in words: as it was every rank writes at row = loc; mended the owner alone writes at loc // D."""
    ranks = [{} for _ in range(state.dcp_size)]
    for request, layer in itertools.product("AB", (0, 1)):
        for t in state.tokens:
            for rank, memory in enumerate(ranks):
                if t.request == request and not (state.write and t.loc % state.dcp_size != rank):
                    row = t.loc // state.dcp_size if state.write else t.loc
                    memory[layer * state.rows + row] = (layer, t.word)
    return ranks


def brought(state, ranks, layer, token):
    """What each rank that reads brings of a token."""
    owner = token.loc % state.dcp_size
    if state.read:
        return [ranks[owner].get(layer * state.rows + token.loc // state.dcp_size)]
    return [memory.get(layer * state.rows + token.loc) for memory in ranks]


@pytest.mark.parametrize("d, p, level, write, read", EVERY)
def test_rows_reads_and_merges_are_what_counting_gives(d, p, level, write, read):
    state = journey_state.make(d, p, level=level, write=write, read=read)
    ranks = simulated(state)
    memory = journey_state.memory(state)
    for rank, layer, row in itertools.product(range(d), (0, 1), range(state.rows)):
        cell = memory.held[rank][layer][row]
        shown = None if cell is None else (cell.layer, state.tokens[cell.token].word)
        assert shown == ranks[rank].get(layer * state.rows + row), (rank, layer, row)
    assert memory.past == sum(address >= 2 * state.rows for cells in ranks for address in cells)
    for layer, token in itertools.product((0, 1), state.tokens):
        found = brought(state, ranks, layer, token)
        merged = journey_state.merged(state, layer, token.index)
        assert merged.keys == len(found) == (1 if read else d)
        assert merged.right == all(one == (layer, token.word) for one in found)
        assert len(merged.cells) == len(set(found))
        assert merged.lse_off == (math.log2(len(found)) if len(set(found)) == 1 else 0)


@pytest.mark.parametrize("d, p", [(2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2)])
def test_the_table_of_half_fixes(d, p):
    """Low: both or neither is right. High: only both, and what is wrong without any is the older request, in layer 1."""
    for level, write, read in itertools.product(journey_state.LEVELS, BOTH, BOTH):
        state = journey_state.make(d, p, level=level, write=write, read=read)
        right = [journey_state.right_words(state, layer) for layer in (0, 1)]
        if write and read:
            assert right == [16, 16]
        elif write != read:
            assert right == [0, 0]
        elif level == "low":
            assert right == [16, 16]
        else:
            wrong = [t.request for t in state.tokens if not journey_state.merged(state, 1, t.index).right]
            assert right[0] == 16 and wrong and set(wrong) == {"A"}


def test_low_is_below_a_ranks_rows_and_high_is_beyond():
    for d, p in itertools.product((2, 3, 4), (1, 2, 3)):
        low, high = (journey_state.make(d, p, level=level) for level in journey_state.LEVELS)
        assert max(t.loc for t in low.tokens) < low.rows <= min(t.loc for t in high.tokens if t.request == "B")
        assert [t.word for t in low.tokens] == [t.word for t in high.tokens]


def test_a_wrong_row_is_seen_as_a_wrong_word():
    picture = viz.token_journey_picture(read=True)
    told = {row[2]: row[7:10:2] for row in picture.table.rows}
    assert told["bring"] == ("one (wrong)", "one (wrong)")  # loc 16 is row 4 on its owner, where loc 4 was stored
    mixed = viz.token_journey_picture(write=True, selected="one").more[0].rows
    assert [row[4] for row in mixed[:4]] == ["bring", "us", "warm", "bread"]  # row 4 of ranks 0 to 3: locs 16 to 19


def test_replication_is_told_by_keys_and_lse_while_every_word_is_right():
    old, new = (viz.token_journey_picture(write=fixed, read=fixed).caption for fixed in BOTH)
    assert "16 in layer 0 and 16 in layer 1" in old and "16 in layer 0 and 16 in layer 1" in new
    assert "4 keys for 1, LSE + 2.00" in old and "1 key for 1." in new


def test_marks_words_and_signs_say_what_colours_say():
    scene = journey_scene.scene(journey_state.make(level="high", selected="bring"))
    outlined = [b.text for b in scene.boxes if b.mark == "selected" and b.loc is not None]
    assert outlined == ["bring"] * 3 + [f"{journey_scene.FROM}bring⁰"] * 4  # its word, what comes back, where it lies
    assert len([b for b in scene.boxes if b.mark == "due"]) == 2  # row 6 of rank 0, in both layers
    foreign = [b.text for b in scene.boxes if b.style == "notice" and b.h == journey_scene.ROW]
    assert foreign and all(text.endswith("⁰") for text in foreign)
    assert all(b.sub in ("right", "wrong") for b in scene.boxes if b.h == journey_scene.RETURNED and b.loc is not None)


BAD = {
    "eight ranks": ({"dcp_size": 8}, "D (dcp_size) must be one of 2, 3, 4 here, not 8."),
    "no page": ({"page_size": 0}, "P (page_size) must be at least 1, not 0."),
    "small": ({"size": 5}, "C (size) must be at least 19"),
    "level": ({"level": "middle"}, "level must be low or high, not 'middle'."),
    "word": ({"selected": "moon"}, "there is no word 'moon' in either request."),
    "token": ({"selected": 16}, "there are tokens 0 to 15, and no token 16."),
    "no words": ({"new": ""}, "new must be a text of 1 to 12 words"),
    "long word": ({"old": "incomprehensible"}, "old must be a text of 1 to 12 words of at most 9 letters"),
    "same words": ({"new": "one more ship"}, "words of both requests must differ, and one comes twice."),
    "a list": ({"old": ["one"]}, "old must be a text"),
    "no room above": (
        {"dcp_size": 2, "page_size": 4, "size": 13, "level": "high", "old": "x", "new": "y"},
        "request B would need loc 32 up there, and the allocator's last one is 31.",
    ),
}


@pytest.mark.parametrize("given, says", BAD.values(), ids=BAD)
def test_a_bad_value_becomes_a_sentence(given, says):
    for call in (viz.token_journey, viz.token_journey_picture):
        picture = call(**given)
        assert isinstance(picture, viz.Picture) and says in picture.text


@pytest.fixture
def journey():
    return viz.token_journey()


def test_the_fixes_the_level_and_the_size_move_everything(journey):
    c = controls(journey)
    assert "16 in layer 0 and 16 in layer 1" in said(journey)
    c["write mended"].value = True
    assert journey.state.write and "0 in layer 0 and 0 in layer 1" in said(journey)
    c["read mended"].value = True
    assert "Write mended, read mended, low watermark" in said(journey) and "16 in layer 0 and 16" in said(journey)
    c["D"].value = 3
    assert journey.state.dcp_size == 3 and journey.state.write and "3 ranks" in journey.picture.title
    c["watermark"].value = "high"
    c["write mended"].value = c["read mended"].value = False
    assert "16 in layer 0 and 12 in layer 1" in said(journey)


def test_every_way_to_select_gives_the_same_token(journey):
    c = controls(journey)
    c["token"].value = 2
    assert journey.state.token.word == "ship" and "ship, position 2 of request A: loc 6, owner rank 2, row 1" in said(journey)
    c["token + 1"].click()
    c["token - 1"].click()
    assert journey.state.token.word == "ship" and c["token"].value == 2
    choose(journey, 17)
    assert journey.state.token.word == "us" and c["token"].value == 13


def test_a_step_too_far_is_a_sentence_and_the_picture_stays(journey):
    c = controls(journey)
    c["token"].value = 15
    c["token + 1"].click()
    assert "There are tokens 0 to 15, and no token 16. The picture below still shows the last good values." in said(journey)
    assert journey.state.selected == 15
    c["token - 1"].click()
    assert "no token 16" not in said(journey)


def test_a_saved_notebook_stays_small(journey, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    journey._ipython_display_()
    static, live = shown
    assert set(static) == {"text/html", "image/svg+xml", "text/plain"} and "<script" not in static["text/html"]
    assert sum(map(len, static.values())) < 150_000
    assert "application/vnd.jupyter.widget-view+json" in live
