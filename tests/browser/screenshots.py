"""Makes the pictures of docs/img in a real JupyterLab, light and dark: `python tests/browser/screenshots.py [NAME ...]`.

Each picture ``NAME.png`` has a twin ``NAME_dark.png``. The README shows some of them, the site's gallery all. The roofline is
drawn from ``bench/results`` on a page of its own; a comment in the PNG holds the digest of what it was drawn from.
"""

import base64
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from dcplab import jupyterlab, viz
from dcplab.course import catalog
from dcplab.present.page import html

sys.path.insert(0, str(Path(__file__).parents[1]))
import desk
import png_comment

IMAGES = desk.ROOT / "docs/img"
THEMES = {"": "JupyterLab Light", "_dark": "JupyterLab Dark"}
LIVE = {  # picture -> its lab, and the cell that shows it
    "owner_table": ("01", "viz.owner_table"),
    "token_journey": ("03", "viz.token_journey()"),
    "workspace": ("04", "viz.workspace()"),
}
STRIP, STRIP_LAB, WRONG = "wrong_to_right", "01", "1a-swap"
ROOFLINE = "roofline"
STRIP_LOOK = {"": ("#ffffff", "#24292f"), "_dark": ("#111111", "#e6e6e6")}  # page and ink


def main(names: list[str]) -> None:
    for name in names or [STRIP, ROOFLINE, *LIVE]:
        if name == ROOFLINE:
            shoot_roofline()
            continue
        number = STRIP_LAB if name == STRIP else LIVE[name][0]
        lab = catalog.lab(number)
        with tempfile.TemporaryDirectory() as folder, desk.course(Path(folder)):
            notebook = jupyterlab.notebook_ready(lab)
            width = 900 if name == STRIP else 1280
            with desk.served(notebook) as url, desk.sitting(url, notebook, width=width, height=900) as it:
                it.page.click('li.lm-TabBar-tab[data-id="filebrowser"]')  # folds the file browser away
                it.run(it.find("lab.start"))
                if name == STRIP:
                    shoot_strip(it, lab)
                else:
                    shoot_live(it, LIVE[name][1], name)


def shoot_live(it: desk.Desk, text: str, name: str) -> None:
    """The window with the top of the live picture's cell at its upper edge."""
    cell = it.find(text)
    it.run(cell)
    it.cell(cell).locator(f".dcplab-live {desk.DRAWING}").first.wait_for()
    for ending, theme in THEMES.items():
        it.theme(theme)
        it.cell(cell).evaluate("e => e.scrollIntoView({block: 'start'})")
        print(it.shot(IMAGES / f"{name}{ending}.png").relative_to(desk.ROOT))


def shoot_strip(it: desk.Desk, lab: catalog.Lab) -> None:
    """A wrong answer becomes right, in three panels: the answer with its card, the line that changes, the pass."""
    wrong = next(w for w in lab.wrong if w.id == WRONG)
    answer, check = f"answer-{wrong.part}", f"check-{wrong.part}"
    for ending, theme in THEMES.items():
        it.theme(theme)
        answered(it, answer, wrong.source.strip())
        it.run(check)
        panels = [
            ("A wrong answer. The check names the mistake and shows the smallest case.", [cut(it, answer), cut(it, check)])
        ]
        changed = wrong.source.strip().replace("//", "%")
        answered(it, answer, changed)
        panels.append(("One operator changes.", [cut(it, answer)]))
        it.run(check)
        panels.append(("Right, on cases drawn anew.", [cut(it, check)]))
        print(mount(it, panels, IMAGES / f"{STRIP}{ending}.png", *STRIP_LOOK[ending]).relative_to(desk.ROOT))


def shoot_roofline() -> None:
    """The plotly figure, on a light ground and on a dark one."""
    roofline = viz.roofline()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=desk.CHROMIUM, headless=True, args=list(desk.BROWSER_ARGS))
        for ending in THEMES:
            figure = roofline.figure(dark=bool(ending))
            page = browser.new_page(viewport={"width": figure.layout.width, "height": figure.layout.height})
            page.set_content(f'<body style="margin:0">{figure.to_html(include_plotlyjs=True, full_html=False)}')
            page.locator(".main-svg").first.wait_for()
            path = IMAGES / f"{ROOFLINE}{ending}.png"
            page.screenshot(path=str(path))
            path.write_bytes(png_comment.added(path.read_bytes(), png_comment.digest(figure)))
            print(path.relative_to(desk.ROOT))
        browser.close()


def answered(it: desk.Desk, cell: str, source: str) -> None:
    it.write(cell, source)
    it.run(cell)


def cut(it: desk.Desk, cell: str) -> bytes:
    """A picture of one cell, as it stands when another one is active."""
    it.cell(it.find("lab.start")).locator(".cm-content").click()
    return it.cell(cell).screenshot()


def mount(it: desk.Desk, panels: list[tuple[str, list[bytes]]], path: Path, page: str, ink: str) -> Path:
    """One picture of the panels, one below the other, each with its number and sentence."""
    image = '<img style="display:block;width:100%" src="data:image/png;base64,{}">'
    parts = [
        html('<h2 style="font:600 17px sans-serif;margin:12px 8px 4px">{} · {}</h2>', number, says)
        + html("").join(html(image, base64.b64encode(data).decode()) for data in images)
        for number, (says, images) in enumerate(panels, 1)
    ]
    sheet = it.page.context.browser.new_page()
    sheet.set_content(
        f'<body style="margin:0;padding:1px 0 10px;width:860px;background:{page};color:{ink}">{html("").join(parts)}'
    )
    sheet.locator("body").screenshot(path=str(path))
    sheet.close()
    return path


if __name__ == "__main__":
    main(sys.argv[1:])
