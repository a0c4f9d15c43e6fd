# Stands before every answer in this folder: what their authors had imported and defined elsewhere.

from itertools import accumulate, chain

import numpy as np
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


def pieces_of(locs, lens):
    return locs.split(lens.tolist())


def padded_rows(n, start, dcp_size):
    return -(-(n + start % dcp_size) // dcp_size) if n else 0


def topk_to_paged(topk_pos, req_of_row, req_to_token):
    locs = req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)]
    return torch.where(topk_pos >= 0, locs, -1).to(topk_pos.dtype)


def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row][:, None], -1).to(topk_pos.dtype)
