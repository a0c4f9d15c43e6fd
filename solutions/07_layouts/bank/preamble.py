# Stands before every answer in this folder: what their authors had imported and defined elsewhere.

import math

import torch
import triton
import triton.language as tl
