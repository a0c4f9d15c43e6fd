"""Keeps a grading service under an account of its own, and asks it as others."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
from pathlib import Path

import pytest

from dcplab.closed import wire

SERVICE, LEARNER = 64301, 64302  # nobody's
ROOT_ALONE = pytest.mark.skipif(os.geteuid() != 0, reason="it runs as other users, which root alone can")


def as_user(uid):
    return {"user": uid, "group": uid, "extra_groups": []}


def home_for_everybody():
    """Make a folder that any user may read: on the packages' device, if a temporary folder lies there."""
    packages = os.stat(sysconfig.get_path("purelib")).st_dev
    places = [place for place in (tempfile.gettempdir(), "/var/tmp") if Path(place).is_dir()]
    near = [place for place in places if os.stat(place).st_dev == packages and open_to_everybody(Path(place))]
    home = Path(tempfile.mkdtemp(prefix="dcplab-closed-", dir=(near or places)[0]))
    home.chmod(0o755)
    return home


def open_to_everybody(folder):
    return all(one.stat().st_mode & 0o001 for one in (folder, *folder.parents))


def packages_for_everybody(packages, home):
    """Return a folder with the packages that any user may read: theirs, or links to their files where it, or a folder above,
    is root's alone."""
    if open_to_everybody(packages):
        return packages
    shutil.copytree(packages, home / "packages", symlinks=True, copy_function=link_or_copy)
    for folder, _, _ in os.walk(home / "packages"):
        os.chmod(folder, 0o755)  # the folders are new; a file is one with that of the environment, and keeps its mode
    return home / "packages"


def link_or_copy(source, target):
    """Link a file that everybody may read; copy one that they may not, or that lies on another device."""
    if os.stat(source).st_mode & 0o004:
        with contextlib.suppress(OSError):
            return os.link(source, target)
    shutil.copy(source, target)
    os.chmod(target, os.stat(target).st_mode | 0o044)


def python_for_everybody(home):
    """Return the environment and the path of a Python that any user may run: a copy of this one, with its packages. This one
    may lie in a folder that is root's alone."""
    base, version = Path(sys.base_prefix), f"python{sys.version_info[0]}.{sys.version_info[1]}"
    unused = shutil.ignore_patterns("site-packages", "test", "idlelib", "__pycache__")
    shutil.copytree(base / "lib" / version, home / "python" / "lib" / version, ignore=unused, symlinks=True)
    for library in (base / "lib").glob("libpython*.so*"):
        shutil.copy(library, home / "python" / "lib" / library.name)
    (home / "python" / "bin").mkdir()
    python = shutil.copy(Path(sys.executable).resolve(), home / "python" / "bin" / version)
    packages = str(packages_for_everybody(Path(sysconfig.get_path("purelib")), home))
    env = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(home / "python" / "lib"), "PACKAGES": packages}
    words = [python, "-c", "import sys, os; sys.path.append(os.environ['PACKAGES']); import torch"]
    done = subprocess.run(words, **as_user(LEARNER), cwd="/", env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"another user cannot use this environment's packages: {done.stderr[-2000:]}"
    return env, str(python)


class Kept:
    """The service as a process, to be killed and started."""

    def __init__(self, home, env, python):
        self.home, self.env, self.python = home, env, python
        self.socket, self.process = home / "run" / "checks.sock", None

    def environment(self, *folders, **more):
        places = [*map(str, folders), self.env["PACKAGES"]]
        return self.env | {"PYTHONPATH": os.pathsep.join(places), "DCPLAB_SERVICE": str(self.socket)} | more

    def start(self):
        own = str(self.home / "tmp")
        env = self.environment(self.home / "course/src", self.home / "course/kernels", TMPDIR=own, HOME=own, DCPLAB_MODE="cpu")
        words = ["workshop", "service", "--socket", str(self.socket), "--state", str(self.home / "state"), "--workers", "1"]
        self.process = subprocess.Popen(
            [self.python, "-m", "dcplab", *words, "--hints", "1"],
            **as_user(SERVICE), cwd=self.home / "hub", env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        line = self.process.stdout.readline()
        assert line.startswith("Checking at"), line + self.process.stdout.read()

    def workers(self):
        """The processes that the service has started."""
        import psutil

        return [one for one in psutil.Process(self.process.pid).children() if "dcplab.closed.worker" in one.cmdline()]

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(30)


def learn(service, source, uid=LEARNER, timeout=240):
    """Run a learner's Python, with the released book as its `dcplab`. Returns what it printed."""
    folders = {"COURSE": str(service.home / "course"), "STATE": str(service.home / "state"), "HOME": "/nonexistent"}
    env = service.environment(service.home / "book" / "src", **folders)
    done = subprocess.run(
        [service.python, "-c", textwrap.dedent(HEAD) + textwrap.dedent(source)],
        **as_user(uid), cwd=service.home, env=env,
        capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


HEAD = """
import os
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
config = Config()
config.HistoryManager.hist_file = ":memory:"
shell = InteractiveShell.instance(config=config)
def cell(text):
    done = shell.run_cell(text, store_history=True)
    if done.error_in_exec: print("ERROR", done.error_in_exec)
    return done.result
cell("import torch")
cell("from dcplab import investigate, lab, viz")
"""


@contextlib.contextmanager
def connected(service):
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(60)
        one.connect(str(service.socket))
        yield one


def heard(connection):
    """The frames until the other side hangs up."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(1 << 16):
            data += piece
    frames = []
    while data:
        kind, length = wire.HEAD.unpack(data[: wire.HEAD.size])
        frames.append(wire.body(kind, data[wire.HEAD.size : wire.HEAD.size + length]))
        data = data[wire.HEAD.size + length :]
    return frames


def asked(service, request):
    with connected(service) as one:
        one.sendall(request)
        return heard(one)[-1]
