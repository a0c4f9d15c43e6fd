import shutil
from pathlib import Path

import pytest
from tinycourse import course, write_course  # noqa: F401 - a fixture

from dcplab.author import build, execute
from dcplab.author.release import release
from dcplab.course import catalog

WORKSHOP = Path(__file__).parents[2] / "workshop"


@pytest.fixture
def seeded(course):  # noqa: F811
    """The tiny course with a first part whose answer names its learner's seed."""
    part = course / "solutions" / "01_tiny" / "parts" / "1a.py"
    driver = "def told(entry, loc, dcp_size):\n    return {'seed': entry(), 'owner': loc % dcp_size}\n\n"
    judged = 'oracle=lambda loc, d: loc % d, compare=lambda case, got, want: None if got["owner"] == want else "Other.", '
    given = f"id='1a', drive=told, {judged} seed_of=lambda got: got['seed'],"
    part.write_text(part.read_text().replace("id='1a',", given).replace("PART = ", driver + "PART = "))
    return build.make(catalog.lab("01")).learner


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """A released nbgrader course of the tiny lab: made once, copied for each test."""
    home = tmp_path_factory.mktemp("released")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCPLAB_ROOT", str(write_course(home / "course")))
        patch.setenv("DCPLAB_STATE", str(home / "state"))
        shutil.copytree(WORKSHOP, home / "course" / "workshop")
        release(home / "nbgrader", catalog.labs(), False, lambda line: None)
    return home / "nbgrader"


@pytest.fixture
def tiny(course, tmp_path, released):  # noqa: F811
    shutil.copytree(WORKSHOP, course / "workshop")
    return shutil.copytree(released, tmp_path / "nbgrader")


@pytest.fixture
def solved(course):  # noqa: F811
    return execute.readable(build.make(catalog.lab("01")).source)
