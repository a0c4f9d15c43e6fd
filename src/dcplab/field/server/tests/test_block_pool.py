from dcplab.field.server.block_pool import BlockPool


def pool(num_blocks=6):
    gone = []
    return BlockPool(num_blocks, lambda block, block_hash: gone.append((block, block_hash))), gone


def test_the_null_block_is_never_handed_out():
    blocks, _ = pool()
    assert blocks.num_free == 5
    assert sorted(blocks.take(5)) == [1, 2, 3, 4, 5]


def test_a_released_block_is_handed_out_last():
    blocks, _ = pool()
    first = blocks.take(2)
    blocks.release(first)
    assert blocks.num_free == 5
    assert blocks.take(3) == [3, 4, 5]


def test_a_cached_block_is_found_while_it_is_free_and_evicted_when_it_is_taken():
    blocks, gone = pool(3)
    held = blocks.take(1)
    blocks.remember(held[0], b"a")
    blocks.release(held)
    assert blocks.cached[b"a"] == held[0]
    blocks.touch(held)
    assert blocks.num_free == 1
    blocks.release(held)
    blocks.take(2)
    assert gone == [(held[0], b"a")]
