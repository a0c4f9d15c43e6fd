import pytest

from dcplab.engine import threads


@pytest.fixture(autouse=True)
def one_thread():
    """Small tensors, two cores, other workers: more threads only wait for each other."""
    with threads.one_thread():
        yield
