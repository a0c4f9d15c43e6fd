"""What scripts/check holds is what the documents say, and it finds what it is there to find."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
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


# Where text is escaped or aligned outside present/; docs/architecture.md says why.
ESCAPES, ALIGNS = {"viz/core/svg.py", "closed/front/film.py"}, {"engine/incident_report.py"}


def test_text_is_escaped_and_aligned_in_present_alone():
    def calls(path: Path) -> set[str]:
        found = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        return {
            f"{getattr(f.value, 'id', '')}.{f.attr}" if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in found
        }

    package = ROOT / "src" / "dcplab"
    said = {p.relative_to(package).as_posix(): calls(p) for p in package.rglob("*.py")}
    outside = {name: all_of for name, all_of in said.items() if not name.startswith("present/")}
    assert {name for name, all_of in outside.items() if all_of & {"escape", "html.escape", "markupsafe.escape"}} == ESCAPES
    assert {name for name, all_of in outside.items() if any(c.endswith((".ljust", ".rjust")) for c in all_of)} == ALIGNS


MODULES = sorted(path for top in ("src/dcplab", "kernels/dcp_kernels") for path in (ROOT / top).rglob("*.py"))
MOST_ARGUMENTS, MOST_LINES = 6, 400
# A function with more arguments, or a longer module, and why. None that is mended may stay here, and the engine's are to go.
MORE_ARGUMENTS = {
    "assemble_ragged": "a kernel's operands, as exercises fix them",
    "indexer_logits_paged": "a kernel's operands",
    "indexer_logits_ragged": "a kernel's operands",
    "prepare": "the operands of two kernels, checked in one place",
    "sparse_mla_decode": "a kernel's operands",
    "sparse_mla_extend": "a kernel's operands",
    "tile": "static parameters of a kernel, by keyword",
    "token_journey": "a public picture's settings, each with a default",
    "token_journey_picture": "the same",
    "owner_table": "the same",
    "retraction": "the same",
    "trace": "what a list of accesses is asked by, each by keyword",
    "make": "the state behind those",
    "serve": "a served wiring's settings, by keyword",
    "_server": "the same; to go",
    "story": "an incident's settings, each with a default; to go",
    "use": "an access of the watcher; to go",
    "_note": "an access of the watcher; to go",
    "_wrong": "an access of the watcher; to go",
    "Runner.__init__": "a server's parts; to go",
    "Engine.__init__": "a server's switches, by keyword",
}
LONG = {
    "tl_topk_sampled.py": "three kernels of the same pieces, which are closed over one shape",
    "tl_indexer.py": "four kernels of one contract, each beside the tile it shares with the others",
}


def functions(tree, inside=""):
    """Yield (name, function) but for what a kernel's compiler reads: it takes each buffer and stride apart."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            if any(word in ast.unparse(d) for d in node.decorator_list for word in ("triton.jit", "T.prim_func", "T.macro")):
                continue
            yield f"{inside}{node.name}" if node.name == "__init__" else node.name, node
        yield from functions(node, f"{node.name}." if isinstance(node, ast.ClassDef) else inside)


def test_no_two_modules_of_tests_share_a_name():
    """Pytest imports a module outside a package by its bare name: of two alike it can collect one."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py") if not (path.parent / "__init__.py").exists())
    assert not [name for name, times in names.items() if times > 1]


def test_no_function_has_more_than_six_arguments_but_those_with_a_reason():
    many = set()
    for path in MODULES:
        for name, node in functions(ast.parse(path.read_text())):
            a = node.args
            count = len([arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs) if arg.arg not in ("self", "cls")])
            many |= {name} if count > MOST_ARGUMENTS else set()
    assert many == set(MORE_ARGUMENTS)


def test_no_module_is_long_but_those_with_a_reason():
    assert {path.name for path in MODULES if len(path.read_text().splitlines()) > MOST_LINES} == set(LONG)


def test_every_host_function_of_the_kernels_is_typed():
    """mypy would hold this, but knows no way to pass over a device function, whose annotations are its compiler's."""
    for path in sorted((ROOT / "kernels" / "dcp_kernels").rglob("*.py")):
        for name, node in functions(ast.parse(path.read_text())):
            a = node.args
            given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
            assert node.returns and all(arg.annotation or arg.arg in ("self", "cls") for arg in given), f"{path.name}: {name}"


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
    if (ROOT / ".mypy_cache").is_dir():  # what scripts/check has just left there spares a quarter of a minute
        shutil.copytree(ROOT / ".mypy_cache", copy / ".mypy_cache")
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([copy / "scripts/check"], env=env, capture_output=True, text=True)
    told = [line for line in done.stderr.splitlines() if line.startswith("scripts/check:")]
    assert done.returncode == 1
    for name, (_, tool) in BROKEN.items():
        assert any(tool in line for line in told), f"{name}: {tool} did not notice; {told}"
