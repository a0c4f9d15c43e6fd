# Other right answers to lab 04: each must pass. One cell an answer; the first cell stands before every answer.

# %% preamble
from itertools import accumulate, chain

import numpy as np
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


def topk_to_paged(topk_pos, req_of_row, req_to_token):
    locs = req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)]
    return torch.where(topk_pos >= 0, locs, -1)


def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row][:, None], -1)


# %% 4a select
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return torch.masked_select(prefix_locs, prefix_locs % dcp_size == dcp_rank).div(dcp_size, rounding_mode="floor")

# %% 4a divide-first
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows, owner = prefix_locs // dcp_size, prefix_locs % dcp_size
    return rows[owner == dcp_rank]

# %% 4a by-request
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    out = []
    for locs in prefix_locs.split(prefix_lens.tolist()):
        out.append(locs[locs % dcp_size == dcp_rank] // dcp_size)
    return torch.cat(out) if out else prefix_locs.new_empty(0)

# %% 4a exact-division
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    offset = prefix_locs - dcp_rank
    return offset[offset % dcp_size == 0] // dcp_size

# %% 4a localize-and-drop
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs % dcp_size == dcp_rank, locs // dcp_size, -1)

def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows = localize(prefix_locs, dcp_rank, dcp_size)
    return rows[rows >= 0]

# %% 4a python
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows = [loc // dcp_size for loc in prefix_locs.tolist() if loc % dcp_size == dcp_rank]
    return torch.tensor(rows, dtype=prefix_locs.dtype, device=prefix_locs.device)

# %% 4b gather-by-request
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    lens, starts = prefix_lens.long(), start_positions.long()
    rows = torch.where(lens > 0, (lens + starts % dcp_size + dcp_size - 1) // dcp_size, 0)
    request = torch.arange(len(lens), device=lens.device).repeat_interleave(lens)
    first = rows.cumsum(0) - rows
    place = torch.arange(len(request), device=lens.device) - (lens.cumsum(0) - lens)[request]
    p = starts[request] + place
    return shards[p % dcp_size, first[request] + p // dcp_size - starts[request] // dcp_size]

# %% 4b transpose-and-slice
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole = shards.transpose(0, 1).reshape(-1, shards.shape[2])
    out, at = [whole[:0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        skip = start % dcp_size
        out.append(whole[at + skip : at + skip + n])
        at += -(-(n + skip) // dcp_size) * dcp_size if n else 0
    return torch.cat(out)

# %% 4b piece-by-piece
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, row = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        rows = 0 if n == 0 else (n + start % dcp_size + dcp_size - 1) // dcp_size
        piece = shards[:, row : row + rows].transpose(0, 1).flatten(0, 1)
        out.append(piece[start % dcp_size :][:n])
        row += rows
    return torch.cat(out)

# %% 4b token-by-token
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, row = shards.new_empty(int(prefix_lens.sum()), shards.shape[2]), 0
    at = 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        for p in range(start, start + n):
            out[at] = shards[p % dcp_size, row + p // dcp_size - start // dcp_size]
            at += 1
        row += len({p // dcp_size for p in range(start, start + n)})
    return out

# %% 4b rank-by-rank
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out = torch.empty(int(prefix_lens.sum()), shards.shape[2], dtype=shards.dtype, device=shards.device)
    row = at = 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        for rank in range(dcp_size):
            first = (rank - start) % dcp_size
            mine = len(range(first, n, dcp_size))
            skip = 1 if rank < start % dcp_size else 0
            out[at + first : at + n : dcp_size] = shards[rank, row + skip : row + skip + mine]
        row += (n + start % dcp_size + dcp_size - 1) // dcp_size if n else 0
        at += n
    return out

# %% 4b flat-index
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    flat, index, row = shards.flatten(0, 1), [], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        index += [(p % dcp_size) * shards.shape[1] + row + p // dcp_size - start // dcp_size for p in range(start, start + n)]
        row += (start + n - 1) // dcp_size - start // dcp_size + 1 if n else 0
    return flat[torch.tensor(index, dtype=torch.int64, device=shards.device)]

# %% 4c fill
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out = prefix.new_empty((len(prefix) + len(extend), *prefix.shape[1:]))
    at = p_at = e_at = 0
    for p, e in zip(prefix_lens.tolist(), extend_lens.tolist()):
        out[at : at + p] = prefix[p_at : p_at + p]
        out[at + p : at + p + e] = extend[e_at : e_at + e]
        at, p_at, e_at = at + p + e, p_at + p, e_at + e
    return out

# %% 4c permutation
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    both = torch.cat([prefix, extend])
    requests = torch.arange(len(prefix_lens), device=prefix_lens.device)
    owner = torch.cat([requests.repeat_interleave(prefix_lens.long()), requests.repeat_interleave(extend_lens.long())])
    return both[owner.argsort(stable=True).to(both.device)]

# %% 4c slices
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    p_cu = list(accumulate(prefix_lens.tolist(), initial=0))
    e_cu = list(accumulate(extend_lens.tolist(), initial=0))
    pieces = [(prefix[a:b], extend[c:d]) for a, b, c, d in zip(p_cu, p_cu[1:], e_cu, e_cu[1:])]
    return torch.cat([prefix[:0], *chain.from_iterable(pieces)])

# %% 4c scatter
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    p, e = prefix_lens.long(), extend_lens.long()
    begin = (p + e).cumsum(0) - (p + e)
    out = torch.empty(len(prefix) + len(extend), *prefix.shape[1:], dtype=prefix.dtype, device=prefix.device)
    for source, lens, shift in ((prefix, p, begin), (extend, e, begin + p)):
        request = torch.arange(len(lens), device=lens.device).repeat_interleave(lens)
        place = torch.arange(len(request), device=lens.device) - (lens.cumsum(0) - lens)[request]
        out[shift[request] + place] = source
    return out

# %% 4c consume
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    parts = []
    for p, e in zip(prefix_lens.tolist(), extend_lens.tolist()):
        parts += [prefix[:p], extend[:e]]
        prefix, extend = prefix[p:], extend[e:]
    return torch.cat(parts + [prefix, extend])

# %% 4d gather
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    rows = req_to_token[req_of_row]
    locs = rows.gather(1, topk_pos.clamp(min=0).long()).to(topk_pos.dtype)
    return locs.masked_fill(topk_pos < 0, -1)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    begin = cu_seqlens_k[req_of_row].unsqueeze(1)
    return (topk_pos + begin).masked_fill(topk_pos < 0, -1)

# %% 4d fill
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = torch.full_like(topk_pos, -1)
    row, place = (topk_pos >= 0).nonzero(as_tuple=True)
    out[row, place] = req_to_token[req_of_row[row].long(), topk_pos[row, place].long()].to(out.dtype)
    return out

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    out = torch.full_like(topk_pos, -1)
    here = topk_pos >= 0
    out[here] = (topk_pos + cu_seqlens_k[req_of_row][:, None])[here].to(out.dtype)
    return out

# %% 4d sign
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    locs = req_to_token[req_of_row.unsqueeze(-1), topk_pos]  # what -1 reads is replaced below
    return torch.where(topk_pos < 0, topk_pos, locs)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return topk_pos + (topk_pos >= 0) * cu_seqlens_k[req_of_row][:, None]

# %% 4d row-by-row
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = topk_pos.clone()
    for i, request in enumerate(req_of_row.tolist()):
        for j, p in enumerate(topk_pos[i].tolist()):
            out[i, j] = req_to_token[request, p] if p >= 0 else -1
    return out

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    out = topk_pos.clone()
    for i, request in enumerate(req_of_row.tolist()):
        out[i][topk_pos[i] >= 0] += int(cu_seqlens_k[request])
    return out

# %% 4d padded-column
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    table = F.pad(req_to_token, (0, 1), value=-1)  # so that position -1 reads a -1
    return table[req_of_row[:, None], topk_pos]

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    shift = cu_seqlens_k[req_of_row][:, None].expand_as(topk_pos)
    return torch.where(topk_pos.ge(0), topk_pos + shift, torch.full_like(topk_pos, -1))

# %% 4e sets
def choose_transform(mode, dcp_sharded):
    if mode in {"decode", "target_verify"} or not dcp_sharded:
        return "PAGED"
    return "RAGGED"

# %% 4e match
def choose_transform(mode, dcp_sharded):
    match mode, dcp_sharded:
        case ("extend" | "mixed"), True:
            return "RAGGED"
        case ("extend" | "mixed" | "decode" | "target_verify"), _:
            return "PAGED"
    raise ValueError(f"there is no mode called {mode}")

# %% 4e table
TRANSFORMS = {"extend": ("PAGED", "RAGGED"), "mixed": ("PAGED", "RAGGED")}

def choose_transform(mode, dcp_sharded):
    return TRANSFORMS.get(mode, ("PAGED", "PAGED"))[bool(dcp_sharded)]

# %% 4e index
def choose_transform(mode, dcp_sharded):
    gathers = ("extend", "mixed").count(mode) and dcp_sharded
    return ["PAGED", "RAGGED"][int(bool(gathers))]

# %% 4f min-max
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    if flat_locs.numel() == 0:
        return True
    rows = (size // page_size + 1) * page_size
    bound = rows if consumer == "ckv_row" else rows * dcp_size
    return 0 <= int(flat_locs.min()) and int(flat_locs.max()) < bound

# %% 4f any-bad
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size - size % page_size + page_size) * (1 if consumer == "ckv_row" else dcp_size)
    bad = (flat_locs < 0) | (flat_locs >= bound)
    return not bad.any().item()

# %% 4f python
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    per_row = {"ckv_row": 1}.get(consumer, dcp_size)
    legal = range((size // page_size + 1) * page_size * per_row)
    return all(loc in legal for loc in flat_locs.tolist())

# %% 4f by-page
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    width = page_size if consumer == "ckv_row" else page_size * dcp_size
    pages = flat_locs.div(width, rounding_mode="floor")
    return bool(((pages >= 0) & (pages <= size // page_size)).all())

# %% 4f numpy
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size
    if consumer in ("ckv_write_loc", "index_k_loc", "draft_loc", "flattened_page_table"):
        bound *= dcp_size
    locs = flat_locs.cpu().numpy().astype(np.int64)
    return bool(np.all(locs >= 0) and np.all(locs < bound))

# %% 4g two-stores
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    p_begin, p_end = tl.load(cu_prefix_ptr + i), tl.load(cu_prefix_ptr + i + 1)
    e_begin, e_end = tl.load(cu_extend_ptr + i), tl.load(cu_extend_ptr + i + 1)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, DIM)
    to = out_ptr + (p_begin + e_begin + row)[:, None] * out_stride + col[None, :]
    p_row = p_begin + row
    old = (p_row < p_end)[:, None]
    tl.store(to, tl.load(prefix_ptr + p_row[:, None] * prefix_stride + col[None, :], mask=old), mask=old)
    e_row = e_begin + row - (p_end - p_begin)
    new = ((e_row >= e_begin) & (e_row < e_end))[:, None]
    tl.store(to, tl.load(extend_ptr + e_row[:, None] * extend_stride + col[None, :], mask=new), mask=new)

# %% 4g other-as-second
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + i), tl.load(cu_extend_ptr + i)
    p = tl.load(cu_prefix_ptr + i + 1) - p0
    n = p + tl.load(cu_extend_ptr + i + 1) - e0
    r = block * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, DIM)[None, :]
    x = tl.load(extend_ptr + (e0 + r - p) * extend_stride + c, mask=(r >= p) & (r < n), other=0)
    x = tl.load(prefix_ptr + (p0 + r) * prefix_stride + c, mask=r < p, other=x)
    tl.store(out_ptr + (p0 + e0 + r) * out_stride + c, x, mask=r < n)

# %% 4g zero-and-add
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    p0 = tl.load(cu_prefix_ptr + i)
    p = tl.load(cu_prefix_ptr + i + 1) - p0
    e0 = tl.load(cu_extend_ptr + i)
    e = tl.load(cu_extend_ptr + i + 1) - e0
    r = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, DIM)
    old, new = r < p, (r >= p) & (r < p + e)
    x = tl.load(prefix_ptr + (p0 + r)[:, None] * prefix_stride + c[None, :], mask=old[:, None], other=0.0)
    y = tl.load(extend_ptr + (e0 + r - p)[:, None] * extend_stride + c[None, :], mask=new[:, None], other=0.0)
    tl.store(out_ptr + (p0 + e0 + r)[:, None] * out_stride + c[None, :], x + y, mask=(r < p + e)[:, None])

# %% 4g row-loop
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    p0, e0 = tl.load(cu_prefix_ptr + i), tl.load(cu_extend_ptr + i)
    p, e = tl.load(cu_prefix_ptr + i + 1) - p0, tl.load(cu_extend_ptr + i + 1) - e0
    c = tl.arange(0, DIM)
    for k in range(ROWS):
        r = tl.program_id(1) * ROWS + k
        if r < p:
            tl.store(out_ptr + (p0 + e0 + r) * out_stride + c, tl.load(prefix_ptr + (p0 + r) * prefix_stride + c))
        elif r < p + e:
            tl.store(out_ptr + (p0 + e0 + r) * out_stride + c, tl.load(extend_ptr + (e0 + r - p) * extend_stride + c))

# %% 4g pointer-moved
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    p0, p1 = tl.load(cu_prefix_ptr + i), tl.load(cu_prefix_ptr + i + 1)
    e0, e1 = tl.load(cu_extend_ptr + i), tl.load(cu_extend_ptr + i + 1)
    prefix_ptr += p0 * prefix_stride
    extend_ptr += (e0 - (p1 - p0)) * extend_stride  # so that row p of the segment is new token 0
    out_ptr += (p0 + e0) * out_stride
    r = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, DIM)[None, :]
    old, inside = r < p1 - p0, r < p1 - p0 + e1 - e0
    x = tl.load(prefix_ptr + r * prefix_stride + c, mask=old)
    y = tl.load(extend_ptr + r * extend_stride + c, mask=inside & (r >= p1 - p0))
    tl.store(out_ptr + r * out_stride + c, tl.where(old, x, y), mask=inside)
