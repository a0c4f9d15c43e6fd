"""Makes the slides of `workshop/slides.md`: reveal.js by sphinx-revealjs, with the course's own pictures, in plain files.

Two blocks are ours. ``{viz} CALL`` is a picture, drawn when the slides are made; one that is live in a lab is a film.
``{replay} PART`` is lab 02's story, run then: its first acts (``fresh``), the questions asked again (``again``), or
its ``table``.
"""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from dcplab import paths, subprocess_call
from dcplab.errors import CourseError
from dcplab.present.page import html
from dcplab.site import build, lab_pages

GENERATOR = ("sphinx", "myst_nb", "sphinx_revealjs")
_OURS = re.compile(r"^```\{(viz|replay)\} (.+)\n```$", re.MULTILINE)


def make(folder: Path, say: Callable[[str], None]) -> int:
    """Make the slides in ``folder``, which is new, empty, or one that was made before. Returns their number. Raises CourseError
    for another folder, a missing generator, or a fault of the source."""
    folder, root = folder.expanduser().resolve(), paths.root().resolve()
    build.refuse(folder, root)
    if missing := [name for name in GENERATOR if importlib.util.find_spec(name) is None]:
        raise CourseError(
            f"the slides' generator is not installed ({', '.join(missing)}): `./course workshop slides DIR` installs it; else "
            "install the extra `site`: pip install -c pins.txt -e ./kernels -e '.[site]'"
        )
    with tempfile.TemporaryDirectory(prefix="dcplab-slides-") as scratch:
        source, built, static = Path(scratch, "source"), Path(scratch, "html"), Path(scratch, "static")
        source.mkdir()
        say("drawing the pictures")
        text = filled((root / "workshop" / "slides.md").read_text(encoding="utf-8"))
        (source / "index.md").write_text(text, encoding="utf-8")
        build.front_end(static, "slides.css")
        words = {"source": str(source), "built": str(built), "static": str(static)}
        done = subprocess_call.call("dcplab.site.sphinx_parts", "run_slides", words)
        if faults := [done["why"] or "Sphinx failed"] if done["value"] is None else done["value"]:
            raise CourseError(f"the slides could not be made: {faults[0]} {done['errors'][-300:]}")
        build.put(built, folder)
    return len(re.findall(r"^##? ", text, re.MULTILINE))


def filled(text: str) -> str:
    """Return the source with pictures and runs in place of our blocks."""
    number = 0

    def put(found: re.Match) -> str:
        nonlocal number
        number += 1
        if found[1] == "viz":
            picture = lab_pages.drawn(found[2])
            if picture is None:
                raise CourseError(f"slides.md: {found[2]} is no picture of viz on literals.")
            page = lab_pages.shown(picture, f"film-{number}")
        else:
            page = html('<pre class="said">{}</pre>', _replayed(found[2].strip()))
        return f"```{{raw}} html\n{page}\n```"

    return _OURS.sub(put, text)


def _replayed(part: str) -> str:
    """Return a part of lab 02's story, as `demos.server.replay` tells it."""
    from dcplab.demos import server

    told = server.replay("above").text
    acts = told.split("\n\n")[1].split("\n")
    tables = next(block for block in told.split("\n\n") if block.startswith("buffer"))
    parts = {"fresh": acts[:2], "again": acts[2:], "table": [tables]}
    if part not in parts:
        raise CourseError(f"slides.md: {{replay}} {part!r} is none of {', '.join(parts)}.")
    return "\n".join(parts[part])
