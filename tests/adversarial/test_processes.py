"""No process is started, none is signalled, changed or looked into, and none stays."""

import os

import pytest
from attack import answer, did, refused

CALLS = {
    "fork": "os.fork()",
    "a program": "os.posix_spawn('/bin/sleep', ['sleep', '600'], {})",
    "kill its server": "os.kill(os.getppid(), 9)",
    "kill the first process": "os.kill(1, 9)",
    "kill who asked": "os.kill(ASKED, 9)",
    "kill all": "os.kill(-1, 9)",
    "a descriptor of a process": "os.pidfd_open(1)",
    "others' priority": "os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "others' processors": "os.sched_setaffinity(1, {0})",
    "others' limits": "__import__('resource').prlimit(1, 7, (0, 0))",
    "a socket": "__import__('_socket').socket(2, 1)",
    "a local socket": "__import__('_socket').socketpair()",
    "memory without a name": "os.memfd_create('x')",
    "namespaces": "__import__('ctypes').CDLL(None, use_errno=True).unshare(0x10000000) and None",
    "its own limits": "__import__('resource').setrlimit(7, (9999, 9999))",
}


@pytest.mark.parametrize("call", CALLS)
def test_it_is_refused(judged, call):
    code = f"import os\ndef attack():\n    return {CALLS[call]}"
    found = judged("91a", answer(code, ASKED=os.getpid()))
    assert found.outcome == "passed" and refused(found), found.detail


def test_it_is_alone(judged):
    code = """
        import os
        def attack():
            return [os.getppid(), [line.split()[1] for line in open('/proc/self/status') if line.startswith('CapEff')]]
    """
    parent, (capabilities,) = eval(did(judged("91a", answer(code))))
    assert parent == 1 and int(capabilities, 16) in (0, 4)


@pytest.mark.parametrize("process", ["1", str(os.getpid())], ids=["the first", "its own grader"])
def test_environments_of_others_are_closed(judged, process):
    code = """
        import os
        def attack():
            there = os.open('/proc', os.O_RDONLY)
            return os.read(os.open(PROCESS + '/environ', os.O_RDONLY, dir_fd=there), 9)
    """
    assert refused(judged("91a", answer(code, PROCESS=process)))
