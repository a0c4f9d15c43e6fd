"""One JupyterLab and one browser for the tests of lab 01."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def shots(tmp_path_factory) -> Path:
    """Where screenshots go: DCPLAB_SHOTS, else a folder of pytest's."""
    return Path(os.environ.get("DCPLAB_SHOTS") or tmp_path_factory.mktemp("shots"))


@pytest.fixture(scope="module")
def sitting(house):
    with house.lab("01") as it:
        yield it
