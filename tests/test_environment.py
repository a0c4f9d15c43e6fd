"""pyproject.toml (what may be), pins.txt (what ./course installs) and environment.yml (the same for conda) say one thing."""

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from rattler import MatchSpec

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
TEST = [Requirement(line) for line in PROJECT["project"]["optional-dependencies"]["test"]]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s#]+)(?:\s+# (?P<why>.+))?")
INDIRECT = ("apache-tvm-ffi", "z3-solver")  # not asked for by name, but capped by tilelang: facts of its wheel


def pins() -> dict[str, tuple[str, str | None]]:
    """Name to (version, why)."""
    lines = [line for line in (ROOT / "pins.txt").read_text().splitlines() if line and not line.startswith("#")]
    found = [PIN.fullmatch(line) for line in lines]
    assert all(found), [line for line, match in zip(lines, found, strict=True) if not match]
    names = [canonicalize_name(match["name"]) for match in found]
    assert len(set(names)) == len(names), "a package is pinned twice"
    return {name: (match["version"], match["why"]) for name, match in zip(names, found, strict=True)}


def conda_specs() -> tuple[dict[str, str | None], list[str]]:
    """Conda's own lines, name to version, and the lines of its pip part."""
    lines = [line for line in CONDA["dependencies"] if isinstance(line, str)]
    (pip,) = [part["pip"] for part in CONDA["dependencies"] if isinstance(part, dict)]
    specs = [MatchSpec(line, strict=True) for line in lines]
    return {spec.name.normalized: line.partition("=")[2] or None for spec, line in zip(specs, lines, strict=True)}, pip


@pytest.mark.parametrize("wanted", [*RUNTIME, *TEST], ids=lambda r: r.name)
def test_every_dependency_has_a_pin_in_its_range_with_a_reason(wanted):
    version, why = pins()[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(version) and why


@pytest.mark.parametrize("wanted", RUNTIME, ids=lambda r: r.name)
def test_the_range_has_a_floor_and_a_ceiling(wanted):
    operators = {part.operator for part in wanted.specifier}
    assert operators == {"=="} or operators == {">=", "<"}


def test_the_pins_the_kernels_depend_on():
    fixed = {"torch": "2.13.0", "triton": "3.7.1", "tilelang": "0.1.15", "apache-tvm-ffi": "0.1.12", "z3-solver": "4.15.4.0"}
    assert {name: pins()[name][0] for name in fixed} == fixed
    assert pins()["jupyterlab"][0].startswith("4.6.") and pins()["plotly"][0].startswith("7.1.")
    assert pins()["ipywidgets"][0].startswith("8.1.") and pins()["nbgrader"][0] == "0.9.6"


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("torch", "2.11.0"),
        ("torch", "2.13.0"),
        ("triton", "3.6.0"),
        ("triton", "3.7.1"),
        ("numpy", "2.4.6"),
        ("numpy", "2.5.2"),
    ],
)
def test_the_range_takes_in_both_machines_that_were_tested(name, version):
    assert next(r for r in RUNTIME if r.name == name).specifier.contains(version)


def test_python_runs_from_311_on():
    assert SpecifierSet(PROJECT["project"]["requires-python"]).contains("3.11.0")


def test_what_needs_numpy_and_anywidget_does_not_say_so_but_we_do():
    assert {"numpy", "anywidget"} <= {r.name for r in RUNTIME}


def test_conda_gets_the_same_set():
    conda, pip = conda_specs()
    by_pip = {canonicalize_name(Requirement(line).name): Requirement(line) for line in pip if not line.startswith("-")}
    here = (set(conda) | set(by_pip)) - {"python", "pip", "gxx", *INDIRECT}
    assert here == {canonicalize_name(r.name) for r in RUNTIME} and not set(conda) & set(by_pip)
    assert pip[-1] == "-e .", "the course itself comes last, when all that it asks for is there"


def test_conda_gets_the_same_versions():
    conda, pip = conda_specs()
    for name, version in conda.items():
        if name not in ("python", "pip", "gxx"):
            assert version == pins()[name][0], name
    for line in pip[:-1]:
        wanted = Requirement(line)
        assert str(wanted.specifier) == "==" + pins()[canonicalize_name(wanted.name)][0], line


def test_conda_gets_a_python_in_the_range_and_no_paid_channel():
    conda, _ = conda_specs()
    assert SpecifierSet(PROJECT["project"]["requires-python"]).contains(conda["python"])
    assert CONDA["channels"] == ["conda-forge", "nodefaults"] and CONDA["name"] == PROJECT["project"]["name"]


def test_both_packages_are_found_with_every_folder_in_them():
    from setuptools import find_packages

    where = PROJECT["tool"]["setuptools"]["packages"]["find"]["where"]
    found = {package for folder in where for package in find_packages(str(ROOT / folder))}
    for folder in where:
        for file in (ROOT / folder).rglob("*.py"):
            package = ".".join(file.parent.relative_to(ROOT / folder).parts)
            assert package in found, f"{file.relative_to(ROOT)} lies in a folder without __init__.py"
    assert {"dcplab", "dcplab.commands", "dcp_kernels"} <= found


def test_what_is_installed_is_what_is_pinned():
    if not (Path(sys.prefix) / ".course-stamp").exists():
        pytest.skip("this environment was not made by ./course, so its versions are its own affair")
    for wanted in RUNTIME:
        version = Version(importlib.metadata.version(wanted.name))
        assert version.public == pins()[canonicalize_name(wanted.name)][0], wanted.name


def test_no_package_index_and_no_machine_is_named():
    for name in ("course", ".ci/run", "pins.txt", "pyproject.toml", "environment.yml"):
        text = (ROOT / name).read_text()
        assert not re.search(r"https?://|--(extra-)?index-url|/opt/|/work/|/home/", text), name
