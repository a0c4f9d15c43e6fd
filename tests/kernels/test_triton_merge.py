"""LSE merge: against float64, with empty ranks whose output is NaN, and the identities that hold for any split of the keys."""

import pytest
import torch
from dcp_kernels import lse_merge, reference
from guarded import Guarded
from hypothesis import example, given
from hypothesis import strategies as st


@pytest.mark.slow
@given(
    ranks=st.sampled_from([1, 2, 3, 8]),
    tokens=st.sampled_from([0, 1, 5]),
    heads=st.sampled_from([1, 3, 16]),
    width=st.sampled_from([1, 36, 64, 512]),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    spread=st.sampled_from([1.0, 20.0, 600.0]),
    empty=st.sampled_from([0.0, 0.4, 1.0]),
    gap=st.sampled_from([0, 3, 16]),
    seed=st.integers(0, 2**31),
)
@example(ranks=8, tokens=5, heads=16, width=512, dtype=torch.float32, spread=1.0, empty=0.0, gap=16, seed=0)
def test_against_float64(device, ranks, tokens, heads, width, dtype, spread, empty, gap, seed):
    gen = torch.Generator().manual_seed(seed)
    outs = torch.randn(ranks, tokens, heads, width, generator=gen)
    lses = (torch.rand(ranks, tokens, heads, generator=gen) * 2 - 1) * spread
    holes = torch.rand(ranks, tokens, heads, generator=gen) < empty
    outs[holes], lses[holes] = torch.nan, -torch.inf
    lses[holes & (torch.rand(holes.shape, generator=gen) < 0.5)] = torch.inf  # FlashMLA's word for the same
    memory = Guarded(device, 2 << 20)  # the largest draw is 1.3 MiB
    outs, lses = memory.place(outs.to(device, dtype), gap), memory.place(lses.to(device, dtype), gap)
    with memory.watched():
        out, lse = lse_merge.merge_lse(outs, lses)
    expected, expected_lse = reference.merge_lse(outs, lses)
    assert out.dtype == lse.dtype == torch.float32
    if expected.numel():
        assert (out - expected).norm() <= 1e-5 * expected.norm()
        none = expected_lse == -torch.inf
        assert torch.equal(lse == -torch.inf, none) and not out[none].any()
        assert ((lse - expected_lse)[~none].abs() <= 1e-5 * expected_lse[~none].abs().clamp(min=1)).all()
    memory.unchanged(outs, lses)


def test_merging_shards_of_the_keys_is_attention_over_all_of_them(device):
    q, k, v = (torch.randn(n, 32, device=device, dtype=torch.float64) for n in (4, 60, 60))
    scores = q @ k.T
    whole, whole_lse = scores.softmax(-1) @ v, scores.logsumexp(-1) / torch.tensor(2.0).log().item()
    owner = torch.arange(60, device=device) % 3
    outs = torch.stack([scores[:, owner == r].softmax(-1) @ v[owner == r] for r in range(3)])[:, :, None].float()
    lses = torch.stack([scores[:, owner == r].logsumexp(-1) for r in range(3)])[:, :, None].float() / 0.6931471805599453
    out, lse = lse_merge.merge_lse(outs, lses)
    assert (out[:, 0] - whole).norm() <= 1e-5 * whole.norm() and (lse[:, 0] - whole_lse).abs().max() <= 1e-4


def test_replicated_ranks_show_in_the_lse_only(device):
    """Every rank computes the same full partial: the output stays right, the LSE is too large by log2(D)."""
    outs, lses = torch.randn(1, 2, 3, 16, device=device), torch.randn(1, 2, 3, device=device)
    out, lse = lse_merge.merge_lse(outs.expand(4, -1, -1, -1), lses.expand(4, -1, -1))
    assert torch.allclose(out, outs[0], atol=1e-6) and torch.allclose(lse, lses[0] + 2, atol=1e-5)


def test_transposed_inputs(device):
    outs, lses = torch.randn(5, 2, 3, 16, device=device).transpose(0, 2), torch.randn(5, 3, 2, device=device).permute(1, 2, 0)
    for got, expected in zip(lse_merge.merge_lse(outs, lses), reference.merge_lse(outs, lses), strict=True):
        assert (got - expected).norm() <= 1e-5 * expected.norm()


def test_what_does_not_fit_is_refused(device):
    outs, lses = torch.zeros(2, 3, 4, 8, device=device), torch.zeros(2, 3, 4, device=device)
    for bad in ((outs[0], lses), (outs, lses[:1]), (outs.int(), lses)):
        with pytest.raises(ValueError, match=r"[.]$"):
            lse_merge.merge_lse(*bad)
