# Answers to 6c: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 6c plain
# outcome: passed
def merge_frees(segments, page_size, dcp_size):
    width = page_size * dcp_size
    merged = []
    for start, end in sorted(segments):
        if merged and merged[-1][1] >= start:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    if any(start % width for start, _ in merged):
        raise ValueError("a range starts within a widened page")
    return [tuple(one) for one in merged]

# %% 6c stack
# outcome: passed
def merge_frees(segments, page_size, dcp_size):
    out, current = [], None
    for segment in sorted(segments, key=lambda pair: pair[0]):
        if current is None or segment[0] > current[1]:
            if current is not None:
                out.append(current)
            current = segment
        elif segment[1] > current[1]:
            current = (current[0], segment[1])
    if current is not None:
        out.append(current)
    for start, _ in out:
        if start // (page_size * dcp_size) * page_size * dcp_size != start:
            raise ValueError("not the first position of a page")
    return out

# %% 6c nothing
# says: Nothing is joined: a page that two pieces touch is freed twice.
# asks: Which page do positions 575 and 576 lie in, when one is 512 long?
def merge_frees(segments, page_size, dcp_size):
    return list(segments)

# %% 6c sorted-only
# says: Sorted, but not joined: a page on the seam is freed by both pieces.
# asks: Which page do positions 575 and 576 lie in, when one is 512 long?
# outcome: crashed
def merge_frees(segments, page_size, dcp_size):
    out = sorted(segments)
    if any(start % (page_size * dcp_size) for start, _ in out):
        raise ValueError("starts within a page")
    return out

# %% 6c not-sorted
# says: Pieces are joined in the order they came: they may come in any.
# asks: What does your loop make of the later half, given first?
# outcome: crashed
# from: plain
- for start, end in sorted(segments):
+ for start, end in segments:

# %% 6c overlap-only
# says: Pieces that touch without overlapping are not joined: the cut itself.
# asks: Do [0, 576) and [576, 1000) share a position? And a page?
# outcome: crashed
# from: plain
- if merged and merged[-1][1] >= start:
+ if merged and merged[-1][1] > start:

# %% 6c adjacent-only
# says: Only pieces that touch exactly are joined: those that overlap are not.
# asks: What should become of (0, 14) and (10, 22)?
# outcome: crashed
# from: plain
- if merged and merged[-1][1] >= start:
+ if merged and merged[-1][1] == start:

# %% 6c one-apart
# says: Pieces one position apart are joined: that position was not to be freed.
# asks: Who holds position 10 between (8, 10) and (11, 16)?
# from: plain
- if merged and merged[-1][1] >= start:
+ if merged and merged[-1][1] + 1 >= start:

# %% 6c last-end
# says: The end of the later piece is taken, though it may lie within the earlier.
# asks: Where does (0, 30) joined with (4, 9) end?
# from: plain
- merged[-1][1] = max(merged[-1][1], end)
+ merged[-1][1] = end

# %% 6c sum-of-lengths
# says: The lengths are added, which is too much where pieces overlap.
# asks: How many positions are (0, 14) and (10, 22) together?
# from: plain
- merged[-1][1] = max(merged[-1][1], end)
+ merged[-1][1] += end - start

# %% 6c from-first-to-last
# says: One range from the first start to the last end: gaps are freed as well.
# asks: Whose are the positions between two pieces that do not touch?
def merge_frees(segments, page_size, dcp_size):
    if not segments:
        return []
    out = [(min(s for s, _ in segments), max(e for _, e in segments))]
    if out[0][0] % (page_size * dcp_size):
        raise ValueError("starts within a page")
    return out

# %% 6c same-page
# says: Pieces of one page are joined over a gap: what lies in the gap stays held.
# asks: Who holds the position between (0, 10) and (11, 16)?
# from: plain
- if merged and merged[-1][1] >= start:
+ if merged and (merged[-1][1] - 1) // width >= start // width:

# %% 6c no-check
# says: A range that starts within a page is let through: its page is shared.
# asks: Who holds the positions before 64 in a page of 512?
# from: plain
- if any(start % width for start, _ in merged):
-     raise ValueError("a range starts within a widened page")

# %% 6c one-rank-pages
# says: Starts are held against pages of one rank: the allocator's are D times wider.
# asks: How long is a page of the allocator, with P = 64 and D = 8?
# family: M11
# from: plain
- width = page_size * dcp_size
+ width = page_size

# %% 6c one-rank-turns
# says: Starts are held against D alone: a page is P * D positions long.
# asks: How long is a page of the allocator, with P = 64 and D = 8?
# family: M11
# from: plain
- width = page_size * dcp_size
+ width = dcp_size

# %% 6c checks-before
# says: Each piece is checked before it is joined: a cut within a page is no error.
# asks: Is (576, 1000) wrong where (0, 576) comes with it?
# outcome: crashed
# from: plain
- merged = []
+ merged = []
+ if any(start % width for start, _ in segments):
+     raise ValueError("a piece starts within a widened page")

# %% 6c checks-ends
# says: Ends are checked too: behind a request's last position there is nobody.
# asks: Where may a request of 1,000 tokens end?
# outcome: crashed
# from: plain
- if any(start % width for start, _ in merged):
+ if any(start % width or end % width for start, end in merged):

# %% 6c first-only
# says: Only the first range's start is checked.
# asks: Which of the results may start within a page?
# from: plain
- if any(start % width for start, _ in merged):
+ if merged and merged[0][0] % width:

# %% 6c rounds-down
# says: Starts are rounded down to a page: that frees what others hold.
# asks: Who holds the positions before the start?
# from: plain
- if any(start % width for start, _ in merged):
-     raise ValueError("a range starts within a widened page")
- return [tuple(one) for one in merged]
+ return [(start // width * width, end) for start, end in merged]

# %% 6c rounds-up
# says: Ends are rounded up to a page: asked for are the positions as they are.
# asks: At which position does (0, 1000) end?
# from: plain
- return [tuple(one) for one in merged]
+ return [(start, -(-end // width) * width) for start, end in merged]

# %% 6c pages
# says: These are pages; asked for are positions.
# asks: What does the caller divide by the page itself?
# from: plain
- return [tuple(one) for one in merged]
+ return [(start // width, -(-end // width)) for start, end in merged]

# %% 6c drops-last
# says: The last range is missing: it is not yet in the list when the loop ends.
# asks: What have you in hand after the last piece?
def merge_frees(segments, page_size, dcp_size):
    out, current = [], None
    for start, end in sorted(segments):
        if current is not None and start <= current[1]:
            current = (current[0], max(current[1], end))
        else:
            if current is not None:
                out.append(current)
            current = (start, end)
    if any(start % (page_size * dcp_size) for start, _ in out):
        raise ValueError("starts within a page")
    return out

# %% 6c lists
# outcome: passed
# from: plain
- return [tuple(one) for one in merged]
+ return merged

# %% 6c a-tuple
# says: A tuple of ranges came out; a list is asked for.
# asks: What is () == []?
# from: plain
- return [tuple(one) for one in merged]
+ return tuple(tuple(one) for one in merged)

# %% 6c none-for-none
# says: Nothing to free gives None; asked for is an empty list.
# asks: What does the caller's loop do with None?
# from: plain
- merged = []
+ merged = []
+ if not segments:
+     return None

# %% 6c crashes-on-none
# says: Nothing to free ends in an error: there is no first piece.
# asks: What is sorted([])[0]?
# outcome: crashed
def merge_frees(segments, page_size, dcp_size):
    ordered = sorted(segments)
    merged = [ordered[0]]
    for start, end in ordered[1:]:
        if start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    if any(start % (page_size * dcp_size) for start, _ in merged):
        raise ValueError("starts within a page")
    return merged

# %% 6c sorts-in-place
# says: The caller's list was sorted in place: it may need the order.
# asks: What is the difference of segments.sort() and sorted(segments)?
# outcome: unsafe
# from: plain
- merged = []
- for start, end in sorted(segments):
+ merged = []
+ segments.sort()
+ for start, end in segments:

# %% 6c by-end
# says: Sorted by ends: a long piece then comes after those within it.
# asks: Which of (0, 30) and (4, 9) has the smaller start?
# outcome: crashed
# from: plain
- for start, end in sorted(segments):
+ for start, end in sorted(segments, key=lambda piece: piece[1]):

# %% 6c assert
# says: AssertionError is not ValueError, and python -O takes an assert out.
# asks: Which exception is asked for?
# from: plain
- if any(start % width for start, _ in merged):
-     raise ValueError("a range starts within a widened page")
+ assert not any(start % width for start, _ in merged)

# %% 6c drops-bad
# says: A range that starts within a page is left out in silence; ValueError is due.
# asks: Who frees the pages that you left out?
# from: plain
- if any(start % width for start, _ in merged):
-     raise ValueError("a range starts within a widened page")
- return [tuple(one) for one in merged]
+ return [tuple(one) for one in merged if one[0] % width == 0]

# %% 6c float
# says: Positions went through floats, which lose numbers past 2^53.
# asks: Which numbers are exact at any size?
# from: plain
- return [tuple(one) for one in merged]
+ return [(int(float(start)), int(float(end))) for start, end in merged]

# %% 6c rounds-before
# says: Starts are rounded down to a page: that frees what others hold.
# asks: Who holds the positions before the start?
# from: plain
- for start, end in sorted(segments):
+ for start, end in sorted((start // width * width, end) for start, end in segments):
