"""Lab 01 in JupyterLab, as a learner goes through it: run all, use the table by keyboard, fail a check, pass it.

One sitting, in order: `./course test` keeps a file's tests in one worker.
"""

import json

import pytest
from desk import DRAWING, NEEDED, plain

from dcplab.course import catalog, lab_source

pytestmark = NEEDED


@pytest.fixture(scope="module")
def lab(sitting):
    return catalog.lab("01")


def solution(lab, part: str) -> str:
    source = next(c.source for c in lab.cells if c.role == "answer" and c.part == part)
    return "\n".join(line for line in source.splitlines() if lab_source.BEGIN not in line and lab_source.END not in line)


def test_every_cell_of_the_learners_notebook_runs(sitting, lab, shots):
    sitting.shot(shots / "01_open.png")
    sitting.run_all()
    sitting.shot(shots / "02_ran.png")
    saved = sitting.save()
    code = [c for c in saved["cells"] if c["cell_type"] == "code"]
    assert all(c["execution_count"] for c in code)
    for cell in code:
        for output in cell["outputs"]:
            assert output["output_type"] != "error" and output.get("name") != "stderr", (cell["id"], output)
    for part in lab.parts:
        assert "not attempted" in sitting.output(f"check-{part.id}").lower()


def test_what_is_saved_is_small_and_holds_no_widget_state(sitting):
    saved = sitting.save()
    assert sitting.notebook.stat().st_size < 1_000_000
    assert "widgets" not in saved["metadata"]
    live = next(c for c in saved["cells"] if c["id"] == sitting.find("viz.owner_table"))
    kinds = {kind for output in live["outputs"] for kind in output.get("data", {})}
    assert {"text/plain", "image/svg+xml"} <= kinds, "a viewer without a kernel has a picture and a table"


def test_a_slider_moved_by_keyboard_changes_sentence_table_and_figure(sitting, shots):
    cell = sitting.cell(sitting.find("viz.owner_table"))
    live = cell.locator(".dcplab-live")
    live.locator(DRAWING).first.wait_for()
    live.locator(".jp-Collapse-header, .p-Collapse-header, .lm-Collapse-header, .jupyter-widget-Collapse-header").first.click()
    table = live.locator("table").first
    table.wait_for()
    assert cell.locator(".dcplab-static").is_hidden(), "the static picture gives way to the live one"
    sitting.shot(shots / "03_owner_table.png")

    def seen() -> tuple[str, str, str]:
        figure = live.locator(DRAWING).first.inner_html()
        return live.locator("[role=status]").inner_text(), table.inner_html(), figure

    before = seen()
    slider = live.locator(".widget-slider", has_text="loc").locator("[role=slider]")
    value = int(float(slider.get_attribute("aria-valuenow")))
    slider.focus()
    sitting.page.keyboard.press("ArrowRight")
    after = sitting.until(lambda: (now := seen()) and all(old != new for old, new in zip(before, now, strict=True)) and now)
    assert int(float(slider.get_attribute("aria-valuenow"))) == value + 1 and f"loc {value + 1}:" in plain(after[0]).lower()
    sitting.shot(shots / "04_slider_moved.png")


def test_a_prediction_is_made_by_keyboard(sitting, lab):
    part = next(p for p in lab.parts if p.prediction and p.prediction.choices)
    cell = sitting.cell(sitting.find(f'lab.predict("{part.id}")'))
    cell.locator("input[type=radio]").first.focus()
    sitting.page.keyboard.press("ArrowDown")
    for _ in part.prediction.choices[1:]:  # each choice is a stop of its own
        sitting.page.keyboard.press("Tab")
    sitting.page.keyboard.press("Enter")
    said = sitting.until(lambda: (text := plain(cell.inner_text())) and "You said" in text and text)
    assert f"You said {part.prediction.choices[1]}" in said


def test_a_wrong_answer_is_named_and_the_right_one_passes(sitting, lab, shots):
    wrong = next(w for w in lab.wrong if w.part == "1c" and w.outcome == "wrong")
    sitting.write("answer-1c", wrong.source)
    sitting.run("answer-1c")
    said = plain(sitting.run("check-1c"))
    assert plain(wrong.says) in said and plain(wrong.asks) in said
    assert "has changed" not in said, "it ends in an empty line, which IPython drops"
    for column in ("loc", "owner", "row", "yours", "expected"):
        assert column in said
    mine = picture(sitting)
    assert mine.is_visible() and "Not right: yours, place " in mine.get_attribute("alt"), "what came back is drawn at once"
    sitting.shot(shots / "05_wrong.png")

    sitting.write("answer-1c", solution(lab, "1c"))
    sitting.run("answer-1c")
    said = plain(sitting.run("check-1c"))
    assert "passed" in said.lower() and f"{lab.part('1c').points:g}" in said and plain(wrong.says) not in said
    assert picture(sitting).is_visible() and "Every value here is right." in picture(sitting).get_attribute("alt")
    sitting.shot(shots / "06_passed.png")
    sitting.run("check-1c")
    assert not picture(sitting).is_visible(), "one that has passed before is folded away"


def picture(sitting):
    return sitting.cell("check-1c").locator("details.dcplab-answer img")


def test_what_is_read_is_a_column_and_tables_stand_at_its_left(sitting):
    page = sitting.page
    widths = page.locator(".jp-Notebook .jp-RenderedMarkdown > p").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().width / parseFloat(getComputedStyle(e).fontSize))"
    )
    assert any(widths) and max(widths) < 46, "70 zeros of at most 0.65 em"
    assert page.locator(".jp-Notebook .jp-RenderedHTMLCommon th").first.evaluate("e => getComputedStyle(e).textAlign") == "left"
    card = sitting.cell("check-1c").locator("div:has(> details.dcplab-answer)")
    edge = card.evaluate("e => [getComputedStyle(e).borderLeftStyle, parseFloat(getComputedStyle(e).borderLeftWidth)]")
    assert edge[0] == "solid" and edge[1] >= 8


def test_a_cell_that_was_edited_and_not_run_is_said_so(sitting, lab):
    changed = "The cell has changed since it ran as ["
    sitting.write("answer-1c", solution(lab, "1c") + "\n# a line more")
    # A check has the notebook saved, and waits two seconds for it: where a busy machine takes longer, the next one sees it.
    said = next(said for _ in range(5) if changed in (said := plain(sitting.run("check-1c"))))
    assert "passed" in said.lower(), "what ran last is what is judged"
    sitting.run("answer-1c")
    assert changed not in plain(sitting.run("check-1c"))


def test_progress_shows_what_was_passed(sitting, lab, shots):
    board = plain(sitting.run(sitting.find("lab.progress()")))
    assert f"{lab.part('1c').points:g} of {lab.points:g}" in board
    sitting.shot(shots / "07_progress.png")


def test_reset_gives_the_cell_back_and_one_key_takes_it_again(sitting, lab):
    def lines(text: str) -> list[str]:
        return [line.rstrip() for line in text.strip().splitlines()]

    def source() -> str:
        return next("".join(c["source"]) for c in sitting.save()["cells"] if c["id"] == "answer-1c")

    mine = source()
    sitting.write("answer-1d", 'lab.reset("1c")')
    said = plain(sitting.run("answer-1d"))
    assert "1c is its starter again, in its own cell." in said
    assert lines(source()) == lines(lab.starter_cell("1c")) != lines(mine)
    sitting.run("answer-1c")
    assert "not attempted" in plain(sitting.run("check-1c")).lower()
    sitting.cell("answer-1c").locator(".cm-content").click()
    sitting.page.keyboard.press("Control+z")
    assert lines(source()) == lines(mine), "Ctrl-Z brings the answer back"


STORES_NOTHING = """@triton.jit
def localize_page_table_kernel(locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    loc = tl.load(locs_ptr + i, mask=i < n, other=-1)"""


def test_a_check_says_what_it_judged(sitting, lab, shots):
    sitting.write("answer-1h", STORES_NOTHING)
    sitting.run("answer-1h")
    said = plain(sitting.run("check-1h"))
    assert "Nothing was stored" in said and "[" in said.partition("was judged")[0]
    alt = sitting.cell("check-1h").locator("details.dcplab-answer img").get_attribute("alt")
    assert "not written" in alt
    sitting.shot(shots / "11_stores_nothing.png")

    sitting.write("answer-1a", "def owner_rank(loc, dcp_size):\n    print('here', loc)\n    return loc % dcp_sise")
    sitting.run("answer-1a")
    said = plain(sitting.run("check-1a"))
    assert "owner_rank(" in said and "dcp_sise" in said, "a crash shows the call"
    assert "It printed" in said and "here" in said
    sitting.shot(shots / "12_crashed.png")

    sitting.write("answer-1b", "def owner_rank(loc, dcp_size):\n    return loc % dcp_size")
    sitting.run("answer-1b")
    sitting.save()
    said = plain(sitting.run("check-1a"))
    assert "2 cells of the notebook define it" in said and "passed" in said


def test_the_dark_theme_is_legible(sitting, shots):
    sitting.theme("JupyterLab Dark")
    cell = sitting.cell(sitting.find("viz.owner_table"))
    assert contrast(sitting, cell.locator(".dcplab-live [role=status]")) > 4.5
    sitting.shot(shots / "08_dark_owner_table.png")
    sitting.cell("check-1c")
    sitting.shot(shots / "09_dark_check.png")
    sitting.cell("answer-1a-1")
    sitting.shot(shots / "10_dark_strip.png")
    sitting.theme("JupyterLab Light")


def test_the_browser_had_nothing_to_complain_of(sitting):
    assert sitting.faults == []


def test_the_settings_are_a_learners(sitting):
    text = sitting.page.locator("body").inner_text()
    assert "Would you like to receive official Jupyter news" not in text
    assert sitting.page.locator('li.lm-MenuBar-item:has-text("Nbgrader")').count() == 0
    assert json.dumps(sitting.saved())  # the notebook on disk is whole after all this


def contrast(desk, locator) -> float:
    """WCAG contrast of an element's text on the nearest background that is not transparent."""
    return locator.evaluate(
        """e => {
            const rgb = s => (s.match(/[\\d.]+/g) || []).map(Number);
            const linear = v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            const weigh = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
            const light = s => weigh(rgb(s).map(v => linear(v / 255)));
            const clear = e => rgb(getComputedStyle(e).backgroundColor)[3] === 0;
            let back = e;
            while (back.parentElement && clear(back)) back = back.parentElement;
            const a = light(getComputedStyle(e).color), b = light(getComputedStyle(back).backgroundColor);
            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        }"""
    )
