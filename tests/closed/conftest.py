"""One released checkout for all tests of a closed book."""

import pytest

from dcplab.closed import release
from dcplab.course import catalog


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("closed") / "book"
    release.release(folder, catalog.labs(), lambda text: None)
    return folder
