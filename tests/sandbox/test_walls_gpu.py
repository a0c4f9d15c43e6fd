"""The walls of a GPU's child, closed on a machine without one: what CUDA's driver needs is open, what is beside it is not."""

import os
import subprocess
import sys

import pytest

CODE = """
import concurrent.futures, os, socket, tempfile, threading
from dcplab.sandbox.walls import enclose, namespaces
reason = namespaces.enter(keep=os.pipe()[1], own_proc=True)
inside = not reason and [os.readlink("/proc/self"), [n for n in os.listdir("/proc") if n.isdigit()]] == ["1", ["1"]]
def name_a_thread():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as f:
        f.write("cuda00001400006")
def written(path):
    with open(path, "r+"):
        pass
enclose.enclose(enclose.allowances("gpu", ""), [tempfile.mkdtemp()], [])
print("in" if inside else "out: " + reason)
for attempt in (
    lambda: socket.socket(socket.AF_UNIX).bind("\\0dcplab-walls"),
    lambda: socket.socket(socket.AF_UNIX).connect("/tmp/nvidia-mps/control"),
    lambda: socket.socket(socket.AF_INET),
    name_a_thread,
    lambda: concurrent.futures.ThreadPoolExecutor(1).submit(name_a_thread).result(),
    lambda: written("/proc/sys/kernel/hostname"),
    lambda: written("/proc/self/mem"),
    lambda: os.listdir(enclose._root()),
):
    try:
        attempt()
        print("ok")
    except OSError as error:
        print(type(error).__name__)
"""


def test_a_local_socket_of_its_own_is_open_and_the_network_is_not():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    where, *attempts = done.stdout.split("\n")[:-1]
    assert attempts == ["ok", "FileNotFoundError", "PermissionError", "ok", "ok", *["PermissionError"] * 3]
    if where != "in":
        pytest.skip(f"this system allows no PID namespace with a /proc of its own ({where})")


COMPILER = """
import subprocess, sys
from dcplab.sandbox.walls import enclose
folder = sys.argv[1]
enclose.prepare("gpu", "")
enclose.enclose(enclose.allowances("gpu", ""), [], [])
print(subprocess.run(["gcc"], capture_output=True, text=True).stdout, end="")
try:
    print(open(f"{folder}/beside").read())
except OSError as error:
    print(type(error).__name__)
"""


def test_a_compiler_outside_the_systems_folders_is_open_and_what_lies_beside_it_is_not(tmp_path):
    gcc = tmp_path / "toolchain" / "bin" / "gcc"
    gcc.parent.mkdir(parents=True)
    gcc.write_text("#!/bin/sh\necho compiled\n")
    gcc.chmod(0o755)
    (tmp_path / "beside").write_text("another's")
    environment = {**os.environ, "PATH": f"{gcc.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILER, str(tmp_path)], capture_output=True, text=True, timeout=60, env=environment
    )
    assert (done.stdout, done.stderr) == ("compiled\nPermissionError\n", "")
