from dcplab.field.server.config import QuayConfig
from dcplab.field.server.host_tier import HostTier
from dcplab.field.server.kv_manager import KVCacheManager, hash_block
from dcplab.field.server.sequence import Sequence


def seq(tokens, max_tokens=4, seq_id=0):
    return Sequence(seq_id, list(tokens), len(tokens), max_tokens)


def test_a_hash_depends_on_what_came_before():
    assert hash_block(b"", [1, 2]) == hash_block(b"", [1, 2])
    assert hash_block(b"", [1, 2]) != hash_block(b"x", [1, 2])


def test_admission_takes_blocks_and_release_gives_them_back():
    kv = KVCacheManager(QuayConfig(block_size=4, num_blocks=8))
    one = seq(range(10))
    assert kv.admit(one, 64, 0) == (0, 0)
    assert len(one.block_ids) == 3
    assert kv.pool.num_free == 4
    kv.free(one)
    assert kv.pool.num_free == 7


def test_a_computed_prefix_is_found_by_the_next_request():
    kv = KVCacheManager(QuayConfig(block_size=4, num_blocks=8))
    one = seq(range(10))
    kv.admit(one, 64, 0)
    one.num_computed_tokens = 10
    kv.cache_full_blocks(one)
    kv.free(one)
    two = seq(range(10), seq_id=1)
    assert kv.admit(two, 64, 0) == (8, 0)
    assert two.num_computed_tokens == 8
    assert two.block_ids[:2] == [1, 2]


def test_admission_leaves_the_reserve():
    kv = KVCacheManager(QuayConfig(block_size=4, num_blocks=8))
    assert kv.admit(seq(range(24)), 64, 2) is None
    assert kv.pool.num_free == 7


def test_the_host_tier_forgets_the_oldest():
    host = HostTier(2)
    assert host.reserve(b"a") is not None
    assert host.reserve(b"b") is not None
    assert host.find(b"a") is not None
    assert host.reserve(b"c") is not None
    assert host.find(b"b") is None
    assert host.find(b"a") is not None
