"""Two sizes of block: the manager's and a kernel's. Which is used where changes no word, and a mix-up is refused."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_interleave import answers_alike
from test_schedules import BASE, engine

from dcplab.engine import public_cases
from dcplab.engine.blocks import kernel_block_table
from dcplab.engine.configurator import ServerConfig, charges
from dcplab.engine.space_tags import Space, of_which, space_of
from dcplab.errors import CourseError


@pytest.mark.parametrize("block", [1, 2, 4])
@pytest.mark.parametrize("indexer", ["replicated", "exact"])
def test_no_word_depends_on_the_kernels_block(block, indexer):
    config = replace(BASE, dcp_size=3, page_size=8, interleave=4, size=40, kernel_block_size=block, indexer=indexer)
    answers_alike(replace(config, draft_tokens=2, need_sort=True), block, often=0.6)


def test_the_bill_and_the_tables_say_whose_block_it_is():
    config = ServerConfig(page_size=8, dcp_size=2, size=64, kernel_block_size=4, indexer="exact", draft_tokens=2)
    bill = {c.consumer: c for c in charges(config)}
    assert bill["index_k.0"].page == bill["draft.index_k"].page == 4 and bill["ckv.0"].page == 8
    assert bill["index_k.0"].bytes == {c.consumer: c for c in charges(replace(config, kernel_block_size=0))}["index_k.0"].bytes
    server = engine(config, typed=True)
    batches = []
    real = server.runner._batch
    server.runner._batch = lambda *given, **more: batches.append(real(*given, **more)) or batches[-1]
    server.generate([[0, *range(1, 40)]], 3)
    verified = [b for b in batches if b.forward_mode == "verify"]
    assert verified and all(of_which(b.page_table) == of_which(b.row_page_table) == 4 for b in verified)
    assert space_of(verified[0].row_page_table) is Space.ALLOCATOR_PAGE


@pytest.mark.parametrize("block", [-1, 3, 5, 16])
def test_a_block_that_does_not_divide_the_page_is_refused(block):
    with pytest.raises(CourseError, match=f"A kernel's block divides the page of 8 rows, and {block} does not"):
        ServerConfig(kernel_block_size=block).check()


# The arithmetic.


def test_block_5_of_128_is_blocks_10_and_11_of_64():
    table = torch.tensor([[5, 9], [2, -1]])
    assert kernel_block_table(table, 128, 64).tolist() == [[10, 11, 18, 19], [4, 5, -1, -1]]
    assert kernel_block_table(table, 64, 64) is table


@given(block=st.sampled_from([1, 2, 8]), each=st.integers(1, 4), blocks=st.integers(1, 5), seed=st.integers(0, 2**31))
def test_the_slot_is_the_same_by_either_table_and_not_by_a_mixture(block, each, blocks, seed):
    gen = torch.Generator().manual_seed(seed)
    size = block * each
    table = torch.randperm(50, generator=gen)[None, :blocks] + 1
    positions = torch.arange(blocks * size)
    by_manager = public_cases.slots_of(table[0, positions // size], positions, size)
    mine = kernel_block_table(table, size, block)
    assert torch.equal(by_manager, public_cases.slots_of(mine[0, positions // block], positions, block))
    if each > 1:
        column = (positions // block).clamp(max=blocks - 1)
        mixed = public_cases.slots_of(table[0, column], positions, block)
        assert not torch.equal(mixed, by_manager) and int(mixed.max()) < (int(table.max()) + 1) * size, "in range, and wrong"
