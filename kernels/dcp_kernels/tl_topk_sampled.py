"""Top-k of long rows in TileLang, each row read once: a sample bounds the last chosen key, a list holds what reaches it.

``tl_topk.select`` looks four times at every logit. Here a sample of a row gives a bound that at least ``topk`` logits reach,
but for bad luck, and not many more. One look at the row lists these with their columns; the rest happens among them, in shared
memory. A list that did not overflow and has ``topk`` entries has all that count, so the result is exact. A row whose sample
misled, where logits cluster or tie, is marked as ``left``, and ``select`` does it.

Many rows: ``rows``, a program a row. Few rows: ``slices`` collects a row with many programs that all draw the same sample, and
``join`` chooses among what they found.

A list has ``SEGMENTS`` counters, and a lane appends at that of its number: the entries are in no order. What was chosen is put
in ascending order at the end, by ``BINS`` buckets of columns and by comparing within a bucket.
"""

from typing import Any, NamedTuple

import tilelang.language as T

from dcp_kernels.tl_topk_keys import GROUP, as_float, padded, sortable, when
from dcp_kernels.tl_topk_search import BINS, FOUND, GROUPS, bin_of, clear, descend, inside, length_of, locate

SEGMENTS = 32
LEAST = -3.4028234663852886e38  # the lowest finite float: the bound where the sample gives none
LEAST_KEY = 0x00800000
SAFETY = 4.0  # standard deviations of a sample's count between what is wanted and what the bound lets through


class Shape(NamedTuple):
    """What a program is made of."""

    lanes: int
    each: int  # logits that a lane loads at once
    drawn: int  # logits of the sample that a lane draws
    levels: int  # entries of a segment
    blocks: int = 0  # programs that a processor must have room for; 0: no matter
    wide: int = 1  # neighbours that a lane loads at once: 4 where rows are whole 16-byte words, else 1


def build(*, kind: str, topk: int, shape: Shape) -> Any:
    """Build ``rows``, ``slices`` or ``join``, for ``topk`` of the logits in ``[ks, ke)``."""
    lanes, each, drawn, levels, blocks, wide = shape
    tokens, words, slices = T.dynamic("tokens"), T.dynamic("words"), T.dynamic("slices")
    columns = words * wide
    piece, sample, capacity = lanes * each, lanes * drawn, SEGMENTS * levels
    held = capacity // lanes
    if lanes % SEGMENTS or capacity % lanes or each % wide:
        raise ValueError(
            f"{lanes} lanes must be a multiple of {SEGMENTS} and divide {capacity} entries, and {wide} divide {each} logits"
        )

    def bucket(column: Any, scale: Any) -> Any:
        return T.min(T.cast(T.cast(column, "float32") * scale, "int32"), BINS - 1)

    def complete(total: Any, bound: Any) -> Any:
        return T.And(total[1] <= levels, T.Or(total[0] >= topk, bound[0] == T.float32(LEAST)))

    @T.macro
    def bound_by_sample(logits, t, lo, hi, y, counts, groups, found, acc, base, bits, want, bound):
        """Set ``bound[0]`` to a float that, as the sample has it, ``topk`` logits of ``[lo, hi)`` and some more reach."""
        bound[0] = T.float32(LEAST)
        for _ in when(hi - lo > capacity):
            ratio = T.cast(hi - lo, "float32") / T.float32(sample)
            for e, j in T.Parallel(drawn, lanes):
                i = e * lanes + j
                uneven = T.cast(i, "float32") + T.cast(i * 5 % 8, "float32") / T.float32(8)  # or a period would be all it sees
                c = T.min(lo + T.cast(uneven * ratio, "int32"), hi - 1)
                y[e, j] = logits[t, c // wide, c % wide]
            mean = T.float32(topk) / ratio
            want[0] = T.cast(mean + T.float32(SAFETY) * T.sqrt(mean), "int32") + 1
            base[0] = T.uint32(0)
            bits[0] = 32
            for _ in T.serial(2):
                for _ in when(bits[0] > 0):
                    clear(counts, found)
                    for e, j in T.Parallel(drawn, lanes):
                        if y[e, j] > -T.infinity("float32"):
                            if inside(sortable(y[e, j]), base, bits):
                                T.atomic_add(counts[padded(T.cast(bin_of(sortable(y[e, j]), base, bits), "int32"))], 1)
                    locate(counts, groups, found, want, acc)
                    if found[0] >= 0:
                        descend(base, bits, want, found)
                    else:
                        bits[0] = 0
            if base[0] > T.uint32(LEAST_KEY):
                bound[0] = as_float(base[0])

    @T.macro
    def collect(logits, t, start, end, x, n, keys, cols, fill, slot, bound):
        """List the logits of ``[start, end)`` that reach the bound. ``fill`` counts those too that found no room.

        A lane counts what it holds first, so that it waits for one counter a piece and not for one a logit.
        """
        for j in T.Parallel(SEGMENTS):
            fill[j] = 0
        T.sync_threads()
        first = start // wide
        for i in T.serial(T.ceildiv(T.max(end - first * wide, 0), piece)):
            for e, j, v in T.Parallel(each // wide, lanes, wide):
                x[e, j, v] = logits[t, T.min(first + i * (piece // wide) + e * lanes + j, words - 1), v]
            for _ in when(T.Or(first * wide + i * piece < start, first * wide + (i + 1) * piece > end)):
                for e, j, v in T.Parallel(each // wide, lanes, wide):
                    c = first * wide + i * piece + (e * lanes + j) * wide + v
                    x[e, j, v] = T.if_then_else(T.And(c >= start, c < end), x[e, j, v], -T.infinity("float32"))
            T.fill(n, 0)
            for e in T.unroll(each // wide):
                for v in T.unroll(wide):
                    for j in T.Parallel(lanes):
                        n[j] += T.cast(x[e, j, v] >= bound[0], "int32")
            for j in T.Parallel(lanes):
                if n[j] > 0:
                    slot[0] = T.atomic_add(fill[j % SEGMENTS], n[j], return_prev=True)
                    for e in T.unroll(each // wide):
                        for v in T.unroll(wide):
                            if x[e, j, v] >= bound[0]:
                                if slot[0] < levels:
                                    keys[slot[0] * SEGMENTS + j % SEGMENTS] = sortable(x[e, j, v])
                                    cols[slot[0] * SEGMENTS + j % SEGMENTS] = (
                                        first * wide + i * piece + (e * lanes + j) * wide + v
                                    )
                                slot[0] += 1
        T.sync_threads()

    @T.macro
    def measure(fill, total):
        """Set ``total`` to the entries counted, and the most in a segment."""
        total[0] = 0
        total[1] = 0
        for e in T.unroll(SEGMENTS):
            total[0] += fill[e]
            total[1] = T.max(total[1], fill[e])

    @T.macro
    def choose(
        t, lo, hi, keys, cols, fill, tops, top, own, total, counts, groups, found, acc, base, bits, want, last, ties, tmp, out
    ):
        """Write the columns of the list's ``topk`` largest keys, the lower columns among equal ones, in ascending order.

        ``base[0]`` is at most the least key of the list.
        """
        last[0] = T.uint32(0)
        ties[0] = 0
        for e, j in T.Parallel(held, lanes):
            if (e * lanes + j) // SEGMENTS < fill[j % SEGMENTS]:
                own[e, j] = keys[e * lanes + j]
            else:
                own[e, j] = T.uint32(0)  # below every key
        for _ in when(total[0] > topk):
            for j in T.Parallel(SEGMENTS):
                tops[j] = 0
            T.fill(top, T.uint32(0))
            for e in T.unroll(held):
                for j in T.Parallel(lanes):
                    top[j] = T.max(top[j], own[e, j])
            T.sync_threads()
            for j in T.Parallel(lanes):
                T.atomic_max(tops[j % SEGMENTS], T.cast(top[j] >> T.uint32(1), "int32"))  # halves, which int32 holds
            T.sync_threads()
            acc[0] = 0
            for e in T.unroll(SEGMENTS):
                acc[0] = T.max(acc[0], tops[e])
            length_of(T.cast(acc[0], "uint32") * T.uint32(2) + T.uint32(1) - base[0], bits)
            want[0] = topk
            for _ in T.serial(4):
                for _ in when(bits[0] > 0):
                    clear(counts, found)
                    for e, j in T.Parallel(held, lanes):
                        if inside(own[e, j], base, bits):
                            T.atomic_add(counts[padded(T.cast(bin_of(own[e, j], base, bits), "int32"))], 1)
                    locate(counts, groups, found, want, acc)
                    descend(base, bits, want, found)
                    ties[0] = T.cast(found[2] > want[0], "int32")
            for _ in when(ties[0] > 0):
                length_of(T.cast(hi - lo, "uint32"), bits)
                for _ in T.serial(4):
                    for _ in when(bits[0] > 0):
                        clear(counts, found)
                        for e, j in T.Parallel(held, lanes):
                            if own[e, j] == base[0]:
                                before = T.cast(hi - 1 - cols[e * lanes + j], "uint32")
                                if inside(before, last, bits):
                                    T.atomic_add(counts[padded(T.cast(bin_of(before, last, bits), "int32"))], 1)
                        locate(counts, groups, found, want, acc)
                        descend(last, bits, want, found)
                # None of the others is its equal now.
                for e, j in T.Parallel(held, lanes):
                    if own[e, j] == base[0]:
                        if T.cast(hi - 1 - cols[e * lanes + j], "uint32") < last[0]:
                            own[e, j] = T.uint32(0)

        clear(counts, found)
        scale = T.float32(BINS) / T.cast(T.max(hi - lo, 1), "float32")
        for e, j in T.Parallel(held, lanes):
            if own[e, j] >= base[0]:
                T.atomic_add(counts[padded(bucket(cols[e * lanes + j] - lo, scale))], 1)
        T.sync_threads()
        for g in T.Parallel(GROUPS):
            acc[0] = 0
            for e in T.unroll(GROUP):
                acc[0] += counts[g * (GROUP + 1) + e]
            groups[g] = acc[0]
        T.sync_threads()
        for g in T.Parallel(GROUPS):
            acc[0] = 0
            for e in T.unroll(GROUPS):
                acc[0] += groups[e] * T.cast(e < g, "int32")
            for e in T.unroll(GROUP):
                acc[1] = counts[g * (GROUP + 1) + e]
                counts[g * (GROUP + 1) + e] = acc[0]
                acc[0] += acc[1]
        T.sync_threads()
        for e, j in T.Parallel(held, lanes):
            if own[e, j] >= base[0]:
                acc[0] = T.atomic_add(counts[padded(bucket(cols[e * lanes + j] - lo, scale))], 1, return_prev=True)
                tmp[acc[0]] = cols[e * lanes + j]
        T.sync_threads()
        # A bucket's counter stands at its end now, which is where the next one starts.
        for i in T.serial(T.ceildiv(topk, lanes)):
            for j in T.Parallel(lanes):
                if i * lanes + j < T.min(total[0], topk):
                    b = bucket(tmp[i * lanes + j] - lo, scale)
                    acc[0] = T.if_then_else(b > 0, counts[padded(T.max(b - 1, 0))], 0)
                    acc[1] = acc[0]
                    bits[0] = counts[padded(b)] - acc[0]  # a lane's own from here on
                    for q in T.serial(bits[0]):
                        acc[1] += T.cast(tmp[acc[0] + q] < tmp[i * lanes + j], "int32")
                    out[t, acc[1]] = tmp[i * lanes + j]
                else:
                    if i * lanes + j < topk:
                        out[t, i * lanes + j] = -1

    if kind == "rows":

        @T.prim_func
        def rows(
            logits: T.Tensor((tokens, words, wide), "float32"),
            ks: T.Tensor((tokens,), "int32"),
            ke: T.Tensor((tokens,), "int32"),
            out: T.Tensor((tokens, topk), "int32"),
            left: T.Tensor((tokens,), "int32"),
        ):
            with T.Kernel(tokens, threads=lanes) as t:
                if blocks:
                    T.annotate_min_blocks_per_sm(blocks)
                counts = T.alloc_shared((BINS + GROUPS,), "int32")
                groups = T.alloc_shared((GROUPS,), "int32")
                found = T.alloc_shared((FOUND,), "int32")
                fill = T.alloc_shared((SEGMENTS,), "int32")
                tops = T.alloc_shared((SEGMENTS,), "int32")
                keys = T.alloc_shared((capacity,), "uint32")
                cols = T.alloc_shared((capacity,), "int32")
                tmp = T.alloc_shared((topk,), "int32")
                x = T.alloc_fragment((each // wide, lanes, wide), "float32")
                n = T.alloc_fragment((lanes,), "int32")
                y = T.alloc_fragment((drawn, lanes), "float32")
                own = T.alloc_fragment((held, lanes), "uint32")
                top = T.alloc_fragment((lanes,), "uint32")
                # Thread-private and the same in every thread but ``acc`` and ``slot``.
                bound = T.alloc_local((1,), "float32")
                base = T.alloc_local((1,), "uint32")
                last = T.alloc_local((1,), "uint32")
                bits = T.alloc_local((2,), "int32")
                want = T.alloc_local((1,), "int32")
                ties = T.alloc_local((1,), "int32")
                total = T.alloc_local((2,), "int32")
                acc = T.alloc_local((2,), "int32")
                slot = T.alloc_local((1,), "int32")
                lo = T.alloc_var("int32")
                hi = T.alloc_var("int32")

                lo = T.max(ks[t], 0)
                hi = T.max(T.min(ke[t], columns), lo)
                bound_by_sample(logits, t, lo, hi, y, counts, groups, found, acc, base, bits, want, bound)
                collect(logits, t, lo, hi, x, n, keys, cols, fill, slot, bound)
                measure(fill, total)
                for j in T.Parallel(SEGMENTS):
                    if j == 0:
                        left[t] = T.if_then_else(complete(total, bound), 0, 1)
                base[0] = sortable(bound[0])
                for _ in when(complete(total, bound)):
                    choose(
                        t,
                        lo,
                        hi,
                        keys,
                        cols,
                        fill,
                        tops,
                        top,
                        own,
                        total,
                        counts,
                        groups,
                        found,
                        acc,
                        base,
                        bits,
                        want,
                        last,
                        ties,
                        tmp,
                        out,
                    )

        return rows

    if kind == "slices":

        @T.prim_func
        def sliced(
            logits: T.Tensor((tokens, words, wide), "float32"),
            ks: T.Tensor((tokens,), "int32"),
            ke: T.Tensor((tokens,), "int32"),
            seen: T.Tensor((tokens, slices), "int32"),
            seen_keys: T.Tensor((tokens, slices, capacity), "int32"),
            seen_cols: T.Tensor((tokens, slices, capacity), "int32"),
            bounds: T.Tensor((tokens,), "float32"),
        ):
            with T.Kernel(slices, tokens, threads=lanes) as (s, t):
                if blocks:
                    T.annotate_min_blocks_per_sm(blocks)
                counts = T.alloc_shared((BINS + GROUPS,), "int32")
                groups = T.alloc_shared((GROUPS,), "int32")
                found = T.alloc_shared((FOUND,), "int32")
                fill = T.alloc_shared((SEGMENTS,), "int32")
                keys = T.alloc_shared((capacity,), "uint32")
                cols = T.alloc_shared((capacity,), "int32")
                x = T.alloc_fragment((each // wide, lanes, wide), "float32")
                n = T.alloc_fragment((lanes,), "int32")
                y = T.alloc_fragment((drawn, lanes), "float32")
                bound = T.alloc_local((1,), "float32")
                base = T.alloc_local((1,), "uint32")
                bits = T.alloc_local((2,), "int32")
                want = T.alloc_local((1,), "int32")
                total = T.alloc_local((2,), "int32")
                acc = T.alloc_local((2,), "int32")
                slot = T.alloc_local((1,), "int32")
                lo = T.alloc_var("int32")
                hi = T.alloc_var("int32")
                share = T.alloc_var("int32")

                lo = T.max(ks[t], 0)
                hi = T.max(T.min(ke[t], columns), lo)
                share = T.ceildiv(hi - lo, slices)
                bound_by_sample(logits, t, lo, hi, y, counts, groups, found, acc, base, bits, want, bound)
                collect(logits, t, lo + s * share, T.min(lo + (s + 1) * share, hi), x, n, keys, cols, fill, slot, bound)
                measure(fill, total)
                for j in T.Parallel(SEGMENTS):
                    if j == 0:
                        seen[t, s] = T.if_then_else(total[1] <= levels, total[0], -1)
                        if s == 0:
                            bounds[t] = bound[0]
                for i in T.serial(T.ceildiv(T.min(total[1], levels) * SEGMENTS, lanes)):
                    for j in T.Parallel(lanes):
                        if (i * lanes + j) // SEGMENTS < T.min(fill[j % SEGMENTS], levels):
                            acc[0] = (i * lanes + j) // SEGMENTS
                            for e in T.unroll(SEGMENTS):
                                acc[0] += T.min(fill[e], levels) * T.cast(e < j % SEGMENTS, "int32")
                            seen_keys[t, s, acc[0]] = T.reinterpret(keys[i * lanes + j], "int32")
                            seen_cols[t, s, acc[0]] = cols[i * lanes + j]

        return sliced

    @T.prim_func
    def join(
        ks: T.Tensor((tokens,), "int32"),
        ke: T.Tensor((tokens,), "int32"),
        seen: T.Tensor((tokens, slices), "int32"),
        seen_keys: T.Tensor((tokens, slices, words), "int32"),
        seen_cols: T.Tensor((tokens, slices, words), "int32"),
        bounds: T.Tensor((tokens,), "float32"),
        out: T.Tensor((tokens, topk), "int32"),
        left: T.Tensor((tokens,), "int32"),
    ):
        with T.Kernel(tokens, threads=lanes) as t:
            if blocks:
                T.annotate_min_blocks_per_sm(blocks)
            counts = T.alloc_shared((BINS + GROUPS,), "int32")
            groups = T.alloc_shared((GROUPS,), "int32")
            found = T.alloc_shared((FOUND,), "int32")
            fill = T.alloc_shared((SEGMENTS,), "int32")
            tops = T.alloc_shared((SEGMENTS,), "int32")
            own = T.alloc_fragment((held, lanes), "uint32")
            top = T.alloc_fragment((lanes,), "uint32")
            keys = T.alloc_shared((capacity,), "uint32")
            cols = T.alloc_shared((capacity,), "int32")
            tmp = T.alloc_shared((topk,), "int32")
            bound = T.alloc_local((1,), "float32")
            base = T.alloc_local((1,), "uint32")
            last = T.alloc_local((1,), "uint32")
            bits = T.alloc_local((2,), "int32")
            want = T.alloc_local((1,), "int32")
            ties = T.alloc_local((1,), "int32")
            total = T.alloc_local((2,), "int32")
            acc = T.alloc_local((2,), "int32")
            slot = T.alloc_local((1,), "int32")
            lo = T.alloc_var("int32")
            hi = T.alloc_var("int32")
            most = T.alloc_var("int32")
            least = T.alloc_var("int32")

            lo = T.max(ks[t], 0)
            hi = T.max(ke[t], lo)
            bound[0] = bounds[t]
            most = 0
            least = 0
            for s in T.serial(slices):
                most = T.max(most, seen[t, s])
                least = T.min(least, seen[t, s])
            for j in T.Parallel(SEGMENTS):
                fill[j] = 0
            T.sync_threads()
            for i in T.serial(T.ceildiv(most, lanes // slices)):
                for j in T.Parallel(lanes):
                    at = i * (lanes // slices) + j // slices
                    segment = at % SEGMENTS
                    if at < seen[t, j % slices]:
                        slot[0] = T.atomic_add(fill[segment], 1, return_prev=True)
                        if slot[0] < levels:
                            keys[slot[0] * SEGMENTS + segment] = T.reinterpret(seen_keys[t, j % slices, at], "uint32")
                            cols[slot[0] * SEGMENTS + segment] = seen_cols[t, j % slices, at]
            T.sync_threads()
            measure(fill, total)
            for j in T.Parallel(SEGMENTS):
                if j == 0:
                    left[t] = T.if_then_else(T.And(least == 0, complete(total, bound)), 0, 1)
            base[0] = sortable(bound[0])
            for _ in when(T.And(least == 0, complete(total, bound))):
                choose(
                    t,
                    lo,
                    hi,
                    keys,
                    cols,
                    fill,
                    tops,
                    top,
                    own,
                    total,
                    counts,
                    groups,
                    found,
                    acc,
                    base,
                    bits,
                    want,
                    last,
                    ties,
                    tmp,
                    out,
                )

    return join


# Every wait of the lanes for each other is written down above. Those that the compiler adds, two a logit in ``collect``, took a
# tenth of the time and guard nothing: a list's entries are written once, and buffers share memory in ``slices`` only, where the
# list comes to lie over the histogram behind the barriers of ``locate`` and ``collect``.
build.pass_configs = {"tl.disable_thread_storage_sync": True}  # type: ignore[attr-defined]  # tl_runtime reads it
