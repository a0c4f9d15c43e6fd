"""What a child's limit counts: its own time, and never that of others on the machine."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest
from busy import busy, checker_on, processor_of_children
from waiting import until

from dcplab import checking
from dcplab.commands import grade as grade_command
from dcplab.course import catalog
from dcplab.course.drawn import draw
from dcplab.grade import grader
from dcplab.grade.layout import Found
from dcplab.grade.seeds import of_nobody
from dcplab.notebook.extract import extract
from dcplab.reference import Reference
from dcplab.sandbox import attempts, pool, watch
from dcplab.sandbox import meter as meter_module
from dcplab.sandbox.attempts import MachineBusy
from dcplab.sandbox.meter import Meter

pytestmark = pytest.mark.slow  # processors are kept busy, and limits run out

HERE = sorted(os.sched_getaffinity(0))
RIGHT = "def write_rows(kv, src, rows):\n    kv[rows[rows >= 0]] = src[rows >= 0]\n"
WRONG = "def write_rows(kv, src, rows):\n    kv[rows] = src\n"
STARVED = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"  # it runs only where nobody else would
WORKS_2_S = "    import time\n    end = time.process_time() + 2\n    while time.process_time() < end: pass\n"
IN_A_CHILD = """
import os
def write_rows(kv, src, rows):
    # made below the audit hooks' sight: by a library's own frame
    spin = [b'/bin/sh', b'-c', b'while :; do :; done']
    code = compile("import _posixsubprocess as p, os\\nr, w = os.pipe()\\n"
        "p.fork_exec(spin, spin[:1], True, (w,), None, None, -1, -1, -1, -1, -1, -1, r, w, False, False, -1, None, None, None,"
        " -1, None, False)", os.__file__, "exec")
    exec(code, {"spin": spin})
    os.wait()
"""
FORK_EXEC = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="fork_exec's private signature differs in other Pythons")


def works(source):
    """The source with two seconds of work before its first statement."""
    return source.replace("rows):\n", "rows):\n" + WORKS_2_S, 1)


@pytest.mark.parametrize(
    "body, least, most",
    [
        ("import time\ndef write_rows(kv, src, rows):\n    time.sleep(600)\n", 0, 4),
        ("import os\ndef write_rows(kv, src, rows):\n    os.read(os.pipe()[0], 1)\n", 0, 4),
        ("def write_rows(kv, src, rows):\n    while True: pass\n", 4, 20),
        pytest.param(IN_A_CHILD, 4, 20, marks=FORK_EXEC),
    ],
    ids=["sleeps", "waits for input", "spins", "spins in a descendant"],
)
def test_what_does_not_end_is_stopped_after_its_own_time(judged, monkeypatch, body, least, most):
    monkeypatch.setattr(Reference, "bank", lambda self, wrong, mode, number: [])  # its children are not counted
    monkeypatch.setattr(checking.diagnose, "find", lambda judgement, bank: None)
    if body is IN_A_CHILD:  # behind the walls it starts no process at all on a CPU; the meter is for where it may
        assert judged("91c", body).outcome == "crashed"
        monkeypatch.setenv("DCPLAB_SANDBOX", "no-seccomp,no-landlock")
    before = processor_of_children()
    found = judged("91c", textwrap.dedent(body))
    assert (found.outcome, found.points, found.busy) == ("timeout", 0, False), found.message
    assert found.message.startswith("Stopped after 5 s: it did not end.")
    assert least <= processor_of_children() - before < most


def test_who_asks_somebody_ends_at_once(judged):
    assert "Nobody can answer a question" in judged("91c", "def write_rows(kv, src, rows):\n    input()\n").message


@pytest.mark.parametrize(
    "code, spins",
    [
        ("import time; time.sleep(60)", 0),
        ("while True: pass", 1),
        ("import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', 'while True: pass'])", 1),
        ("import threading, time; threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()", 1),
    ],
    ids=["sleeps", "spins", "its child spins", "its thread spins"],
)
def test_a_meter_tells_sleep_from_work(code, spins):
    process = subprocess.Popen([sys.executable, "-S", "-c", code], start_new_session=True)
    try:
        time.sleep(1)
        meter = Meter(process.pid, "cpu")
        meter.look()
        already = meter.processor_s
        until(lambda: meter.look() or meter.own_s >= already + 1)
        worked = meter.processor_s - already
        assert worked > meter.idle_s if spins else meter.idle_s > worked
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def test_a_process_that_ends_while_it_is_looked_at_counts_as_gone(monkeypatch):
    """It may end between any two reads: before its threads are listed, and before each of them is read."""
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    meter = Meter(process.pid, "cpu")
    meter.look()
    assert (meter.threads, meter.pids) == (1, [process.pid])
    tasks, family = meter_module._tasks, meter_module._family

    def end():
        process.kill()
        process.wait()

    def listed_then_gone(pid):
        found = tasks(pid)
        end()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(meter_module, "_tasks", listed_then_gone)
        meter.look()
        assert meter.threads == 0 and meter.processor_s >= 0
    gone = [psutil.Process(os.getpid())]
    gone[0]._pid = process.pid  # known to be alive when the family was listed
    monkeypatch.setattr(meter_module, "_family", lambda pid: gone)
    meter.look()
    assert meter.threads == 0 and family(process.pid) == [] and tasks(process.pid) == []

    def gone_by_now(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "scandir", gone_by_now)  # its folder was there a moment ago
    assert tasks(os.getpid()) == []


def kept_from_working(monkeypatch):
    """Walls near enough to be met, on one processor that others keep."""
    monkeypatch.setattr(watch, "WALL_LEAST_S", 4.0)
    monkeypatch.setattr(watch, "WALL_FACTOR", 0)


def test_who_is_kept_from_working_is_not_judged_and_tried_once_more(judged, monkeypatch):
    kept_from_working(monkeypatch)
    runs, run = [], pool.run
    monkeypatch.setattr(pool, "run", lambda *args: runs.append(run(*args)) or runs[-1])
    with checker_on({HERE[0]}), busy(2, {HERE[0]}):  # one would do; it may wait for a moment
        found = judged("91c", STARVED + works(WRONG))
    assert (found.outcome, found.points, found.diagnosis, found.busy) == ("error", 0, None, True), found.message
    assert found.message.startswith("Not judged: the machine is busy.") and "not judged, 0 of 20 points" in found.message
    assert [r.status for r in runs if r.status == "busy"] == ["busy"] * attempts.TRIES


def test_a_second_try_that_comes_to_its_end_counts(judged, monkeypatch):
    first, run = [], pool.run

    def once_busy(*args):
        if not first and "mine_is_tried" in args[0][0]["source"]:
            return first.append(1) or pool.Run("busy", -9)
        return run(*args)

    monkeypatch.setattr(pool, "run", once_busy)
    found = judged("91c", "mine_is_tried = 1\n" + WRONG.replace("kv[", "assert mine_is_tried\n    kv["))
    assert first and (found.outcome, found.diagnosis, found.busy) == ("wrong", "91c-pad-as-row", False), found.message


def test_a_name_that_could_not_be_looked_for_is_told_and_the_verdict_stands(judged, monkeypatch):
    def too_busy(*args):
        raise MachineBusy

    monkeypatch.setattr(Reference, "bank", too_busy)
    found = judged("91c", WRONG)
    assert (found.outcome, found.diagnosis, found.busy) == ("wrong", None, True)
    assert "The machine is busy: which mistake it is was not found out." in found.message
    monkeypatch.undo()


def test_a_solution_that_is_kept_from_working_is_asked_again(small, monkeypatch):
    key = small.key("91c")
    reference = Reference(key, draw(key.part, 1, "cpu"))
    program = extract([*small.setup(), RIGHT], key.part.entry)
    run = pool.run
    solves = [key.solution.source]
    monkeypatch.setattr(pool, "run", lambda *a: pool.Run("busy", -9) if a[0][0]["source"] in solves else run(*a))
    assert checking.judge(program, reference).why == "busy"
    solves.clear()
    assert checking.judge(program, reference).why == "passed"


def test_a_row_says_that_the_machine_was_busy_and_resume_tries_it_again(small, monkeypatch, tmp_path):
    monkeypatch.setattr(attempts.pool, "run", lambda *args: pool.Run("busy", -9))
    keys = {small.name: [small.key("91c")]}
    cells = [*small.setup(), RIGHT]
    programs = {"91c": extract(cells, small.part("91c").entry)}
    submission = grader.Submission(tmp_path / "a.ipynb", "graded", "", small.name, cells, "", programs)
    row = grader.grade(submission, keys, grader.GradingRun(1)).to_json()
    assert row["message"] == "Not judged, for the machine was busy: 91c. --resume tries again."
    assert row["message"] in grade_command._line(row)
    (tmp_path / "a.ipynb").write_bytes(b"")
    row["digest"] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert grade_command._unchanged(row, Found(tmp_path / "a.ipynb"), 1, of_nobody) is None
    row["parts"][0]["busy"] = False
    assert grade_command._unchanged(row, Found(tmp_path / "a.ipynb"), 1, of_nobody) is row


def test_four_busy_processes_on_one_core_change_no_verdict_and_no_name(judged):
    """Each answer works for 2 of its 5 seconds: with four beside it that takes more than five by the clock. (The other cores
    are for other tests.)"""
    answers = {"right": works(RIGHT), "wrong": works(WRONG)}
    with checker_on({HERE[0]}), busy(4, {HERE[0]}):
        found = {name: judged("91c", source) for name, source in answers.items()}
    told = {name: (result.outcome, result.diagnosis) for name, result in found.items()}
    assert told == {"right": ("passed", None), "wrong": ("wrong", "91c-pad-as-row")}, [r.message for r in found.values()]
    assert max(result.elapsed_s for result in found.values()) > 5, "the machine was not busy"


@pytest.mark.parametrize("part, wrong", [("3a", "3a-no-filter"), ("5a", "5a-no-localize")])
def test_a_kernel_and_whole_servers_are_judged_and_named_beside_busy_processes(part, wrong):
    key = catalog.of_part(part).key(part)
    answers = {"right": key.solution, wrong: next(program for known, program in key.wrong if known.id == wrong)}
    with checker_on({HERE[0]}), busy(2, {HERE[0]}):
        found = {name: checking.check(key, program, seed=3) for name, program in answers.items()}
    told = {name: (result.outcome, result.diagnosis, result.busy) for name, result in found.items()}
    assert told == {"right": ("passed", None, False), wrong: ("wrong", wrong, False)}, [r.message for r in found.values()]


@pytest.mark.parametrize(
    "body",
    [
        "open('/proc/self/comm', 'wb').write(b'\\xff\\xfe) R'); time.sleep(60)",
        # whoever waits for a child that shares its memory looks as if it waited for a disk
        "os.mkfifo('f'); opens = (os.POSIX_SPAWN_OPEN, 5, 'f', os.O_RDONLY, 0); "
        "os.posix_spawn('/bin/true', ['true'], {}, file_actions=[opens])",
    ],
    ids=["a name of odd bytes", "a vfork that does not return"],
)
def test_who_only_waits_is_charged_for_it(tmp_path, body):
    code = f"import os, time; print('here', flush=True); {body}"
    waiting = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert waiting.stdout.readline() == b"here\n"
        time.sleep(0.3)
        meter = Meter(waiting.pid, "cpu")
        until(lambda: meter.look() or meter.idle_s > 1)
    finally:
        os.killpg(waiting.pid, signal.SIGKILL)
        waiting.wait()
