"""Each limit is reached, costs its own answer, and is told."""

import os
import resource
import threading

import pytest

from dcplab.sandbox.walls import libc, namespaces

GOOD = "\n    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)\n    return torch.where(mine, locs // dcp_size, -1)\n"
HEAD = "import os, threading, time\ndef localize(locs, dcp_rank, dcp_size):\n    "
GREEDY = {
    "memory": ("kept = bytearray(3 << 30)", "crashed", "more memory than it may have"),
    "open files": ("kept = [os.open('.', os.O_RDONLY) for _ in range(999)]", "crashed", "Too many open files"),
    "threads": (
        "threading.stack_size(1 << 16)\n    "
        "[threading.Thread(target=time.sleep, args=(9,)).start() for _ in range(600)]; time.sleep(9)",
        "crashed",
        "more threads or processes than it may have",
    ),
    "bytes in files": (
        "for i in range(99): open(f'f{i}', 'wb').write(bytes(1 << 26))\n    time.sleep(9)",
        "crashed",
        "more into files than it may",
    ),
    "bytes in files without a name": (
        "kept = []\n    for i in range(99):\n"
        "        kept.append(open(f'f{i}', 'wb')); kept[-1].write(bytes(1 << 26)); os.remove(f'f{i}')\n"
        "    time.sleep(9)",
        "crashed",
        "more into files than it may",
    ),
    "one file": ("open('f', 'wb').write(bytes(1 << 29)); open('f', 'ab').write(bytes(9))", "crashed", ""),
    "processor time": ("while True: pass", "timeout", "it did not end"),
}


SLOW = ("bytes in files", "bytes in files without a name", "one file", "processor time")


@pytest.mark.parametrize("what", [pytest.param(w, marks=[pytest.mark.slow] * (w in SLOW)) for w in GREEDY])
def test_a_limit_is_reached_and_told(judged, monkeypatch, what):
    from dcplab.course import drawn

    body, outcome, says = GREEDY[what]
    monkeypatch.setattr(drawn, "patience", lambda part, mode: 2.0 if what == "processor time" else 20.0)
    found = judged("91a", HEAD + body + GOOD)
    assert (found.outcome, found.points) == (outcome, 0) and says in found.message, found.message
    assert judged("91a", HEAD + "pass" + GOOD).outcome == "passed"


@pytest.mark.skipif(os.geteuid() != 0, reason="it becomes another user, which root alone can")
def test_the_kernel_counts_threads_for_who_is_not_root():
    """In the user namespace that a server of a plain user makes; of all that user's children together, at once and not four
    times a second."""
    told, tells = os.pipe()
    child = os.fork()
    if child == 0:
        said = "failed"
        try:
            before = namespaces.counted_apart()
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            libc.prctl(4, 1)  # PR_SET_DUMPABLE: a process that gave up root may not write below its own /proc
            namespaces._leave(False)
            if inside := os.fork():  # the first process of the namespace; who left can start none of its own threads
                os.waitpid(inside, 0)
                os._exit(0)
            resource.setrlimit(resource.RLIMIT_NPROC, (20, 20))
            gate, begun = threading.Event(), 0
            try:
                for _ in range(40):
                    threading.Thread(target=gate.wait, daemon=True).start()
                    begun += 1
            except RuntimeError:
                said = f"{before} {namespaces.counted_apart()} {begun}"
            gate.set()
        except OSError as e:
            said = f"no namespace: {e}"
        finally:
            os.write(tells, said.encode())
            os._exit(0)
    os.waitpid(child, 0)
    said = os.read(told, 200).decode()
    if said.startswith("no namespace"):
        pytest.skip(said)
    before, inside, begun = said.split()
    assert (before, inside) == ("False", "True") and 15 <= int(begun) < 20
