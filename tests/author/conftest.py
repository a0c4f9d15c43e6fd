"""A course of one tiny lab, in a folder of its own."""

from pathlib import Path

import pytest
from tinycourse import write_course


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("DCPLAB_ROOT", str(tmp_path / "course"))
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    return write_course(tmp_path / "course")
