"""Both distributions, built and used alone: the kernels without the course, engine and commands without a checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # distributions are built

ROOT = Path(__file__).parents[1]
BUILD = "import sys; from setuptools.build_meta import build_wheel; print(build_wheel(sys.argv[1]))"


def unpacked(source: Path, parts: tuple[str, ...], folder: Path) -> Path:
    """The wheel of a copy of ``source``'s parts, unpacked where nothing else of the checkout is."""
    copy, out = folder / "copy", folder / "out"
    out.mkdir()
    for name in parts:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source / name, copy / name)
    done = subprocess.run([sys.executable, "-c", BUILD, str(out)], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def python(site: Path, *words: str) -> subprocess.CompletedProcess:
    env = {k: v for k, v in os.environ.items() if not k.startswith("DCPLAB_")}
    path = os.pathsep.join([str(site), *([str(ROOT / "kernels")] if site.parent.name.startswith("course") else [])])
    env |= {"PYTHONPATH": path, "TRITON_INTERPRET": "1"}
    return subprocess.run([sys.executable, *words], cwd=site, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory) -> Path:
    return unpacked(ROOT / "kernels", ("pyproject.toml", "dcp_kernels"), tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return unpacked(ROOT, ("pyproject.toml", "README.md", "src"), tmp_path_factory.mktemp("course"))


def test_the_kernels_come_alone(kernels):
    assert {path.name for path in kernels.iterdir() if path.suffix != ".dist-info"} == {"dcp_kernels"}
    sources = {path.relative_to(ROOT / "kernels") for path in (ROOT / "kernels" / "dcp_kernels").rglob("*.py")}
    assert sources == {path.relative_to(kernels) for path in kernels.rglob("*.py")}


def test_the_kernels_compute_without_the_course(kernels):
    code = (
        "import sys, torch, dcp_kernels, dcp_kernels.index_space as space\n"
        "rows = space.localize_page_table(torch.tensor([0, 5, 8, -1]), 1, 4)\n"
        "print(dcp_kernels.__file__, rows.tolist(), 'dcplab' in sys.modules)\n"
    )
    done = python(kernels, "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(maxsplit=1) == [str(kernels / "dcp_kernels/__init__.py"), "[-1, 1, -1, -1] False\n"]


def test_the_engine_needs_no_checkout(course):
    code = (
        "import sys, dcplab.engine.scheduler as here\n"
        "print(here.__file__)\n"
        "print(*sorted(n for n in sys.modules if n.startswith('dcplab.') and n.count('.') == 1))\n"
    )
    done = python(course, "-c", code)
    assert done.returncode == 0, done.stderr
    where, modules = done.stdout.splitlines()
    assert where.startswith(str(course)) and set(modules.split()) <= {"dcplab.engine", "dcplab.errors"}


@pytest.mark.parametrize("words", [("check", "1a"), ("lab",), ("progress",), ("build", "--check")])
def test_outside_a_checkout_a_command_says_so_in_one_sentence(course, words):
    done = python(course, "-m", "dcplab", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "course: This dcplab is not in a checkout of the course; set DCPLAB_ROOT to one, or use ./course there.\n"
    )


def test_outside_a_checkout_a_script_says_so_in_one_sentence(course):
    done = python(course, "-c", "from dcplab import lab\nlab.check('1a')")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "This dcplab is not in a checkout of the course; set DCPLAB_ROOT to one, or use ./course there.\n"


def test_a_script_shows_where_any_other_error_was_raised(course):
    done = python(course, "-c", "from dcplab import lab\n{}['gone']")
    assert done.returncode == 1 and done.stderr.startswith("Traceback") and done.stderr.endswith("KeyError: 'gone'\n")


def test_a_root_that_is_no_folder_is_said(course, tmp_path):
    env = os.environ | {"DCPLAB_ROOT": str(tmp_path / "gone")}
    done = subprocess.run([sys.executable, "-m", "dcplab", "check", "1a"], env=env, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr == f"course: DCPLAB_ROOT names {tmp_path / 'gone'}, which is no folder.\n"
