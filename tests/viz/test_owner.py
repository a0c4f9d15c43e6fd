"""The live owner table without a front end: controls, messages, speed, and what a saved notebook holds."""

import statistics
import time

import pytest

from dcplab import viz
from dcplab.viz.views.owner import state as owner_state

from .live_parts import choose, outlined


@pytest.fixture
def table():
    return viz.owner_table()


def controls(table) -> dict:
    found = {}

    def walk(box):
        for child in getattr(box, "children", ()):
            if getattr(child, "description", ""):
                found[child.description] = child
            walk(child)

    walk(table.widget)
    return found


def said(table) -> str:
    return " ".join(child.value for child in table.widget.children if type(child).__name__ == "HTML")


def test_the_loc_slider_moves_everything(table):
    c = controls(table)
    before = outlined(table)
    c["loc"].value = 34
    assert table.state.selected == 34 and table.state.request == 1
    assert "Loc 34: owner r2 (34 % 4), row 8 (34 // 4)" in said(table)
    assert c["position"].value == 2 and c["request"].value == 1
    assert outlined(table) != before
    folded = table.widget.children[-1].children[0].value
    assert "<b>&gt; 34</b>" in folded and folded.count("&gt;") == 1


def test_every_way_to_select_gives_the_same_state(table):
    c = controls(table)
    c["position"].value = 7
    assert table.state.selected == 23
    c["loc + 1"].click()
    assert table.state.selected == 24
    c["loc - 1"].click()
    assert table.state.selected == 23
    c["request"].value = 1
    assert table.state.selected == 32


def test_a_click_on_a_cell_selects_its_loc(table):
    choose(table, 40)
    assert table.state.selected == 40


@pytest.mark.parametrize(
    "control, bad, says",
    [
        ("P", 0, "P (page_size) must be at least 1"),
        ("P", -4, "P (page_size) must be at least 1"),
        ("C", 3, "must hold at least one page"),
        ("first loc", 70, "the last loc that the allocator issues is 63"),
        ("first loc", -1, "must be at least 0"),
        ("last loc", 64, "the last loc that the allocator issues is 63"),
    ],
)
def test_a_bad_value_is_a_message_and_the_picture_stays(table, control, bad, says):
    c = controls(table)
    good, before = table.state, outlined(table)
    c[control].value = bad
    assert says in said(table).replace("&#39;", "'") and "last good values" in said(table)
    assert table.state == good and outlined(table) == before
    c["loc"].value = 22
    assert "last good values" not in said(table) and table.state.selected == 22
    assert c[control].value != bad  # the control shows what the picture shows


def test_a_good_value_after_a_bad_one_is_taken(table):
    c = controls(table)
    c["P"].value = 0
    c["P"].value = 2
    assert table.state.page_size == 2 and "last good values" not in said(table)


def test_an_unforeseen_error_is_a_sentence_too(table, monkeypatch):
    c = controls(table)
    monkeypatch.setattr(owner_state, "with_selected", lambda *_: 1 / 0)
    c["loc"].value = 22
    assert "That did not work (ZeroDivisionError" in said(table)


@pytest.mark.parametrize("dcp_size", range(1, 9))
def test_every_d_of_the_slider_can_be_shown(table, dcp_size):
    controls(table)["D"].value = dcp_size
    assert table.state.dcp_size == dcp_size
    assert len(table.picture.table.rows) == len(table.state.shown) <= 64


def test_a_chosen_range_survives_another_d(table):
    c = controls(table)
    c["first loc"].value = 16
    c["last loc"].value = 31
    c["D"].value = 2
    assert (table.state.first, table.state.last, table.state.dcp_size) == (16, 31, 2)


def test_the_range_follows_the_selected_loc():
    table = viz.owner_table(8, 64, 455_744)
    controls(table)["loc"].value = 3_646_463
    assert table.state.last == table.state.largest == 3_646_463 and 3_646_463 in table.state.shown


def test_redraw_takes_less_than_100_ms(table):
    c = controls(table)
    times = []
    for name, values in (("loc", range(16, 40)), ("D", (1, 8, 2, 7, 3, 6, 5, 4))):
        for value in values:
            start = time.process_time()
            c[name].value = value
            times.append(time.process_time() - start)
    assert statistics.median(times) < 0.1, times


def test_a_static_view_comes_first_and_has_no_script(table, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    table._ipython_display_()
    static, live = shown
    assert set(static) == {"text/html", "image/svg+xml", "text/plain"} and "<script" not in static["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in live and "JupyterLab" in live["text/plain"]
    assert live["text/plain"] not in static["text/html"], "without a kernel both are shown: it is said once"


def test_without_a_live_view_the_static_one_is_still_shown(table, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    monkeypatch.setattr(
        "dcplab.viz.views.owner.live._Live.__init__", lambda *_: (_ for _ in ()).throw(ImportError("no anywidget"))
    )
    table._ipython_display_()
    assert "text/html" in shown[0] and "no anywidget" in shown[1]["text/plain"]


@pytest.mark.slow
def test_a_notebook_with_every_picture_stays_small_and_needs_no_network():
    nbformat = pytest.importorskip("nbformat", reason="nbformat comes with JupyterLab, which this needs")
    from nbclient import NotebookClient

    calls = [
        "viz.owner_strip(range(16, 48), 4)",
        "viz.rank_table(range(16, 48), 4)",
        "viz.localized(range(16, 48), 4)",
        "viz.widened_page(7121, 64, 8)",
        "viz.two_page_tables([*range(16, 32), *range(48, 54)], 4, 4)",
        "viz.flattened([[8, 9, 10, 11], [0, 0, 0, 0], [16, 17, 18, 19]], [2, 0, 1], [3, 2, 0])",
        "viz.kernel_lanes([16, 17, 18, -1, 20, 21, 22, 23, 24, 25], 1, 4, 8)",
        "viz.owner_table()",
        "viz.owner_table(8, 64, 455_744, selected=3_646_463)",
    ]
    cells = [nbformat.v4.new_code_cell(code) for code in ["from dcplab import viz", *calls]]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, store_widget_state=False).execute()
    saved = nbformat.writes(notebook)
    assert len(saved) < 600_000 and "widgets" not in notebook.metadata
    assert "plotly" not in saved.replace("js-plotly", "")
    assert all(cell.outputs for cell in notebook.cells[1:])
    assert not [o for cell in notebook.cells for o in cell.outputs if o.output_type in ("error", "stream")]


def test_the_first_message_of_a_plot_holds_its_traces(monkeypatch):
    """A busy browser draws as soon as the figure is opened; what comes later it does not draw."""
    import comm

    opened = []
    create = comm.create_comm
    monkeypatch.setattr(comm, "create_comm", lambda *args, **kwargs: opened.append(kwargs) or create(*args, **kwargs))
    viz.watermark().widget  # noqa: B018 - made when first asked for
    states = [message["data"]["state"] for message in opened]
    (figure,) = [state for state in states if "_widget_data" in state]
    assert len(figure["_widget_data"]) > 1 and figure["_widget_layout"]["width"] > 0
