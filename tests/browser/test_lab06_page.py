"""Lab 06 in JupyterLab: the night at its head, a view without its check, the same with it, and a saved page that has it all."""

import pytest
from desk import NEEDED, plain

from dcplab import progress
from dcplab.course import catalog
from dcplab.name_the_space import drawing

pytestmark = NEEDED

LAB = catalog.lab("06")


@pytest.fixture(scope="module")
def opened(house):
    with house.lab("06") as it:
        it.run(it.find("lab.start"))
        yield it


def test_the_night_is_told_in_columns_in_either_theme(opened, shots):
    cell = opened.find("retraction.overnight()")
    said = plain(opened.run(cell))
    assert "restores to the old locs" in said and "WRONG" in said and "row 156 of 52" in said
    opened.shot(shots / "night_light.png")
    opened.theme("JupyterLab Dark")
    opened.cell(cell)
    opened.shot(shots / "night_dark.png")
    opened.theme("JupyterLab Light")


def test_a_view_without_its_check_is_named_and_with_it_passes(opened, shots):
    answer, check = opened.find("def kernel_rows"), opened.find('lab.check("6a")')
    (bare,) = (wrong for wrong, _ in LAB.key("6a").wrong if wrong.id == "6a-no-check")
    opened.write(answer, bare.source)
    opened.run(answer)
    assert plain(bare.says) in plain(opened.run(check))
    opened.shot(shots / "view_wrong.png")
    opened.write(answer, LAB.key("6a").solution.source)
    opened.run(answer)
    said = plain(opened.run(check))
    assert "6a passed" in said and progress.part(LAB.name, "6a")["best"] == LAB.part("6a").points
    opened.shot(shots / "view_right.png")


def test_the_snippets_are_there_and_the_page_keeps_what_was_shown(opened, shots):
    cell = opened.find('investigate.snippets("6g")')
    opened.write(cell, 'investigate.snippets("6g", seed=7)')
    said = plain(opened.run(cell))
    for snippet in drawing.draw("6g", 7):
        assert all(plain(line) in said for line in snippet.lines)
    opened.shot(shots / "snippets_light.png")
    saved = opened.save()
    kept = next(c for c in saved["cells"] if c["id"] == opened.find("retraction.overnight()"))
    assert "restores to the old locs" in str(kept["outputs"]) and opened.faults == []
