"""Makes the README's pictures in a real JupyterLab: `python tests/browser/screenshots.py` writes docs/img/*.png."""

import sys
import tempfile
from pathlib import Path

from dcplab import jupyterlab
from dcplab.course import catalog

sys.path.insert(0, str(Path(__file__).parents[1]))
import desk

IMAGES = desk.ROOT / "docs/img"
LIVE = {"03": ("viz.token_journey()", "token_journey.png"), "04": ("viz.workspace()", "workspace.png")}


def main() -> None:
    for number in ("01", *LIVE):
        lab = catalog.lab(number)
        with tempfile.TemporaryDirectory() as folder, desk.course(Path(folder)):
            notebook = jupyterlab.notebook_ready(lab)
            with desk.served(notebook) as url, desk.sitting(url, notebook, width=1280, height=900) as it:
                it.page.click('li.lm-TabBar-tab[data-id="filebrowser"]')  # folds the file browser away
                if number in LIVE:
                    shoot_live(it, *LIVE[number])
                else:
                    shoot_checks(it, lab)


def shoot_live(it: desk.Desk, text: str, name: str) -> None:
    cell = it.find(text)
    it.run(it.find("lab.start"))
    it.run(cell)
    it.cell(cell).locator(f".dcplab-live {desk.DRAWING}").first.wait_for()
    shoot(it, cell, name)


def shoot_checks(it: desk.Desk, lab: catalog.Lab) -> None:
    wrong = next(w for w in lab.wrong if w.id == "1c-no-divide")
    it.run_all()
    it.write("answer-1c", wrong.source.strip())
    it.run("answer-1c")
    it.run("check-1c")
    shoot(it, "answer-1c", "wrong_answer.png")
    table = it.find("viz.owner_table")
    it.cell(table).locator(f".dcplab-live {desk.DRAWING}").first.wait_for()
    shoot(it, table, "owner_table.png")
    it.theme("JupyterLab Dark")
    shoot(it, table, "owner_table_dark.png")


def shoot(it: desk.Desk, cell: str, name: str) -> None:
    """The window with the top of ``cell`` at its upper edge."""
    it.cell(cell).evaluate("e => e.scrollIntoView({block: 'start'})")
    print(it.shot(IMAGES / name).relative_to(desk.ROOT))


if __name__ == "__main__":
    main()
