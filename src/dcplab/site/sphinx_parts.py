"""Runs Sphinx, and teaches it two things about this course: links to files of the checkout, and pictures for either theme."""

from __future__ import annotations

import io
import posixpath
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.logging import getLogger

logger = getLogger(__name__)
DARK = "_dark"  # ends the name of a picture's dark twin


SETTINGS = {
    "project": "Whose slot is it?",
    "root_doc": "index",
    "extensions": ["myst_nb", "dcplab.site.sphinx_parts"],
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},  # no script from elsewhere
    "myst_heading_anchors": 4,
    "smartquotes": False,  # a document's words and commands stay as they are typed
    "html_theme": "furo",
    "html_title": "Whose slot is it?",
    "html_css_files": ["site.css"],
    "html_js_files": [("site.js", {"defer": "defer"})],
    "html_copy_source": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
}


# Slides: reveal.js and its notes come with the package; nothing is fetched when they are shown.
SLIDES = {
    "project": SETTINGS["project"],
    "root_doc": "index",
    "extensions": ["myst_nb", "sphinx_revealjs"],
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},
    "smartquotes": False,
    "revealjs_style_theme": "white",
    "revealjs_css_files": ["slides.css"],
    "revealjs_js_files": [("site.js", {"defer": "defer"})],
    "revealjs_script_files": [],
    "revealjs_script_plugins": [
        {"name": f"Reveal{p.title()}", "src": f"revealjs/plugin/{p}/{p}.js"} for p in ("notes", "zoom")
    ],
    "revealjs_script_conf": {
        "hash": True,
        "slideNumber": "c/t",
        "width": 1280,
        "height": 800,
        "margin": 0.04,
        "keyboardCondition": None,
    },
}


def run_slides(source: str, built: str, static: str) -> list[str]:
    """Make slides of ``source`` in ``built``. Returns what Sphinx warns of."""
    return _run("revealjs", source, built, SLIDES | {"revealjs_static_path": [static]})


def run(source: str, built: str, static: str, root: str) -> list[str]:
    """Make HTML of ``source`` in ``built``; ``static``: the folder of script and style; ``root``: the checkout. Returns what
    Sphinx warns of. A process does it once: Sphinx keeps what it registers."""
    return _run("html", source, built, SETTINGS | {"dcplab_root": root, "html_static_path": [static]})


def _run(builder: str, source: str, built: str, settings: dict[str, Any]) -> list[str]:
    warnings = io.StringIO()
    app = Sphinx(source, None, built, f"{source}-read", builder, confoverrides=settings, status=None, warning=warnings)
    app.build()
    lines = re.sub(r"\x1b\[[\d;]*m", "", warnings.getvalue()).replace(f"{source}/", "").splitlines()
    return [line for line in lines if line.strip()]


class FilesOfTheCheckout(SphinxTransform):
    """A file's name leads to its page where the site has one, and stays plain code where not."""

    default_priority = 200

    def apply(self, **kwargs: Any) -> None:
        root, here = Path(self.config.dcplab_root), posixpath.dirname(self.env.docname)
        for link in list(self.document.findall(addnodes.pending_xref)):
            path = posixpath.normpath(posixpath.join(here, link["reftarget"].partition("#")[0]))
            if link["reftype"] == "myst" and link.get("refdomain") is None and (root / path).exists():
                code = nodes.literal(path, path)
                link.replace_self(
                    [*link.children, nodes.Text(" ("), code, nodes.Text(")")] if link.astext() != path else [code]
                )
        for name in list(self.document.findall(nodes.literal)):
            page = page_of(name.astext())
            if page in self.env.found_docs and page != self.env.docname and not _is_link(name):
                link = nodes.reference("", "", internal=True, refuri=posixpath.relpath(f"{page}.html", here or "."))
                name.replace_self(link)
                link += name
            elif page.startswith("docs/") and page not in self.env.found_docs:
                logger.warning("%s is no document", name.astext(), location=name)


class DarkTwins(SphinxTransform):
    """A picture ``name.png`` with a dark twin ``name_dark.png`` beside it is shown by light pages, the twin by dark ones."""

    default_priority = 200

    def apply(self, **kwargs: Any) -> None:
        for image in list(self.document.findall(nodes.image)):
            path = Path(image["uri"])
            twin = path.with_stem(path.stem + DARK)
            folder = Path(self.env.srcdir, posixpath.dirname(self.env.docname))
            if (folder / twin).is_file():
                dark = image.deepcopy()
                dark["uri"] = str(twin)
                image["classes"].append("only-light")
                dark["classes"].append("only-dark")
                image.parent.insert(image.parent.index(image) + 1, dark)


def page_of(path: str) -> str:
    """Return the page that is made of a file of the checkout; a name of no page if none is."""
    stem, dot, kind = path.rpartition(".")
    return "index" if path == "README.md" else stem if dot and kind in ("md", "ipynb") else ""


def _is_link(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.reference | addnodes.pending_xref | nodes.title):
            return True
    return False


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("dcplab_root", "", "env")
    app.add_transform(FilesOfTheCheckout)
    app.add_transform(DarkTwins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
