"""Builds the site into a folder, and refuses a folder that is somebody's."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from dcplab import paths, subprocess_call
from dcplab.course import catalog
from dcplab.errors import CourseError
from dcplab.viz.core import surface

GENERATOR = ("sphinx", "myst_nb", "furo")
MADE = ".dcplab-site"  # lists the files that a build wrote, so that the next one replaces these and no other
STATIC = Path(__file__).parent / "static"


def build(folder: Path, say: Callable[[str], None]) -> int:
    """Build the site of all labs into ``folder``, which is new, empty, or one that a build made. ``say`` gets a line a step.

    Returns the number of pages. Raises CourseError if the folder is another, the generator is missing, or a page has a fault,
    such as a link that leads nowhere.
    """
    folder, root = folder.expanduser().resolve(), paths.root().resolve()
    refuse(folder, root)
    missing = [name for name in GENERATOR if importlib.util.find_spec(name) is None]
    if missing:
        raise CourseError(
            f"the site's generator is not installed ({', '.join(missing)}): `./course site DIR` installs it; without ./course, "
            "install the extra `site`: pip install -c pins.txt -e ./kernels -e '.[site]'"
        )
    from dcplab.site import sources

    with tempfile.TemporaryDirectory(prefix="dcplab-site-") as scratch:
        source, built = Path(scratch, "source"), Path(scratch, "html")
        source.mkdir()
        say("drawing the pictures")
        sources.lay_out(root, catalog.labs(), source)
        front_end(Path(scratch, "static"), "site.css")
        say("making the pages")
        make_pages(source, built, Path(scratch, "static"), root)
        put(built, folder)
    return len(list(folder.rglob("*.html")))


def refuse(folder: Path, root: Path) -> None:
    """Raise CourseError if ``folder`` is no place for a site of the checkout ``root``."""
    if folder == root or root in folder.parents:
        raise CourseError(f"{folder} lies in the course's own folder, which git and the tests read: give one outside it.")
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file: give a folder that is new or empty.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MADE).is_file():
        raise CourseError(f"{folder} is not empty, and `./course site` did not make it: give a folder that is new or empty.")


def front_end(folder: Path, style: str) -> None:
    """Write script and style of pages with pictures: those of the live pictures, and what moves a film."""
    folder.mkdir()
    scene = surface.SCRIPT.replace("export default", "const dcplabScene =")  # a page opened as a file loads no module
    for name, before in (("site.js", scene), (style, surface.STYLE)):
        (folder / name).write_text(before + (STATIC / name).read_text(encoding="utf-8"), encoding="utf-8")


def make_pages(source: Path, built: Path, static: Path, root: Path) -> None:
    """Make HTML of ``source`` in ``built``, in a process of its own. ``static``: the folder of script and style; ``root``: the
    checkout. Raises CourseError if Sphinx warns of anything."""
    words = {"source": source, "built": built, "static": static, "root": root}
    done = subprocess_call.call("dcplab.site.sphinx_parts", "run", {name: str(path) for name, path in words.items()})
    if done["value"] is None:
        raise CourseError(f"the pages could not be made: {done['why'] or 'Sphinx'} {done['errors'][-300:]}")
    if faults := done["value"]:
        raise CourseError(f"the site has {len(faults)} fault{'s' * (len(faults) > 1)}, the first: {faults[0]}")


def put(built: Path, folder: Path) -> None:
    """Replace the files in ``folder`` that a build made before by those of ``built``. Whatever else lies there stays."""
    before = folder / MADE
    try:
        if before.is_file():
            for name in before.read_text(encoding="utf-8").splitlines():
                if (folder / name).resolve().is_relative_to(folder):  # the list may be anybody's
                    (folder / name).unlink(missing_ok=True)
        shutil.copytree(built, folder, dirs_exist_ok=True)
        names = sorted(str(path.relative_to(built)) for path in built.rglob("*") if path.is_file())
        before.write_text("\n".join(names) + "\n", encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{folder} cannot be written to: {error.strerror or error}.") from None
