"""The CPU's float operations against the kernels' float64 oracles, with the shapes and the holes that the engine makes."""

import pytest
import torch
from dcp_kernels import reference

from dcplab.engine import ops
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.engine.tokenizer import Tokenizer


@pytest.mark.slow
def test_attention():
    g = torch.Generator().manual_seed(0)
    q, kv = torch.randn(5, 2, 512, generator=g), torch.randn(9, 512, generator=g)
    kv[4] = float("nan")  # a row nobody may read
    indices = torch.tensor([[0, 3, -1, 8], [-1, -1, -1, -1], [5, 9, 900, 1], [2, 6, 7, 0], [1, 1, 3, 4]], dtype=torch.int32)
    for counts in (torch.tensor([4, 0, 4, 2, 3], dtype=torch.int32), torch.tensor([1, 0, 0, 0, 0], dtype=torch.int32)):
        for run in (ops.attend_rows, ops.attend_ragged):
            out, lse = run(q, kv, indices, counts, 0.0625)
            expected, expected_lse = reference.sparse_mla_decode(q, kv, indices, counts, 0.0625)
            torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=0)
            torch.testing.assert_close(lse.double(), expected_lse, atol=1e-5, rtol=0)
    assert (out[1:] == 0).all() and (lse[1:] == float("-inf")).all()


def test_attention_without_counts_looks_at_every_entry():
    g = torch.Generator().manual_seed(1)
    q, kv = torch.randn(2, 1, 512, generator=g).bfloat16(), torch.randn(6, 512, generator=g).bfloat16()
    indices = torch.tensor([[0, -1, 5], [-1, -1, -1]], dtype=torch.int32)
    out, lse = ops.attend_ragged(q, kv, indices, None, 0.0625)
    expected, expected_lse = reference.sparse_mla_extend(q, kv, indices, None, 0.0625)
    torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(lse.double(), expected_lse, atol=1e-5, rtol=0)


def pages(g, count, page_size):
    buf = torch.zeros(count, page_size * 132, dtype=torch.uint8)
    n = count * page_size
    keys = torch.randn(n, 128, generator=g).to(torch.float8_e4m3fn)
    reference.write_index_k(buf, keys, torch.rand(n, generator=g), torch.arange(n), page_size)
    return buf


@pytest.mark.parametrize("heads", [1, 3])
def test_indexer_logits(heads):
    g = torch.Generator().manual_seed(2)
    buf = pages(g, 7, 4)
    q, w = torch.randn(3, heads, 128, generator=g).to(torch.float8_e4m3fn), torch.rand(3, heads, generator=g)
    table = torch.tensor([[3, 1, 6], [0, -1, -1], [5, 2, 4]], dtype=torch.int32)
    lens = torch.tensor([10, 1, 12], dtype=torch.int32)
    got, expected = (m.indexer_logits_paged(q, w, buf, table, lens, 4) for m in (ops, reference))
    torch.testing.assert_close(got.double(), expected, atol=1e-4, rtol=1e-5)
    keys, scales = ops.read_index_k(buf, torch.arange(20), 4)
    ks, ke = torch.tensor([0, 5, 7], dtype=torch.int32), torch.tensor([5, 20, 7], dtype=torch.int32)
    got, expected = (m.indexer_logits_ragged(q, w, keys, scales, ks, ke) for m in (ops, reference))
    torch.testing.assert_close(got.double(), expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("topk", [1, 3, 8, 20])
def test_topk_takes_the_lower_column_of_equals_and_ascends(topk):
    g = torch.Generator().manual_seed(3)
    logits = torch.randint(0, 4, (6, 12), generator=g).float()
    logits[0], logits[1, ::2] = float("-inf"), float("nan")
    ks, ke = torch.randint(0, 6, (6,), generator=g), torch.randint(4, 13, (6,), generator=g)
    assert torch.equal(ops.topk_select(logits, topk, ks, ke), reference.topk_select(logits, topk, ks, ke))
    assert torch.equal(ops.topk_select(logits, topk), reference.topk_select(logits, topk))


@pytest.mark.slow
@pytest.mark.skipif(
    torch.cuda.is_available(), reason="a process that compiles for a GPU cannot interpret; test_gpu.py runs there"
)
def test_the_whole_server_on_the_real_kernels_answers_as_in_torch():
    """Triton interpreted, TileLang through its C target: chunks, a shared prefix, a draft, a retraction."""
    config = ServerConfig(
        size=192,
        page_size=64,
        dcp_size=3,
        layers=2,
        topk=8,
        heads=16,
        index_heads=16,
        dtype=torch.float32,
        chunk=8,
        draft_tokens=2,
    )

    def answers():
        engine = Engine(config, tokenizer=Tokenizer(64))
        requests = [engine.submit([0, 1, 2, 3, 4, 5, 1, 2], 6), engine.submit([0, 7, 8, 9, 7], 5)]
        while not any(r.output and not r.extending for r in requests):
            engine.step()
        engine.retract(next(r for r in engine.running if not r.extending))
        engine.run()
        assert engine.metrics.retractions == 1 and not engine.workers[0].arena.damage()
        return [r.output for r in requests]

    expected = answers()
    with ops.kernels_on_cpu():
        assert answers() == expected == [[3, 4, 5, 1, 2, 3], [8, 9, 7, 8, 9]]
