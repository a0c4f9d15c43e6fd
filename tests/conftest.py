"""Once a process, before anything imports Triton: interpret on a machine without a GPU, compile on one with."""

import os
import signal
import tempfile

import pytest
import torch

from dcplab import ended

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")

# No test, and no process that one starts, may touch the progress of whoever runs the tests.
_state = tempfile.TemporaryDirectory(prefix="dcplab-test-state-")
os.environ["DCPLAB_STATE"] = _state.name

# A shell starts what runs in its background with Ctrl-C ignored, and children inherit that; ours are sent Ctrl-C on purpose.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


FREE = ("tests/test_bank", "tests/kernels/test_tl_compile.py")


def pytest_exception_interact(node, call):
    """A test that costs this process its CUDA context is the last one: those after it would fail whatever they test."""
    if call.excinfo and torch.cuda.is_available() and (lost := ended.lost(str(call.excinfo.value))):
        node.session.shouldstop = f"{ended.poisoned(lost)} No test after {node.nodeid} was run."


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """`--dist loadfile`, but what shares nothing and takes long goes to whichever worker is free: banks, nvcc's runs."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(FREE) else super()._split_scope(nodeid)

    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None
