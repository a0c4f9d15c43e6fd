"""One JupyterLab and one browser for the tests of lab 01."""

import os
from pathlib import Path

import desk
import pytest

from dcplab import jupyterlab


@pytest.fixture(scope="module")
def shots(tmp_path_factory) -> Path:
    """Where screenshots go: DCPLAB_SHOTS, else a folder of pytest's."""
    return Path(os.environ.get("DCPLAB_SHOTS") or tmp_path_factory.mktemp("shots"))


@pytest.fixture(scope="module")
def sitting(tmp_path_factory):
    with desk.course(tmp_path_factory.mktemp("browser")):
        notebook = jupyterlab.notebook_ready(jupyterlab.choose("01"))
        with desk.served(notebook) as url, desk.sitting(url, notebook) as it:
            yield it
