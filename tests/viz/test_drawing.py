"""How pictures are drawn: legible on both themes, nothing overlaps, and SVG, plotly figure and table agree."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplab import viz
from dcplab.viz.core import palette, plot
from dcplab.viz.core.scene import text_width
from dcplab.viz.core.svg import text_places

from .samples import CALLS

SVG = "{http://www.w3.org/2000/svg}"
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@pytest.mark.parametrize("name", palette.STYLES)
def test_text_stands_out_from_its_box(name):
    style = palette.STYLES[name]
    assert palette.contrast(style.ink, style.fill) >= 4.5
    assert not style.shade or palette.contrast(style.ink, style.shade) >= 4.5


@pytest.mark.parametrize("page", palette.PAGES)
@pytest.mark.parametrize("colour", [*(c for c, _ in palette.LINES.values()), *(m[0] for m in palette.MARKS.values())])
def test_lines_stand_out_from_both_pages(page, colour):
    assert palette.contrast(colour, page) >= 3


def test_no_two_of_the_first_eight_owners_look_alike_without_colour():
    patterns = [palette.STYLES[palette.owner_style(r)].pattern for r in range(8)]
    assert len(set(patterns)) == 8


@every
def test_every_owned_cell_carries_its_owner_in_words(call):
    scene = call().scene
    chips = {
        b.text
        for b in scene.boxes
        if b.text.startswith("rank ") or (b.loc is None and b.text[:1] == "r" and b.text[1:].isdigit())
    }
    for box in scene.boxes:
        if box.style.startswith("owner") and box.loc is not None and not box.sub:
            assert chips or "stores" in {b.text for b in scene.boxes}, box  # its line is labelled instead


@every
def test_nothing_overlaps_and_texts_fit(call):
    check_boxes(call().scene)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 16), st.integers(1, 100), st.integers(0, 10**6), st.data())
def test_the_owner_table_is_tidy_for_every_geometry(dcp_size, page_size, more, data):
    size = page_size + more
    largest = (size // page_size + 1) * page_size * dcp_size - 1
    loc = data.draw(st.integers(0, largest))
    table = viz.owner_table(dcp_size, page_size, size, selected=loc)
    scene = table.picture.scene
    check_boxes(scene)
    assert {b.loc for b in scene.boxes if b.mark == "selected" and b.loc is not None} == {loc}
    assert len(scene.lines) == 1 + (table.state.holder(loc) is not None)


def check_boxes(scene):
    for a, b in itertools.combinations(scene.boxes, 2):
        apart = a.x + a.w <= b.x + 0.01 or b.x + b.w <= a.x + 0.01 or a.y + a.h <= b.y + 0.01 or b.y + b.h <= a.y + 0.01
        assert apart, (a, b)
    for box in scene.boxes:
        for _, _, size, text in text_places(box):
            assert text_width(text, size) <= box.w + 2, box
        assert box.x >= 0 and box.y >= 0 and box.x + box.w <= scene.width and box.y + box.h <= scene.height


@every
def test_svg_is_well_formed_small_and_needs_nothing_else(call):
    svg = call().svg
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg" and root.find(f"{SVG}title").text
    assert "<style" not in svg and "<script" not in svg
    assert re.findall(r"https?://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]
    assert set(re.findall(r"url\(([^)]*)\)", svg)) == {f"#{p.get('id')}" for p in root.iter(f"{SVG}pattern")}
    assert len(svg) < 60_000


@every
def test_svg_and_plotly_show_the_same_texts_in_the_same_places(call):
    picture = call()
    drawn = sorted(
        (t.text, float(t.get("x")), float(t.get("y"))) for t in ElementTree.fromstring(picture.svg).iter(f"{SVG}text")
    )
    figure = picture.figure()
    text = next(t for t in figure.data if t.name == "text")
    shown = sorted(zip(text.text, text.x, text.y, strict=True))
    assert [d[0] for d in drawn] == [s[0] for s in shown]
    assert all(abs(x - sx) < 0.01 and 0 < y - sy < 6 for (_, x, y), (_, sx, sy) in zip(drawn, shown, strict=True))
    assert (figure.layout.width, figure.layout.height) == (picture.scene.width, picture.scene.height)


@every
def test_text_and_html_hold_the_whole_table(call):
    picture = call()
    text, html = picture.text, picture.html
    for row in (row for t in picture.tables for row in t.rows):
        for cell in row:
            assert cell in text
    assert html.count("<tr>") == sum(len(t.rows) + 1 for t in picture.tables)
    assert html.count("<img") == 1 and "http" not in re.sub(r"base64,[^\"]*", "", html)


@pytest.mark.parametrize("name", [n for n in CALLS if n.startswith(("strip", "page", "owner"))])
def test_what_the_table_says_is_what_the_boxes_say(name):
    """Each loc of the picture stands in the table, with the owner that its cell names."""
    picture = CALLS[name]()
    column = picture.table.header.index("loc"), picture.table.header.index("owner")
    facts = {row[column[0]].replace("> ", ""): row[column[1]] for row in picture.table.rows}
    for box in picture.scene.boxes:
        if box.loc is not None and re.fullmatch(r"r\d+", box.sub) and box.text in facts:
            assert facts[box.text] == box.sub


def test_traces_keep_their_order_so_that_a_live_figure_can_be_updated():
    names = [[t["name"] for t in plot.traces(call().scene)] for call in CALLS.values()]
    assert all(n == names[0] for n in names) and len(set(names[0])) == len(names[0])
