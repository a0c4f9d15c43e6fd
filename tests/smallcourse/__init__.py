import shutil
from pathlib import Path

import pytest

from dcplab import checking, mode
from dcplab.course import catalog
from dcplab.notebook.extract import extract
from dcplab.sandbox import pool

COURSE = Path(__file__).parent / "course"


@pytest.fixture(scope="session", autouse=True)
def ready():
    """The checker's server is up, so that no test reads "Starting the checker" where it looks for a first line."""
    pool.run([], [], mode.current().name, own_s=60)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of its own, with one small lab in it, and a state folder of its own."""
    shutil.copytree(COURSE, tmp_path / "course")
    (tmp_path / "course" / "labs").mkdir()
    monkeypatch.setenv("DCPLAB_ROOT", str(tmp_path / "course"))
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    return tmp_path / "course"


@pytest.fixture
def small(course):
    return catalog.lab("91")


@pytest.fixture
def judged(small):
    """Judges a source as an answer to a part of the small lab."""

    def judge_it(part, source, seed=1, mode=None, kept=None):
        key = small.key(part)
        return checking.check(key, extract([*small.setup(), source], key.part.entry), seed=seed, mode=mode, kept=kept)

    return judge_it
