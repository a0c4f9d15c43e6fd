"""`./course site`: its links, what is on it and what must not be, its films, and the folders that it refuses."""

import ast
import base64
import gzip
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import desk
import pytest
from playwright.sync_api import sync_playwright

from dcplab import cli, paths, viz
from dcplab.course import catalog, lab_source
from dcplab.errors import CourseError
from dcplab.site import build, film, films, lab_pages, sources
from dcplab.viz.core.svg import to_svg
from dcplab.viz.views.owner import scene as owner_scene
from dcplab.viz.views.owner import state as owner_state

pytestmark = pytest.mark.slow  # the site is built

ROOT = Path(__file__).parents[1]
MOST = 1_500_000  # bytes of a page
OUTSIDE = re.compile(r"https?://|mailto:")


class Page(HTMLParser):
    """``links``: what its tags lead to, as (tag, address). ``ids``: its anchors."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append((tag, value))
            elif name in ("id", "name") and value:
                self.ids.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "course"
    assert cli.main(["site", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(site, pages):
    lost, followed = [], 0
    for path, page in pages.items():
        for _, address in page.links:
            parts = urlsplit(address)
            if parts.scheme or address.startswith("//"):
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchored = goal in pages and parts.fragment and unquote(parts.fragment) not in pages[goal].ids | {""}
            followed += 1
            if not goal.is_file() or not goal.is_relative_to(site) or anchored:
                lost.append(f"{path.relative_to(site)}: {address}")
    assert not lost and followed > 500


def test_nothing_is_loaded_from_elsewhere(site, pages):
    loaded = [
        (path.name, address)
        for path, page in pages.items()
        for tag, address in page.links
        if tag != "a" and (OUTSIDE.match(address) or address.startswith("//"))
    ]
    assert not loaded
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", styles)


def test_no_page_is_large(site):
    assert {path.name: path.stat().st_size for path in site.rglob("*.html") if path.stat().st_size > MOST} == {}


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.fixture(scope="module")
def text(site) -> str:
    """All that a reader or a search engine finds, without white space."""
    found = []
    for path in site.rglob("*"):
        if path.suffix in (".html", ".js", ".txt", ".json", ".ipynb", ".py", ".md"):
            found.append(html.unescape(re.sub(r"<[^>]*>", "", path.read_text(encoding="utf-8"))))
    return bare("\n".join(found))


LEAST = 12  # letters of a text that says something; `return 0` is one of the wrong answers


def regions(source: str) -> list[str]:
    """The solution regions of an answer cell."""
    return re.findall(rf"{lab_source.BEGIN}\n(.*?)\n[^\n]*{lab_source.END}", source, re.DOTALL)


def bodies(source: str) -> list[str]:
    """What each function of a text does, as it is typed, without its docstring; the whole text if it is no Python."""
    try:
        functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        return [source]
    lines, found = source.split("\n"), []
    for node in functions:
        code = node.body[ast.get_docstring(node) is not None :]
        found += ["\n".join(lines[code[0].lineno - 1 : node.end_lineno])] if code else []
    return found


def secrets() -> dict[str, tuple[str, str]]:
    """What the site must not say, without white space, and where it stands: solutions, banks, oracles, answers to questions."""
    found = {}
    for lab in catalog.labs():
        texts = [("solution", region) for cell in lab.cells for region in regions(cell.source)]
        for path in sorted((paths.solutions() / lab.name / "parts").glob("*.py")):
            texts += [(path.name, body) for body in bodies(path.read_text(encoding="utf-8"))]
        texts += [(answer.id, body) for answer in (*lab.wrong, *lab.right) for body in bodies(answer.source)]
        texts += [(part.id, part.prediction.because) for part in lab.parts if part.prediction]
        found |= {bare(body): (lab.name, where) for where, body in texts}
    return found


def test_nothing_of_the_solutions_is_on_it(text):
    given = bare("\n".join(cell for lab in catalog.labs() for cell in _given(lab)))  # what a learner has from the start
    hidden = {body: where for body, where in secrets().items() if body not in given and len(body) >= LEAST}
    assert len(hidden) > 500
    assert {where: body for body, where in hidden.items() if body in text} == {}


def _given(lab: catalog.Lab) -> list[str]:
    return [lab_source.starter(cell.source) if cell.role == "answer" else cell.source for cell in lab.cells]


def test_a_lab_has_all_that_a_learner_opens_and_every_hint(text):
    for lab in catalog.labs():
        wanted = [bare(cell) for cell in _given(lab)]
        wanted += [bare(hint) for part in lab.parts for hint in part.hints]
        wanted += [bare(part.prediction.question) for part in lab.parts if part.prediction]
        assert [it for it in wanted if it not in text] == [], lab.name


def test_a_checkout_with_answers_in_it_gives_the_same_pages(tmp_path, monkeypatch):
    """A learner's notebook is not read: the pages are made of the labs' sources."""
    (lab,) = (lab for lab in catalog.labs() if lab.number == "05")
    before = lab_pages.page(lab)
    monkeypatch.setattr(paths, "labs", lambda: tmp_path)
    assert lab_pages.page(lab) == before


def test_only_calls_of_viz_on_literals_are_drawn():
    assert isinstance(lab_pages.drawn("viz.owner_strip(range(12), dcp_size=4)"), viz.Picture)
    for source in (
        "viz.owner_strip(locs, 4)",
        "x = viz.watermark()",
        "viz",
        "print(1)",
        "viz.arena_map(above.engine)",
        "%time 1",
    ):
        assert lab_pages.drawn(source) is None, source


def reel(page: str) -> dict:
    """The data of a film, out of its HTML."""
    return json.loads(gzip.decompress(base64.b64decode(re.search(r"<script[^>]*>(.*?)</script>", page)[1])))


def test_a_film_shows_what_the_live_picture_shows():
    view = viz.owner_table(dcp_size=4, page_size=4, size=12)
    data = reel(film.page(films.owner_table(view), "it"))
    assert data["axes"] == [{"name": "D", "values": [*"2345678"]}]
    assert data["reels"][data["reel"]][data["step"]]["loc"] == view.state.selected
    for d, frames in zip(range(2, 9), data["reels"], strict=True):
        begin = owner_state.make(d, 4, 12)
        assert [frame["loc"] for frame in frames] == list(begin.shown)
        for frame in frames[:: len(frames) // 3]:
            state = owner_state.with_selected(begin, frame["loc"])
            runs = zip(frame["runs"][::2], frame["runs"][1::2], strict=True)
            svg = "".join("".join(data["pieces"][start : start + n]) for start, n in runs)
            picture = owner_scene.picture(state)
            assert svg == to_svg(picture.scene, picture.title, "it", live=True)
            assert frame["says"] == owner_scene.sentence(state)


@pytest.mark.parametrize(
    ("view", "reels", "steps"),
    [(viz.watermark, 1, {10}), (viz.token_journey, 8, {16}), (viz.workspace, 8, {13})],
    ids=["watermark", "journey", "workspace"],
)
def test_every_state_of_a_film_is_another(view, reels, steps):
    made = view()
    data = reel(film.page(films.FILMED[type(made)](made), "it"))
    assert len(data["reels"]) == reels and {len(frames) for frames in data["reels"]} == steps
    for frames in data["reels"]:
        assert len({tuple(frame["runs"]) for frame in frames}) == len(frames)


def test_links_to_files_lead_to_pages_or_are_code(site):
    start = (site / "index.html").read_text(encoding="utf-8")
    assert re.search(r'href="docs/install.html"><code[^>]*>(<span[^>]*>)?docs/install.md', start)
    assert "solutions/01_index_spaces/01_index_spaces.ipynb" in start and 'href="solutions' not in start


def test_a_link_that_leads_nowhere_is_a_fault(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "static").mkdir()
    (tmp_path / "source/index.md").write_text("# A page\n\n[there](docs/gone.md), [here](#nowhere) and `docs/lost.md`\n")
    with pytest.raises(CourseError, match=r"the site has 3 faults, the first: index.md:3: WARNING: docs/lost.md is no"):
        build.make_pages(tmp_path / "source", tmp_path / "html", tmp_path / "static", ROOT)


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        (ROOT / "docs/site", "lies in the course's own folder, which git and the tests read: give one outside it."),
        (ROOT, "lies in the course's own folder"),
        (ROOT.parent, "is not empty, and `./course site` did not make it"),
        (ROOT / "README.md", "lies in the course's own folder"),
    ],
    ids=["inside", "the checkout", "around it", "a file of it"],
)
def test_a_folder_of_the_checkout_is_refused(folder, says):
    with pytest.raises(CourseError, match=re.escape(says)):
        build.build(folder, print)


def test_somebody_elses_folder_or_file_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/notes.txt").write_text("mine")
    for path, says in ((tmp_path / "theirs", "is not empty"), (tmp_path / "theirs/notes.txt", "is a file")):
        with pytest.raises(CourseError, match=says):
            build.build(path, print)
    assert (tmp_path / "theirs/notes.txt").read_text() == "mine"


def test_without_the_generator_it_says_what_installs_it(tmp_path, monkeypatch, capsys):
    find = build.importlib.util.find_spec
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: None if name == "furo" else find(name))
    assert cli.main(["site", str(tmp_path / "new")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("course: the site's generator is not installed (furo): `./course site DIR` installs it")
    assert said.count("\n") == 1 and not (tmp_path / "new").exists()


def test_a_wrong_command_line_is_told(capsys):
    for words in (["site"], ["site", "a", "b"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 2 and "usage: ./course site" in capsys.readouterr().err


def test_a_site_is_built_anew_where_one_was_and_keeps_what_is_not_its_own(tmp_path):
    built, folder = tmp_path / "built", tmp_path / "folder"
    for names in (("index.html", "docs/old.html"), ("index.html", "docs/new.html")):
        for name in names:
            (built / name).parent.mkdir(parents=True, exist_ok=True)
            (built / name).write_text(name)
        build.put(built, folder)
        (folder / "CNAME").write_text("theirs")
        (tmp_path / "beside").write_text("theirs")
        with (folder / build.MADE).open("a") as made:
            made.write("../beside\n")
        for path in built.rglob("*.html"):
            path.unlink()
    assert sorted(p.name for p in folder.rglob("*") if p.is_file()) == [".dcplab-site", "CNAME", "index.html", "new.html"]
    assert (tmp_path / "beside").exists()
    build.refuse(folder, ROOT)


needs_browser = pytest.mark.skipif(desk.CHROMIUM is None, reason="no Chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=desk.CHROMIUM, headless=True, args=list(desk.BROWSER_ARGS))
        yield opened
        opened.close()


def opened(browser, path: Path, **more):
    page = browser.new_page(**more)
    page.faults = []
    page.on("console", lambda m: page.faults.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: page.faults.append(str(e)))
    page.on("requestfailed", lambda r: page.faults.append(r.url))
    page.goto(path.as_uri())
    return page


@pytest.mark.browser
@needs_browser
def test_a_film_is_stepped_through_without_a_kernel(site, browser):
    page = opened(browser, site / "labs/01_index_spaces/01_index_spaces.html")
    owner = page.locator("figure.film")
    said = owner.locator(".film-sentence")
    d, loc = owner.get_by_role("slider").first, owner.get_by_role("slider").last
    loc.focus()
    assert said.inner_text().startswith("Loc 25: owner r1 (25 % 2)") and said.get_attribute("aria-live") == "polite"
    page.keyboard.press("ArrowRight")
    assert said.inner_text().startswith("Loc 26: owner r0 (26 % 2)") and loc.get_attribute("aria-valuetext") == "loc 26"
    owner.get_by_role("button", name="previous").click()
    assert said.inner_text().startswith("Loc 25")
    owner.locator('[data-loc="20"]').first.click()
    assert said.inner_text().startswith("Loc 20: owner r0 (20 % 2)")
    page.keyboard.press("ArrowRight")  # to the next cell of the picture, which Enter chooses
    page.keyboard.press("Enter")
    assert said.inner_text().startswith("Loc 21: owner r1 (21 % 2)")
    d.focus()
    page.keyboard.press("ArrowRight")
    assert said.inner_text().startswith("Loc 21: owner r0 (21 % 3)") and "D = 3" in owner.locator("figcaption").inner_text()
    assert page.faults == []


@pytest.mark.browser
@needs_browser
@pytest.mark.parametrize(("scheme", "shown", "hidden"), [("light", "light", "dark"), ("dark", "dark", "light")])
def test_pictures_follow_the_theme_and_its_switch(site, browser, scheme, shown, hidden):
    page = opened(browser, site / "gallery.html", color_scheme=scheme)
    for theme in (shown, hidden):
        assert page.locator(f"img.only-{theme}").first.is_visible()
        assert not page.locator(f"img.only-{'dark' if theme == 'light' else 'light'}").first.is_visible()
        page.locator(".theme-toggle:visible").click()  # from the system's theme to the other one
        if page.locator("body").get_attribute("data-theme") == scheme:
            page.locator(".theme-toggle:visible").click()
    assert page.faults == []


@pytest.mark.browser
@needs_browser
def test_no_page_scrolls_sideways(site, browser):
    page = browser.new_page()
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri())
        for width in (1280, 768, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path.name, width)


def test_the_readme_shows_a_film_strip_and_three_pictures_at_most():
    shown = re.findall(r"!\[[^\]]+\]\(docs/img/(\w+)\.png\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert "wrong_to_right" in shown and len(shown) <= 4 and set(shown) <= set(sources.SCREENSHOTS)


def test_every_screenshot_has_its_caption_in_the_gallery():
    pictures = {path.stem for path in (ROOT / "docs/img").glob("*.png")}
    assert {name.removesuffix("_dark") for name in pictures} == set(sources.SCREENSHOTS)
    assert {name for name in pictures if not name.endswith("_dark")} == {n.removesuffix("_dark") for n in pictures}
