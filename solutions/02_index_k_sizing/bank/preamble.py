# Stands before every answer in this folder: what their authors had imported and defined elsewhere.

import math
from dataclasses import dataclass
from fractions import Fraction

import torch
import triton
import triton.language as tl


def largest_loc(size, page_size, dcp_size):
    return (size // page_size + 1) * page_size * dcp_size - 1


def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size if is_draft_worker else 1


def pool_page_size(page_size, scale):
    return page_size * scale


def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size * (dcp_size - 1)


def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * (c + k) / (c + dcp_size * k)
