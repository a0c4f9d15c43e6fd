"""Runs in the disposable child: answers on inputs. Each outcome is sent back as bytes as soon as it is known.

The child never holds an expected value. Its records say what an answer returned, raised or touched, and the parent decides
whether that is right. An answer can replace functions of this process and forge its record: it can then claim what it could
have computed otherwise, and hide what it touched, but no value that it does not know. SECURITY.md says what that means.
"""

from __future__ import annotations

import builtins
import contextlib
import difflib
import dis
import faulthandler
import functools
import io
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from dcplab import codec, ended
from dcplab.sandbox import audit_hook, compiled_kernels, kept_modules, passed_over
from dcplab.sandbox.kernels import access_record
from dcplab.sandbox.kernels.bounds_guard import Guard, guarded
from dcplab.sandbox.kernels.canary_buffers import CanaryBuffers
from dcplab.sandbox.kernels.compile_for_gpu import compile_launch
from dcplab.sandbox.kernels.decorators import is_kernel
from dcplab.sandbox.kernels.grid_order import backwards
from dcplab.sandbox.kernels.interpreter_limits import watched
from dcplab.sandbox.kernels.read_count import ReadCount
from dcplab.sandbox.walls import enclose as walls
from dcplab.sandbox.walls import namespaces

RECORD_LIMIT = 64 << 20
ENGINE = Path(ended.__file__).parent / "engine"  # whose operations an answer calls
CLOSE = 0.8  # of two names, from 0 to 1, that one is taken for a slip of the other


def main(job_fd: int, result_fd: int) -> None:
    """Run one job and end the process. Never returns."""
    job = codec.decode(_read_all(job_fd))
    limits = job["limits"]
    faulthandler.register(signal.SIGUSR1, file=os.fdopen(os.dup(2), "w"), all_threads=False)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_bytes"],) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits["processor_s"], limits["processor_s"] + 5))  # a signal; then the end
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits["open_files"],) * 2)
    if namespaces.counted_apart():
        resource.setrlimit(resource.RLIMIT_NPROC, (limits["processes"],) * 2)
    if job["mode"] == "cpu":
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + limits["memory_bytes"],) * 2)
    for name, value in (("display", print), ("get_ipython", lambda: None)):  # names that a notebook's code may expect
        setattr(builtins, name, value)
    passed_over.install(interpret=job["mode"] == "cpu")
    folder = Path(job["scratch"])
    os.chdir(folder)  # files that an answer writes without a path vanish with the run
    os.environ["TMPDIR"] = str(folder)
    changes = compiled_kernels.place(folder, job["kernels"], job["keeps"])
    tempfile.tempdir = None
    closed = [os.path.realpath(f) for f in job["forbidden"]]
    folders = [p["folder"] for p in job["programs"] if p["folder"] and not audit_hook.within(p["folder"], closed)]
    kept_modules.keep(job["drive"], job["may_import"], job["hides"], job["compiles"] or job["mode"] == "gpu")
    allowed = walls.allowances("compile" if job["compiles"] and job["mode"] == "cpu" else job["mode"], job["sandbox"])
    walls.enclose(allowed, [str(folder), *changes], list(dict.fromkeys(folders)), [job["kernels"]] if job["kernels"] else [])
    audit_hook.install(folder, job["forbidden"], job["may_import"])
    send = _sender(result_fd, job["key"])
    for number, program in enumerate(job["programs"]):
        path = folder / f"answer{number}.py"
        path.write_text(program["source"], encoding="utf-8")
        if program["folder"] in folders:
            sys.path.append(program["folder"])
        run_program(path, program["entry"], job, _of_program(send, number))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the answer may have closed it; keep its result all the same
            pass
    os._exit(0)


def run_program(path: Path, entry: str, job: Mapping[str, Any], send: Callable[[dict[Any, Any]], None]) -> None:
    """Load one answer and run it on every case. Sends one record a case, or a single record with case -1 if it does not
    load."""
    passed_over.notes()  # drop the notes of an earlier program in this child
    try:
        module = types.ModuleType("__main__")  # as in a notebook; Triton and inspect find the source by this file
        module.__file__ = str(path)
        sys.modules["__main__"] = module
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True), vars(module))
        calls = {name: getattr(module, name) for name in {entry, *(case.get("call") or entry for case in job["cases"])}}
        if job["drive"]:
            space: dict[str, Any] = {}
            exec(compile(job["drive"]["source"], audit_hook.DRIVE, "exec", dont_inherit=True), space)
            calls = {name: functools.partial(space[job["drive"]["name"]], call) for name, call in calls.items()}
    except BaseException as e:  # SystemExit and KeyboardInterrupt too: all are the answer's own outcome
        send({"case": -1, "raised": _raised(e, path)})
        send({"case": "end"})
        return
    for number, case in enumerate(job["cases"]):
        started, call = time.perf_counter(), calls[case.get("call") or entry]
        record = _run_launch(call, case, job, path) if case["kind"] == "launch" else _run_case(call, case, job, path)
        send({"case": number, "seconds": time.perf_counter() - started, "notes": passed_over.notes()} | record)
        if record.get("raised", {}).get("fault"):
            os._exit(0)  # the CUDA context is lost for good, so no later case can run
    send({"case": "end"})


def _run_case(call: Callable[..., Any], case: Mapping[str, Any], job: Mapping[str, Any], path: Path) -> dict[Any, Any]:
    to = _on_device(job["mode"])
    args, kwargs = (_each_tensor(codec.decode(case[part]), to) for part in ("args", "kwargs"))
    given = [*enumerate(args), *kwargs.items()]
    before = {key: codec.encode(value) for key, value in given}
    writes, events, record = set(case["writes"]), [], {}
    try:
        result = call(*args, **kwargs)
        _settle(job["mode"])
        record["returned"] = _fits(result)
    except BaseException as e:
        record["raised"] = _raised(e, path)
        result = None
        if record["raised"]["fault"]:
            return record
    for key, value in given:
        if key in writes:
            if _outside_view_changed(before[key], value):
                events.append({"kind": "between", "argument": key})
        elif codec.encode(value) != before[key]:
            events.append({"kind": "changed", "argument": key})
    shared = _storages(result) if not writes else {}
    events += [{"kind": "shares", "argument": key} for key, value in given if shared.keys() & _storages(value).keys()]
    if writes:
        record["written"] = {key: value for key, value in given if key in writes}
        record["returned"] = None  # the return value of such an entry is ignored
    return record | {"events": events}


def _run_launch(kernel: Any, case: Mapping[str, Any], job: Mapping[str, Any], path: Path) -> dict[Any, Any]:
    if job["mode"] == "compile":
        return _compile(kernel, case, path)
    buffers = codec.decode(case["buffers"])
    were = {name: codec.tensor_bytes(t) for name, t in buffers.items()}
    on_gpu = job["mode"] == "gpu"
    arena = CanaryBuffers(buffers, "cuda", _bytes_before(case, buffers)) if on_gpu else CanaryBuffers(buffers)
    drawable = access_record.small([t.numel() for t in buffers.values()], case["grid"])
    accesses = access_record.AccessRecord() if drawable and not on_gpu else None
    reads = ReadCount(codec.decode(case["reads"])) if "reads" in case and not on_gpu else None
    guard = None if on_gpu else Guard(arena.views, notes=[recorder for recorder in (accesses, reads) if recorder])
    args, record, doubts = [], {}, []
    for kind, value, dtype, before in codec.decode(case["args"]):
        if kind == "value":
            args.append(value)
            continue
        dtype = codec.dtype_named(dtype) if dtype else buffers[value].dtype
        if on_gpu:
            args.append((arena.whole(value, before * dtype.itemsize) if before else arena.views[value]).view(dtype))
        else:
            assert guard is not None  # it is made for every launch on a CPU
            args.append(guard.pointer(value, dtype, before))
    try:
        if not is_kernel(kernel):
            raise TypeError(f"this is a {type(kernel).__name__}, not a Triton kernel: is @triton.jit above it?")
        if on_gpu:
            kernel[case["grid"]](*args, **case["constexprs"])
            _settle("gpu")
        else:
            order = backwards() if case["backwards"] else contextlib.nullcontext()
            assert guard is not None
            with guarded(guard), order, watched(casts=not case["exact"]) as doubts:
                kernel[case["grid"]](*args, **case["constexprs"])
    except BaseException as e:
        record["raised"] = _raised(e, path)
        if record["raised"]["fault"]:
            return record
    events = [] if guard is None else list(guard.events)
    events += arena.touched() + (reads.events() if reads else [])
    after = {name: view.cpu() for name, view in arena.views.items()}
    for name, view in after.items():
        if name not in case["writes"] and codec.tensor_bytes(view) != were[name]:
            events.append({"kind": "changed", "argument": name})
    return (
        record
        | {
            "written": {name: after[name] for name in case["writes"]},
            "events": events,
            "doubts": list(doubts),
        }
        | ({"accesses": accesses.done()} if accesses else {})
    )


def _compile(kernel: Any, case: Mapping[str, Any], path: Path) -> dict[Any, Any]:
    try:
        compile_launch(kernel, case)
        return {"compiled": True}
    except BaseException as e:
        return {"raised": _raised(e, path)}


def _bytes_before(case: Mapping[str, Any], buffers: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """Return the bytes of a larger buffer that a pointer begins with, by the name of the buffer at its end."""
    found: dict[str, int] = {}
    for kind, name, dtype, before in codec.decode(case["args"]):
        if kind != "value":
            width = (codec.dtype_named(dtype) if dtype else buffers[name].dtype).itemsize
            found[name] = max(found.get(name, 0), before * width)
    return found


def _raised(e: BaseException, path: Path) -> dict[Any, Any]:
    while type(e).__name__ == "InterpreterError" and e.__cause__ is not None:  # Triton's wrapping of the kernel's own error
        e = e.__cause__
    try:
        message = str(e)[:2000]
    except Exception:  # the answer's own __str__ may raise
        message = ""
    frames = [f for f in traceback.extract_tb(e.__traceback__)]
    mine = [f.lineno for f in frames if f.filename == str(path)]
    start = next((i for i, f in enumerate(frames) if f.filename == str(path)), 0)
    text = "".join(traceback.format_list(frames[start:])) if mine else "".join(traceback.format_list(frames[-3:]))
    if isinstance(e, SyntaxError) and e.filename == str(path):
        mine = [e.lineno]
    after = frames[max((i for i, f in enumerate(frames) if f.filename == str(path)), default=len(frames)) + 1 :]
    inside = after[0].name if after and ENGINE in Path(after[0].filename).parents else ""  # an operation that it called
    return {
        "type": type(e).__name__,
        "inside": inside,
        "is_a": [c.__name__ for c in type(e).__mro__],
        "message": message,
        "own": _own(e, path),
        "line": mine[-1] if mine else None,
        "traceback": f"{text[-6000:]}{type(e).__name__}: {message}".replace(str(path), "answer.py"),
        "fault": ended.lost(message) is not None,
        "refused": isinstance(e, audit_hook.Refused),
    } | _meant(e)


def _own(e: BaseException, path: Path) -> bool:
    """Return True if a statement of the answer raised this, in words of its own, and no operation that it called."""
    at = e.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None or at.tb_frame.f_code.co_filename != str(path):
        return False
    operation, argument = at.tb_frame.f_code.co_code[at.tb_lasti : at.tb_lasti + 2]
    return dis.opname[operation] == "RAISE_VARARGS" and argument > 0  # 0: what was caught is raised again


def _meant(e: BaseException) -> dict[str, Any]:
    """Return the name in reach that a missing one looks like a slip of. (Python 3.11 says so only where it prints.)"""
    name, frames = getattr(e, "name", None), [frame for frame, _ in traceback.walk_tb(e.__traceback__)]
    if not isinstance(e, NameError) or not isinstance(name, str) or not frames:
        return {}
    reach = [known for known in (*frames[-1].f_locals, *frames[-1].f_globals) if isinstance(known, str)]
    return {"meant": found[0]} if (found := difflib.get_close_matches(name, reach, 1, CLOSE)) else {}


def _sender(fd: int, key: bytes) -> Callable[[dict[Any, Any]], None]:
    def send(record: dict[Any, Any]) -> None:
        try:
            body = codec.encode(record, compact=True, limit=RECORD_LIMIT)
        except codec.CodecError as e:
            body = codec.encode({k: record[k] for k in ("case", "program")} | {"too_large": str(e)})
        data = memoryview(key + len(body).to_bytes(8, "little") + body)
        while data:
            data = data[os.write(fd, data) :]

    return send


def _of_program(send: Callable[[dict[Any, Any]], None], number: int) -> Callable[[dict[Any, Any]], None]:
    return lambda record: send(record | {"program": number})


def _fits(result: Any) -> Any:
    """Return the result with its tensors on the CPU. A value that cannot be sent becomes a description, so that one bad case
    costs no other."""
    try:
        result = _each_tensor(result, lambda t: t.detach().cpu() if type(t) is torch.Tensor and t.device.type == "cuda" else t)
        codec.encode(result, compact=True, limit=RECORD_LIMIT // 2)
        return result
    except Exception as e:
        return codec.Other(type(result).__name__, str(e)[:200])


def _outside_view_changed(before: bytes, tensor: Any) -> bool:
    """Return True if bytes of the storage outside the view's elements have changed."""
    if not isinstance(tensor, torch.Tensor):
        return False
    old = codec.decode(before)
    if tensor.shape != old.shape or tensor.stride() != old.stride() or tensor.storage_offset() != old.storage_offset():
        return True
    new = codec.decode(codec.encode(tensor))
    new.copy_(old)
    return codec.storage_bytes(new) != codec.storage_bytes(old)


def _storages(value: Any) -> dict[int, None]:
    """Return the memory of the tensors in a value. One without entries has none: writing to it changes nobody's."""
    found: dict[int, None] = {}

    def note(t: torch.Tensor) -> torch.Tensor:
        if t.layout is torch.strided and t.numel() and t.untyped_storage().nbytes():
            found[t.untyped_storage().data_ptr()] = None
        return t

    _each_tensor(value, note)
    return found


def _each_tensor(value: Any, change: Callable[..., Any], depth: int = 0) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if depth > codec.DEPTH:  # too deep to be sent; a list may hold itself
        return value
    if type(value) in (list, tuple):
        return type(value)(_each_tensor(v, change, depth + 1) for v in value)
    if type(value) is dict:
        return {k: _each_tensor(v, change, depth + 1) for k, v in value.items()}
    return value


def _on_device(mode: str) -> Callable[..., Any]:
    if mode != "gpu":
        return lambda t: t

    def move(t: torch.Tensor) -> torch.Tensor:
        # Move the storage, so that strides and the bytes between the elements arrive too.
        storage: Any = t.untyped_storage().cuda() if t.untyped_storage().nbytes() else t.cuda().untyped_storage()
        return torch.empty(0, dtype=t.dtype, device="cuda").set_(storage, t.storage_offset(), t.shape, t.stride())

    return move


def _settle(mode: str) -> None:
    if mode == "gpu":
        torch.cuda.synchronize()


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _read_all(fd: int) -> bytes:
    with io.FileIO(fd) as f:
        f.seek(0)
        return f.readall()
