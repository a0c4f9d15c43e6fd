"""Nothing that is somebody's can be read: solutions, kernels, other notebooks, homes, the progress, by whatever door."""

from pathlib import Path

import dcp_kernels
import pytest
from attack import answer, did

import dcplab
from dcplab import paths

DOORS = {
    "open": "def attack():\n    return open(TARGET).read(20)",
    "os.open beside a folder": "import os\ndef attack():\n"
    "    return os.read(os.open(TARGET.lstrip('/'), 0, dir_fd=os.open('/', 0o10000000)), 20)",
    "torch.from_file": "def attack():\n    return torch.from_file(TARGET, size=4, dtype=torch.uint8).tolist()",
    "its place in /proc": "import os\ndef attack():\n    return open('/proc/self/root' + TARGET).read(20)",
    "a link": "import os\ndef attack():\n    os.symlink(TARGET, 'there')\n    return open('there').read(20)",
    "a hard link": "import os\ndef attack():\n    os.link(TARGET, 'there')\n    return open('there').read(20)",
    "a program": "import os\ndef attack():\n    return os.posix_spawn('/bin/cat', ['cat', TARGET], {})",
}


@pytest.fixture
def targets(course, tmp_path):
    notebook = tmp_path / "ben" / "a.ipynb"
    notebook.parent.mkdir()
    notebook.write_text("{}  the answer of somebody else")
    state = paths.state_dir()
    state.mkdir(exist_ok=True)
    (state / "progress.json").write_text("{}")
    return [
        paths.solutions() / "91_small" / "91_small.py",
        Path(dcp_kernels.__file__).parent / "index_space.py",
        Path(dcplab.__file__).parent / "codec.py",
        notebook,
        state / "progress.json",
    ]


@pytest.mark.parametrize("door", DOORS)
def test_a_file_of_others_is_closed(judged, targets, door):
    for target in targets:
        found = judged("91a", answer(DOORS[door], TARGET=str(target)))
        assert did(found).startswith("refused: ") or found.outcome == "crashed", (target, found.detail)


def test_a_notebook_beside_ones_own_is_closed_and_a_module_beside_it_is_not(small, tmp_path):
    from dcplab import checking
    from dcplab.notebook.extract import extract

    (tmp_path / "zoe.ipynb").write_text("{}  zoe's answer")
    (tmp_path / "helper_of_mine.py").write_text("D = 1\n")
    (tmp_path / "linked.py").symlink_to("/etc/hostname")
    source = answer("def attack():\n    return open(TARGET).read(20)", TARGET=str(tmp_path / "zoe.ipynb"))
    program = extract([*small.setup(), f"import helper_of_mine\n{source}"], "localize", folder=str(tmp_path))
    found = checking.check(small.key("91a"), program, seed=1)
    assert found.outcome == "passed" and "PermissionError" in did(found), found.detail
    source = answer("def attack():\n    return open(TARGET).read(20)", TARGET=str(tmp_path / "linked.py"))
    program = extract([*small.setup(), source], "localize", folder=str(tmp_path))
    assert "PermissionError" in did(checking.check(small.key("91a"), program, seed=1))


@pytest.mark.parametrize("name", ["dcplab.codec", "dcplab.judge.compare", "dcplab.course.catalog", "dcp_kernels.index_space"])
def test_a_module_of_the_course_is_closed_behind_the_rails_too(judged, name):
    found = judged("91a", answer(f"def attack():\n    import {name}\n    return {name}.__file__"))
    assert "PermissionError" in did(found) or "ModuleNotFoundError" in did(found), found.detail


@pytest.mark.slow
def test_secrets_of_the_environment_are_not_passed_on(judged, monkeypatch):
    from dcplab.sandbox import pool

    monkeypatch.setenv("HUB_API_TOKEN", "hush")
    pool.shutdown()
    found = judged("91a", answer("import os\ndef attack():\n    return [k for k in os.environ if 'TOKEN' in k]"))
    assert did(found) == "[]"
