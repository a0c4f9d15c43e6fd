"""What ended a process or a launch, in a sentence. Pure: from messages, exit statuses and stderr to words."""

from __future__ import annotations

import re
import signal

# What CUDA says when a context is lost for good, in torch's words and Triton's; TileLang gives the driver's name of it.
_LOST = {
    "an illegal memory access": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "unspecified launch failure": "CUDA_ERROR_LAUNCH_FAILED",
    "misaligned address": "CUDA_ERROR_MISALIGNED_ADDRESS",
    "device-side assert triggered": "CUDA_ERROR_ASSERT",
    "an illegal instruction": "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "operation not supported on global/shared address space": "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "invalid program counter": "CUDA_ERROR_INVALID_PC",
    "hardware stack error": "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "the launch timed out and was terminated": "CUDA_ERROR_LAUNCH_TIMEOUT",
    "uncorrectable ECC error": "CUDA_ERROR_ECC_UNCORRECTABLE",
    "uncorrectable NVLink error": "CUDA_ERROR_NVLINK_UNCORRECTABLE",
    "context is destroyed": "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    "unknown error": "CUDA_ERROR_UNKNOWN",
}
_FULL = re.compile(
    r"CUDA out of memory|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|Triton Error \[CUDA\]: out of memory"
)
_RAISED = re.compile(r"[\w.]*(?:Error|Exception|Interrupt|Exit)\b")


def lost(message: str) -> str | None:
    """The CUDA error that leaves a process without a usable context, named as CUDA does, where a message says one; else None.

    After such an error every CUDA call of the process fails, right or wrong. Errors that cost one call only, as out of
    memory or an invalid launch configuration, are none of these.
    """
    if "cuda" not in message.lower():
        return None
    return next((text for text, name in _LOST.items() if text in message or name in message), None)


def poisoned(error: str) -> str:
    """What a `lost` context means to the person whose process it is."""
    return (
        f"The GPU ended this process's work (CUDA error: {error}): a kernel did what it may not, as a rule touch memory that "
        "is not its own. Every later CUDA call of this process fails too, right or wrong."
    )


def by_signal(number: int) -> str:
    """A signal in words."""
    name = signal.Signals(number).name
    more = {"SIGKILL": ": by a person, or by the system for want of memory", "SIGABRT": ": a library gave up"}
    return f"ended by {name}{more.get(name, '')}"


def why(status: int, stderr: str) -> str:
    """What ended a Python process, from its exit status (negative: a signal) and its stderr; "" for status 0."""
    if status == 0:
        return ""
    lines = stderr.strip().split("\n")
    if lines[-1].startswith("course: "):  # what a command says of its own end
        return lines[-1].removeprefix("course: ")
    if error := lost(stderr):
        return f"CUDA error: {error}"
    if _FULL.search(stderr):
        asked = re.search(r"Tried to allocate ([\d.]+ \w+)", stderr)
        return "the GPU's memory was full" + (f" when it asked for {asked[1]}" if asked else "")
    if status < 0:
        return by_signal(-status)
    last = next((line for line in reversed(lines) if _RAISED.match(line)), "")
    if last.startswith("MemoryError") or "DefaultCPUAllocator" in last:
        return "there was no memory left"
    kind, _, text = last.partition(": ")
    return (text if kind.endswith("CourseError") else last) or f"exit status {status}"
