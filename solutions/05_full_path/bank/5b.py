# Answers to 5b: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 5b plain
# outcome: passed
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs

# %% 5b no-interleave
# says: Gathered shares stand rank after rank; ragged indices count positions.
# asks: Which position lies in the second row of rank 0's share?
# family: M14
# from: plain
- prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
+ shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
+ prefix = shards.flatten(0, 1)[: step.batch.total_prefix]

# %% 5b stack-interleave
# says: Interleaved over the whole batch: each request's padding stays in and shifts.
# asks: How many rows of a share belong to a prefix of 5 tokens on two ranks?
# family: M14
# from: plain
- prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
+ shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
+ prefix = shards.transpose(0, 1).flatten(0, 1)[: step.batch.total_prefix]

# %% 5b shards-reversed
# says: The shares are in the order of falling ranks: neighbours change places.
# asks: In which share does position 0 lie?
# family: M14
# from: plain
- prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
+ shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
+ prefix = step.interleave(shards.flip(0).contiguous())

# %% 5b own-share
# says: Each rank takes its own share for everybody's: most prefix tokens are wrong.
# asks: Which tokens of a prefix are not on this rank?
# from: plain
  def extend_path(step):
+     outs = []

- prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
- outs = []
- for rank in step.ranks:
+     prefix = step.interleave(torch.stack([rank.read_prefix()] * rank.dcp_size))

# %% 5b no-new-tokens
# says: The new tokens are missing in the workspace: only the prefixes were put there.
# asks: At which ragged index does the first new token of a request stand?
# from: plain
- rank.fill(step.join(prefix, rank.latent))
+ rank.fill(prefix)

# %% 5b no-prefix
# says: The prefixes are missing in the workspace: only the new tokens were put there.
# asks: What may the first new token attend to?
def extend_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rank.fill(rank.latent)
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs

# %% 5b never-filled
# says: Nothing was put into the workspace, so attention reads what was left there.
# asks: Who fills the buffer that attend_ragged reads?
# from: no-prefix
- rank.fill(rank.latent)

# %% 5b layout-b
# says: All prefixes, then all new tokens; the indices count request by request.
# asks: At which ragged index does the second request begin?
# family: M15
# from: plain
- rank.fill(step.join(prefix, rank.latent))
+ rank.fill(torch.cat([prefix, rank.latent]))

# %% 5b new-first
# says: The new tokens stand before the prefixes.
# asks: Which comes first in a request, its prefix or what extends it?
# family: M14
# from: plain
- rank.fill(step.join(prefix, rank.latent))
+ rank.fill(torch.cat([rank.latent, prefix]))

# %% 5b filled-on-rank-0
# says: Only rank 0 has a workspace; the other ranks read an empty one.
# asks: On which ranks does attention run?
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    step.ranks[0].fill(step.join(prefix, step.ranks[0].latent))
    return [rank.attend_ragged(rank.to_ragged(rank.select_ragged())) for rank in step.ranks]

# %% 5b paged
# says: Locs point into pools; attention reads the workspace here. PAGED for RAGGED.
# asks: How many rows does the workspace have in this step?
# family: M1
# from: plain
- outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
+ outs.append(rank.attend_ragged(rank.to_locs(rank.select_ragged())))

# %% 5b mixed-paged
# says: A mixed batch is an extend too: it gathers, so its indices must be ragged.
# asks: Which buffer does attention read in a mixed batch?
# from: plain
- outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
+ positions = rank.select_ragged()
+ index = rank.to_ragged(positions) if step.batch.forward_mode == "extend" else rank.to_locs(positions)
+ outs.append(rank.attend_ragged(index))

# %% 5b mixed-decode
# says: A mixed batch is no decode: it has no page table, and some requests extend.
# asks: Which of the two selections can a mixed batch use?
# outcome: crashed
# from: plain
  def extend_path(step):
+     if step.batch.forward_mode == "mixed":
+         return decode_path(step)

# %% 5b rows-in-workspace
# says: Rows of this rank's pool were used in the workspace.
# asks: What do the indices of attend_ragged count?
# family: M1
# from: plain
- outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
+ outs.append(rank.attend_ragged(rank.localize(rank.to_locs(rank.select_ragged()))[0]))

# %% 5b positions
# says: Positions were used as ragged indices: each request needs its own start added.
# asks: At which ragged index does the second request begin?
# family: M15
# from: plain
- outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
+ outs.append(rank.attend_ragged(rank.select_ragged()))

# %% 5b select-paged
# says: An extend batch has no page table: select_paged belongs to decode and verify.
# asks: Which of the two selections gathers the keys of a whole request?
# outcome: crashed
# from: plain
- outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
+ outs.append(rank.attend_ragged(rank.to_ragged(rank.select_paged())))

# %% 5b unpatched
# says: This is extend unpatched: the rank's own pool, read at rows that are locs.
# asks: Which prefix tokens does this rank hold, and at which rows?
# family: M1
# from: no-prefix
- rank.fill(rank.latent)
- outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
+ outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_ragged())))[0])

# %% 5b local-only
# says: Each rank attends to its own share of the context, and nothing is put together.
# asks: Who sees the keys that other ranks own?
# family: M13
def extend_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rows, counts = rank.localize(rank.to_locs(rank.select_ragged()))
        outs.append(rank.attend(rows, counts)[0])
    return outs

# %% 5b no-write
# says: The new tokens reach the workspace, never the pool: the next chunk lacks them.
# asks: From where does the next step read this step's tokens?
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)

# %% 5b no-index-k
# says: No index keys are written, so top-k has nothing to find the new tokens by.
# asks: What does select_ragged read?
# from: plain
- rank.write_index_k(step.batch.out_cache_loc)

# %% 5b raw-write
# says: The write is raw: the prefix is read back from rows where it was not put.
# asks: At which row does read_prefix look for loc 10 of two ranks?
# family: M1
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)
+ rank.write_ckv(step.batch.out_cache_loc, raw=True)

# %% 5b rows-to-writer
# says: The c-KV writer of extend takes locs too; rows are divided twice.
# asks: What does the writer do with the number that you give it?
# family: M6
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)
+ rank.write_ckv(step.batch.out_cache_loc // rank.dcp_size)

# %% 5b index-k-by-rows
# says: index-K is addressed by loc in extend too; it was written by rows.
# asks: At which slot does select_ragged look for loc 10?
# family: M7
# from: plain
- rank.write_index_k(step.batch.out_cache_loc)
+ rank.write_index_k(step.batch.out_cache_loc // rank.dcp_size)

# %% 5b index-k-of-owner
# says: In extend each rank stored the index keys of its own locs only.
# asks: How does rank 0 select a token whose c-KV lies on rank 1?
# family: M7
# from: plain
  def extend_path(step):
+     locs = step.batch.out_cache_loc

- rank.write_ckv(step.batch.out_cache_loc)
- rank.write_index_k(step.batch.out_cache_loc)
+ rank.write_ckv(locs)
+ rank.write_index_k(torch.where(locs % rank.dcp_size == rank.rank, locs, -1))

# %% 5b join-swapped
# says: join takes the prefixes first and the new tokens second.
# asks: How many rows does each of the two have?
# outcome: crashed
# from: plain
- rank.fill(step.join(prefix, rank.latent))
+ rank.fill(step.join(rank.latent, prefix))

# %% 5b merged-extend
# says: Each rank has the whole context in extend: no LSE, and nothing to merge.
# asks: What would merging D equal outputs change?
# outcome: crashed
# from: plain
- return outs
+ return step.merge(outs)

# %% 5b summed-extend
# says: Outputs of extend were added over ranks, though each rank has the whole context.
# asks: How many ranks have attended to a key that is in every workspace?
# family: M13
# from: plain
- return outs
+ return [step.all_gather(outs).sum(0)] * len(outs)

# %% 5b verify-extend
# says: Verify is no extend: its batch has no prefixes to gather, it reads the pools.
# asks: Which transform does target verify take, PAGED or RAGGED?
# outcome: crashed
def verify_path(step):
    return extend_path(step)

# %% 5b verify-raw
# says: Verify reads at locs: it needs the localization of decode.
# asks: How are the rows of verify written?
# family: M1
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        parts.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)

# %% 5b verify-as-draft
# says: Verify runs the target, whose pools are sharded; this is the draft's wiring.
# asks: Whose pools does a verify step read?
def verify_path(step):
    return draft_path(step)

# %% 5b verify-no-write
# says: Verify must store its tokens: what is accepted is never written again.
# asks: Where is the c-KV of an accepted guess in the next step?
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)

# %% 5b verify-raw-write
# says: Verify writes at locs as rows: accepted tokens are not where decode looks.
# asks: At which row does a later step look for an accepted token?
# family: M1
# from: verify-no-write
  for rank in step.ranks:
+     rank.write_ckv(step.batch.out_cache_loc, raw=True)
+     rank.write_index_k(step.batch.out_cache_loc)

# %% 5b verify-no-merge
# says: Verify is not merged: each rank judges the guesses by its own keys.
# asks: Who has seen the keys on the other ranks?
# family: M13
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts)[0])
    return parts

# %% 5b verify-ragged
# says: Verify has no workspace: ragged indices point nowhere in the pool.
# asks: Which transform does target verify take?
# family: M15
# from: verify-raw
- parts.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))))
+ rows, counts = rank.localize(rank.to_ragged(rank.select_paged()))
+ parts.append(rank.attend(rows, counts))

# %% 5b draft-localized
# says: The draft's pool is whole on every rank; localized reads spoil its guesses.
# asks: Which rows of the draft's pool does rank 0 hold?
def draft_path(step):
    return decode_path(step)

# %% 5b draft-pairs
# says: attend gives a pair, the output and its LSE; the draft returns outputs alone.
# asks: Which of attend's two results does a path that merges nothing need?
# outcome: crashed
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rows, counts = rank.as_rows(rank.to_locs(rank.select_paged()))
        outs.append(rank.attend(rows, counts))
    return outs

# %% 5b draft-localized-own
# says: The draft reads localized rows, and its pool is addressed by loc.
# asks: At which row did the draft's writer put loc 10?
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        outs.append(rank.attend(rows, counts)[0])
    return outs

# %% 5b draft-rows
# says: The draft's pool is written by row and read by loc.
# asks: How many rows has the draft's pool, C + P or (C + P) * D?
# family: M6
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc // rank.dcp_size)
        rank.write_index_k(step.batch.out_cache_loc)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0])
    return outs

# %% 5b draft-owner
# says: The draft stores its own locs only, as if its pool were sharded.
# asks: Who reads the draft's token that another rank was to store?
def draft_path(step):
    locs, outs = step.batch.out_cache_loc, []
    for rank in step.ranks:
        rank.write_ckv(torch.where(locs % rank.dcp_size == rank.rank, locs, -1))
        rank.write_index_k(locs)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0])
    return outs

# %% 5b draft-unwritten
# says: The draft writes nothing, so its next guess cannot see its last one.
# asks: What does the second guess of a step attend to?
def draft_path(step):
    return [rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0] for rank in step.ranks]

# %% 5b draft-no-index-k
# says: The draft writes no index keys: its top-k finds nothing new.
# asks: Which index-K does the draft select by?
# from: draft-rows
- rank.write_ckv(step.batch.out_cache_loc // rank.dcp_size)
- rank.write_index_k(step.batch.out_cache_loc)
+ rank.write_ckv(step.batch.out_cache_loc)

# %% 5b draft-index-k-rows
# says: The draft's index-K is addressed by loc, like the target's.
# asks: At which slot does the draft's top-k look for loc 10?
# family: M7
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc // rank.dcp_size)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0])
    return outs

# %% 5b draft-extend
# says: The draft decodes one token at a time: there is no prefix to gather.
# asks: How many new tokens has a request in one step of the draft?
# outcome: crashed
def draft_path(step):
    return extend_path(step)

# %% 5b draft-positions
# says: The draft attends at positions; its pool is addressed by loc.
# asks: Which table turns a position into a loc?
# family: M15
# from: draft-localized-own
- rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
- outs.append(rank.attend(rows, counts)[0])
+ outs.append(rank.attend(*rank.as_rows(rank.select_paged()))[0])

# %% 5b assembled-at-once
# outcome: passed
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    for rank in step.ranks:
        rank.assemble(shards)
    return [rank.attend_ragged(rank.to_ragged(rank.select_ragged())) for rank in step.ranks]

# %% 5b merged-instead
# outcome: passed
def extend_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        parts.append(rank.attend(*rank.localize(rank.to_locs(rank.select_ragged()))))
    return step.merge(parts)

# %% 5b read-before-write
# outcome: passed
def extend_path(step):
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])  # prefixes are there already
    prefix = step.interleave(shards)
    rows = step.join(prefix, step.ranks[0].latent)  # all ranks have the same new tokens
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rank.fill(rows)
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs

# %% 5b interleaved-by-hand
# outcome: passed
def extend_path(step):
    batch = step.batch
    for rank in step.ranks:
        rank.write_ckv(batch.out_cache_loc)
        rank.write_index_k(batch.out_cache_loc)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    size, first, pieces = len(shards), 0, []
    for length in batch.prefix_lens.tolist():
        position = torch.arange(length, device=shards.device)
        pieces.append(shards[position % size, first + position // size])
        first += -(-length // size)
    prefix = torch.cat(pieces) if pieces else shards.new_empty(0, shards.shape[2])
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs

# %% 5b joined-by-hand
# outcome: passed
def extend_path(step):
    batch = step.batch
    for rank in step.ranks:
        rank.write_ckv(batch.out_cache_loc)
        rank.write_index_k(batch.out_cache_loc)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    old, new = batch.prefix_lens.tolist(), batch.extend_lens.tolist()
    outs = []
    for rank in step.ranks:
        rows = []
        for a, b in zip(prefix.split(old), rank.latent.split(new)):
            rows += [a, b]
        rank.fill(torch.cat(rows))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs

# %% 5b ragged-by-hand
# outcome: passed
def extend_path(step):
    batch = step.batch
    for rank in step.ranks:
        rank.write_ckv(batch.out_cache_loc)
        rank.write_index_k(batch.out_cache_loc)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    start = batch.cu_seqlens_k[batch.req_of_row][:, None]
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        positions = rank.select_ragged()
        outs.append(rank.attend_ragged(torch.where(positions >= 0, positions + start, -1)))
    return outs

# %% 5b verify-written-out
# outcome: passed
# from: verify-no-write
  for rank in step.ranks:
+     rank.write_ckv(step.batch.out_cache_loc)
+     rank.write_index_k(step.batch.out_cache_loc)

# %% 5b draft-merged
# outcome: passed
# from: verify-raw
- def verify_path(step):
+ def draft_path(step):

# %% 5b draft-raw
# outcome: passed
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc, raw=True)
        rank.write_index_k(step.batch.out_cache_loc)
        locs = rank.to_locs(rank.select_paged())
        outs.append(rank.attend(locs, (locs >= 0).sum(-1).to(torch.int32))[0])
    return outs

# %% 5b draft-once
# outcome: passed
def draft_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
    first = step.ranks[0]
    out, _ = first.attend(*first.as_rows(first.to_locs(first.select_paged())))
    return [out] * len(step.ranks)  # every rank holds the same
