"""Lays out what Sphinx reads: the checkout's own documents, a page for each lab, the gallery, the start page with the tree."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import nbformat

from dcplab.course.catalog import Lab
from dcplab.site import lab_pages

FIRST = ("install", "vocabulary", "misconceptions", "checking")  # of docs/, what a reader without a checkout asks for
ABOUT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")
# The pictures of docs/img, as they are in JupyterLab. tests/browser/screenshots.py makes them.
SCREENSHOTS = {
    "wrong_to_right": "A wrong answer becomes right: what the check says, the operator that changes, the pass.",
    "owner_table": "Lab 01's owner table, live: pick a loc and see its owner, its row, its pages, the request that holds it.",
    "token_journey": "Lab 03's journey of a token: each rank's rows, what each reads back, what is merged.",
    "workspace": "Lab 04's workspace: a token followed through pools, gathered shards, layout B and the workspace.",
    "roofline": "Every kernel of the course against the card's own rates, read from bench/results.",
}


def lay_out(root: Path, labs: Sequence[Lab], folder: Path) -> None:
    """Write all sources of the site into ``folder``, at the paths that they have in the checkout ``root``."""
    for path in [*ABOUT, *(str(p.relative_to(root)) for p in sorted((root / "docs").glob("*.md")))]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, folder / path)
    shutil.copytree(root / "docs/img", folder / "docs/img")
    pages = []
    for lab in labs:
        pages.append(f"labs/{lab.name}/{lab.name}")
        notebook = folder / f"{pages[-1]}.ipynb"
        notebook.parent.mkdir(parents=True)
        notebook.write_text(nbformat.writes(lab_pages.page(lab), version=4), encoding="utf-8")
    (folder / "gallery.md").write_text(_gallery(root, labs), encoding="utf-8")
    rest = sorted({path.stem for path in (root / "docs").glob("*.md")} - set(FIRST))
    documents = [f"docs/{name}" for name in (*FIRST, *rest)]
    tree = _tree("Labs", pages) + _tree("Look", ["gallery"]) + _tree("Documents", documents)
    tree += _tree("The project", [path.removesuffix(".md") for path in ABOUT])
    start = (root / "README.md").read_text(encoding="utf-8")
    (folder / "index.md").write_text(start + tree, encoding="utf-8")


def _tree(caption: str, pages: Sequence[str]) -> str:
    return "\n```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(pages) + "\n```\n"


def _gallery(root: Path, labs: Sequence[Lab]) -> str:
    shots = [f"![{says}](docs/img/{name}.png)\n\n*{says}*" for name, says in SCREENSHOTS.items()]
    figures = []
    seen: set[str] = set()
    for lab in labs:
        new = []
        for cell in lab.cells:
            name, found = cell.source.strip().partition("(")[0], lab_pages.drawn(cell.source)
            if found is not None and name not in seen:
                seen.add(name)
                page = lab_pages.shown(found, f"film-{len(seen)}")
                new.append(f"`{name}`\n\n```{{raw}} html\n{page}\n```")
        if new:
            figures.append(f"### [Lab {lab.number}](labs/{lab.name}/{lab.name}.ipynb)\n\n" + "\n\n".join(new))
    return "\n\n".join(
        [
            "# Gallery",
            "## In JupyterLab",
            "In the theme of this page, light or dark.",
            *shots,
            "## Figures",
            "Drawn when this site was built, by the functions that the labs call. Those with controls need no kernel: use the "
            "sliders, click on cells, or go from cell to cell with the arrow keys and choose one with Enter.",
            *figures,
        ]
    )
