"""A run that asks for real kernels on a CPU may start a compiler. It reads, changes and leaves no more than any other."""

import ast
import contextlib
import os
from pathlib import Path

import dcp_kernels
import psutil
from waiting import gone, until

import dcplab
from dcplab import checking, paths
from dcplab.course import catalog
from dcplab.course.drawn import pack
from dcplab.notebook.extract import extract
from dcplab.sandbox.attempts import attempt

LAB = catalog.lab("05")
# Behind the rails, as in attack.py: what is left is the kernel. The answer raises what came of its attempts.
CODE = """
import os, socket, subprocess
def attack():
    came = []
    for attempt in TRIED:
        try:
            came.append(str(eval(compile(attempt, os.__file__, "eval"))))
        except BaseException as e:
            came.append(type(e).__name__)
    return came
"""
SOURCE = """
import concurrent.futures, os
def extend_path(step):
    space = dict(TRIED=TRIED)
    exec(compile(CODE, os.__file__, "exec"), space)
    raise RuntimeError("CAME " + repr(concurrent.futures.ThreadPoolExecutor(1).submit(space["attack"]).result()))
def verify_path(step): pass
def draft_path(step): pass
"""
REFUSED = ("PermissionError", "Refused")


def came(*attempts):
    """What came of the attempts, in a child whose run asks for real kernels."""
    part = LAB.part("5b")
    program = extract([f"TRIED, CODE = {list(attempts)!r}, {CODE!r}\n{SOURCE}"], part.names)
    case = checking.own_case(part, ("extend", [[[0, 1]]], 1, 2, {"kernels": True}), {}, "extend_path")
    (trial,) = attempt([program], part, [pack(case)], "cpu", 120.0)
    raised = trial.records[0]["raised"]
    assert raised["message"].startswith("CAME "), raised["traceback"]
    return ast.literal_eval(raised["message"].removeprefix("CAME "))


def test_files_of_the_course_stay_closed_to_it_and_to_what_it_starts():
    state = paths.state_dir() / "progress.json"
    state.parent.mkdir(exist_ok=True)
    state.write_text("{}")
    solution = paths.solutions() / LAB.name
    targets = [
        *(solution / f"{LAB.name}.py", solution / "parts" / "shared.py", state, Path(__file__)),
        *(Path(dcplab.__file__).parent / "engine" / "harness.py", Path(dcp_kernels.__file__).parent / "ckv_write.py"),
    ]
    opened = [f"open({str(target)!r}).read(9)" for target in targets]
    started = [f"subprocess.run(['cat', {str(target)!r}], capture_output=True).stdout" for target in targets]
    read = came(*opened, *started, "subprocess.run(['echo', 'started'], capture_output=True).stdout")
    assert {*read[: len(targets)]} <= {*REFUSED} and read[len(targets) :] == ["b''"] * len(targets) + [r"b'started\n'"]


def test_nothing_outside_its_folder_changes_and_nobody_else_is_reached(tmp_path):
    here = tmp_path / "here"
    home = Path.home() / "dcplab-left-behind"
    attempts = (
        *(f"open({str(place)!r}, 'w')" for place in (here, home, "/tmp/dcplab-left-behind")),
        f"subprocess.run(['cp', '/etc/passwd', {str(here)!r}], capture_output=True).returncode",
        *(f"os.kill({os.getpid()}, 9)", "socket.socket()", "os.chmod('.', 0o777)"),
    )
    *closed, copied, kill, _, _ = tried = came(*attempts)
    assert {*closed, *tried[-2:]} == {"PermissionError"} and copied == "1"
    assert kill in ("ProcessLookupError", "PermissionError")
    assert not here.exists() and not home.exists()


def test_what_it_starts_ends_with_it():
    marker = f"dcplab-left-{os.getpid()}"
    command = ["sh", "-c", f"sleep 600; : {marker}"]
    assert came(f"subprocess.Popen({command!r}, start_new_session=True).pid > 0") == ["True"]

    def left():
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.cmdline() == command:
                    found.append(process.pid)
        return found

    assert until(lambda: all(gone(pid) for pid in left()), 20)
