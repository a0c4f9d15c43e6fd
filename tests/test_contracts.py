"""What scripts/check holds is what the documents say, and it finds what it is there to find."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]


def test_the_architecture_draws_the_layers_that_are_held():
    section = (ROOT / "docs" / "architecture.md").read_text().partition("## Who may import whom")[2].partition("\n## ")[0]
    drawn = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    assert drawn == [layer.replace("dcplab.", "") for layer in LAYERS]


def test_every_module_has_a_layer():
    """A new folder or module would else be outside the contract, and nobody would notice."""
    named = {name.strip().removeprefix("dcplab.") for layer in LAYERS for name in layer.split("|")}
    apart = {"__init__", "__main__", "doctor_probes"}  # the last one is run by the doctor as a program
    for path in sorted((ROOT / "src" / "dcplab").iterdir()):
        if path.suffix == ".py" or (path / "__init__.py").exists():
            inside = (
                {f"{path.name}.{part.stem}" for part in path.glob("*.py") if part.stem != "__init__"}
                if path.is_dir()
                else set()
            )
            assert path.stem in named | apart or (inside and inside <= named), path.name


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """What scripts/check looks at, where it can be broken. The packages that it calls are those of this Python."""
    folder = tmp_path_factory.mktemp("copy")
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0")
    for name in names:
        if name.endswith((".py", ".toml", ".txt", ".yml", ".md", "check")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


BROKEN = {
    "src/dcplab/errors.py": ("import os,sys\n", "ruff check"),
    "src/dcplab/paths.py": ("x = [1,2]\n", "ruff format"),
    "src/dcplab/mode.py": ("from dcplab import lab as _lab  # noqa: E402, F401\n", "lint-imports"),
    "src/dcplab/ended.py": ("def _wrong(x: int) -> str:\n    return x\n", "mypy"),
    "src/dcplab/doctor.py": ("import yaml  # noqa: E402, F401\n", "deptry"),
    "environment.yml": ("  - six\n", "pins.py"),
}


@pytest.mark.slow
def test_every_break_of_a_contract_is_named(copy):
    kept = {name: (copy / name).read_text() for name in BROKEN}
    for name, (line, _) in BROKEN.items():
        (copy / name).write_text(kept[name] + line)
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([copy / "scripts/check"], env=env, capture_output=True, text=True)
    told = [line for line in done.stderr.splitlines() if line.startswith("scripts/check:")]
    assert done.returncode == 1
    for name, (_, tool) in BROKEN.items():
        assert any(tool in line for line in told), f"{name}: {tool} did not notice; {told}"
