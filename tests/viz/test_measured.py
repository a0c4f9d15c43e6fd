"""Pictures of what was measured: nothing typed, every kernel in the roofline, links computed where there are none."""

import json

import png_comment
import pytest

from dcplab import measured, paths, viz
from dcplab.engine import link_bytes
from dcplab.errors import CourseError
from dcplab.viz.figures import links
from dcplab.viz.views.roofline import state as roofline_state

RESULTS = paths.root() / "bench" / "results"
TIMED = {path.stem: record for path in RESULTS.glob("*.json") if "copy_GBps" in (record := json.loads(path.read_text()))}
ROWS = [(name, row) for name, record in TIMED.items() for row in record["rows"]]


def drawn_points(figure):
    """(x, y, words under the mouse) of every point of a kernel."""
    return [
        (x, y, told)
        for trace in figure.data
        if trace.mode == "markers"
        for x, y, told in zip(trace.x, trace.y, trace.hovertext, strict=True)
    ]


def test_there_are_kernels_to_draw():
    assert {"triton_ckv_write", "triton_moves", "tl_decode", "tl_extend", "tl_dcp", "tl_logits", "tl_paged"} <= TIMED.keys()


@pytest.mark.parametrize("dark", [False, True])
def test_the_roofline_has_every_case_of_every_kernel_where_its_record_puts_it(dark):
    points = drawn_points(viz.roofline().figure(dark))
    assert len(points) == len(ROWS)
    for bench, row in ROWS:
        name = roofline_state.kernel(bench, row["case"])
        ((x, y, told),) = [p for p in points if p[2].startswith(f"<b>{name}</b>: {row['case']}<br>")]
        assert f"{row['ms']:.4g} ms" in told
        if row["flop"]:
            assert x == pytest.approx(row["flop"] / row["bytes"]) and y == pytest.approx(row["flop"] / row["ms"] / 1e9)
        else:
            assert x == name and y == pytest.approx(row["bytes"] / row["ms"] / 1e6)


def test_every_kernel_is_named_in_the_figure_the_bars_and_the_table():
    roofline = viz.roofline()
    names = {roofline_state.kernel(bench, row["case"]) for bench, row in ROWS}
    assert names == {trace.name for trace in roofline.figure().data if trace.mode == "markers"}
    picture = roofline.picture
    assert names == {row[1] for row in picture.table.rows} <= {box.text for box in picture.scene.boxes}
    cases = picture.tables[2].rows
    assert {(row[0], row[1]) for row in cases} == {(roofline_state.kernel(b, r["case"]), r["case"]) for b, r in ROWS}


def test_the_roofs_are_the_rates_that_the_same_runs_measured():
    copy = max(record["copy_GBps"] for record in TIMED.values())
    tops = {kind: max(r["matmul_TFLOPs"].get(kind, 0) for r in TIMED.values()) for kind in ("bf16", "fp8")}
    lines = [trace for trace in viz.roofline().figure().data if trace.mode == "lines"]
    slopes = [(x, y) for trace in lines[:1] for x, y in zip(trace.x, trace.y, strict=True)]
    assert all(y * 1e3 / x == pytest.approx(copy) for x, y in slopes)
    assert sorted(trace.y[-1] for trace in lines[1:]) == pytest.approx(sorted([*tops.values(), copy]))


def test_no_case_is_above_its_own_roof():
    assert all(0 < p.share <= 1 for p in viz.roofline().state.points)


def test_a_record_that_changes_moves_its_point(monkeypatch):
    found = [json.loads(json.dumps(record)) for record in TIMED.values()]
    found[0]["rows"][0]["ms"] *= 2
    monkeypatch.setattr(measured, "kernels", lambda: found)
    before, after = roofline_state.read(list(TIMED.values())).points[0], viz.roofline().state.points[0]
    assert after.gbps == pytest.approx(before.gbps / 2)


def test_records_of_two_devices_are_refused():
    one, other = (json.loads(json.dumps(r)) for r in list(TIMED.values())[:2])
    other["versions"]["device"] = "another"
    with pytest.raises(ValueError, match="one device"):
        roofline_state.read([one, other])


def test_without_records_there_is_a_sentence_and_no_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(measured, "results", lambda: tmp_path)
    assert "roofline: " in viz.roofline().text


@pytest.mark.parametrize(("ending", "dark"), [("", False), ("_dark", True)])
def test_the_roofline_of_the_documents_is_drawn_from_the_records_as_they_are(ending, dark):
    png = (paths.root() / "docs" / "img" / f"roofline{ending}.png").read_bytes()
    wanted = png_comment.digest(viz.roofline().figure(dark))
    assert png_comment.comment(png) == wanted, "out of date: python tests/browser/screenshots.py roofline"


def test_a_comment_goes_into_a_png_and_comes_back():
    png = (paths.root() / "docs" / "img" / "owner_table.png").read_bytes()
    assert png_comment.comment(png) == ""
    assert png_comment.comment(png_comment.added(png, "abc")) == "abc"


def ranks(monkeypatch, tmp_path, *rows):
    record = {"ran_on": "GPU, 2 x X", "processes": 2, "rows": list(rows)}
    (tmp_path / "ranks_gpu.json").write_text(json.dumps(record))
    monkeypatch.setattr(measured, "results", lambda: tmp_path)


GATHER = {"what": "gather", "tokens": 32_768, "ms": 0.25, "received": 16_777_216}
MERGE = {"what": "merge", "way": "all-to-all", "batch": 32, "heads": 128, "dtype": "bfloat16", "ms": 0.5, "received": 2_105_344}
LINK = {"what": "link", "bytes_each": 536_870_912, "GBps": 123.4}


@pytest.mark.parametrize("what", ["gather", "merge"])
def test_links_that_nobody_measured_are_computed_and_say_so(monkeypatch, tmp_path, what):
    monkeypatch.setattr(measured, "results", lambda: tmp_path)
    picture = viz.links(what)
    assert "Not measured here; computed from bytes." in picture.caption
    assert {row[-1] for row in picture.table.rows} == {"computed"}
    assert not any("GB/s" in box.text for box in picture.scene.boxes)


def test_a_gather_that_was_measured_has_its_time_and_the_others_are_computed(monkeypatch, tmp_path):
    ranks(monkeypatch, tmp_path, LINK, GATHER)
    picture = viz.links("gather")
    told = {(row[0], row[1]): row[2:] for row in picture.table.rows}
    assert told["32,768 tokens", "2"] == ("16,777,216", "0.25", "67.1", "measured")
    assert told["32,768 tokens", "8"] == ("29,360,128", "", "", "computed")
    assert told["131,072 tokens", "2"][-1] == "computed"
    assert "GPU, 2 x X" in picture.caption and "123 GB/s" in picture.caption


def test_a_merge_that_was_measured_stands_beside_two_that_were_not(monkeypatch, tmp_path):
    ranks(monkeypatch, tmp_path, LINK, MERGE)
    told = {(row[0].split(", ")[-1], row[1]): row[-1] for row in viz.links("merge").table.rows}
    assert told["all-to-all", "2"] == "measured"
    assert {told[way, n] for way in link_bytes.MERGES for n in ("2", "8", "64")} - {told["all-to-all", "2"]} == {"computed"}


@pytest.mark.parametrize(("ranks", "tokens", "count"), [(2, 9, 4096 + 1024), (8, 8, 7 * 1024), (4, 1, 3 * 1024), (1, 5, 0)])
def test_a_gather_receives_the_shares_of_the_others_padded_to_the_longest(ranks, tokens, count):
    assert link_bytes.gather(tokens, ranks) == count


def test_the_bytes_that_were_counted_where_it_ran_are_the_formula_s():
    record = measured.record(links.RECORD)
    if record is None:
        pytest.skip("bench/ranks_gpu.py has not run on this revision")
    found = [r for r in record["rows"] if r["what"] in ("gather", "merge")]
    assert found
    for r in found:
        if r["what"] == "gather":
            assert r["received"] == link_bytes.gather(r["tokens"], record["processes"])
        else:
            row = 512 * (4 if r["dtype"] == "float32" else 2)
            assert r["received"] == link_bytes.merge(r["way"], r["batch"] * r["heads"], record["processes"], row)


def test_a_figure_is_named_by_record_row_and_field(monkeypatch, tmp_path):
    ranks(monkeypatch, tmp_path, LINK, GATHER, GATHER | {"tokens": 7, "ms": {"two streams": 2.5}})
    assert measured.measured("ranks_gpu", field="processes") == 2
    assert measured.measured("ranks_gpu", what="gather", tokens=32_768) == 0.25
    assert measured.measured("ranks_gpu", field="ms.two streams", tokens=7) == 2.5


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"name": "nothing"}, "no bench/results/nothing.json"),
        ({"name": "ranks_gpu", "row": "no such case"}, "0 rows"),
        ({"name": "ranks_gpu", "what": "gather"}, "2 rows"),
        ({"name": "ranks_gpu", "tokens": 7, "field": "speed"}, "no 'speed'"),
        ({"name": "ranks_gpu", "tokens": 7, "field": "ms.deeper"}, "no 'ms.deeper'"),
    ],
)
def test_a_figure_that_nobody_measured_is_refused(monkeypatch, tmp_path, asked, sentence):
    ranks(monkeypatch, tmp_path, LINK, GATHER, GATHER | {"tokens": 7})
    with pytest.raises(CourseError, match=sentence):
        measured.measured(**asked)
