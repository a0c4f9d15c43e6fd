import torch

from dcplab.field.server import layout
from dcplab.field.server.config import PAD_SLOT_ID, QuayConfig


def test_every_position_has_one_owner_and_the_lengths_add_up():
    cfg = QuayConfig(cp_size=4)
    positions = torch.arange(40)
    owners = layout.owner_of(positions, cfg)
    assert owners[:6].tolist() == [0, 1, 2, 3, 0, 1]
    for rank in range(4):
        lens = layout.local_seq_lens(torch.tensor([40, 16, 0]), rank, cfg)
        assert lens.tolist() == [10, 4, 0]
        assert int((owners == rank).sum()) == int(lens[0])


def test_local_indices_come_back():
    cfg = QuayConfig(cp_size=2)
    positions = torch.arange(32)
    index, owners = layout.local_index(positions, cfg), layout.owner_of(positions, cfg)
    for rank in range(2):
        mine = owners == rank
        assert torch.equal(layout.global_position(index[mine], rank, cfg), positions[mine])


def test_without_context_parallelism_a_slot_is_block_and_offset():
    cfg = QuayConfig(block_size=4)
    table, positions = torch.tensor([[7, 3]]), torch.arange(8)[None]
    assert layout.slot_mapping(table, positions, 0, cfg)[0].tolist() == [28, 29, 30, 31, 12, 13, 14, 15]
    assert layout.draft_slots(table, positions, cfg)[0].tolist() == [28, 29, 30, 31, 12, 13, 14, 15]


def test_two_ranks_share_a_block():
    cfg = QuayConfig(block_size=2, cp_size=2)
    table, positions = torch.tensor([[5]]), torch.arange(4)[None]
    assert layout.slot_mapping(table, positions, 0, cfg)[0].tolist() == [10, PAD_SLOT_ID, 11, PAD_SLOT_ID]
    assert layout.slot_mapping(table, positions, 1, cfg)[0].tolist() == [PAD_SLOT_ID, 10, PAD_SLOT_ID, 11]
