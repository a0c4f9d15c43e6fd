#!/usr/bin/env python3
"""Make pins.txt and environment.yml from pyproject.toml.

    scripts/pins.py                     resolve, keep each pin that still fits, write both files
    scripts/pins.py --upgrade [NAME]    resolve, take the newest that fits, of NAME or of everything
    scripts/pins.py --check             resolve nothing; say whether both files are what pyproject.toml and the pins give

The versions are uv's resolution for Linux and Python 3.11. There are no hashes: torch for the CPU and for CUDA are two files
under one version, which a hash would tell apart, and pip refuses an editable course as soon as one line has a hash.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS, CONDA = ROOT / "pins.txt", ROOT / "environment.yml"
OF_TORCH = re.compile(r"nvidia-|cuda-")  # what torch for CUDA pins to the digit itself
PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;#]+)")
KERNELS = "dcp-kernels"

PINS_HEAD = """\
# What ./course installs, to the digit. Made by scripts/pins.py: pyproject.toml says what may be installed and why each pin
# is here; docs/versions.md says what was tested where.
# Constraints, not requirements: a line takes effect only for a package that something asks for.
# CUDA's own packages are here only where the tests ask for them: torch pins each of its own.
"""

PINS_INDIRECT = """\
# What the packages above bring along, for Python 3.11 (their newest also runs on 3.12 and 3.13). Pinned so that a release
# elsewhere cannot break a class that was set up last week.
"""

CONDA_HEAD = """\
# For conda, mamba and micromamba users: the versions of pins.txt, by other means. Made by scripts/pins.py from pyproject.toml.
#   conda env create -f environment.yml && conda activate dcplab && dcplab lab
# The notebook stack comes from conda-forge; what must match to the digit for kernels comes from PyPI, as it does for ./course.
"""


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def canonical(name: str) -> str:
    """Return the spelling that PyPI compares."""
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(text: str) -> dict[str, str]:
    """Return the pinned version of each package that a file in pip's format names."""
    found = (PIN.match(line) for line in text.splitlines())
    return {canonical(match[1]): match[2] for match in found if match}


def reasons(settings: Mapping) -> dict[str, dict[str, str]]:
    """Group to (package to reason), in the order of pyproject.toml."""
    return settings["tool"]["dcplab"]["pins"]


def pins_text(settings: Mapping, pinned: Mapping[str, str]) -> str:
    """Write pins.txt: the packages with a reason by group, then all others by name."""
    groups = reasons(settings)
    width = 2 + max(len(f"{name}=={pinned[name]}") for group in groups.values() for name in group)
    named = [
        f"# {title}\n" + "".join(f"{f'{name}=={pinned[name]}':<{width}}# {why}\n" for name, why in group.items())
        for title, group in groups.items()
    ]
    with_reason = {name for group in groups.values() for name in group}
    others = [f"{name}=={version}\n" for name, version in sorted(pinned.items()) if name not in with_reason]
    return "\n".join([PINS_HEAD, *named, PINS_INDIRECT + "".join(others)])


def conda_text(settings: Mapping, pinned: Mapping[str, str]) -> str:
    """Write environment.yml: conda-forge's part, then pip's: every other dependency, the capped ones, the kernels, the
    course."""
    conda = settings["tool"]["dcplab"]["conda"]
    forge = {canonical(name) for name in conda["conda-forge"]}
    asked = [canonical(re.split(r"[<>=!~]", line)[0]) for line in settings["project"]["dependencies"]]
    by_pip = [name for name in asked if name not in forge and name != KERNELS]
    lines = [
        f"name: {settings['project']['name']}",
        "channels:",
        "  - conda-forge",
        "  - nodefaults",
        "dependencies:",
        f"  - python={conda['python']}",
        "  - pip",
        f"  - {conda['compiler']:<16}# TileLang's CPU target and Triton's launcher compile with it",
        *(f"  - {name}={pinned[canonical(name)]}" for name in conda["conda-forge"]),
        "  - pip:",
        *(f"      - {name}=={pinned[name]}" for name in [*by_pip, *conda["capped"]]),
        "      - -e ./kernels",
        "      - -e .",
    ]
    return CONDA_HEAD + "\n".join(lines) + "\n"


def made(pinned: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    settings = project()
    yield PINS, pins_text(settings, pinned)
    yield CONDA, conda_text(settings, pinned)


def resolve(upgrade: str | None) -> dict[str, str]:
    """Resolve what course, kernels, site and tests come to, by uv. ``upgrade``: a package that takes its newest, "" for all of
    them."""
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if uv is None:
        sys.exit("pins.py: resolving needs uv beside this Python or on the PATH; .venv/bin/python has one")
    words = {None: [], "": ["--upgrade"]}.get(upgrade, ["--upgrade-package", str(upgrade)])
    command = [uv, "pip", "compile", "--quiet", *words, "--extra", "site", "--extra", "test"]
    command += ["--python-version", "3.11", "--python-platform", "linux", "--no-header", "--no-annotate"]
    with tempfile.TemporaryDirectory() as folder:
        out = shutil.copy(PINS, folder)  # uv keeps each version that the file it writes to has
        subprocess.run(
            [*command, "--no-emit-package", KERNELS, "-o", out, "pyproject.toml", "-"],
            cwd=ROOT,
            input="uv",
            text=True,
            check=True,
        )
        found = versions(Path(out).read_text(encoding="utf-8"))
    with_reason = {name for group in reasons(project()).values() for name in group}
    return {name: version for name, version in found.items() if name in with_reason or not OF_TORCH.match(name)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--upgrade", nargs="?", const="", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    pinned = versions(PINS.read_text(encoding="utf-8")) if args.check else resolve(args.upgrade)
    stale = [(path, text) for path, text in made(pinned) if path.read_text(encoding="utf-8") != text]
    for path, text in stale:
        if not args.check:
            path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {'is not what pyproject.toml gives' if args.check else 'written'}")
    return 1 if args.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
