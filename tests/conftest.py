"""Once a process, before anything imports Triton: interpret on a machine without a GPU, compile on one with."""

import os

import torch

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")
