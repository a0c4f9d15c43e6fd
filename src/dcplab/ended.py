"""Words the end of a process or a launch. Pure: turns messages, exit statuses and stderr into sentences."""

from __future__ import annotations

import re
import signal

# Messages of a context that is lost for good, in torch's and Triton's words. TileLang gives the driver's name of the error.
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
    """Return CUDA's name of the error that leaves a process without a usable context, if a message reports one; else None.

    After such an error every CUDA call of the process fails. Errors that cost a single call do not count, such as out of memory
    or an invalid launch configuration.
    """
    if "cuda" not in message.lower():
        return None
    return next((text for text, name in _LOST.items() if text in message or name in message), None)


def poisoned(error: str) -> str:
    """Explain a `lost` context to the person whose process it is."""
    return (
        f"The GPU ended this process's work (CUDA error: {error}): a kernel did what it may not, as a rule touch memory that "
        "is not its own. Every later CUDA call of this process fails too, right or wrong."
    )


def by_signal(number: int) -> str:
    """Name a signal in words."""
    name = signal.Signals(number).name
    more = {"SIGKILL": ": by a person, or by the system for want of memory", "SIGABRT": ": a library gave up"}
    return f"ended by {name}{more.get(name, '')}"


def why(status: int, stderr: str) -> str:
    """Return the reason for a Python process's end, from its exit status (negative: a signal) and its stderr. "" for status
    0."""
    if status == 0:
        return ""
    lines = stderr.strip().split("\n")
    if lines[-1].startswith("course: "):  # a command's own last sentence
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
