"""pyproject.toml (what may be), pins.txt (what ./course installs) and environment.yml (the same for conda) say one thing."""

import importlib.metadata
import importlib.util
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
ALL = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
RUNTIME = [wanted for wanted in ALL if wanted.name != "dcp-kernels"]  # the one that lies in this checkout
EXTRAS = [Requirement(line) for lines in PROJECT["project"]["optional-dependencies"].values() for line in lines]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s#]+)(?:\s+# (?P<why>.+))?")
_spec = importlib.util.spec_from_file_location("pins_script", ROOT / "scripts" / "pins.py")
pins_script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pins_script)
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


@pytest.mark.parametrize("wanted", [*RUNTIME, *EXTRAS], ids=lambda r: r.name)
def test_every_dependency_has_a_pin_in_its_range_with_a_reason(wanted):
    version, why = pins()[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(version) and why


@pytest.mark.parametrize("wanted", RUNTIME, ids=lambda r: r.name)
def test_the_range_has_a_floor_and_a_ceiling(wanted):
    operators = {part.operator for part in wanted.specifier}
    assert operators in ({"=="}, {">=", "<"})


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
    forge = {canonicalize_name(name) for name in conda}
    here = (forge | set(by_pip)) - {"python", "pip", "gxx", *INDIRECT}
    assert here == {canonicalize_name(r.name) for r in RUNTIME} and not forge & set(by_pip)
    assert pip[-2:] == ["-e ./kernels", "-e ."], "the course itself comes last, when all that it asks for is there"


def test_both_files_are_what_pyproject_gives():
    for path, text in pins_script.made(pins_script.versions((ROOT / "pins.txt").read_text())):
        assert path.read_text() == text, f"{path.name}: scripts/pins.py makes it anew"


def test_a_pin_in_the_wrong_place_or_with_another_reason_is_found():
    settings = pins_script.project()
    pinned = {name: version for name, (version, _) in pins().items()}
    text = pins_script.pins_text(settings, pinned)
    assert pins_script.versions(text) == pinned
    assert f"torch=={pinned['torch']} " in text and "psutil==9.9" in pins_script.pins_text(settings, pinned | {"psutil": "9.9"})
    assert f"plotly={pinned['plotly']}\n" in pins_script.conda_text(settings, pinned)


def test_the_kernels_ask_for_the_ranges_of_the_course():
    alone = tomllib.loads((ROOT / "kernels" / "pyproject.toml").read_text())["project"]
    assert {str(Requirement(line)) for line in alone["dependencies"]} <= {str(wanted) for wanted in RUNTIME}
    assert alone["requires-python"] == PROJECT["project"]["requires-python"]


def test_the_course_asks_for_the_kernels_that_lie_beside_it():
    """A name that only this checkout serves is asked for with its version, so that no index can slip another one in."""
    import dcp_kernels

    assert [str(w) for w in ALL if w.name == "dcp-kernels"] == [f"dcp-kernels=={dcp_kernels.__version__}"]


def test_whatever_an_installed_package_asks_for_is_pinned():
    """Follows the metadata of what is installed here: a package without a pin would come from an index as it is that day."""
    ours, seen, todo = pins(), set(), [*RUNTIME, *EXTRAS]
    while todo:
        wanted = todo.pop()
        name = canonicalize_name(wanted.name)
        if name in seen or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        try:
            todo += map(Requirement, importlib.metadata.requires(wanted.name) or ())
        except importlib.metadata.PackageNotFoundError:
            continue
        if not re.match("nvidia-|cuda-", name):
            assert name in ours, f"{name} is asked for and not pinned"
    assert {"torch", "markupsafe"} <= seen


def test_conda_gets_a_python_in_the_range_and_no_paid_channel():
    conda, _ = conda_specs()
    assert SpecifierSet(PROJECT["project"]["requires-python"]).contains(conda["python"])
    assert CONDA["channels"] == ["conda-forge", "nodefaults"] and CONDA["name"] == PROJECT["project"]["name"]


@pytest.mark.parametrize(("folder", "package"), [("src", "dcplab"), ("kernels", "dcp_kernels")])
def test_every_folder_is_in_its_distribution(folder, package):
    from setuptools import find_packages

    found = set(find_packages(str(ROOT / folder), include=[f"{package}*"]))
    for file in (ROOT / folder / package).rglob("*.py"):
        name = ".".join(file.parent.relative_to(ROOT / folder).parts)
        assert name in found, f"{file.relative_to(ROOT)} lies in a folder without __init__.py"
    assert package in found


def test_what_is_installed_is_what_is_pinned():
    if not (Path(sys.prefix) / ".course-stamp").exists():
        pytest.skip("this environment was not made by ./course, so its versions are its own affair")
    for wanted in RUNTIME:
        version = Version(importlib.metadata.version(wanted.name))
        assert version.public == pins()[canonicalize_name(wanted.name)][0], wanted.name


def test_no_package_index_and_no_machine_is_named():
    checked = ["course", ".ci/run", "pins.txt", "pyproject.toml", "kernels/pyproject.toml", "environment.yml"]
    checked += [str(path.relative_to(ROOT)) for path in (*(ROOT / "scripts").iterdir(), *(ROOT / ".github").rglob("*.yml"))]
    for name in checked:
        text = (ROOT / name).read_text() if (ROOT / name).is_file() else ""
        text = text.replace("https://github.com/sgl-project/sglang/issues/36886", "")  # what [project.urls] cites
        assert not re.search(r"https?://|--(extra-)?index-url|/opt/|/work/|/home/", text), name
