"""Kernel tests run interpreted on a CPU and, the same tests, compiled on a GPU."""

import pytest
import torch
from hypothesis import HealthCheck, settings

CUDA = torch.cuda.is_available()

# Compiled, each new set of compile-time values costs half a second, so a GPU run draws fewer of them.
settings.register_profile(
    "kernels",
    max_examples=12 if CUDA else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("kernels")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("gpu") and not CUDA:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device: it allocates gigabytes or measures the device"))


@pytest.fixture(scope="session")
def device() -> str:
    return "cuda" if CUDA else "cpu"
