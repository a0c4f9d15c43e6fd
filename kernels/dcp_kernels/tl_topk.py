"""Top-k in TileLang: which columns the attention will read. Every rank must choose the same, so ties go to the lower column.

One program a row and no list of candidates, so nothing overflows when logits cluster. Three looks at the row, by 11, 11 and 10
bits of an order-preserving integer key, find the key of the last column chosen and how many columns with exactly that key are.
A fourth look walks the row in pieces, scans how many columns before each lane's are chosen, and writes the columns to their
places: the result is in ascending column order, whatever the order in which the device ran.
"""

import tilelang.language as T
import torch
from dcp_kernels import tl_runtime

LANES = 1024
BINS = 1 << 11


def sortable(x):
    """The unsigned key of a float, in the order of the floats; -0.0 has the key of 0.0."""
    bits = T.reinterpret(T.if_then_else(x == T.float32(0), T.float32(0), x), "uint32")
    return T.if_then_else(x < T.float32(0), ~bits, bits | T.uint32(0x80000000))


def select(*, topk, lanes=LANES, each=4):
    """Columns of the ``topk`` largest logits in ``[ks, ke)`` of each row; ``each`` neighbouring columns a lane."""
    tokens, columns = T.dynamic("tokens"), T.dynamic("columns")
    piece = lanes * each
    log_lanes = lanes.bit_length() - 1
    if lanes != 1 << log_lanes or log_lanes % 2:
        raise ValueError(f"lanes must be a power of four, not {lanes}")
    if piece >= 1 << 15:
        raise ValueError(f"a piece of {piece} columns does not fit the packed counts")

    @T.macro
    def narrow(logits, t, lo, hi, x, key, count, spare, found, want, prefix, total, shift, bits):
        """Fix the next ``bits`` of the last chosen key: among candidates that share ``prefix`` above them."""
        T.sync_threads()
        for b in T.Parallel(BINS):
            count[b] = 0
        T.sync_threads()
        for i in T.serial(T.ceildiv(T.max(hi - lo, 0), piece)):
            for j in T.Parallel(piece):
                if lo + i * piece + j < hi:
                    x[0] = logits[t, lo + i * piece + j]
                    if x[0] > -T.infinity("float32"):
                        key[0] = sortable(x[0]) >> T.uint32(shift)
                        if shift + bits == 32:
                            T.atomic_add(count[T.cast(key[0], "int32")], 1)
                        else:
                            if key[0] >> T.uint32(bits) == prefix[0]:
                                T.atomic_add(count[T.cast(key[0] & T.uint32((1 << bits) - 1), "int32")], 1)
        T.sync_threads()
        for step in T.serial(6):  # count[b] becomes the number of candidates at or above bin b
            for b in T.Parallel(BINS):
                spare[b] = count[b] + T.if_then_else(b + (1 << (2 * step)) < BINS, count[T.min(b + (1 << (2 * step)), BINS - 1)], 0)
            T.sync_threads()
            for b in T.Parallel(BINS):
                count[b] = spare[b] + T.if_then_else(b + (2 << (2 * step)) < BINS, spare[T.min(b + (2 << (2 * step)), BINS - 1)], 0)
            T.sync_threads()
        if shift + bits == 32:
            want[0] = T.min(want[0], count[0])
            total[0] = want[0]
        for b in T.Parallel(BINS):
            higher = T.if_then_else(b + 1 < BINS, count[T.min(b + 1, BINS - 1)], 0)
            if T.And(count[b] >= want[0], higher < want[0]):
                found[0] = b
                found[1] = want[0] - higher
        T.sync_threads()
        if want[0] > 0:
            prefix[0] = (prefix[0] << T.uint32(bits)) | T.cast(found[0], "uint32")
            want[0] = found[1]

    @T.prim_func
    def topk_select_rows(
        logits: T.Tensor((tokens, columns), "float32"),
        ks: T.Tensor((tokens,), "int32"),
        ke: T.Tensor((tokens,), "int32"),
        out: T.Tensor((tokens, topk), "int32"),
    ):
        with T.Kernel(tokens, threads=lanes) as t:
            count = T.alloc_shared((BINS,), "int32")
            spare = T.alloc_shared((BINS,), "int32")
            found = T.alloc_shared((2,), "int32")  # the digit of the last chosen key; columns still wanted at that digit
            scan = T.alloc_shared((lanes,), "int32")
            scan_b = T.alloc_shared((lanes,), "int32")
            mine = T.alloc_fragment((lanes,), "int32")
            before = T.alloc_fragment((lanes,), "int32")
            # Thread-private and the same in every thread; buffers, because a macro cannot assign to a variable.
            want = T.alloc_local((1,), "int32")  # columns still to choose among those with the prefix
            total = T.alloc_local((1,), "int32")  # columns to choose in all
            prefix = T.alloc_local((1,), "uint32")
            base = T.alloc_local((2,), "int32")  # columns above, and columns at, the last chosen key in earlier pieces
            x = T.alloc_local((1,), "float32")
            key = T.alloc_local((1,), "uint32")
            lo = T.alloc_var("int32")
            hi = T.alloc_var("int32")

            lo = T.max(ks[t], 0)
            hi = T.min(ke[t], columns)
            want[0] = topk
            prefix[0] = T.uint32(0)
            narrow(logits, t, lo, hi, x, key, count, spare, found, want, prefix, total, 21, 11)
            narrow(logits, t, lo, hi, x, key, count, spare, found, want, prefix, total, 10, 11)
            narrow(logits, t, lo, hi, x, key, count, spare, found, want, prefix, total, 0, 10)

            base[0] = 0
            base[1] = 0
            for i in T.serial(T.ceildiv(T.max(hi - lo, 0), piece)):
                # A lane's counts: columns above the last chosen key in the low half, columns at it in the high half.
                T.fill(mine, 0)
                for e in T.unroll(each):
                    for j in T.Parallel(lanes):
                        c = lo + i * piece + j * each + e
                        if c < hi:
                            x[0] = logits[t, c]
                            if x[0] > -T.infinity("float32"):
                                key[0] = sortable(x[0])
                                mine[j] += T.if_then_else(key[0] > prefix[0], 1, T.if_then_else(key[0] == prefix[0], 1 << 16, 0))
                T.sync_threads()
                for j in T.Parallel(lanes):
                    scan[j] = mine[j]
                T.sync_threads()
                for step in T.serial(log_lanes // 2):
                    for j in T.Parallel(lanes):
                        scan_b[j] = scan[j] + T.if_then_else(j >= 1 << (2 * step), scan[T.max(j - (1 << (2 * step)), 0)], 0)
                    T.sync_threads()
                    for j in T.Parallel(lanes):
                        scan[j] = scan_b[j] + T.if_then_else(j >= 2 << (2 * step), scan_b[T.max(j - (2 << (2 * step)), 0)], 0)
                    T.sync_threads()
                for j in T.Parallel(lanes):
                    before[j] = scan[j] - mine[j]
                for e in T.unroll(each):
                    for j in T.Parallel(lanes):
                        c = lo + i * piece + j * each + e
                        if c < hi:
                            x[0] = logits[t, c]
                            if x[0] > -T.infinity("float32"):
                                key[0] = sortable(x[0])
                                above = base[0] + (before[j] & 0xFFFF)
                                ties = base[1] + (before[j] >> 16)
                                if key[0] > prefix[0]:
                                    out[t, above + T.min(ties, want[0])] = c
                                    before[j] += 1
                                else:
                                    if key[0] == prefix[0]:
                                        if ties < want[0]:
                                            out[t, above + ties] = c
                                        before[j] += 1 << 16
                base[0] += scan[lanes - 1] & 0xFFFF
                base[1] += scan[lanes - 1] >> 16
                T.sync_threads()
            for i in T.serial(T.ceildiv(topk, lanes)):
                for j in T.Parallel(lanes):
                    if T.And(i * lanes + j < topk, i * lanes + j >= total[0]):
                        out[t, i * lanes + j] = -1

    return topk_select_rows


def topk_select(logits, topk, ks=None, ke=None, *, out=None):
    """Columns of the ``topk`` largest logits of each row: int32 ``[T, topk]``, in ascending column order, -1 after them.

    ``logits [T, K]`` fp32, contiguous; its columns are positions (paged logits) or ragged indices (ragged logits), and so are the
    results. ``ks`` and ``ke [T]`` int32 bound the candidates to ``[ks, ke)``; None means the whole row. A logit of -inf or NaN is
    no candidate. Among equal logits (-0.0 equals 0.0) the lower column wins, so all ranks that see the same logits choose the
    same set, and a row's result does not depend on the run. The oracle is ``reference.topk_select``.
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
        lanes = 64 if logits.device.type == "cpu" else LANES
        tl_runtime.kernel(select, logits.device, topk=topk, lanes=lanes)(logits, ks, ke, out)
    return out
