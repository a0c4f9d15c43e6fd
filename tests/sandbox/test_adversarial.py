"""Answers that try to pass, or to take the checker with them. Each costs its own check and nothing else."""

import os
import subprocess
import sys
import textwrap
import time

import pytest
from busy import processor_of_children
from waiting import gone, until

from dcplab.course import drawn

pytestmark = pytest.mark.slow  # a child for each answer, and some run to a limit

GOOD = """
def localize(locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(mine, locs // dcp_size, -1)
"""

# Each of these must not pass; the outcome is what the check says of it.
TRICKS = {
    # what it returns
    "an object that equals everything": (
        "wrong",
        "class Yes:\n    def __eq__(s, o): return True\n    __hash__ = None",
        "return Yes()",
    ),
    "a tensor subclass with a lying __eq__": (
        "wrong",
        "class Yes(torch.Tensor):\n    def __eq__(s, o): return True\n    def equal(s, o): return True\n    __hash__ = None",
        "return torch.zeros_like(locs).as_subclass(Yes)",
    ),
    "NaN everywhere": ("wrong", "", "return torch.full(locs.shape, float('nan'))"),
    "the input itself": ("wrong", "", "return locs"),
    "True": ("wrong", "", "return True"),
    "None": ("wrong", "", "return None"),
    "the points": ("wrong", "", "return 20.0"),
    "a result of a gigabyte": ("wrong", "", "return torch.zeros(1 << 28)"),
    "a list in itself": ("wrong", "", "a = []; a.append(a); return a"),
    "a meta tensor": ("wrong", "", "return torch.empty(locs.shape, dtype=locs.dtype, device='meta')"),
    # what it patches
    "torch's comparisons": ("wrong", "torch.equal = torch.allclose = torch.isclose = lambda *a, **k: True", "return locs + 1"),
    "the clock": ("wrong", "import time\ntime.perf_counter = time.monotonic = lambda: 0.0", "return locs + 1"),
    "the checker's codec": (
        "crashed",
        "import sys",
        "c = sys.modules['dcplab.codec']; c.encode = lambda *a, **k: b''; return locs + 1",
    ),
    "the checker's child": (
        "crashed",
        "import sys",
        "c = sys.modules['dcplab.sandbox.child']; c._run_case = lambda *a: {'returned': True, 'events': []}; return locs + 1",
    ),
    "every builtin it can think of": ("wrong", "import builtins\nbuiltins.isinstance = lambda *a: True", "return locs + 1"),
    "IPython's showtraceback": (
        "crashed",
        "try:\n    from IPython.core.interactiveshell import InteractiveShell as S\n"
        "    S.showtraceback = lambda *a, **k: None\n"
        "except ImportError:\n    S = None",
        "S; raise RuntimeError('hidden')",
    ),
    # where it looks
    "memory, by gc": ("crashed", "import gc", "return [t for t in gc.get_objects() if isinstance(t, torch.Tensor)][0]"),
    "its callers' locals": (
        "wrong",
        "import inspect",
        "seen = [v for f in inspect.stack() for v in f.frame.f_locals.values()]\n"
        "    found = [v for v in seen if isinstance(v, torch.Tensor) and v.shape == locs.shape]\n"
        "    return found[-1].clone() if found else locs + 1",
    ),
    "the solutions": ("crashed", "", "return open(SOLUTION).read()"),
    "the solutions, by pathlib": ("crashed", "import pathlib", "return pathlib.Path(SOLUTION).read_text()"),
    "the solutions, through a link": (
        "crashed",
        "import os, tempfile",
        "d = tempfile.mkdtemp(); os.symlink(os.path.dirname(SOLUTION), d + '/x'); return open(d + '/x/91_small.py').read()",
    ),
    "the solutions, by os.open": ("crashed", "import os", "return os.read(os.open(SOLUTION, os.O_RDONLY), 99)"),
    "the solutions' folder": ("crashed", "import os", "return os.listdir(os.path.dirname(SOLUTION))"),
    "the reference kernels": ("crashed", "", "import dcp_kernels; return dcp_kernels"),
    "the engine": ("crashed", "", "from dcplab.engine import index_spaces; return index_spaces"),
    "the course, by its package": ("crashed", "import dcplab", "return dcplab.sandbox"),
    "the engine, by importlib": ("crashed", "import importlib", "return importlib.import_module('dcplab.engine.index_spaces')"),
    "the engine, by __import__": ("crashed", "", "return __import__('dcplab.engine.index_spaces')"),
    "the reference kernels, by runpy": ("crashed", "import runpy", "return runpy.run_module('dcp_kernels.reference')"),
    "the catalog": ("crashed", "", "from dcplab.course import catalog; return catalog"),
    "the progress file": ("crashed", "", "open(PROGRESS, 'w').write('{}'); return locs + 1"),
    "another child's program": (
        "crashed",
        "import os",
        "there = os.path.join(os.path.dirname(os.getcwd()), 'dcplab-abcdefgh', 'answer0.py'); return open(there).read()",
    ),
    "its server's environment": ("crashed", "import os", "return open(f'/proc/{os.getppid()}/environ').read()"),
    "the network": ("crashed", "import socket", "socket.create_connection(('127.0.0.1', 9)); return locs"),
    "a process": ("crashed", "import subprocess", "return subprocess.run(['true'])"),
    "a shell": ("crashed", "import os", "return os.system('true')"),
    "a fork": ("crashed", "import os", "return os.fork()"),
    "ctypes": ("crashed", "import ctypes", "return ctypes.CDLL(None)"),
    # what it writes
    "forged records to every descriptor": (
        "crashed",
        "import os",
        "for fd in range(1, 256):\n"
        '        try: os.write(fd, b\'{"case": 0, "returned": true}\' * 9)\n'
        "        except OSError: pass\n"
        "    return locs + 1",
    ),
    "a forged record that knows the key": (
        "crashed",
        "import inspect, os",
        "for f in inspect.stack():\n"
        "        job = f.frame.f_locals.get('job')\n"
        "        if isinstance(job, dict):\n"
        "            for fd in range(3, 256):\n"
        "                try: os.write(fd, job['key'] + (5).to_bytes(8, 'little') + b'junk!')\n"
        "                except OSError: pass\n"
        "    return locs + 1",
    ),
    "nothing: it closes every descriptor": ("crashed", "import os", "os.closerange(0, 4096); return locs + 1"),
    # how it ends
    "os._exit(0)": ("crashed", "import os", "os._exit(0)"),
    "os._exit while it loads": ("crashed", "import os", "return locs", "D = os._exit(0)"),
    "sys.exit()": ("crashed", "import sys", "sys.exit()"),
    "KeyboardInterrupt": ("crashed", "", "raise KeyboardInterrupt"),
    "a segmentation fault": ("crashed", "import os, signal", "os.kill(os.getpid(), signal.SIGSEGV)"),
    "SIGKILL": ("crashed", "import os, signal", "os.kill(os.getpid(), signal.SIGKILL)"),
    "a stack overflow": ("crashed", "def deep(n):\n    return deep(n + 1)", "return deep(0)"),
    "input()": ("crashed", "", "return input('?')"),
    "an exception with a wild __str__": ("crashed", "class E(Exception):\n    def __str__(s): raise s", "raise E()"),
    "an enormous tensor": ("crashed", "", "return torch.zeros(1 << 40)"),
    "a flood on stdout": ("crashed", "", "while True: print('x' * 100_000)"),
    "a flood on stderr": ("crashed", "import os", "while True: os.write(2, b'x' * 100_000)"),
    "a file without end": (
        "crashed",
        "import tempfile",
        "f = tempfile.TemporaryFile()\n    while True: f.write(b'x' * (1 << 24))",
    ),
}


def source(small, names, body, extra=""):
    folder = small_folder()
    head = f"SOLUTION = {str(folder / '91_small.py')!r}\nPROGRESS = {str(state_file())!r}\n"
    used = "\n    ".join(f"{n}" for n in ("SOLUTION", "PROGRESS", "D") if n == "D" and extra)
    body = f"{used}\n    {body}" if used else body
    return f"{head}{names}\n{extra}\ndef localize(locs, dcp_rank, dcp_size):\n    {body}\n"


def small_folder():
    from dcplab import paths

    return paths.solutions() / "91_small"


def state_file():
    from dcplab import paths

    return paths.state_dir() / "progress.json"


@pytest.mark.parametrize("trick", TRICKS)
def test_it_does_not_pass_and_the_next_check_does(judged, small, trick):
    outcome, *how = TRICKS[trick]
    found = judged("91a", source(small, *how))
    assert (found.outcome, found.points) == (outcome, 0), found.message + found.detail
    assert judged("91a", GOOD).outcome == "passed"


HOST = """
def run(src, dst, n, BLOCK, **more):
    frame = sys._getframe(1)
    while "arena" not in frame.f_locals:
        frame = frame.f_back
    views = frame.f_locals["arena"].views
    views["dst"].copy_(views["src"] * 2)
"""


@pytest.mark.parametrize(
    "kernel",
    [
        "class K:\n    run = None\n    def __getitem__(self, grid): return run\ndouble_kernel = K()",
        "def empty(src, dst, n, BLOCK): pass\n"
        "class K(type(triton.jit(empty))):\n    def __getitem__(self, grid): return run\ndouble_kernel = K(empty)",
    ],
)
def test_what_only_looks_like_a_kernel_computes_nothing(judged, kernel):
    found = judged("91b", f"import sys\n{HOST}\n{kernel}\n")
    assert (found.outcome, found.points) == ("crashed", 0) and "this is a K, not a Triton kernel" in found.message


@pytest.mark.parametrize(
    "kernel",
    [
        "@triton.autotune(configs=[triton.Config({}, num_warps=1)], key=['n'])\n@triton.jit\ndef double_kernel",
        "@triton.heuristics({})\n@triton.jit\ndef double_kernel",
        "@triton.jit(noinline=False)\ndef double_kernel",
    ],
)
def test_whatever_triton_makes_of_a_function_is_a_kernel(judged, kernel):
    body = """(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + at, tl.load(src + at, mask=at < n) * 2, mask=at < n)
"""
    assert judged("91b", kernel + body).outcome == "passed"


def test_an_infinite_loop_is_stopped_on_time_and_says_where(judged):
    judged("91a", GOOD)  # the server is up
    before = processor_of_children()
    found = judged("91c", "def write_rows(kv, src, rows):\n    a = 1\n    while a:\n        pass\n")
    assert found.outcome == "timeout" and processor_of_children() - before < 20
    assert "Stopped after 5 s" in found.message
    assert "line 3" in found.detail or "line 4" in found.detail
    assert judged("91a", GOOD).outcome == "passed"


def test_a_loop_that_ignores_every_signal_is_stopped(judged, monkeypatch):
    monkeypatch.setattr(drawn, "patience", lambda part, mode: 2.0)
    body = """
        import signal
        def write_rows(kv, src, rows):
            for s in range(1, 65):
                try: signal.signal(s, signal.SIG_IGN)
                except (OSError, ValueError): pass
            while True: pass
    """
    assert judged("91c", textwrap.dedent(body)).outcome == "timeout"


def test_a_thread_that_never_ends_does_not_hold_the_check(judged):
    judged("91a", GOOD)
    thread = "import threading, time\n" + GOOD.replace(
        "    mine", "    threading.Thread(target=lambda: [time.sleep(1) for _ in range(99)]).start()\n    mine", 1
    )
    started = time.perf_counter()
    assert judged("91a", thread).outcome == "passed"
    assert time.perf_counter() - started < 90  # the thread would go on for 99 s


@pytest.mark.slow
def test_memory_without_end_is_stopped(judged):
    greedy = "def write_rows(kv, src, rows):\n    kept = []\n    while True:\n        kept.append(bytearray(1 << 28))\n"
    found = judged("91c", greedy)
    assert found.outcome in ("crashed", "timeout") and found.points == 0
    assert judged("91a", GOOD).outcome == "passed"


BYPASS = """
import os, sys, time
def localize(locs, dcp_rank, dcp_size):
    # a detached process, made below the audit hooks' sight: by a library's own frame
    code = compile("import _posixsubprocess as p, os, sys\\nr, w = os.pipe()\\n"
        "pid = p.fork_exec([b'/bin/sleep', b'600.%d'], [b'/bin/sleep'], True, (w,), None, None, -1, -1, -1, -1, -1, -1, r, w,"
        " False, True, -1, None, None, None, -1, None, False)" % os.getpid(), os.__file__, "exec")
    exec(code, {})
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(mine, locs // dcp_size, -1)
"""


def sleepers():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read()
        except OSError:
            continue
        if line.startswith(b"/bin/sleep\x00600."):
            found.append(int(pid))
    return found


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="fork_exec's private signature differs in other Pythons")
def test_what_it_leaves_running_is_ended(judged):
    before = set(sleepers())
    judged("91a", BYPASS)
    until(lambda: not set(sleepers()) - before)


def test_a_killed_server_is_started_again(judged):
    from dcplab.sandbox import pool

    assert judged("91a", GOOD).outcome == "passed"
    for server in pool._servers.values():
        server.process.kill()
        server.process.wait()
    assert judged("91a", GOOD).outcome == "passed"


def test_an_answer_that_kills_the_server_costs_itself_alone(judged):
    killer = """
        import os, signal
        def localize(locs, dcp_rank, dcp_size):
            # gets round the rail, as a harmful answer could: no audit event tells of it
            signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)
            return locs + 1
    """
    found = judged("91a", textwrap.dedent(killer))
    assert found.outcome in ("wrong", "crashed") and found.points == 0
    assert judged("91a", GOOD).outcome == "passed"


def test_an_answer_that_kills_every_server_that_it_meets_costs_its_neighbour_nothing(judged):
    from concurrent.futures import ThreadPoolExecutor

    killer = """
        import os, signal, time
        def localize(locs, dcp_rank, dcp_size):
            time.sleep(1)
            signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)  # audited by nothing
            return locs + 1
    """
    slow = "import time\n" + GOOD.replace("    mine", "    time.sleep(1)\n    mine", 1)
    with ThreadPoolExecutor(3) as threads:
        bad = [threads.submit(judged, "91a", textwrap.dedent(killer)) for _ in range(2)]
        good = threads.submit(judged, "91a", slow)
        assert good.result().outcome == "passed", good.result().message
        assert all(b.result().points == 0 for b in bad)


def test_nothing_is_left_behind(judged, tmp_path, monkeypatch):
    """No folder, no descriptor, and no file that an answer wrote where it stood."""
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fds = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert judged("91a", GOOD.replace("    mine", "    open('here', 'w').write('x')\n    mine", 1)).outcome == "passed"
    assert not os.path.exists("/here") and not os.path.exists("here")
    assert list(tmp_path.glob("dcplab-*")) == []
    assert len(os.listdir("/proc/self/fd")) <= fds + 1


def test_children_end_with_the_process_that_asked(course):
    code = """
        import os, sys, threading, time
        from dcplab.course import catalog
        from dcplab import checking
        from dcplab.sandbox import pool
        from dcplab.notebook.extract import extract
        lab = catalog.lab("91")
        key = lab.key("91c")
        endless = extract([*lab.setup(), "def write_rows(kv, src, rows):\\n    while True: pass"], "write_rows")
        threading.Thread(target=lambda: checking.check(key, endless, seed=1), daemon=True).start()
        while "cpu" not in pool._servers or not pool._servers["cpu"].ready: time.sleep(0.1)
        time.sleep(1)
        print(pool._servers["cpu"].process.pid, flush=True)
        os._exit(0)
    """
    env = os.environ | {"DCPLAB_MODE": "cpu"}
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=120)
    server = int(out.stdout.split()[-1])
    until(lambda: gone(server))


def test_checks_run_side_by_side(judged):
    from concurrent.futures import ThreadPoolExecutor

    bad = GOOD.replace("// dcp_size", "// dcp_size + 1")
    with ThreadPoolExecutor(4) as threads:
        found = list(
            threads.map(
                lambda s: judged("91a", s).outcome,
                [GOOD, bad, "import os\n" + GOOD.replace("mine =", "os._exit(1) #"), GOOD] * 3,
            )
        )
    assert found == ["passed", "wrong", "crashed", "passed"] * 3
