"""Writes a course for nbgrader: sources, released assignments, gradebook and configuration, ready for submissions."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from dcplab import paths
from dcplab.author import build
from dcplab.author.notebook import to_text
from dcplab.errors import CourseError

CONFIG = "nbgrader_config.py"


def release(folder: Path, labs: Sequence, update: bool, say: Callable[[str], None]) -> None:
    """Make, or with ``update`` renew, the course in ``folder``. Submissions, grades and an edited configuration stay."""
    _refuse_unless_ours(folder, update)
    folder.mkdir(parents=True, exist_ok=True)
    # Otherwise everybody on the machine could read the solutions in source/ and change grades in gradebook.db.
    folder.chmod(0o700)
    if not (folder / CONFIG).exists():
        shutil.copy(paths.root() / "workshop" / CONFIG, folder / CONFIG)
    for lab in labs:
        say(f"{lab.name}: nbgrader makes the release ...")
        made = build.make(lab)
        path = folder / "source" / lab.name / f"{lab.name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(to_text(made.source), encoding="utf-8")
        nbgrader(folder, "generate_assignment", lab.name, "--force")
        released = folder / "release" / lab.name / f"{lab.name}.ipynb"
        if released.read_text(encoding="utf-8") != to_text(made.learner):
            raise CourseError(f"{released} differs from what `dcplab build` makes; is {CONFIG} changing how nbgrader releases?")
        say(f"{lab.name}: source/ and release/ written, {len(lab.parts)} graded cells in the gradebook")
    # All labs of the course, also those that an update of a single lab does not touch.
    names = "\n".join(f"- `{lab.name}`" for lab in sorted((folder / "source").iterdir()) if lab.is_dir())
    readme = (paths.root() / "workshop" / "course_readme.md").read_text(encoding="utf-8")
    readme = readme.replace("{labs}", names).replace("{bin}", shlex.quote(str(Path(sys.executable).parent)))
    (folder / "README.md").write_text(readme, encoding="utf-8")


def nbgrader(folder: Path, *words: str) -> str:
    """Run an nbgrader command in the course and return its output. ``CourseError`` gives its first error."""
    command = [sys.executable, "-m", "nbgrader", *words]
    # nbgrader starts `alembic` by name. It lies beside this Python, whose folder need not be on the PATH.
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, errors="replace")
    if done.returncode:
        errors = [line.split("ERROR]")[-1].strip() for line in done.stderr.splitlines() if "ERROR]" in line or "Error:" in line]
        raise CourseError(f"`nbgrader {' '.join(words)}` failed: {errors[0] if errors else done.stderr.strip()[-300:]}")
    return done.stdout + done.stderr


def _refuse_unless_ours(folder: Path, update: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file; give a folder for the course.")
    if paths.root() == folder.resolve() or paths.root() in folder.resolve().parents:
        raise CourseError(f"{folder} is inside this checkout, where a commit could publish grades; give a folder outside.")
    ours = (folder / CONFIG).exists()
    if update and not ours:
        raise CourseError(f"{folder} holds no nbgrader course to update; leave --update out to make one.")
    if not update and folder.exists() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; " + ("--update renews the course in it." if ours else "give a new folder."))
