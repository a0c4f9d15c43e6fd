"""Twenty live pictures on a machine six times as slow, a narrow window, and a page that is loaded again: none stays blank."""

import desk
import pytest

pytestmark = desk.NEEDED

CALLS = ("viz.owner_table()", "viz.token_journey()", "viz.workspace()", "viz.owner_table(8, 64, 455_744, selected=3_646_463)")
DRAWN = ".dcplab-live .dcplab-drawn > svg"


@pytest.fixture(scope="module")
def book(house):
    """In a browser of its own: the page is loaded again."""
    with house.course() as root:
        notebook = root / "labs/many.ipynb"
        desk.write(notebook, ["from dcplab import viz", *CALLS * 5])
        with desk.sitting(house.address(notebook), notebook, width=1024, height=768) as sitting:
            yield sitting


def seen(book, which: int):
    """What is seen of a cell's picture once one is there: the live drawing, or the static picture."""
    cell = book.cell(book.order[1 + which])
    return cell, cell.locator(f":is({DRAWN}, .dcplab-static .dcplab-picture img)").locator("visible=true").first


def test_twenty_come_up_on_a_slow_machine_and_in_a_narrow_window(book):
    slow = book.page.context.new_cdp_session(book.page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    book.run_all()
    for which in range(20):
        cell, _ = seen(book, which)
        drawing = cell.locator(DRAWN).first
        drawing.wait_for(timeout=120 * desk.SECOND)
        assert cell.locator(".dcplab-static").is_hidden()
        inner = drawing.evaluate("e => { const b = e.closest('.jp-OutputArea-output'); return b.scrollWidth - b.clientWidth; }")
        assert inner <= 1, f"picture {which} has a scroll bar of its own"
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 1})


def test_no_picture_is_blank_when_the_page_is_loaded_again(book):
    book.save()
    book.page.reload()
    book.page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    book.until_idle()
    for which in (0, 7, 19):
        _, picture = seen(book, which)
        picture.wait_for(state="visible", timeout=120 * desk.SECOND)
        assert picture.bounding_box()["height"] > 100
