"""What every kernel launch needs: is Triton interpreting, are the tensors where it can reach them, how are they laid out.

Triton decides at its import, by ``TRITON_INTERPRET``, whether ``@triton.jit`` compiles for a GPU or interprets on the CPU. A
process has one of the two for good. The interpreter loads and stores every dtype, but computes wrongly, and says
nothing, in bf16 and fp8; ``refuse_interpreted`` turns such a request into a sentence.
"""

import contextlib

import torch
import triton
from torch import Tensor
from triton.runtime.interpreter import InterpretedFunction

RAW = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@triton.jit
def _probe():
    pass


INTERPRETED = isinstance(_probe, InterpretedFunction)


def refuse_interpreted(what: str, instead: str) -> None:
    """Raise NotImplementedError with a sentence if Triton is interpreting in this process."""
    if INTERPRETED:
        raise NotImplementedError(f"Triton's interpreter cannot do {what}: {instead}.")


def check_devices(*tensors: Tensor) -> torch.device:
    """Return the one device of all tensors. ValueError where Triton, as this process runs it, cannot reach them."""
    devices = {t.device for t in tensors}
    if len(devices) != 1:
        raise ValueError(f"All tensors of a launch must be on one device, not on {sorted(map(str, devices))}.")
    device = devices.pop()
    if device.type != "cuda" and not INTERPRETED:
        raise ValueError(
            f"Triton compiles for a GPU in this process and the tensors are on {device}: move them to cuda, "
            "or start Python with TRITON_INTERPRET=1."
        )
    return device


def on(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """Return the context in which a launch goes to ``device``."""
    return torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()


def raw(t: Tensor) -> Tensor:
    """Return the same memory as integers of the same width, which a kernel moves exactly, NaN bits too."""
    return t.view(RAW[t.element_size()])


def check_rows(name: str, t: Tensor, width: int | None = None) -> None:
    """Raise ValueError unless ``t`` is 2-D with dense rows (any distance between rows), ``width`` wide where given."""
    if t.dim() != 2 or (width is not None and t.shape[1] != width):
        raise ValueError(f"{name} must be [rows, {'width' if width is None else width}], not {list(t.shape)}.")
    if t.shape[1] > 1 and t.stride(1) != 1:
        raise ValueError(f"The rows of {name} must be dense: stride 1 in the last dimension, not {t.stride(1)}.")


def check_indices(name: str, t: Tensor, count: int | None = None) -> None:
    """Raise ValueError unless ``t`` holds int32 or int64, and ``count`` of them in one dimension where given."""
    if t.dtype not in (torch.int32, torch.int64):
        raise ValueError(f"{name} must be int32 or int64, not {t.dtype}.")
    if count is not None and (t.dim() != 1 or t.shape[0] != count):
        raise ValueError(f"{name} must be one-dimensional with {count} entries, not {list(t.shape)}.")


def check_dcp(dcp_rank: int, dcp_size: int) -> None:
    """Raise ValueError unless ``0 <= dcp_rank < dcp_size``."""
    if dcp_size < 1 or not 0 <= dcp_rank < dcp_size:
        raise ValueError(f"dcp_rank must lie in 0..dcp_size - 1, but is {dcp_rank} of {dcp_size}.")


def check_interleave(interleave: int) -> None:
    """Raise ValueError unless at least one loc goes to a rank before the next rank's turn."""
    if interleave < 1:
        raise ValueError(f"interleave must be at least 1, not {interleave}.")


def floor_pow2(n: int) -> int:
    """Return the largest power of two that is at most ``n``; 1 for ``n < 2``."""
    return 1 << max(n.bit_length() - 1, 0) if n > 0 else 1


def clamp_pow2(n: int, low: int, high: int) -> int:
    """Round ``n`` up to a power of two, then keep it in ``low..high`` (powers of two themselves)."""
    return max(low, min(high, triton.next_power_of_2(max(n, 1))))


def tile_rows(row_bytes: int, tile_bytes: int = 16384, most: int = 128) -> int:
    """Count the rows of a ``tile_bytes`` tile: enough loads in flight for each thread, few enough to stay in registers."""
    return max(1, min(most, floor_pow2(tile_bytes // max(row_bytes, 1))))
