"""Merge, transforms, index-K, workspace, backup: what must move, against the copy bandwidth, at 64 MB and more.

python bench/triton_moves.py
"""

import argparse

import harness
import torch
from dcp_kernels import index_k, index_space, lse_merge, ragged, reference, rows, topk_transform


def size(*tensors: torch.Tensor) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def merge(ranks: int, tokens: int, heads: int, dtype: torch.dtype) -> harness.Row:
    outs = torch.randn(ranks, tokens, heads, 512, device="cuda").to(dtype)
    lses = torch.randn(ranks, tokens, heads, device="cuda") * 4
    out, lse = lse_merge.merge_lse(outs, lses)

    def with_torch():
        top = lses.amax(0)
        weight = torch.exp2(lses - top)
        total = weight.sum(0)
        return (outs.float() * (weight / total)[..., None]).sum(0), top + total.log2()

    return harness.Row(
        f"merge D={ranks} T={tokens} H={heads} V=512 {str(dtype)[6:]}",
        harness.time_ms(lambda: lse_merge.merge_lse(outs, lses)),
        bytes=size(outs, lses, out, lse),
        others={"torch": harness.time_ms(with_torch)},
    )


def page_table(n: int) -> harness.Row:
    locs = torch.randint(-1, 2**30, (n,), device="cuda")
    return harness.Row(
        f"localize_page_table n={n:,}",
        harness.time_ms(lambda: index_space.localize_page_table(locs, 3, 8)),
        bytes=2 * size(locs),
        others={"torch": harness.time_ms(lambda: reference.localize_page_table(locs, 3, 8))},
    )


def selected(queries: int, k: int, dtype: torch.dtype) -> list[harness.Row]:
    """Make a batch of 8 requests of 32k tokens each; ascending positions, as the selector gives them."""
    requests, longest = 8, 32_768
    step = longest // k
    pos = (torch.arange(k, device="cuda") * step + torch.randint(0, step, (queries, k), device="cuda")).to(dtype)
    req = torch.arange(queries, device="cuda") * requests // queries
    table = torch.randperm(requests * longest, device="cuda").view(requests, longest).to(torch.int32)
    cu = torch.arange(requests + 1, device="cuda") * longest
    locs = topk_transform.topk_to_paged(pos, req, table)
    tag = f"{queries:,} x {k} {str(dtype)[6:]}"
    table_rows = req[:, None].expand(-1, k)
    shuffled = pos.gather(1, torch.rand(queries, k, device="cuda").argsort(1))
    return [
        harness.Row(
            f"topk_to_paged {tag}, shuffled",
            harness.time_ms(lambda: topk_transform.topk_to_paged(shuffled, req, table)),
            bytes=2 * size(pos) + size(req, table),
            others={"torch": harness.time_ms(lambda: torch.where(pos >= 0, table[table_rows, shuffled.clamp(min=0)], -1))},
        ),
        harness.Row(
            f"topk_to_paged {tag}",
            harness.time_ms(lambda: topk_transform.topk_to_paged(pos, req, table)),
            bytes=2 * size(pos) + size(req, table),
            others={"torch": harness.time_ms(lambda: torch.where(pos >= 0, table[table_rows, pos.clamp(min=0)], -1))},
        ),
        harness.Row(
            f"topk_to_ragged {tag}",
            harness.time_ms(lambda: topk_transform.topk_to_ragged(pos, req, cu)),
            bytes=2 * size(pos) + size(req),
            others={"torch": harness.time_ms(lambda: torch.where(pos >= 0, pos + cu[req][:, None], -1).to(dtype))},
        ),
        harness.Row(
            f"localize_topk D=8 {tag}",
            harness.time_ms(lambda: topk_transform.localize_topk(locs, 3, 8)),
            bytes=size(locs) + 4 * locs.numel() + 4 * queries,
            others={"torch": harness.time_ms(lambda: reference.localize_topk(locs, 3, 8), 10)},
        ),
    ]


def index_keys(n: int) -> list[harness.Row]:
    pages = 2 * n // 64
    buf = torch.randint(0, 255, (pages, 8448), dtype=torch.uint8, device="cuda")
    keys = torch.randint(0, 255, (n, 128), dtype=torch.uint8, device="cuda").view(torch.float8_e4m3fn)
    scales = torch.rand(n, device="cuda")
    locs = (torch.randperm(pages, device="cuda")[: n // 64, None] * 64 + torch.arange(64, device="cuda")).flatten()
    bytes_ = size(locs) + 2 * size(keys, scales)
    return [
        harness.Row(
            f"write_index_k n={n:,}",
            harness.time_ms(lambda: index_k.write_index_k(buf, keys, scales, locs)),
            bytes=bytes_,
            others={"torch": harness.time_ms(lambda: reference.write_index_k(buf, keys, scales, locs), 10)},
        ),
        harness.Row(
            f"read_index_k n={n:,}",
            harness.time_ms(lambda: index_k.read_index_k(buf, locs)),
            bytes=bytes_,
            others={"torch": harness.time_ms(lambda: reference.read_index_k(buf, locs), 10)},
        ),
    ]


def workspace(width: int) -> harness.Row:
    """Measure eight requests, 12,288 tokens of prefix and 4,096 new ones each, D = 8."""
    requests, prefix, fresh, dcp_size = 8, 12_288, 4_096, 8
    starts = torch.arange(requests, device="cuda") * 0 + 3
    prefix_lens, extend_lens = torch.full_like(starts, prefix), torch.full_like(starts, fresh)
    padded = requests * -(-(prefix + 3) // dcp_size)
    shards = torch.randn(dcp_size, padded, width, device="cuda").bfloat16()
    extend = torch.randn(requests * fresh, width, device="cuda").bfloat16()
    total = requests * (prefix + fresh)
    call = (shards, extend, prefix_lens, starts, extend_lens, dcp_size)

    def with_torch():
        line = shards.transpose(0, 1).reshape(-1, width)  # interleaved
        parts = []
        for i in range(requests):
            first = i * (padded // requests) * dcp_size + 3
            parts += [line[first : first + prefix], extend[i * fresh : (i + 1) * fresh]]
        return torch.cat(parts)

    assert torch.equal(with_torch(), ragged.assemble_ragged(*call, total=total))
    return harness.Row(
        f"assemble_ragged {total:,} x {width} bf16",
        harness.time_ms(lambda: ragged.assemble_ragged(*call, total=total)),
        bytes=2 * total * width * 2,
        others={"torch": harness.time_ms(with_torch)},
    )


def backup(width: int, kind: str) -> list[harness.Row]:
    n = 131_072
    pool = torch.randn(2 * n, width, device="cuda").bfloat16()
    if kind == "random":
        picked = torch.randperm(2 * n, device="cuda")[:n]
    else:
        picked = (torch.randperm(2 * n // 64, device="cuda")[: n // 64, None] * 64 + torch.arange(64, device="cuda")).flatten()
    saved = rows.gather_rows(pool, picked)

    def put():
        pool[picked] = saved

    bytes_ = 2 * size(saved) + size(picked)
    return [
        harness.Row(
            f"gather_rows {n:,} x {width} bf16, {kind}",
            harness.time_ms(lambda: rows.gather_rows(pool, picked)),
            bytes=bytes_,
            others={"torch": harness.time_ms(lambda: pool[picked])},
        ),
        harness.Row(
            f"scatter_rows {n:,} x {width} bf16, {kind}",
            harness.time_ms(lambda: rows.scatter_rows(pool, saved, picked)),
            bytes=bytes_,
            others={"torch": harness.time_ms(put)},
        ),
    ]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    harness.require_gpu()
    table = [merge(8, 128, 128, torch.bfloat16), merge(8, 128, 128, torch.float32), merge(2, 512, 128, torch.bfloat16)]
    table += [page_table(8_388_608)]
    table += [*selected(4096, 2048, torch.int32), *selected(16_384, 2048, torch.int32)]
    table += [*index_keys(262_144), workspace(512), workspace(576)]
    for width in (512, 576):
        table += [*backup(width, "paged"), *backup(width, "random")]
    harness.report("triton_moves", table)


if __name__ == "__main__":
    main()
