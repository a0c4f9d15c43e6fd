"""Runs the gather of an extend on ranks in processes of their own, over gloo or NCCL. Holds each process's program and its
starter.

``python -m dcplab.demos.ragged_ranks BACKEND D`` is one process of a group. The environment tells it its rank, as ``torchrun``
would. It prints lines of JSON. It ends when its standard input closes, so it never outlives its starter.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from dcplab import ended, files, paths
from dcplab.engine import backend, comm, index_spaces, tokenizer
from dcplab.engine.configurator import WIDTH, ServerConfig
from dcplab.engine.scheduler import Engine


def config(dcp_size: int, gpu: bool) -> tuple[ServerConfig, tuple[int, int]]:
    """Return every process's server, small on a CPU and of the kernels' size on a GPU, and the lengths in words of its two
    documents.

    The chunk is odd and smaller than both documents together, so the second step has prefixes that no D divides.
    """
    page, words = (64, (6000, 4100)) if gpu else (4, (400, 290))
    size = 2 * sum(words) // dcp_size // page * page + 8 * page
    heads: dict[str, Any] = dict(heads=16, index_heads=32) if gpu else {}
    chunk = sum(words) * 5 // 7 | 1
    return ServerConfig(size, page, dcp_size, layers=2, topk=64 if gpu else 16, chunk=chunk, **heads), words


def story(ranks: comm.Local | comm.Distributed) -> dict:
    """Extend two documents chunk by chunk, then give each a next turn, on the ranks that this process hosts.

    Returns a dict:
    * ``right``: every answer was right.
    * ``workspace``: for each hosted rank, a digest of every byte that it attended to in extends.
    * ``gathers``: layer 0 of each step with prefixes of two requests. ``prefixes`` and ``extends`` count tokens. ``sent`` and
      ``received`` are this process's bytes, computed from tensor shapes. ``on_sockets`` is the bytes that its TCP connections
      received meanwhile (None where the system does not tell). ``needed`` counts rows that some new token's top-k chose and
      that no rank of this process holds.
    """
    digest = {rank: hashlib.sha256() for rank in ranks.ranks}
    gathers = []

    def extend(step: backend.LayerStep) -> list[torch.Tensor]:
        for rank in step.ranks:
            rank.write_ckv(step.batch.out_cache_loc)
            rank.write_index_k(step.batch.out_cache_loc)
        mine = [rank.read_prefix() for rank in step.ranks]
        before = received_bytes()
        shards = step.all_gather(mine)
        after = received_bytes()
        outs = []
        for rank in step.ranks:
            rank.assemble(shards)
            positions = rank.select_ragged()
            outs.append(rank.attend_ragged(rank.to_ragged(positions)))
            digest[rank.rank].update(_bytes(rank.worker.arena.view("workspace")[: step.batch.total_k]))
        if step.layer == 0 and int((step.batch.prefix_lens > 0).sum()) == 2:
            sent = sum(part.numel() * part.element_size() for part in mine)
            gathers.append(
                {
                    "prefixes": step.batch.prefix_lens.tolist(),
                    "extends": step.batch.extend_lens.tolist(),
                    "sent": sent,
                    "received": shards.numel() * shards.element_size() - sent,
                    "on_sockets": None if before is None or after is None else after - before,
                    "needed": _needed(step, positions) * WIDTH * shards.element_size(),
                }
            )
        return outs

    server, words = config(ranks.dcp_size, ranks.device.type == "cuda")
    engine = Engine(server, (), ranks, paths=replace(backend.STANDARD, extend=extend))
    right = []
    asked = [tokenizer.document(count, seed) for seed, count in enumerate(words)]
    for turn in (asked, [tokenizer.follow_up(question) for question in asked]):
        requests = [engine.submit(q.prompt, q.words, q.name) for q in turn]
        engine.run()
        right += [engine.text(r) == q.answer for r, q in zip(requests, turn, strict=True)]
    workspace = {str(rank): d.hexdigest() for rank, d in digest.items()}
    return {"right": all(right), "workspace": workspace, "gathers": gathers}


def _needed(step: backend.LayerStep, positions: torch.Tensor) -> int:
    """Count the rows of prefixes that some new token chose and that no rank of this process holds, each once."""
    batch = step.batch
    hosted = torch.tensor([rank.rank for rank in step.ranks], device=positions.device)
    request = batch.req_of_token[:, None].expand_as(positions)
    chosen = (positions >= 0) & (positions < batch.prefix_lens[request])
    pairs = torch.stack([request[chosen], positions[chosen].to(torch.int64)]).unique(dim=1)
    locs = step.shared.req_to_token[batch.req_pool_indices[pairs[0]], pairs[1]]
    return int((~torch.isin(index_spaces.owner_rank(locs, step.shared.config.dcp_size), hosted)).sum())


def _bytes(rows: torch.Tensor) -> bytes:
    return rows.contiguous().view(torch.uint8).cpu().numpy().tobytes()


def received_bytes() -> int | None:
    """Return the bytes that this process's TCP connections have received so far, as Linux counts them. None on another
    system."""
    if not sys.platform.startswith("linux"):
        return None
    total = 0
    for entry in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError, struct.error):
            if os.readlink(f"/proc/self/fd/{entry}").startswith("socket:"):
                with socket.socket(fileno=os.dup(int(entry))) as s:
                    if s.type == socket.SOCK_STREAM and s.family in (socket.AF_INET, socket.AF_INET6):
                        told = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 136)
                        total += struct.unpack_from("<Q", told, 128)[0]  # tcpi_bytes_received
    return total


def alone(dcp_size: int, device: str) -> dict:
    """Run `story` with all ranks in this process."""
    torch.set_num_threads(1)
    return story(comm.Local(dcp_size, device))


def _main(kind: str, dcp_size: int) -> None:
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    torch.set_num_threads(1)
    _say({"at": "started"})
    with comm.make(kind, dcp_size) as ranks:
        _say({"at": "joined"})
        found = story(ranks)
    _say({"at": "done", **found})


def _say(what: dict) -> None:
    os.write(1, (json.dumps(what) + "\n").encode())


def _end_with_the_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


class Failed(RuntimeError):
    """Raised when the ranks did not finish. The text gives the reason."""


def ranks(kind: str, dcp_size: int, processes: int, told: Callable[[str, int], None], timeout_s: float = 180.0) -> list[dict]:
    """Run `story` in ``processes`` processes that host ``dcp_size`` ranks between them. Returns each process's result, in
    order.

    ``told(what, how_many)`` is called as processes start, join and finish. No process outlives this call, whatever happens.
    """
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with files.scratch("ranks") as folder:
        started: list[subprocess.Popen] = []
        try:
            for rank in range(processes):
                started.append(_start(kind, dcp_size, rank, processes, port, folder))
            return _wait(started, folder, told, time.monotonic() + timeout_s, timeout_s)
        finally:
            for process in started:
                process.kill()
            for process in started:
                if process.stdin:
                    process.stdin.close()
                process.wait()


def _start(kind: str, dcp_size: int, rank: int, processes: int, port: int, folder: Path) -> subprocess.Popen:
    env = {
        **os.environ,
        "PYTHONPATH": paths.python_path(),
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(processes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    loopback = next((name for _, name in socket.if_nameindex() if name in ("lo", "lo0")), None)
    if loopback and kind == "gloo":  # else gloo looks up the host's name, which some machines lack
        env.setdefault("GLOO_SOCKET_IFNAME", loopback)
    command = [sys.executable, "-m", "dcplab.demos.ragged_ranks", kind, str(dcp_size)]
    with open(folder / f"{rank}.out", "wb") as out, open(folder / f"{rank}.err", "wb") as err:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err, env=env, start_new_session=True)


def _wait(started: list[subprocess.Popen], folder: Path, told: Callable, until: float, timeout_s: float) -> list[dict]:
    stages, seen = ("started", "joined", "done"), dict.fromkeys(("started", "joined", "done"), 0)
    while True:
        statuses = [process.poll() for process in started]
        lines = [[json.loads(x) for x in _whole_lines(folder / f"{rank}.out")] for rank in range(len(started))]
        for stage in stages:
            reached = sum(any(line["at"] == stage for line in own) for own in lines)
            if reached > seen[stage]:
                seen[stage] = reached
                told(stage, reached)
        if seen["done"] == len(started):
            return [own[-1] for own in lines]
        for rank, status in enumerate(statuses):
            if status is not None and not any(line["at"] == "done" for line in lines[rank]):
                why = ended.why(status, (folder / f"{rank}.err").read_text(errors="replace"))
                raise Failed(f"process {rank} ended: {why or 'it said nothing'}")
        if time.monotonic() > until:
            raise Failed(f"after {timeout_s:g} s {seen['done']} of {len(started)} processes were done; they were stopped")
        time.sleep(0.05)


def _whole_lines(path: Path) -> list[str]:
    text, _, _ = path.read_text().rpartition("\n")
    return text.split("\n") if text else []


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
