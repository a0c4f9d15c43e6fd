"""The path over several GPUs, measured: links, extend's gather, decode's merge three ways, steps on one GPU and on all.

    torchrun --standalone --nproc-per-node 2 bench/ranks_gpu.py --json FILE --limit 150     a GPU each, over NCCL
    torchrun --standalone --nproc-per-node 2 bench/ranks_gpu.py --dry --json FILE           small, over gloo on a CPU

Each row goes to the file as soon as it is measured; what the limit leaves no time for is named there. Times of a collective are
those of the slowest process, without the launches (the GPU sleeps while the host gets ahead); a step's are what a client waits.
``bench/ranks_model.py FILE`` says what the same path costs on more ranks. Exit status 1 if a result is wrong.
"""

from __future__ import annotations

import time

BEGAN = time.monotonic()  # what follows takes seconds to import, and counts

import argparse  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
from collections.abc import Callable, Iterable  # noqa: E402
from dataclasses import dataclass, field, replace  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import ranks_merges as merges  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

from dcplab import files, mode  # noqa: E402
from dcplab.engine import comm, ops, tokenizer  # noqa: E402
from dcplab.engine.configurator import WIDTH, ServerConfig  # noqa: E402
from dcplab.engine.scheduler import Engine  # noqa: E402

SLEEP_CYCLES = 20_000_000  # some 10 ms, in which the host launches all repeats
END_S = 8.0  # before the limit, in which everything that still runs is left
LAYERS = 3
FACT = "fact1: gate1 hides silver1 harp1 beneath1 snow1"
ASK = "ask: gate1 hides"
ANSWER = "silver1 harp1 beneath1 snow1"


@dataclass(frozen=True)
class Sizes:
    """What is run. ``gathers`` and ``contexts`` in tokens, ``links`` in bytes that each process sends."""

    links: tuple[int, ...]
    gathers: tuple[int, ...]
    batches: tuple[int, ...]
    heads: tuple[int, ...]
    contexts: tuple[int, ...]
    ranks: tuple[int, ...]  # D
    server: ServerConfig
    repeats: int


FULL = Sizes(
    links=(1 << 16, 1 << 20, 1 << 24, 1 << 27, 1 << 29),
    gathers=(1 << 15, 1 << 17, 1 << 19, 1 << 20),
    batches=(1, 8, 32, 128),
    heads=(16, 128),
    contexts=(1 << 15, 1 << 17, 1 << 19, 1 << 20),
    ranks=(2, 8),
    server=ServerConfig(page_size=64, heads=16, index_heads=32, topk=2048, chunk=4096, layers=LAYERS),
    repeats=20,
)
DRY = Sizes(
    links=(1 << 12, 1 << 18),
    gathers=(1 << 9, 1 << 11),
    batches=(1, 8),
    heads=(16,),
    contexts=(1 << 8, 1 << 10),
    ranks=(2, 4),
    server=ServerConfig(page_size=4, topk=32, chunk=64, layers=LAYERS),
    repeats=3,
)


@dataclass
class Record:
    """The file: a head, and rows as they come. Only the first process writes."""

    path: Path | None
    head: dict[str, Any]
    limit: float
    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    wrong: bool = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - BEGAN

    def add(self, what: str, **found: Any) -> None:
        self.rows.append({"what": what} | found)
        self.wrong |= found.get("right") is False
        if self.path:
            told = ", ".join(f"{k} {_short(v)}" for k, v in found.items() if k not in ("profile", "output"))
            print(f"{self.seconds:6.1f} s  {what}: {told}", flush=True)
        self.write()

    def leave_out(self, what: str) -> None:
        self.left_out.append(what)
        if self.path:
            print(f"{self.seconds:6.1f} s  no time is left for {what}", flush=True)
        self.write()

    def write(self, **more: Any) -> None:
        if self.path:
            found = {"seconds": round(self.seconds, 1), "left_out": self.left_out} | more
            files.replace(self.path, json.dumps(self.head | found | {"rows": self.rows}, indent=1) + "\n")


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{k}: {_short(v)}" for k, v in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("results") / "ranks_gpu.json")
    parser.add_argument("--limit", type=float, default=150, metavar="S", help="seconds in all (default: 150)")
    parser.add_argument("--dry", action="store_true", help="small sizes, over gloo on a CPU: shows that all of it runs")
    parser.add_argument("--steps", action="store_true", help="steps on all devices alone: no links, and no single device")
    parser.add_argument("--dcp-size", type=int, metavar="D", help="servers of D ranks (default: 2, 8, and one a device)")
    parser.add_argument("--most", type=int, metavar="TOKENS", help="the longest context (default: 1,048,576)")
    args = parser.parse_args()
    if "WORLD_SIZE" not in os.environ:
        sys.exit("This bench runs under torchrun, a process a GPU; its first lines say how.")
    if not args.dry and not torch.cuda.is_available():
        sys.exit("This bench times GPUs, and torch finds none here; --dry runs it small over gloo on a CPU.")
    sizes = DRY if args.dry else FULL
    world = int(os.environ["WORLD_SIZE"])
    wanted = {args.dcp_size} if args.dcp_size else {*sizes.ranks, *((world,) if world > 1 else ())}
    sizes = replace(sizes, ranks=tuple(sorted(d for d in wanted if d % world == 0)))
    if not sizes.ranks:
        sys.exit(f"{args.dcp_size} ranks cannot be dealt evenly to {world} processes.")
    if args.dry:
        torch.set_num_threads(1)
    with comm.make("gloo" if args.dry else "nccl", sizes.ranks[0]) as ranks:
        record = Record(args.json if ranks.leads else None, _head(ranks, sizes.server, args.dry), args.limit)
        stop = threading.Timer(max(0.0, args.limit - END_S - record.seconds), _stop, (record,))
        stop.daemon = True
        stop.start()
        measure(ranks, sizes, record, args.most or max(sizes.contexts), args.steps)
        stop.cancel()
        record.write(ended="in order")
    return 1 if record.wrong else 0


def _stop(record: Record) -> None:
    """End here: a kernel or a collective that runs has no end that one could wait for."""
    record.write(ended=f"at the limit of {record.limit:g} s")
    print(f"Stopped at the limit of {record.limit:g} s.", file=sys.stderr, flush=True)
    os._exit(0)


def _head(ranks: comm.Distributed, server: ServerConfig, dry: bool) -> dict[str, Any]:
    world = ranks.group.world
    where = (
        f"CPU, {world} processes over gloo: a dry run, whose times say nothing"
        if dry
        else (f"GPU, {world} x {torch.cuda.get_device_name()}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}")
    )
    return {
        "bench": "ranks_gpu",
        "ran_on": where,
        "processes": world,
        "versions": mode.versions(),
        "multicast": "off",
        "layers": server.layers,
        "heads": server.heads,
    }


def measure(ranks: comm.Distributed, sizes: Sizes, record: Record, most: int, steps_only: bool = False) -> None:
    """Measure everything, in the order of what it costs, or the steps on all devices alone. A part for which the time left does
    not do is left out by all processes."""
    world = ranks.group.world
    if world > 1 and not steps_only:
        links(ranks, sizes, record)
        gathers(ranks, sizes, record)
        merged(ranks, sizes, record)
        if _enough(ranks, record, 20):
            overlap(ranks, sizes, record)
    contexts = [n for n in sizes.contexts if n <= most]
    if not steps_only:
        steps_alone(ranks, sizes, record, contexts)
    for dcp_size in reversed(sizes.ranks):
        if world > 1 and dcp_size % world == 0:
            steps(ranks.dealt(dcp_size), sizes, record, contexts)


def _enough(ranks: comm.Local | comm.Distributed, record: Record, seconds: float) -> bool:
    """Ask if so many seconds are left, as the slowest process sees it: all that work together must do the same."""
    so_far = record.seconds if isinstance(ranks, comm.Local) else _slowest(ranks, record.seconds)
    return so_far + seconds < record.limit - END_S


def _slowest(ranks: comm.Distributed, value: float) -> float:
    worst = torch.tensor([value], dtype=torch.float32, device=ranks.device)
    dist.all_reduce(worst, dist.ReduceOp.MAX)
    return float(worst)


def timed(ranks: comm.Distributed, run: Callable[[], object], repeats: int) -> float:
    """Measure the milliseconds of one of ``repeats`` runs in a row, begun together, of the slowest process."""
    together = torch.zeros(1, device=ranks.device)
    for _ in range(2):
        run()
    if ranks.device.type == "cpu":
        dist.all_reduce(together)
        began = time.perf_counter()
        for _ in range(repeats):
            run()
        return _slowest(ranks, 1e3 * (time.perf_counter() - began) / repeats)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    torch.cuda._sleep(SLEEP_CYCLES)
    dist.all_reduce(together)
    start.record()
    for _ in range(repeats):
        run()
    end.record()
    torch.cuda.synchronize()
    return _slowest(ranks, start.elapsed_time(end) / repeats)


def links(ranks: comm.Distributed, sizes: Sizes, record: Record) -> None:
    """Measure an all-gather of bytes: the rate at which a process receives what it did not have."""
    for count in sizes.links:
        sent = torch.zeros(count, dtype=torch.uint8, device=ranks.device)
        got = sent.new_empty(ranks.group.world * count)
        ms = timed(ranks, lambda s=sent, g=got: dist.all_gather_into_tensor(g, s), sizes.repeats)
        others = (ranks.group.world - 1) * count
        record.add("link", bytes_each=count, ms=ms, received=others, GBps=others / ms / 1e6)
    if ranks.device.type == "cuda":  # the rate of the memory itself, to hold against
        a = torch.zeros(1 << 30, dtype=torch.uint8, device=ranks.device)
        b = torch.empty_like(a)
        ms = timed(ranks, lambda: b.copy_(a), 5)
        record.add("copy on the device", bytes=a.numel(), ms=ms, GBps=2 * a.numel() / ms / 1e6)


def gathers(ranks: comm.Distributed, sizes: Sizes, record: Record) -> None:
    """Measure extend's all-gather of one layer's prefix, a rank a process, and putting it in order. Each row is checked."""
    world, dtype = ranks.group.world, sizes.server.dtype
    for count in sizes.gathers:
        rows = -(-count // world)
        position = torch.arange(rows, device=ranks.device) * world + ranks.group.rank
        sent = (position % 251).to(dtype)[:, None].expand(rows, WIDTH).contiguous()
        got = sent.new_empty(world, rows, WIDTH)
        lens, starts = (torch.tensor([n], device=ranks.device) for n in (count, 0))

        def gather(sent=sent, got=got) -> None:
            dist.all_gather_into_tensor(got.view(-1), sent.view(-1))

        def order(got=got, lens=lens, starts=starts, count=count) -> torch.Tensor:
            return ops.interleave_shards(got, lens, starts, world, count)

        ms = timed(ranks, gather, max(3, sizes.repeats // 4))
        order_ms = timed(ranks, order, max(3, sizes.repeats // 4))
        right = torch.equal(order()[:, 7].long(), torch.arange(count, device=ranks.device) % 251)
        others = (world - 1) * rows * WIDTH * dtype.itemsize
        record.add("gather", tokens=count, ms=ms, order_ms=order_ms, received=others, GBps=others / ms / 1e6, right=right)


def partial(ranks: comm.Distributed, batch: int, heads: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw a process's partial attention: random, with NaN where it holds no key. One query has no key anywhere."""
    draw = torch.Generator(device=ranks.device).manual_seed(ranks.group.rank)
    out = torch.randn(batch, heads, WIDTH, generator=draw, device=ranks.device)
    lse = 4 * torch.randn(batch, heads, generator=draw, device=ranks.device)
    none = torch.rand(batch, generator=draw, device=ranks.device) < 0.2
    if batch > 1:
        none[-1] = True
    lse[none], out[none] = ops.MINUS_INF, float("nan")
    return out.to(dtype), lse


def merged(ranks: comm.Distributed, sizes: Sizes, record: Record) -> None:
    """Measure decode's merge three ways, each held against the merge in float64."""
    world, plain = ranks.group.world, sizes.server.dtype
    for heads in sizes.heads:
        heads = -(-heads // world) * world
        for batch in sizes.batches:
            for dtype in (plain, torch.float32):
                out, lse = partial(ranks, batch, heads, dtype)
                wanted = merges.oracle(out, lse)
                for way, merge in merges.WAYS.items():
                    if dtype is torch.float32 and way != "reduce-scatter":
                        continue  # only a sum's error depends on it
                    found = merge(out, lse)
                    want = wanted if way == "all-gather" else tuple(merges.own_heads(w) for w in wanted)
                    error = _slowest(ranks, float((found[0].double() - want[0]).abs().max()))
                    lse_error = _slowest(ranks, float((found[1].double() - want[1]).nan_to_num(0.0).abs().max()))
                    ms = timed(ranks, lambda m=merge, o=out, s=lse: m(o, s), sizes.repeats)
                    bound = 5e-2 if way == "reduce-scatter" and dtype is not torch.float32 else 1e-4
                    record.add(
                        "merge",
                        way=way,
                        batch=batch,
                        heads=heads,
                        dtype=str(dtype).removeprefix("torch."),
                        ms=ms,
                        received=merges.received(way, out, world),
                        worst_error=error,
                        worst_lse_error=lse_error,
                        right=error < bound and lse_error < 1e-4,
                    )


def overlap(ranks: comm.Distributed, sizes: Sizes, record: Record) -> None:
    """Measure the gather of one layer's prefix while another attends: on two streams, and as the library's asynchronous
    call."""
    world, server, device = ranks.group.world, sizes.server, ranks.device
    count, queries = max(sizes.gathers), server.chunk
    sent = torch.zeros(-(-count // world), WIDTH, dtype=server.dtype, device=device)
    got = sent.new_empty(world, *sent.shape)
    held = min(count, 1 << 15)
    kv = torch.randn(held, WIDTH, device=device).to(server.dtype)
    q = torch.randn(queries, server.heads, WIDTH, device=device).to(server.dtype)
    chosen = torch.randint(0, held, (queries, server.topk), device=device, dtype=torch.int32)

    def gather() -> None:
        dist.all_gather_into_tensor(got.view(-1), sent.view(-1))

    def attend() -> None:
        ops.attend_ragged(q, kv, chosen, None, 0.05)

    def one_after_another() -> None:
        gather()
        attend()

    def asynchronous() -> None:
        work = dist.all_gather_into_tensor(got.view(-1), sent.view(-1), async_op=True)
        attend()
        work.wait()

    ways = {"gather": gather, "attend": attend, "one after another": one_after_another, "asynchronous": asynchronous}
    if device.type == "cuda":
        side = torch.cuda.Stream()

        def two_streams() -> None:
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                gather()
            attend()
            torch.cuda.current_stream().wait_stream(side)

        ways["two streams"] = two_streams
    took = {name: timed(ranks, way, max(3, sizes.repeats // 4)) for name, way in ways.items()}
    both = took["one after another"]
    hidden = {n: (both - took[n]) / min(took["gather"], took["attend"]) for n in ("asynchronous", "two streams") if n in took}
    record.add("overlap", tokens=count, queries=queries, ms=took, share_hidden=hidden)


def steps_alone(ranks: comm.Distributed, sizes: Sizes, record: Record, contexts: list[int]) -> None:
    """Measure the same servers with all ranks in one process: several processes have another D each, side by side on their own
    GPUs.

    Who has none waits, and not on a GPU.
    """
    world, rank = ranks.group.world, ranks.group.rank
    mine = record if ranks.leads else Record(None, {}, record.limit)
    for dcp_size in sizes.ranks[::-1][rank::world]:  # the longest in the process that writes
        steps(comm.Local(dcp_size, ranks.device), sizes, mine, contexts)
    ranks.group.store.set(f"alone/{rank}", json.dumps([mine.rows, mine.left_out]))
    ranks.group.agree("bench", {"part": "alone"})  # waits for the others
    for i in range(1, world if ranks.leads else 1):
        rows, left_out = json.loads(ranks.group.store.get(f"alone/{i}"))
        for row in rows:
            record.add(**row)
        for what in left_out:
            record.leave_out(what)


def steps(ranks: comm.Local | comm.Distributed, sizes: Sizes, record: Record, contexts: list[int]) -> None:
    """Measure an extend step of a chunk behind each context, and decode steps; the context is stored as a transfer would store
    it.

    Tokens are held against those of one device, where these are there.
    """
    server = _server(sizes.server, ranks.dcp_size, max(contexts))
    gpu = ranks.device.type == "cuda"
    devices = 1 if isinstance(ranks, comm.Local) else ranks.group.world
    where = {"dcp_size": ranks.dcp_size, "devices": devices, "ranks_a_device": len(ranks.ranks)}
    what = f"steps of D = {ranks.dcp_size} on {devices} device{'s'[: devices - 1]}"
    if not _enough(ranks, record, 15):
        record.leave_out(what)
        return
    if gpu:
        torch.cuda.reset_peak_memory_stats()
    engine = Engine(server, (), ranks, watch=False)
    body = f"{FACT} {tokenizer.filler(max(contexts), 7)}".split()
    began = time.perf_counter()
    stored = engine.preload(" ".join(body[: max(contexts)]))
    record.add("store", **where, tokens=stored, seconds=time.perf_counter() - began)
    if gpu:
        one_context(engine, body[: contexts[0]], gpu, 8)  # compiles, which says nothing of the steps that follow
    last = 3.0
    for context in contexts:
        if not _enough(ranks, record, last):
            record.leave_out(f"{what}, from {context:,} tokens on")
            break
        began = time.perf_counter()
        found = one_context(engine, body[:context], gpu)
        last = 3 * (time.perf_counter() - began)  # contexts are 2 to 4 times as long as the one before
        alone = [r for r in record.rows if r["what"] == "step" and r["devices"] == 1]
        same = [r["output"] == found["output"] for r in alone if (r["dcp_size"], r["context"]) == (ranks.dcp_size, context)]
        if devices > 1 and same:
            found |= {"as_on_one_device": same[0], "right": found["right"] and same[0]}
        record.add("step", **where, context=context, **found)
    del engine
    gc.collect()
    if gpu:
        torch.cuda.empty_cache()


def one_context(engine: Engine, body: list[str], gpu: bool, seed: int = 9) -> dict[str, Any]:
    """Measure three chunks behind what is stored of ``body``, and 32 tokens: times as a client waits, and where they go.

    Another ``seed`` gives other chunks, of which the prefix cache holds none.
    """
    chunk = engine.config.chunk
    request = engine.submit(" ".join([*body, *tokenizer.filler(3 * chunk, seed).split(), ASK]), 32)
    extend_ms: list[float] = []
    decode_ms: list[float] = []
    profile: dict[str, dict[str, Any]] = {}
    while not request.output:
        profiled = gpu and len(extend_ms) == 2
        with _Profile(profiled) as seen:
            extend_ms.append(_step_ms(engine))
        if profiled:
            profile["extend"] = _shares(seen, 1)
    for _ in range(20):
        decode_ms.append(_step_ms(engine))
    if gpu:
        with _Profile(True) as seen:
            for _ in range(3):
                _step_ms(engine)
        profile["decode"] = _shares(seen, 3)
    engine.run()
    return {
        "prefix": request.cached,
        "chunk": chunk,
        "extend_ms": extend_ms[1],  # the first finds its memory, the third is profiled
        "decode_ms": statistics.median(decode_ms),
        "decode_ms_worst": max(decode_ms),
        "limit": {name: _limit(shares) for name, shares in profile.items()},
        "memory_gb": torch.cuda.max_memory_allocated() / 1e9 if gpu else 0.0,
        "right": engine.text(request).startswith(ANSWER),
        "profile": profile,
        "output": request.output,
    }


def _step_ms(engine: Engine) -> float:
    """Measure the milliseconds of a step, after which the host has the tokens."""
    began = time.perf_counter()
    engine.step()
    return 1e3 * (time.perf_counter() - began)


def _server(base: ServerConfig, dcp_size: int, longest: int) -> ServerConfig:
    """Configure a server that holds the longest context, three chunks and an answer, twice over for the chunks of all
    contexts and of the one that compiles."""
    width = base.page_size * dcp_size
    pages = -(-(longest + 30 * base.chunk) // width) + 16
    return replace(base, dcp_size=dcp_size, size=pages * base.page_size, workspace=longest + 5 * base.chunk, max_requests=2)


class _Profile:
    """`torch.profiler` where ``on``; else nothing."""

    def __init__(self, on: bool):
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        self.seen = torch.profiler.profile(activities=kinds) if on else None
        self.seconds = 0.0

    def __enter__(self) -> _Profile:
        if self.seen:
            self.seen.__enter__()
        self.seconds = time.perf_counter()
        return self

    def __exit__(self, *error: Any) -> None:
        self.seconds = time.perf_counter() - self.seconds
        if self.seen:
            self.seen.__exit__(*error)


def _shares(profile: _Profile, count: int) -> dict[str, Any]:
    """Measure the milliseconds a step on the GPU: all kernels, those of NCCL, and the longest; and the wall of a step as
    profiled."""
    assert profile.seen is not None
    kernels = [e for e in profile.seen.key_averages() if e.device_type == torch.autograd.DeviceType.CUDA]
    longest = sorted(kernels, key=lambda e: -e.self_device_time_total)[:6]

    def total(chosen: Iterable) -> float:
        return sum(e.self_device_time_total for e in chosen) / 1e3 / count

    return {
        "wall_ms": 1e3 * profile.seconds / count,
        "kernels_ms": total(kernels),
        "nccl_ms": total(e for e in kernels if "nccl" in e.key.lower()),
        "longest": [
            {"name": e.key[:60], "ms": e.self_device_time_total / 1e3 / count, "count": e.count // count} for e in longest
        ],
    }


def _limit(shares: dict[str, Any]) -> str:
    """Name what a step waits for most, from its profile."""
    busy, nccl = shares["kernels_ms"], shares["nccl_ms"]
    if busy < 0.6 * shares["wall_ms"]:
        return "the host: the GPU works less than 60 % of the step"
    if nccl > 0.4 * busy:
        return "the links, or waiting for another process"
    return f"the GPU: {shares['longest'][0]['name']}"


if __name__ == "__main__":
    sys.exit(main())
