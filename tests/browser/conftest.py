"""One JupyterLab and one browser for the tests of a file. Without Chromium they skip, with the reason."""

import os
from pathlib import Path

import desk
import pytest


def pytest_collection_modifyitems(items):
    reason = None if desk.chromium() else "no Chromium on this machine: apt-get install chromium (./course test does, as root)"
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module")
def shots(tmp_path_factory) -> Path:
    """Where screenshots go: DCPLAB_SHOTS, else a folder of pytest's."""
    return Path(os.environ.get("DCPLAB_SHOTS") or tmp_path_factory.mktemp("shots"))


@pytest.fixture(scope="module")
def sitting(tmp_path_factory):
    with (
        desk.course(tmp_path_factory.mktemp("browser")),
        desk.served("01") as (url, notebook),
        desk.sitting(url, notebook) as it,
    ):
        yield it
