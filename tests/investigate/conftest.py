import pytest

from dcplab.investigate import cases


@pytest.fixture(autouse=True)
def one_thread():
    """Small tensors, two cores, other workers: more threads only wait for each other."""
    with cases.one_thread():
        yield
