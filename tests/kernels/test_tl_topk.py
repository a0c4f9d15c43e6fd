"""Top-k: exactly the oracle's columns, whatever ties, clusters and infinities there are."""

import pytest
import torch
from dcp_kernels import reference
from dcp_kernels.tl_topk import topk_select
from guarded import Guarded
from hypothesis import given
from hypothesis import strategies as st

KINDS = ["spread", "tied", "equal", "clustered", "zeros", "infinite", "tiny", "nan"]


def draw(kind, gen, tokens, columns):
    x = torch.randn(tokens, columns, generator=gen)
    if kind == "tied":
        x = x.round()
    elif kind == "equal":
        x.fill_(-3.5)
    elif kind == "clustered":  # one float apart: they differ in the last bits only
        x = 1 + torch.randint(0, 40, x.shape, generator=gen) * 2.0**-23
    elif kind == "zeros":
        x = torch.where(x > 0, 0.0, -0.0)
    elif kind == "infinite":
        x[torch.rand(x.shape, generator=gen) < 0.7] = -torch.inf
        x[torch.rand(x.shape, generator=gen) < 0.05] = torch.inf
    elif kind == "tiny":  # subnormal
        x = x * 1e-40
    elif kind == "nan":
        x[torch.rand(x.shape, generator=gen) < 0.3] = torch.nan
        x[torch.rand(x.shape, generator=gen) < 0.3] = -torch.nan
    return x


@pytest.mark.slow
@given(
    kind=st.sampled_from(KINDS),
    tokens=st.integers(0, 4),
    columns=st.sampled_from([0, 1, 63, 64, 255, 256, 257, 3000]),
    topk=st.sampled_from([1, 64, 200]),
    bounded=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_exactly_the_oracles_columns(device, kind, tokens, columns, topk, bounded, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device)
    logits = memory.place(draw(kind, gen, tokens, columns).to(device))
    ks = ke = None
    if bounded:
        ks, ke = (torch.randint(0, columns + 1, (tokens,), generator=gen, dtype=torch.int32).to(device) for _ in range(2))
    out = memory.place(torch.full((tokens, topk), 77, dtype=torch.int32, device=device))
    with memory.watched():
        topk_select(logits, topk, ks, ke, out=out)
    assert torch.equal(out, reference.topk_select(logits, topk, ks, ke))
    memory.unchanged(logits)


@pytest.mark.parametrize("kind", KINDS)
def test_many_equal_keys(device, kind):
    """More than 4,096 candidates in one digit of the key, where a list of candidates of that length would overflow."""
    logits = draw(kind, torch.Generator().manual_seed(7), 2, 20_000).to(device)
    assert torch.equal(topk_select(logits, 2048), reference.topk_select(logits, 2048))


def test_ranks_agree_on_ties(device):
    """The same logits anywhere give the same columns: the lower ones, in ascending order."""
    logits = torch.zeros(1, 500, device=device)
    logits[0, 400] = 1.0
    assert topk_select(logits, 64)[0].tolist() == [*range(63), 400]


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_full_size_repeats_to_the_bit(device, kind):
    logits = draw(kind, torch.Generator().manual_seed(3), 300, 32_771).to(device)
    ks = torch.arange(300, dtype=torch.int32, device=device) * 3
    ke = torch.full((300,), 32_771, dtype=torch.int32, device=device) - ks
    out = topk_select(logits, 2048, ks, ke)
    assert torch.equal(out, reference.topk_select(logits, 2048, ks, ke))
    for _ in range(20):
        assert torch.equal(topk_select(logits, 2048, ks, ke), out)
