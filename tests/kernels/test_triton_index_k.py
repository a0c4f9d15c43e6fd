"""Index-K pages: what is written is read back, byte for byte, and the bytes lie where the layout says."""

import pytest
import torch
from dcp_kernels import index_k, reference
from guarded import Guarded, bits, random_bits
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.slow
@given(
    page_size=st.sampled_from([64, 16, 3, 1]),
    n=st.sampled_from([0, 1, 4, 5, 63, 64, 130]),
    gap=st.sampled_from([0, 16, 4]),
    key_gap=st.sampled_from([0, 16, 3]),
    loc_dtype=st.sampled_from([torch.int64, torch.int32]),
    seed=st.integers(0, 2**31),
)
def test_write_then_read(device, page_size, n, gap, key_gap, loc_dtype, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device)
    pages = 150 // page_size + 1
    locs = torch.randperm(pages * page_size, generator=gen)[:n]
    locs[torch.rand(n, generator=gen) < 0.2] = -1
    locs = memory.place(locs.to(device, loc_dtype))
    keys = memory.place(random_bits(gen, (n, 128), torch.float8_e4m3fn).to(device), key_gap)
    scales = memory.place(torch.randn(n, generator=gen).to(device))
    buf = memory.place(random_bits(gen, (pages, page_size * 132), torch.uint8).to(device), gap)
    expected = buf.clone()
    with memory.watched():
        index_k.write_index_k(buf, keys, scales, locs, page_size)
    reference.write_index_k(expected, keys, scales, locs, page_size)
    assert torch.equal(buf, expected)
    with memory.watched():
        got_keys, got_scales = index_k.read_index_k(buf, locs, page_size)
    here = locs >= 0
    assert torch.equal(bits(got_keys[here]), bits(keys[here])) and torch.equal(got_scales[here], scales[here])
    assert not bits(got_keys[~here]).any() and not got_scales[~here].any()
    memory.unchanged(locs, keys, scales)


def test_layout_of_a_page(device):
    """Loc 70 at P = 64: page 1, slot 6; key bytes 768..895 of the page, scale bytes 8216..8219."""
    buf = torch.zeros(3, 8448, dtype=torch.uint8, device=device)
    keys = torch.full((1, 128), 7, dtype=torch.uint8, device=device)
    index_k.write_index_k(buf, keys, torch.tensor([1.0], device=device), torch.tensor([70], device=device))
    written = buf.nonzero()
    assert set(written[:, 0].tolist()) == {1}
    assert buf[1, 768:896].eq(7).all() and buf[1, 8216:8220].tolist() == [0, 0, 128, 63]
    assert int(buf.ne(0).sum()) == 130


def test_what_does_not_fit_is_refused(device):
    buf = torch.zeros(2, 8448, dtype=torch.uint8, device=device)
    keys, scales = torch.zeros(1, 128, dtype=torch.uint8, device=device), torch.zeros(1, device=device)
    locs = torch.tensor([3], device=device)
    for bad in (
        lambda: index_k.write_index_k(buf.float(), keys, scales, locs),
        lambda: index_k.write_index_k(buf, keys, scales, locs, page_size=32),
        lambda: index_k.write_index_k(buf, keys[:, :64], scales, locs),
        lambda: index_k.write_index_k(buf, keys, scales.double(), locs),
        lambda: index_k.write_index_k(torch.zeros(2, 8450, dtype=torch.uint8, device=device)[:, :8448], keys, scales, locs),
        lambda: index_k.read_index_k(buf, locs.float()),
    ):
        with pytest.raises(ValueError, match=r"[.]$"):
            bad()
