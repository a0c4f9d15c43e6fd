"""What a child may reach, by mode: data, in one place. Everything else the kernel refuses.

``DCPLAB_SANDBOX`` changes it for a diagnosis, in words separated by commas: ``off``, ``no-landlock``, ``no-seccomp``,
``no-namespaces``, ``read=PATH``, ``write=PATH``, ``device=PATH``, ``call=NAME``; with a minus in front of its value, what would
be allowed is refused (``device=-/dev/nvidia-uvm``). A grader refuses to run with it.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcplab.errors import CourseError

PIECES = ("landlock", "seccomp", "namespaces")
_LISTS = {"read": "read", "write": "write", "device": "devices", "call": "calls"}


@dataclass(frozen=True)
class Allowances:
    """Paths may hold ``*``. ``read``: files and folders to read. ``write``: folders to change, beside the child's own.
    ``devices``: to read, write and control. ``processes``: it may start programs (a compiler). ``calls``: system calls of
    `REFUSED` that it may make. ``without``: pieces of the walls that are left out."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    processes: bool = False
    calls: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/sys/devices", "/sys/fs/cgroup")
_ETC = tuple(
    f"/etc/{name}"
    for name in (
        *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "passwd", "group", "nsswitch.conf"),
        *("alternatives", "mime.types", "magic", "locale.alias", "os-release", "machine-id"),
    )
)
_PROC = tuple(f"/proc/{name}" for name in ("self", "cpuinfo", "meminfo", "stat", "version", "filesystems", "sys", "loadavg"))
_PLAIN_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

CPU = Allowances(read=(*_SYSTEM, *_ETC, *_PROC), devices=_PLAIN_DEVICES)
COMPILE = replace(CPU, processes=True)  # ptxas
# CUDA's driver opens its devices by name, asks /proc and /sys about them, has a local socket of its own and names its threads
# by writing /proc/self/task/N/comm, without which it does not start; gcc builds Triton's launcher.
GPU = replace(
    COMPILE,
    read=(*_SYSTEM, *_ETC, "/proc", "/sys", "/etc/nvidia", "/usr/local/nvidia", "/usr/local/cuda*", "/run/nvidia*"),
    devices=(*_PLAIN_DEVICES, "/dev/nvidia*", "/dev/nvidia-caps", "/dev/nvidia-caps-imex-channels", "/dev/dri"),
    write=("/dev/shm", "/proc/self/task"),
    calls=("memfd_create", "sched_setaffinity", "socketpair", "socket", "bind", "listen"),
)
BY_MODE = {"cpu": CPU, "compile": COMPILE, "gpu": GPU}

# Refused in every mode but where an Allowances names it. What only reads, or only concerns the child itself, is not here.
REFUSED = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_open"),
    *("pidfd_getfd", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill", "migrate_pages", "move_pages"),
    *("socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "io_uring_setup", "bpf", "userfaultfd"),
    *("keyctl", "add_key", "request_key", "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig"),
    *("fsmount", "move_mount", "open_tree", "mount_setattr", "perf_event_open", "memfd_create", "memfd_secret", "shmget"),
    *("msgget", "semget", "mq_open", "open_by_handle_at", "name_to_handle_at", "chmod", "fchmod", "fchmodat", "fchmodat2"),
    *("chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr"),
    *("fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "mknod", "mknodat"),
    *("fanotify_init", "inotify_init", "inotify_init1", "kexec_load", "init_module", "finit_module", "delete_module"),
    *("reboot", "swapon", "swapoff", "sethostname", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "acct"),
    *("quotactl", "syslog", "personality", "vhangup", "iopl", "ioperm", "capset"),
)
LOCAL = ("socket", "socketpair")  # where they are allowed, only of the local family (AF_UNIX)
ABSENT = ("connect",)  # refused as if nobody were there: CUDA's driver asks for MPS in this way, and goes on without
PROCESSES = ("fork", "vfork", "execve", "execveat")  # and clone without a thread's flag
SIGNALS = ("kill", "tgkill")  # a child that starts programs may end them
# name: which argument is a process's id. Only 0 and the child's own pass.
OTHERS = dict.fromkeys(("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", *SIGNALS), 0)
OTHERS |= {"setpriority": 1, "ioprio_set": 1}


def changed(allowed: Allowances, asked: str) -> Allowances:
    """Return what ``DCPLAB_SANDBOX`` makes of ``allowed``. Raises CourseError for a word that is none."""
    for word in filter(None, asked.replace(" ", "").split(",")):
        name, _, value = word.partition("=")
        if word == "off":
            allowed = replace(allowed, without=PIECES)
        elif name.removeprefix("no-") in PIECES and name.startswith("no-"):
            allowed = replace(allowed, without=(*allowed.without, name.removeprefix("no-")))
        elif name in _LISTS and value.startswith("-"):
            left = tuple(path for path in getattr(allowed, _LISTS[name]) if path != value[1:])
            allowed = _with(allowed, name, left)
        elif name in _LISTS and value:
            allowed = _with(allowed, name, (*getattr(allowed, _LISTS[name]), value))
        else:
            raise CourseError(f"DCPLAB_SANDBOX has {word!r}; it takes off, no-landlock, no-seccomp, read=PATH and the like.")
    return allowed


def there(patterns: Sequence[str]) -> list[str]:
    """Return the paths that exist of these patterns."""
    return [path for pattern in patterns for path in (glob.glob(pattern) if "*" in pattern else [pattern])]


def _with(allowed: Allowances, name: str, paths: tuple[str, ...]) -> Allowances:
    changes: dict[str, Any] = {_LISTS[name]: paths}
    return replace(allowed, **changes)
