"""Brings a checkout up to date without losing a word that a learner has written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat

from dcplab.author.carry import carry
from dcplab.author.notebook import to_text
from dcplab.errors import CourseError
from dcplab.notebook import backup


def update(root: Path, say: Callable[[str], None]) -> None:
    """Fetch, move the branch forward if nothing of the learner's is in the way, and carry their answers along."""
    upstream = _upstream(root)
    say(f"Fetching {upstream} ...")
    fetched = _git(root, "fetch", "--quiet", check=False)
    if fetched.returncode:
        raise CourseError(f"the course's remote cannot be reached ({_last(fetched.stderr)}); nothing was changed.")
    target = _git(root, "rev-parse", "@{u}").stdout.strip()
    if _git(root, "merge-base", "--is-ancestor", target, "HEAD", check=False).returncode == 0:
        say("Already up to date.")
        return
    if _git(root, "merge-base", "--is-ancestor", "HEAD", target, check=False).returncode:
        own = _git(root, "rev-list", "--count", f"{target}..HEAD").stdout.strip()
        raise CourseError(
            f"this checkout has {own} commits that {upstream} has not, so it cannot simply move forward; "
            f"merge by hand (`git merge {upstream}`). Nothing was changed."
        )
    old = _git(root, "rev-parse", "HEAD").stdout.strip()
    changed_there = set(_paths(root, "diff", "--name-only", "-z", "--no-renames", old, target))
    changed_here = set(_paths(root, "diff", "--name-only", "-z", "--no-renames", "HEAD"))
    here_too = changed_here & changed_there
    notebooks = sorted(name for name in here_too if name.startswith("labs/") and name.endswith(".ipynb"))
    if others := sorted(here_too - set(notebooks)):
        raise CourseError(
            f"you changed {', '.join(others)}, and so does the update; put yours aside first. Nothing was changed."
        )
    mine = {name: (root / name).read_bytes() for name in notebooks if (root / name).exists()}
    for name in mine:
        say(f"{name}: your copy is kept as {backup.keep(root / name)}")
    try:
        if notebooks:
            _git(root, "checkout", "--quiet", "HEAD", "--", *notebooks)
        _git(root, "merge", "--ff-only", "--quiet", target)
    except BaseException:
        for name, data in mine.items():
            (root / name).write_bytes(data)
        raise
    for name, data in mine.items():
        say(f"{name}: {_bring(root, name, data, old)}")
    say(f"Updated to {target[:9]}: {len(changed_there)} files changed. CHANGELOG.md says what is new.")


def _bring(root: Path, name: str, data: bytes, old: str) -> str:
    """Write the learner's cells into the new notebook and return a sentence on what was carried."""
    path = root / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return "the course no longer has this notebook; yours stays as it is"
    try:
        mine = nbformat.reads(data.decode("utf-8"), as_version=4)
        base = nbformat.reads(_git(root, "show", f"{old}:{name}").stdout, as_version=4)
        merged, carried = carry(mine, base, nbformat.read(path, as_version=4))
    except Exception as error:  # the learner's copy may hold anything; it lies in the backups
        return f"your copy could not be read ({type(error).__name__}); the new notebook is in its place"
    path.write_text(to_text(merged), encoding="utf-8")
    return (
        f"your answers to {', '.join(carried)} are in the new notebook"
        if carried
        else "the new notebook; there was no answer to carry"
    )


def _upstream(root: Path) -> str:
    top = _git(root, "rev-parse", "--show-toplevel", check=False)
    if "dubious ownership" in top.stderr:  # git's message for a checkout that another user made
        raise CourseError("this checkout belongs to another user, and only they can update it; work in a clone of your own.")
    if top.stdout.strip() != str(root.resolve()):
        raise CourseError(
            "this copy of the course is not a git checkout, so there is nothing to update it from; clone it anew."
        )
    if not _git(root, "remote").stdout.strip():
        raise CourseError("this checkout has no git remote to update from; add one with `git remote add origin URL`.")
    found = _git(root, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{u}", check=False)
    if found.returncode:
        raise CourseError("this branch follows no branch of a remote; `git branch --set-upstream-to origin/main` sets one.")
    return found.stdout.strip()


def _git(root: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            env=os.environ | {"LC_ALL": "C"},  # git's sentences are read here, so they must not be translated
        )
    except FileNotFoundError:
        raise CourseError("git is not installed here, and updates come by git.") from None
    if check and done.returncode:
        raise CourseError(f"git could not do it ({_last(done.stderr)}); your files are as they were.")
    return done


def _paths(root: Path, *words: str) -> list[str]:
    return [name for name in _git(root, *words).stdout.split("\0") if name]


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "git said nothing"
