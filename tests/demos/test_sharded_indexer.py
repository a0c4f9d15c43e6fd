"""What lab 07's demonstrations of a shared-out indexer show is what its text says."""

import re

import pytest
import torch

from dcplab.demos import layouts, sharded_indexer


def test_the_bill_is_lab_02_s_and_shrinks_by_d():
    told = layouts.index_k_bill().text.splitlines()
    starts = ("complete on", "shared out, exact", "shared out, union")
    whole, exact, union = (re.split(r" {2,}", next(line for line in told if line.startswith(start))) for start in starts)
    assert (whole[1], exact[1], union[1]) == ("5.29 GB", "0.66 GB", "0.66 GB")
    assert (whole[2], exact[2]) == ("100,000", "12,500") and exact[3] == "16,384, 128 KiB" and union[3] == "none"
    assert (exact[4], union[4]) == ("2,048", "up to 16,384")
    assert "4.63 GB where it is complete" in layouts.index_k_bill().text


def test_exact_is_one_rank_s_choice_and_union_is_not():
    head, rows, apart = sharded_indexer.run("cpu")
    assert "the oracles" in head and apart < 1e-6
    topk = sharded_indexer.SMALL["topk"]
    for (size, run), row in zip(sharded_indexer.SMALL["layouts"], rows, strict=True):
        assert row == (str(size), str(run), "the same keys", str(size * topk), str(size * topk), str((size - 1) * topk))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: the kernels' own logits and top-k")
def test_exact_is_one_rank_s_choice_on_the_real_kernels():
    _, rows, _ = sharded_indexer.run("cuda")
    assert [row[2] for row in rows] == ["the same keys"] * len(sharded_indexer.LARGE["layouts"])
