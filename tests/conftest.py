"""Once a process, before anything imports Triton: interpret on a machine without a GPU, compile on one with."""

import gc
import json
import os
import resource
import signal
import tempfile
from pathlib import Path

import pytest

# The workers share the cores: a thread more would only wait for the others', and take eight times as long over small tensors.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DCPLAB_GPU_TURNS", "4")  # both workers have stand-ins for a GPU, and one queue

from dcplab import ended

# No test, and no process that one starts, may touch the progress of whoever runs the tests.
_state = tempfile.TemporaryDirectory(prefix="dcplab-test-state-")
os.environ["DCPLAB_STATE"] = _state.name

# A shell starts what runs in its background with Ctrl-C ignored, and children inherit that; ours are sent Ctrl-C on purpose.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Decide how Triton runs, in each process that has tests. The one that deals them out to workers need not import torch."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    import torch

    if not torch.cuda.is_available():
        os.environ.setdefault("TRITON_INTERPRET", "1")


# Share nothing and take long: each test goes to whichever worker is free.
FREE = (
    "tests/test_bank",
    "tests/test_lab05.py",
    "tests/test_jupyterlab.py",
    "tests/sandbox/test_gpu_diagnosis.py",
    "tests/sandbox/test_adversarial.py",
    "tests/kernels/test_tl_compile.py",
    "tests/grade/test_grade_nbgrader.py::test_every_other_lab",
    "tests/grade/test_grade_nbgrader.py::test_lab_01",
    "tests/test_contracts.py",
    "tests/engine/test_take_away.py",
    "tests/engine/test_defects.py",
    "tests/checking",
    "tests/grade/test_grade_command.py",
    "tests/test_launcher.py",
)
# Processor seconds of each test that wants over 0.3, by file and name: `./course bench suite --note` writes them.
SECONDS = json.loads(Path(__file__).with_name("seconds.json").read_text())


LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE)


@pytest.fixture(autouse=True)
def limits_stay():
    """A limit that a test sets in this process, with code that is meant for a child, would end tests after it."""
    before = [resource.getrlimit(limit) for limit in LIMITS]
    yield
    after = [resource.getrlimit(limit) for limit in LIMITS]
    for limit, (soft, _), (_, hard) in zip(LIMITS, before, after, strict=True):
        resource.setrlimit(limit, (soft, hard))
    assert after == before


@pytest.fixture(scope="session")
def house(tmp_path_factory):
    """This worker's JupyterLab and its page, in a browser, for all notebooks that tests look at."""
    import desk

    with desk.house(tmp_path_factory.mktemp("house")) as it:
        yield it


def pytest_exception_interact(node, call):
    """A test that costs this process its CUDA context is the last one: those after it would fail whatever they test."""
    import torch

    if call.excinfo and torch.cuda.is_available() and (lost := ended.lost(str(call.excinfo.value))):
        node.session.shouldstop = f"{ended.poisoned(lost)} No test after {node.nodeid} was run."


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """`--dist loadfile`, but FREE tests go to whichever worker is free, and the longest come first."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(FREE) else super()._split_scope(nodeid)

    config.option.loadscopereorder = False  # it would put the files of most tests first
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_finish():
    """Torch and the tests themselves stay to the end: garbage is not looked for among them, a fifth of a second each time."""
    gc.freeze()


def seconds(nodeid: str) -> float:
    """Of what goes to one worker together: a file's tests, or one test of a FREE file."""
    file, _, name = nodeid.partition("::")
    return SECONDS.get(file, {}).get(name, 0.0) if nodeid.startswith(FREE) else sum(SECONDS.get(file, {}).values())


def pytest_itemcollected(item):
    file, _, name = item.nodeid.partition("::")
    if name in SECONDS.get(file, {}):
        item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """The longest first, so that no worker is left with one of them at the end. One process alone keeps the files' order."""
    if getattr(config, "workerinput", None):
        items.sort(key=lambda item: -seconds(item.nodeid))
