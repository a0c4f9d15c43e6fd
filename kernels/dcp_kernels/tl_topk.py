"""Top-k in TileLang: which columns the attention will read. Every rank must choose the same, so ties go to the lower column.

One program a row and no list of candidates, so nothing overflows when logits cluster. Three looks at the row, by 11, 11 and 10
bits of an order-preserving integer key, find the key of the last column chosen and how many columns with exactly that key are.
A fourth look walks the row in pieces, counts for each lane how many columns before its own are chosen, and writes the columns
to their places: the result is in ascending column order, whatever the order in which the device ran.

Long rows are read once by ``tl_topk_sampled`` first, and only what it leaves comes here.

Sums over bins and lanes go by groups of ``GROUP``: a level of group sums, which every lane then walks by itself. That needs two
barriers where a scan by doubling needs twenty.
"""

from typing import Any, NamedTuple

import tilelang.language as T
import torch
from torch import Tensor

from dcp_kernels import tl_runtime, tl_topk_sampled
from dcp_kernels.tl_topk_keys import GROUP, padded, sortable, when
from dcp_kernels.tl_topk_sampled import SEGMENTS, Shape

BINS = 1 << 11


def select(*, topk: int, lanes: int = 1024, each: int = 8, copies: int = 8) -> Any:
    """Build the kernel of the ``topk`` largest logits in ``[ks, ke)`` of each row, by pieces of ``lanes * each`` columns.

    Neighbouring lanes count into ``copies`` different histograms: logits cluster, and lanes that hit one counter queue up.
    """
    tokens, columns = T.dynamic("tokens"), T.dynamic("columns")
    piece = lanes * each
    bin_groups, lane_groups = BINS // GROUP, lanes // GROUP
    if lanes % GROUP or lanes > GROUP * GROUP:
        raise ValueError(f"lanes must be a multiple of {GROUP} up to {GROUP * GROUP}, not {lanes}")
    if piece >= 1 << 15:
        raise ValueError(f"a piece of {piece} columns does not fit the packed counts")

    @T.macro
    def load(logits, t, lo, hi, i, x):
        """Piece ``i`` of the row, all of it before the first use so that the loads overlap; -inf behind its end."""
        for e, j in T.Parallel(each, lanes):
            c = lo + i * piece + e * lanes + j
            x[e, j] = T.if_then_else(c < hi, logits[t, T.min(c, columns - 1)], -T.infinity("float32"))

    @T.macro
    def descend(sums, at, length, state):
        """Walk ``length`` sums from the highest down to the one that fills the want. ``state``: wanted, above, index, sum."""
        state[2] = 0
        for e in T.unroll(length):  # every sum is read, so that no read waits for the one before
            state[3] = sums[at + length - 1 - e]
            if state[1] < state[0]:
                state[2] = length - 1 - e
                state[1] += state[3]
        state[1] -= sums[at + state[2]]

    @T.macro
    def narrow(logits, t, lo, hi, x, key, counts, sums, groups, state, want, total, prefix, shift, bits):
        """Fix the next ``bits`` of the last chosen key: among candidates that share ``prefix`` above them."""
        T.sync_threads()
        for r, b in T.Parallel(copies, BINS):
            counts[r * (BINS + 1) + b] = 0
        T.sync_threads()
        for i in T.serial(T.ceildiv(T.max(hi - lo, 0), piece)):
            load(logits, t, lo, hi, i, x)
            for e, j in T.Parallel(each, lanes):
                if x[e, j] > -T.infinity("float32"):
                    key[0] = sortable(x[e, j]) >> T.uint32(shift)
                    if shift + bits == 32:
                        T.atomic_add(counts[j % copies * (BINS + 1) + T.cast(key[0], "int32")], 1)
                    else:
                        if key[0] >> T.uint32(bits) == prefix[0]:
                            digit = T.cast(key[0] & T.uint32((1 << bits) - 1), "int32")
                            T.atomic_add(counts[j % copies * (BINS + 1) + digit], 1)
        T.sync_threads()
        for b in T.Parallel(BINS):
            sums[padded(b)] = counts[b]
        for r in T.unroll(1, copies):
            for b in T.Parallel(BINS):
                sums[padded(b)] += counts[r * (BINS + 1) + b]
        T.sync_threads()
        for g in T.Parallel(bin_groups):
            groups[g] = sums[g * (GROUP + 1)]
        for e in T.unroll(1, GROUP):
            for g in T.Parallel(bin_groups):
                groups[g] += sums[g * (GROUP + 1) + e]
        T.sync_threads()
        if shift + bits == 32:
            total[0] = 0
            for e in T.unroll(bin_groups):
                total[0] += groups[e]
            total[0] = T.min(total[0], topk)
            want[0] = total[0]
        state[0] = want[0]
        state[1] = 0
        descend(groups, 0, bin_groups, state)
        prefix[0] = (prefix[0] << T.uint32(bits)) | T.cast(state[2] * GROUP, "uint32")
        descend(sums, state[2] * (GROUP + 1), GROUP, state)
        prefix[0] = prefix[0] | T.cast(state[2], "uint32")
        want[0] = want[0] - state[1]

    @T.prim_func
    def topk_select_rows(
        logits: T.Tensor((tokens, columns), "float32"),
        ks: T.Tensor((tokens,), "int32"),
        ke: T.Tensor((tokens,), "int32"),
        out: T.Tensor((tokens, topk), "int32"),
        left: T.Tensor((tokens,), "int32"),
    ):
        with T.Kernel(tokens, threads=lanes) as t:
            counts = T.alloc_shared((copies * (BINS + 1),), "int32")
            sums = T.alloc_shared((BINS + bin_groups,), "int32")
            groups = T.alloc_shared((bin_groups,), "int32")
            flags = T.alloc_shared((lanes * (each + 1),), "int32")  # a lane's run of flags and a word between two runs
            lane_sums = T.alloc_shared((lanes + lane_groups,), "int32")
            x = T.alloc_fragment((each, lanes), "float32")
            mine = T.alloc_fragment((lanes,), "int32")
            before = T.alloc_fragment((lanes,), "int32")
            # Thread-private and the same in every thread; buffers, because a macro cannot assign to a variable.
            state = T.alloc_local((4,), "int32")
            want = T.alloc_local((1,), "int32")  # columns still to choose among those with the prefix
            total = T.alloc_local((1,), "int32")  # columns to choose in all
            prefix = T.alloc_local((1,), "uint32")
            base = T.alloc_local((2,), "int32")  # columns above, and columns at, the last chosen key in earlier pieces
            key = T.alloc_local((1,), "uint32")
            lo = T.alloc_var("int32")
            hi = T.alloc_var("int32")

            for _ in when(left[t] != 0):
                lo = T.max(ks[t], 0)
                hi = T.min(ke[t], columns)
                prefix[0] = T.uint32(0)
                narrow(logits, t, lo, hi, x, key, counts, sums, groups, state, want, total, prefix, 21, 11)
                narrow(logits, t, lo, hi, x, key, counts, sums, groups, state, want, total, prefix, 10, 11)
                narrow(logits, t, lo, hi, x, key, counts, sums, groups, state, want, total, prefix, 0, 10)

                base[0] = 0
                base[1] = 0
                for i in T.serial(T.ceildiv(T.max(hi - lo, 0), piece)):
                    load(logits, t, lo, hi, i, x)
                    T.sync_threads()
                    # 1 for a column above the last chosen key, 1 << 16 for one at it: their sums are both counts at once.
                    for e, j in T.Parallel(each, lanes):
                        key[0] = sortable(x[e, j])
                        tie = T.if_then_else(key[0] == prefix[0], 1 << 16, 0)
                        flags[(e * lanes + j) // each * (each + 1) + (e * lanes + j) % each] = T.if_then_else(
                            x[e, j] > -T.infinity("float32"), T.if_then_else(key[0] > prefix[0], 1, tie), 0
                        )
                    T.sync_threads()
                    T.fill(mine, 0)
                    for e in T.unroll(each):
                        for j in T.Parallel(lanes):
                            mine[j] += flags[j * (each + 1) + e]
                    for j in T.Parallel(lanes):
                        lane_sums[padded(j)] = mine[j]
                    T.sync_threads()
                    for g in T.Parallel(lane_groups):
                        groups[g] = lane_sums[g * (GROUP + 1)]
                    for e in T.unroll(1, GROUP):
                        for g in T.Parallel(lane_groups):
                            groups[g] += lane_sums[g * (GROUP + 1) + e]
                    T.sync_threads()
                    T.fill(before, 0)
                    for e in T.unroll(lane_groups):
                        for j in T.Parallel(lanes):
                            before[j] += groups[e] * T.cast(e < j // GROUP, "int32")
                    for e in T.unroll(GROUP):
                        for j in T.Parallel(lanes):
                            before[j] += lane_sums[j // GROUP * (GROUP + 1) + e] * T.cast(e < j % GROUP, "int32")
                    for e in T.unroll(each):
                        for j in T.Parallel(lanes):
                            if flags[j * (each + 1) + e] != 0:
                                above = base[0] + (before[j] & 0xFFFF)
                                ties = base[1] + (before[j] >> 16)
                                if flags[j * (each + 1) + e] == 1:
                                    out[t, above + T.min(ties, want[0])] = lo + i * piece + j * each + e
                                else:
                                    if ties < want[0]:
                                        out[t, above + ties] = lo + i * piece + j * each + e
                                before[j] += flags[j * (each + 1) + e]
                    for e in T.unroll(lane_groups):
                        base[0] += groups[e] & 0xFFFF
                        base[1] += groups[e] >> 16
                    T.sync_threads()
                for i in T.serial(T.ceildiv(topk, lanes)):
                    for j in T.Parallel(lanes):
                        if T.And(i * lanes + j < topk, i * lanes + j >= total[0]):
                            out[t, i * lanes + j] = -1

    return topk_select_rows


def lanes_for(rows: int, device: torch.device) -> dict[str, int]:
    """Choose the launch parameters of ``select``: few rows get as many lanes each as there can be, many share a processor."""
    if device.type == "cpu":
        return {"lanes": 64, "each": 4, "copies": 2}
    if rows <= 2 * torch.cuda.get_device_properties(device).multi_processor_count:
        return {"lanes": 1024, "each": 8, "copies": 8}
    return {"lanes": 256, "each": 16, "copies": 4}


def topk_select(
    logits: Tensor, topk: int, ks: Tensor | None = None, ke: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Choose the columns of each row's ``topk`` largest logits: int32 ``[T, topk]``, in ascending column order, -1 after them.

    ``logits [T, K]`` fp32, contiguous; its columns are positions (paged logits) or ragged indices (ragged logits), and so are
    the results. ``ks`` and ``ke [T]`` int32 bound the candidates to ``[ks, ke)``; None means the whole row. A logit of -inf or
    NaN is no candidate. Among equal logits (-0.0 equals 0.0) the lower column wins, so all ranks that see the same logits
    choose the same set, and a row's result does not depend on the run. The oracle is ``reference.topk_select``.
    """
    tl_runtime.require_runnable(logits, ks, ke, out)
    if logits.ndim != 2 or logits.dtype != torch.float32 or not logits.is_contiguous():
        raise ValueError(f"logits must be contiguous float32 [T, K], got {logits.dtype} {tuple(logits.shape)}")
    if topk < 1:
        raise ValueError(f"topk must be at least 1, got {topk}")
    tokens, columns = logits.shape
    if ks is None:
        ks = torch.zeros(tokens, dtype=torch.int32, device=logits.device)
    if ke is None:
        ke = torch.full((tokens,), columns, dtype=torch.int32, device=logits.device)
    if out is None:
        out = torch.empty(tokens, topk, dtype=torch.int32, device=logits.device)
    if not columns:
        return out.fill_(-1)
    if tokens:
        wide = 4 if columns % 4 == 0 and logits.data_ptr() % 16 == 0 else 1
        planned = plan(tokens, columns, topk, logits.device, wide)
        rest, *sampled = tl_runtime.kernels(_requests(planned, tokens, topk, logits.device), logits.device)
        if planned:
            left = torch.empty(tokens, dtype=torch.int32, device=logits.device)
            _sampled(sampled, planned, (logits.view(tokens, -1, wide), ks, ke), out, left)
        else:
            left = torch.ones(tokens, dtype=torch.int32, device=logits.device)
        rest(logits, ks, ke, out, left)
    return out


class TopkPlan(NamedTuple):
    """Programs a row of ``slices`` with its shape and that of ``join``; or none, and the shape of ``rows``."""

    slices: int
    collect: Shape
    join: Shape | None


def plan(tokens: int, columns: int, topk: int, device: torch.device, wide: int = 1) -> TopkPlan | None:
    """Choose how rows are shared out; None where they are too short, or too much is wanted for a list on the chip."""
    if device.type == "cpu":
        few, processors, lanes, blocks, most = tokens <= 2, 2, 64, 0, 1 << 14
    else:
        processors = torch.cuda.get_device_properties(device).multi_processor_count
        few, lanes, blocks, most = tokens <= 2 * processors, 512, 3, 3072
    narrow = Shape(lanes, 8, 4, _levels(5 * topk // 2, lanes), blocks, wide)
    if topk > most or columns <= SEGMENTS * narrow.levels:
        return None
    if not few:
        return TopkPlan(0, narrow, None)
    lanes = min(1024, 2 * lanes)
    slices = 1
    while slices < 64 and 2 * slices * tokens <= 2 * processors and columns // slices > 4 * lanes:
        slices *= 2
    collect = Shape(lanes, 4, 8, _levels(5 * topk // 2, lanes), wide=wide)
    return TopkPlan(slices, collect, Shape(lanes, 4, 8, _levels(4 * topk, lanes)))


def _levels(entries: int, lanes: int) -> int:
    """Return entries a segment for a list of so many entries at least, which its lanes share evenly."""
    return -(-entries // lanes) * lanes // SEGMENTS


def _requests(planned: TopkPlan | None, tokens: int, topk: int, device: torch.device) -> list[tl_runtime.Request]:
    """List the kernels that a call takes: the one for what is left, then the sampled ones."""
    requests: list[tl_runtime.Request] = [(select, {"topk": topk} | lanes_for(tokens, device))]
    if planned:
        kinds = {"slices": planned.collect, "join": planned.join} if planned.slices else {"rows": planned.collect}
        requests += [(tl_topk_sampled.build, {"kind": k, "topk": topk, "shape": shape}) for k, shape in kinds.items()]
    return requests


def _sampled(kernels: list[Any], planned: TopkPlan, given: tuple[Tensor, Tensor, Tensor], out: Tensor, left: Tensor) -> None:
    """Do the rows for which one look is enough; ``left`` is 1 for each other row, else 0."""
    if not planned.slices:
        kernels[0](*given, out, left)
        return
    logits, ks, ke = given
    sizes = (len(out), planned.slices)
    seen = torch.empty(sizes, dtype=torch.int32, device=out.device)
    keys, cols = torch.empty(2, *sizes, SEGMENTS * planned.collect.levels, dtype=torch.int32, device=out.device)
    bounds = torch.empty(len(out), dtype=torch.float32, device=out.device)
    kernels[0](logits, ks, ke, seen, keys, cols, bounds)
    kernels[1](ks, ke, seen, keys, cols, bounds, out, left)
