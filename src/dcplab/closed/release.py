"""Writes a learner's checkout of a closed book: what is named here and nothing else, as one commit of a history of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from dcplab import paths
from dcplab.author import build
from dcplab.author.notebook import to_text
from dcplab.course.catalog import Lab
from dcplab.errors import CourseError

MARK = "closed-book.txt"
# Of the course's own modules: how values travel, how a notebook is read, and how a form looks.
SHARED = (
    "closed/wire.py",
    "codec.py",
    "errors.py",
    "front_end.py",
    "notebook/file.py",
    "present/display.py",
    "present/page.py",
    "viz/core/form.py",
    "viz/core/keyboard.py",
)
FRONT = Path(__file__).parent / "front"
LEFT_OUT = {"dcp-kernels", "tilelang", "nbgrader", "jupytext", "nbclient", "plotly", "filelock", "packaging", "tqdm"}
AS_THEY_ARE = ("course", "pins.txt", "LICENSE")
IGNORED = ".venv/\n.dcplab/\n__pycache__/\n.ipynb_checkpoints/\n"


def release(folder: Path, labs: Sequence[Lab], say: Callable[[str], None]) -> None:
    """Make a checkout in a new or empty folder, or renew one that was made here: then its history gets a commit more.

    Raises CourseError for another folder.
    """
    folder = folder.expanduser().resolve()
    _refuse_unless_ours(folder)
    for old in folder.glob("*") if folder.exists() else ():
        if old.name not in (".venv", ".dcplab", ".git"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, text in files(labs).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    (folder / "course").chmod(0o755)
    _commit(folder)
    say(f"{folder}: {len(labs)} labs without solutions, banks and oracles; checks ask a grading service.")


def files(labs: Sequence[Lab]) -> dict[str, bytes]:
    """Return what a release holds, by its path."""
    root, source = paths.root(), Path(__file__).parents[1]
    made = {name: (root / name).read_bytes() for name in AS_THEY_ARE}
    made |= {f"labs/{lab.name}/{lab.name}.ipynb": to_text(build.make(lab).learner).encode() for lab in labs}
    made |= {f"src/dcplab/{p.relative_to(FRONT)}": p.read_bytes() for p in sorted(FRONT.rglob("*.py"))}
    made |= {f"src/dcplab/{name}": (source / name).read_bytes() for name in SHARED}
    packages = {str(Path(name).parent) for name in SHARED} | {"viz/core"}
    made |= {f"src/dcplab/{p}/__init__.py": b"" for p in packages if p not in (".", "viz")}
    made["pyproject.toml"] = project(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))).encode()
    made[MARK] = made["README.md"] = (root / "workshop" / "closed_readme.md").read_bytes()
    made[".gitignore"] = IGNORED.encode()
    return made


def project(ours: dict) -> str:
    """Return the pyproject.toml of a release: the course's own packages, but those that only a solution or a grader needs."""
    wanted = [one for one in ours["project"]["dependencies"] if _name(one) not in LEFT_OUT]
    lines = "".join(f'    "{one}",\n' for one in wanted)
    return (
        '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[project]\nname = "dcplab"\nversion = "{_version()}"\n'
        'description = "Whose slot is it? A closed book"\n'
        f'license = "Apache-2.0"\nrequires-python = ">=3.11"\ndependencies = [\n{lines}]\n\n'
        '[tool.setuptools.packages.find]\nwhere = ["src"]\n'
    )


def _name(requirement: str) -> str:
    from packaging.requirements import Requirement

    return Requirement(requirement).name


def _version() -> str:
    from dcplab import __version__

    return __version__


def _commit(folder: Path) -> None:
    """Commit the folder as it is: `git clone` gives each learner theirs, and the history knows nothing of ours."""
    who = {"GIT_AUTHOR_NAME": "course", "GIT_AUTHOR_EMAIL": "course@localhost"}
    who |= {"GIT_COMMITTER_NAME": "course", "GIT_COMMITTER_EMAIL": "course@localhost"}
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | who | {"GIT_CONFIG_GLOBAL": os.devnull}

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True)
        if done.returncode:
            raise CourseError(f"`git {words[0]}` failed in {folder}: {done.stderr.strip()[-300:]}")
        return done.stdout

    if not (folder / ".git").exists():
        git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    if git("status", "--porcelain"):
        git("commit", "--quiet", "--message", "The course as a closed book")


def _refuse_unless_ours(folder: Path) -> None:
    root = paths.root().resolve()
    if folder == root or root in folder.parents or folder in root.parents:
        raise CourseError(f"{folder} holds this checkout, or lies in it: give a folder outside it.")
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file; give a folder for the learners' checkout.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise CourseError(f"{folder} is not empty, and `./course release --learners` did not make it; give a new folder.")
