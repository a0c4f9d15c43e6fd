"""Compiles a kernel for Hopper (sm_90) without a GPU, to see whether Triton accepts what its interpreter runs.

The interpreter is Python: it accepts numpy in a kernel's body, a block size that is no constexpr, and a length that is no power
of two. This module runs in a child of a server that was started without ``TRITON_INTERPRET``. Nothing is launched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from dcplab import codec
from dcplab.sandbox.kernels.decorators import configured

TARGET = "sm_90"
_NAMES = {
    torch.bool: "i1",
    torch.uint8: "u8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.float32: "fp32",
    torch.float64: "fp64",
    torch.float8_e4m3fn: "fp8e4nv",
    torch.float8_e5m2: "fp8e5",
}


def compile_launch(kernel: Any, case: Mapping[str, Any]) -> None:
    """Compile ``kernel`` for one packed launch. Raises Triton's errors. An autotuned kernel is compiled in its first
    configuration."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.runtime.jit import JITFunction

    buffers = codec.decode(case["buffers"])
    arguments = codec.decode(case["args"])
    values = [buffers[value] if kind == "buffer" else value for kind, value, _, _ in arguments]
    named = dict(zip(getattr(kernel, "arg_names", ()), values, strict=False)) | case["constexprs"]
    kernel, added = configured(kernel, named)
    if type(kernel) is not JITFunction:
        raise TypeError(f"this is a {type(kernel).__name__}, not a Triton kernel: is @triton.jit above it?")
    signature, constants = {}, {}
    given = dict(zip((p.name for p in kernel.params), _kinds(arguments, buffers), strict=False))
    given |= {name: ("value", value) for name, value in (case["constexprs"] | added).items()}
    for place, parameter in enumerate(kernel.params):
        kind, value = given.pop(parameter.name, ("value", parameter.default))
        if parameter.is_constexpr:
            signature[parameter.name], constants[(place,)] = "constexpr", value
        else:
            signature[parameter.name] = value if kind == "type" else _type(value)
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    options = {name: value for name, (_, value) in given.items()}  # arguments that are no parameters, such as num_warps
    triton.compile(source, target=GPUTarget("cuda", int(TARGET.removeprefix("sm_")), 32), options=options)


def _kinds(arguments: Sequence[tuple[Any, ...]], buffers: Mapping[str, torch.Tensor]) -> list[tuple[str, Any]]:
    """Return the kinds of a launch's positional arguments: ``("type", "*i64")`` for a buffer, else ``("value", value)``."""
    return [
        ("value", value)
        if kind == "value"
        else ("type", f"*{_NAMES[codec.dtype_named(dtype) if dtype else buffers[value].dtype]}")
        for kind, value, dtype, _ in arguments
    ]


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    return "fp32"
