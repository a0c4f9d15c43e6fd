"""Every defect of the incident and its relatives, as a switch. ``Engine(defects=...)`` runs any subset.

The first five are what SGLang PR #36989 patches; a *patch* is the absence of its defect. The next three are what that PR
leaves, and three more are other reports of the family. What follows are public cases of the same family, SGLang's and others',
each as it was reported, on this server. A number without a repository is SGLang's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from dcplab.engine.configurator import ServerConfig, bytes_per_row
from dcplab.errors import CourseError


@dataclass(frozen=True)
class Defect:
    """``name`` is the switch, ``does`` what the server does wrong while it is on, ``source`` where it was reported.

    ``reachable`` gives a server on which it can show, ``level`` the lowest level of the story at which it does.
    """

    name: str
    does: str
    source: str
    reachable: Callable[[ServerConfig], ServerConfig] = lambda config: config
    level: str = "above"
    retracts: bool = False  # shows in a retraction: the story forces one


def _mixed(config: ServerConfig) -> ServerConfig:
    return replace(config, mixed=True)


def _odd_prefixes(config: ServerConfig) -> ServerConfig:
    """Put several prefixes into a batch, of lengths that are no multiples of D, and select few keys: attention finds a row by
    what it holds, wherever it lies among those selected."""
    return replace(_few_keys(config), mixed=True, chunk=17)


def _drafting(config: ServerConfig) -> ServerConfig:
    return config if config.draft_tokens else replace(config, draft_tokens=3)


def _few_keys(config: ServerConfig) -> ServerConfig:
    """Select so few keys that a rank may own none of them, and never all that there are."""
    return replace(config, topk=8)


def _decode_node(config: ServerConfig) -> ServerConfig:
    """Let freed pages wait, as on a decode node, so that a retracted request comes back to other locs."""
    return replace(config, need_sort=True)


def _drafting_decode_node(config: ServerConfig) -> ServerConfig:
    return _decode_node(_drafting(config))


def _fed_by_one_rank(config: ServerConfig) -> ServerConfig:
    """Make a decode node whose prompts come from a prefill node without DCP."""
    return replace(_decode_node(config), prefill_dcp=config.prefill_dcp or 1)


def _in_turns(config: ServerConfig) -> ServerConfig:
    """Deal a page to a rank before the next one's turn, where one loc a turn was asked for."""
    return replace(config, interleave=config.page_size) if config.interleave == 1 else config


def _fed_in_turns(config: ServerConfig) -> ServerConfig:
    """Make a decode node that deals pages to its ranks, and a prefill node that deals single locs to two."""
    return replace(_in_turns(_decode_node(config)), prefill_dcp=config.prefill_dcp or 2, prefill_interleave=1)


def _two_blocks(config: ServerConfig) -> ServerConfig:
    """Let the indexer's kernel read half pages."""
    return replace(config, kernel_block_size=config.kernel_block_size or max(1, config.page_size // 2))


def _many_stores(config: ServerConfig) -> ServerConfig:
    """Give the server pooled keys, one for a page of locs, and a sliding window."""
    return replace(config, kpool=config.kpool or config.page_size, window=config.window or 2 * config.page_size)


def _exact(config: ServerConfig) -> ServerConfig:
    """Shard index-K, and let the ranks agree on a top-k."""
    return replace(config, indexer="exact")


def _budgeted(config: ServerConfig) -> ServerConfig:
    config = _drafting(config)
    return replace(config, budget=bytes_per_row(config) * (config.size + config.page_size))


ALL = (
    Defect("index_k_size", "index-K has one rank's slots, C + P, and is addressed by loc", "#36886; patched by #36989"),
    Defect("ckv_write", "every rank writes every token's c-KV at row = loc", "#36886; patched by #36989"),
    Defect("read", "decode and verify read c-KV at row = loc", "#36886; patched by #36989"),
    Defect("extend", "extend reads this rank's own c-KV at row = loc, and gathers no prefix", "#36886; patched by #36989"),
    Defect("assert", "the flattened page table, which holds locs, is held against rows, C + P", "#36886; patched by #36989"),
    Defect("index_k_short", "index-K has C*D + P slots: the last (D-1)*P locs do not fit", "#36989 at 017d5cb6", level="full"),
    Defect(
        "assert_short",
        "the flattened page table is held against C*D + P: the last (D-1)*P locs trip it",
        "#36989 at 017d5cb6",
        level="full",
    ),
    Defect("mixed", "a mixed batch gathers, but its top-k is transformed to locs (PAGED)", "#36989 at 017d5cb6", _mixed),
    Defect(
        "draft_page",
        "the draft pool has C*D + P rows: its last page is P long, the allocator's P*D",
        "#32828; mended by #33348",
        _drafting,
        "full",
    ),
    Defect("oob_bound", "the check before the c-KV write holds locs against rows, C + P", "mended by #33432"),
    Defect("retract", "backup and restore of a retracted request use locs as rows", "#38645; mended by #39487", retracts=True),
    Defect(
        "prefix_stride",
        "a rank takes every D-th loc of all prefixes in one line: right only where each prefix is a multiple of D long",
        "planner.py of the DCP layer, 0003011e; its comment states the condition",
        _odd_prefixes,
    ),
    Defect(
        "topk_unfused",
        "the top-k that is not fused adds no start of the request: positions are used as ragged indices",
        "#36989 at 017d5cb6; #39117 asks for the fused one",
    ),
    Defect("lse_base", "the ranks' LSEs are to base e, and are merged as base 2", "#33064; mended by #33065", _few_keys),
    Defect(
        "lse_plus_inf",
        "a rank without keys says LSE = +inf, and the merge takes it for a weight: zeros come out",
        "FlashMLA's convention; cp_lse_ag_out_rs_mha",
        _few_keys,
    ),
    Defect(
        "lse_uninitialised",
        "a rank without keys writes neither output nor LSE: what the last call left there is merged",
        "#34355; vllm#38416",
        _few_keys,
    ),
    Defect(
        "index_k_localized", "index-K, which is replicated, is written by owner and at row = loc // D", "vllm#57260", _few_keys
    ),
    Defect("decode_raw", "decode and verify write c-KV at row = loc on every rank; extend localizes", "vllm-ascend#14536"),
    Defect("fp8_write", "the fp8 writer of c-KV has no filter: every rank writes every token at row = loc", "#36904"),
    Defect(
        "draft_budget",
        "a row is charged one replica of the draft's pools, and D are made: out of memory at the start",
        "#39799",
        _budgeted,
    ),
    Defect(
        "draft_unmerged",
        "the draft attends to the keys of its own rank and merges nothing",
        "local-inference-lab/vllm#72",
        _drafting,
    ),
    Defect(
        "index_k_half_pages",
        "pages of P in the indexer's table are read as pages of P / 2",
        "guqiong96/Lvllm#109, where the slots to be written were computed so",
    ),
    Defect(
        "ranks_rotated",
        "each rank reads c-KV at the rows of the next rank's locs",
        "after TensorRT-LLM#18259, where a batch's rows of the block table were rotated against their lengths",
    ),
    Defect("positions_as_rows", "positions are read as rows of c-KV, on every rank", "vllm#54541"),
    Defect(
        "retract_stride",
        "backup and restore take every D-th loc of each chunk, where a chunk need not begin at owner 0",
        "#39487: maybe_dcp_kernel_indices without its assert, used on chunks",
        _decode_node,
        retracts=True,
    ),
    Defect(
        "resolved_twice",
        "backup and restore translate by D where the span is 1 too: the draft's ids are divided, and it uses them undivided",
        "#39487: what _write_loc_dcp_span prevents",
        _drafting_decode_node,
        retracts=True,
    ),
    Defect(
        "restore_old_locs",
        "a restore writes to the locs of before: the request reads what its new pages held",
        "#39487: backup and restore translate independently",
        _decode_node,
        retracts=True,
    ),
    Defect(
        "index_k_stale",
        "a restore brings c-KV back and not index-K: rows are right, and others are chosen",
        "after #39487, whose pool has no index-K",
        _decode_node,
        retracts=True,
    ),
    Defect(
        "draft_stale",
        "a restore brings the target's caches back and not the draft's",
        "after #39487; upstream's tests of the backup have a draft's case",
        _drafting_decode_node,
        retracts=True,
    ),
    Defect(
        "free_mid_page",
        "a request is freed in two segments, prompt and answer: the page that the cut goes through is freed twice",
        "mended by #38941",
        level="full",
    ),
    Defect(
        "transfer_raw",
        "KV from a prefill node is written at row = loc, on every rank",
        "after #32837, a transfer between two layouts",
        _fed_by_one_rank,
    ),
    Defect(
        "transfer_interleave",
        "KV from a prefill node is laid out by that node's interleave: other rows, and other ranks",
        "after #32837, where a transfer between two such layouts is not supported",
        _fed_in_turns,
    ),
    Defect(
        "interleave_other",
        "decode and verify look for c-KV as if ranks took one loc a turn, where they take a page",
        "after localize_dcp_indices of #39099, which is given an interleave, and has a default",
        _in_turns,
    ),
    Defect(
        "kernel_block",
        "the slots of index-K are looked up in the manager's block table by the kernel's size of a block",
        "mended by vllm#51031, for the slots of c-KV",
        _two_blocks,
    ),
    Defect(
        "index_k_unsharded",
        "index-K, which is sharded here, is written at row = loc, on every rank",
        "vllm#57260 turned round",
        _exact,
    ),
    Defect(
        "stores_localized",
        "pooled keys and the sliding window, which are replicated, are written by owner and at the ids of rows",
        "vllm#57260",
        _many_stores,
    ),
    Defect(
        "ties_by_rank",
        "of equal scores the ranks' candidates are taken in the order of ranks, not of positions",
        "vllm#45426: what the total order of its merge prevents",
        _exact,
    ),
    Defect(
        "exact_unfiltered",
        "of the whole top-k each rank reads all, at row = loc // D: D times as many keys, most of them others'",
        "after vllm#46076, where a union may leave that filter out and an exact choice may not",
        _exact,
    ),
    Defect(
        "transfer_twice",
        "KV from a prefill node comes with rows, and the receiver keeps and divides these once more",
        "after #32837, a transfer between two layouts",
        _fed_by_one_rank,
    ),
)
NAMES = tuple(d.name for d in ALL)
BY_NAME = {d.name: d for d in ALL}
PATCHES = NAMES[:5]
UPSTREAM_RESIDUE = NAMES[5:8]
PUBLIC = NAMES[11:]

# What people ask for by one word.
GROUPS = {
    "none": (),
    "unpatched": PATCHES,
    "upstream": UPSTREAM_RESIDUE,  # the server with #36989 as it stood, on whole prefixes and with the fused top-k
    # All that one server has together: the budget ends its start, and a server with other stores has no prefill node.
    "all": tuple(name for name in NAMES if name not in ("draft_budget", "stores_localized")),
}


def parse(words: str | Iterable[str]) -> frozenset[str]:
    """Switch names from "a,b" or from several strings; groups are none, unpatched, upstream, all. CourseError for a bad one."""
    if isinstance(words, str):
        words = words.split(",")
    names: set[str] = set()
    for word in (w.strip() for w in words):
        if word in GROUPS:
            names.update(GROUPS[word])
        elif word in BY_NAME:
            names.add(word)
        elif word:
            raise CourseError(
                f"There is no defect called {word!r}; there are {', '.join(NAMES)}, and the groups {', '.join(GROUPS)}."
            )
    return frozenset(names)


def spell(defects: Iterable[str]) -> str:
    """Spell a set of defects shortly, in the order of `ALL`."""
    chosen = set(defects)
    for group, members in GROUPS.items():
        if chosen == set(members):
            return group
    return ",".join(name for name in NAMES if name in chosen)
