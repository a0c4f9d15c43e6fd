# Answers to 7f: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 7f plain
# outcome: passed
def best_of(scores, positions, topk):
    order = torch.sort(scores, descending=True, stable=True).indices[:topk]
    keep = torch.sort(order).values
    return scores[keep], positions[keep]

def exact_topk(scores_of_rank, positions_of_rank, topk):
    sent = [best_of(s, p, topk) for s, p in zip(scores_of_rank, positions_of_rank)]
    scores = torch.cat([s for s, _ in sent])
    positions = torch.cat([p for _, p in sent])
    order = torch.sort(positions).indices
    return best_of(scores[order], positions[order], topk)[1], len(positions)

def union_topk(scores_of_rank, positions_of_rank, topk):
    chosen = [best_of(s, p, topk)[1] for s, p in zip(scores_of_rank, positions_of_rank)]
    total = sum(len(p) for p in positions_of_rank)
    return chosen, sum(len(c) for c in chosen) - min(topk, total)

# %% 7f lists
# outcome: passed
def exact_topk(scores_of_rank, positions_of_rank, topk):
    keys = []
    sent = 0
    for scores, positions in zip(scores_of_rank, positions_of_rank):
        mine = sorted(zip(scores.tolist(), positions.tolist()), key=lambda key: (-key[0], key[1]))[:topk]
        keys += mine
        sent += len(mine)
    keys.sort(key=lambda key: (-key[0], key[1]))
    chosen = sorted(p for _, p in keys[:topk])
    return torch.tensor(chosen, dtype=positions_of_rank[0].dtype), sent

def union_topk(scores_of_rank, positions_of_rank, topk):
    read = []
    for scores, positions in zip(scores_of_rank, positions_of_rank):
        mine = sorted(zip(scores.tolist(), positions.tolist()), key=lambda key: (-key[0], key[1]))[:topk]
        read.append(torch.tensor(sorted(p for _, p in mine), dtype=positions.dtype))
    exact = exact_topk(scores_of_rank, positions_of_rank, topk)[0]
    return read, sum(map(len, read)) - len(exact)

# %% 7f whole-then-counted
# outcome: passed
def exact_topk(scores_of_rank, positions_of_rank, topk):
    positions, order = torch.cat(positions_of_rank).sort()
    scores = torch.cat(scores_of_rank)[order]
    keep = scores.argsort(descending=True, stable=True)[:topk]
    return positions[keep].sort().values, sum(min(len(s), topk) for s in scores_of_rank)

def union_topk(scores_of_rank, positions_of_rank, topk):
    chosen = tuple(p[s.argsort(descending=True, stable=True)[:topk].sort().values] for s, p in zip(scores_of_rank, positions_of_rank))
    return list(chosen), sum(map(len, chosen)) - min(topk, sum(map(len, scores_of_rank)))

# %% 7f share
# says: Each rank sent topk / D keys: if the best are all on one rank, some are lost.
# asks: How many of the best keys can one rank have?
# from: plain
- sent = [best_of(s, p, topk) for s, p in zip(scores_of_rank, positions_of_rank)]
+ sent = [best_of(s, p, -(-topk // len(scores_of_rank))) for s, p in zip(scores_of_rank, positions_of_rank)]

# %% 7f union-share
# says: Each rank kept topk / D keys: if the best are all on one rank, some are lost.
# asks: How many of the best keys can one rank have?
# from: plain
- chosen = [best_of(s, p, topk)[1] for s, p in zip(scores_of_rank, positions_of_rank)]
+ chosen = [best_of(s, p, -(-topk // len(scores_of_rank)))[1] for s, p in zip(scores_of_rank, positions_of_rank)]

# %% 7f both-share
# says: Each rank proposed topk / D keys: where one rank has the best, some are lost.
# asks: How many of the best keys can one rank have?
# from: plain
- sent = [best_of(s, p, topk) for s, p in zip(scores_of_rank, positions_of_rank)]
+ sent = [best_of(s, p, -(-topk // len(scores_of_rank))) for s, p in zip(scores_of_rank, positions_of_rank)]

- chosen = [best_of(s, p, topk)[1] for s, p in zip(scores_of_rank, positions_of_rank)]
+ chosen = [best_of(s, p, -(-topk // len(scores_of_rank)))[1] for s, p in zip(scores_of_rank, positions_of_rank)]

# %% 7f ties-by-rank
# says: Of equal scores the lower rank's won: the smaller position must, on any layout.
# asks: Candidates are gathered rank by rank. Are they in the order of positions then?
# from: plain
- order = torch.sort(positions).indices
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ return torch.sort(best_of(scores, positions, topk)[1]).values, len(positions)

# %% 7f ties-last
# says: Of equal scores the larger positions won: the smaller ones must.
# asks: Which of two equal entries comes first after a flip?
# from: plain
- order = torch.sort(scores, descending=True, stable=True).indices[:topk]
+ order = len(scores) - 1 - torch.sort(scores.flip(0), descending=True, stable=True).indices[:topk]

# %% 7f by-score
# says: The positions are in the order of scores: they must ascend.
# asks: In which order does a reader go through its rows?
# from: plain
- keep = torch.sort(order).values
+ keep = order

# %% 7f by-score-exact
# says: exact_topk gives positions in the order of scores: they must ascend.
# asks: In which order does a reader go through its rows?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ scores, positions = scores[order], positions[order]
+ return positions[torch.sort(scores, descending=True, stable=True).indices[:topk]], len(positions)

# %% 7f by-rank
# says: Positions stand rank by rank: they must ascend over all ranks.
# asks: Whose is position 1, if ranks take turns?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ chosen = best_of(scores[order], positions[order], topk)[1]
+ return torch.cat([p[torch.isin(p, chosen)] for p in positions_of_rank]), len(positions)

# %% 7f place-for-position
# says: These are places in a rank's own list: its positions stand in positions_of_rank.
# asks: Which position has the third key of rank 1?
# from: plain
- keep = torch.sort(order).values
- return scores[keep], positions[keep]
+ keep = torch.sort(order).values
+ return scores[keep], keep.to(positions.dtype)

# %% 7f place-among-candidates
# says: These are places among the candidates: each has brought its position along.
# asks: What does the index mean that top-k of the gathered scores gives?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ return best_of(scores[order], torch.arange(len(order), dtype=positions.dtype, device=positions.device), topk)[1], len(positions)

# %% 7f no-second-choice
# says: exact_topk gives all candidates: topk of them are to be chosen once more.
# asks: How many candidates do D ranks send, and how many are asked for?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ return positions[order], len(positions)

# %% 7f threshold
# says: All keys as good as the last are taken: with equal scores these are too many.
# asks: How many keys may be chosen if all scores are equal?
# from: plain
- order = torch.sort(scores, descending=True, stable=True).indices[:topk]
- keep = torch.sort(order).values
+ keep = torch.arange(len(scores))
+ if len(scores) > topk:
+     keep = (scores >= torch.sort(scores, descending=True).values[topk - 1]).nonzero().flatten()

# %% 7f smallest
# says: The smallest scores are chosen: the indexer wants the largest.
# asks: In which direction does sort go unless you say otherwise?
# from: plain
- order = torch.sort(scores, descending=True, stable=True).indices[:topk]
+ order = torch.sort(scores, stable=True).indices[:topk]

# %% 7f absolute
# says: Scores are compared without their sign.
# asks: Which is the larger score, 2 or -3?
# from: plain
- order = torch.sort(scores, descending=True, stable=True).indices[:topk]
+ order = torch.sort(scores.abs(), descending=True, stable=True).indices[:topk]

# %% 7f padded
# says: The result is padded with -1: where there are fewer keys, it is shorter.
# asks: How long is the result if all ranks together have fewer than topk keys?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ chosen = best_of(scores[order], positions[order], topk)[1]
+ return torch.cat([chosen, torch.full((topk - len(chosen),), -1, dtype=chosen.dtype, device=chosen.device)]), len(positions)

# %% 7f sent-full
# says: sent counts topk for every rank: one with fewer keys has no more to send.
# asks: What does a rank send that has three keys, if topk is 8?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ return best_of(scores[order], positions[order], topk)[1], topk * len(scores_of_rank)

# %% 7f sent-all
# says: sent counts every key: a rank sends its best topk and no more.
# asks: Can a key be chosen that topk keys of its own rank beat?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ return best_of(scores[order], positions[order], topk)[1], sum(len(s) for s in scores_of_rank)

# %% 7f sent-chosen
# says: sent counts what is chosen in the end: before that, every rank has sent its own.
# asks: Does a rank know, before it sends, which of its keys will be chosen?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ return best_of(scores[order], positions[order], topk)[1], min(topk, len(positions))

# %% 7f sent-by-others
# says: sent leaves rank 0 out: what every rank sends counts.
# asks: Is one of the ranks another kind of rank?
# from: plain
- return best_of(scores[order], positions[order], topk)[1], len(positions)
+ return best_of(scores[order], positions[order], topk)[1], len(positions) - min(topk, len(positions_of_rank[0]))

# %% 7f extra-read
# says: This is how many keys union reads: extra is how many more than exact.
# asks: How many does exact read of the same keys?
# from: plain
- return chosen, sum(len(c) for c in chosen) - min(topk, total)
+ return chosen, sum(len(c) for c in chosen)

# %% 7f extra-less-topk
# says: Exact reads all keys if there are fewer than topk: extra is never negative.
# asks: How many keys does exact read if there are five, and topk is 9?
# from: plain
- return chosen, sum(len(c) for c in chosen) - min(topk, total)
+ return chosen, sum(len(c) for c in chosen) - topk

# %% 7f extra-full
# says: extra is topk * (D - 1) only if every rank has topk keys.
# asks: What does a rank read that has fewer than topk keys?
# from: plain
- return chosen, sum(len(c) for c in chosen) - min(topk, total)
+ return chosen, topk * (len(chosen) - 1)

# %% 7f union-is-exact
# says: Union kept what exact chose: each rank keeps its own best, and asks nobody.
# asks: What does a rank know of the others' scores if nothing is gathered?
# from: plain
- chosen = [best_of(s, p, topk)[1] for s, p in zip(scores_of_rank, positions_of_rank)]
- total = sum(len(p) for p in positions_of_rank)
- return chosen, sum(len(c) for c in chosen) - min(topk, total)
+ exact, _ = exact_topk(scores_of_rank, positions_of_rank, topk)
+ return [p[torch.isin(p, exact)] for p in positions_of_rank], 0

# %% 7f union-in-one
# says: Union gives one list: each rank reads its own keys, so there is a list a rank.
# asks: Which of these positions does rank 1 read?
# from: plain
- return chosen, sum(len(c) for c in chosen) - min(topk, total)
+ return torch.sort(torch.cat(chosen)).values, sum(len(c) for c in chosen) - min(topk, total)

# %% 7f everything
# says: Union keeps all keys of every rank: each rank keeps its best topk.
# asks: What is left of the indexer if every key is read?
# from: plain
- chosen = [best_of(s, p, topk)[1] for s, p in zip(scores_of_rank, positions_of_rank)]
+ chosen = [p.clone() for p in positions_of_rank]

# %% 7f rank-0
# says: Only rank 0's keys were asked: every rank has some.
# asks: Where are the keys of rank 1?
# from: plain
- sent = [best_of(s, p, topk) for s, p in zip(scores_of_rank, positions_of_rank)]
+ sent = [best_of(scores_of_rank[0], positions_of_rank[0], topk)]

# %% 7f short-rank-as-it-is
# says: A rank with few keys gives its argument back: results are tensors of their own.
# asks: Whose memory is positions_of_rank[r]?
# outcome: unsafe
# from: plain
- chosen = [best_of(s, p, topk)[1] for s, p in zip(scores_of_rank, positions_of_rank)]
+ chosen = [p if len(p) <= topk else best_of(s, p, topk)[1] for s, p in zip(scores_of_rank, positions_of_rank)]

# %% 7f topk-of-few
# says: torch.topk raises where there are fewer than topk keys: ask for what there is.
# asks: How many keys has a rank that holds no token of the request?
# outcome: crashed
# from: plain
- order = torch.sort(scores, descending=True, stable=True).indices[:topk]
+ order = torch.topk(scores, topk).indices

# %% 7f float-positions
# says: Positions went through floats with the scores: past 2^24 they are others.
# asks: Which is the first whole number that float32 does not hold?
# family: M16
# from: plain
- scores = torch.cat([s for s, _ in sent])
- positions = torch.cat([p for _, p in sent])
+ both = torch.cat([torch.stack([s, p.float()]) for s, p in sent], dim=1)
+ scores, positions = both[0], both[1].to(positions_of_rank[0].dtype)

# %% 7f half
# says: Scores were compared in half precision: float32 tells more of them apart.
# asks: Which is the larger in float16, 1 or 1 + 2^-23?
# from: plain
- order = torch.sort(scores, descending=True, stable=True).indices[:topk]
+ order = torch.sort(scores.half(), descending=True, stable=True).indices[:topk]

# %% 7f bfloat16
# says: Scores were compared in bfloat16: float32 tells more of them apart.
# asks: Which is the larger in bfloat16, 1 or 1 + 2^-10?
# from: plain
- order = torch.sort(scores, descending=True, stable=True).indices[:topk]
+ order = torch.sort(scores.bfloat16(), descending=True, stable=True).indices[:topk]

# %% 7f candidates-in-rank-order
# says: Candidates stayed in the order of ranks: ties and the result go by position.
# asks: In which order do positions lie after ranks' lists are joined?
# from: plain
- order = torch.sort(positions).indices
+ order = torch.arange(len(positions), device=positions.device)

# %% 7f union-joined
# says: The ranks' choices were joined: a list is asked for, one tensor a rank.
# asks: Which rank reads which keys, if their lists are one?
# from: plain
- return chosen, sum(len(c) for c in chosen) - min(topk, total)
+ return torch.cat(chosen), sum(len(c) for c in chosen) - min(topk, total)
