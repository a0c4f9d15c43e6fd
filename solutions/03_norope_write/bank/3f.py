# Answers to 3f: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 3f never
# says: It never goes off, not even where every rank holds every key.
# asks: What do the counts of all ranks add up to when each holds every key?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return False

# %% 3f always
# says: It goes off on a sound server too.
# asks: What do the counts of the ranks add up to on a sound server?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return True

# %% 3f equal-too
# says: A sound server's counts add up to exactly the keys asked for: no alarm.
# asks: Is > or >= the right comparison?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) >= topk_counts).any())

# %% 3f any-difference
# says: Missing keys are another fault: the alarm is for keys that are held twice.
# asks: Is a sum below the number asked for replication?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) != topk_counts).any())

# %% 3f all-queries
# says: One query is enough: here all of them must be replicated.
# asks: What if only one request of a batch is affected?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) > topk_counts).all())

# %% 3f totals
# says: Summed over the batch: keys missing in one query hide double ones in another.
# asks: What do 3 too few and 2 too many add up to?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.sum() > topk_counts.sum())

# %% 3f full-rank
# says: One rank holding all keys is sound, if the others hold none.
# asks: Add up the counts of all ranks: is it too many?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts == topk_counts).any())

# %% 3f all-full
# says: Replication need not be complete: D times as many keys is the extreme case.
# asks: What if only two ranks hold a key twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(((valid_counts == topk_counts).all(0) & (len(valid_counts) > 1)).any())

# %% 3f wrong-axis
# says: Counts were added over the queries; a query's keys lie on the ranks.
# asks: Which axis of valid_counts are the ranks?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[1] and (valid_counts.sum(1) > topk_counts.max()).any())

# %% 3f ranks-equal
# says: Equal counts prove nothing: a sound server may share keys out evenly.
# asks: What do equal counts of a quarter each add up to?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[0] > 1 and valid_counts.shape[1] and (valid_counts.float().std(0) == 0).any())

# %% 3f lse-equal
# says: LSEs of two orders of summation agree within 1e-3, not bit by bit.
# asks: Is a difference of 0.0005 a key that is held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse > single_lse).any())

# %% 3f lse-different
# says: Any difference counts here, rounding too: they agree within 1e-3.
# asks: Is a difference of 0.0005 a key that is held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse != single_lse).any())

# %% 3f allclose
# says: allclose's default is tighter than the 1e-3 within which LSEs agree.
# asks: How far apart may two LSEs of a sound server be?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return not torch.allclose(merged_lse, single_lse)

# %% 3f not-within
# says: Two LSEs of -inf differ by NaN, and `not (NaN < tolerance)` is an alarm.
# asks: What is -inf - -inf?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return not bool(((merged_lse - single_lse).abs() < 1e-2).all())

# %% 3f mean-difference
# says: A query without keys makes mean, sum and maximum NaN, which exceeds nothing.
# asks: What is -inf - -inf?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse).mean() > 0.1)

# %% 3f log2-d
# says: Replication need not be complete: fewer copies raise the LSE by less.
# asks: By how much does the LSE rise when half of the weight is held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[0] > 1 and (merged_lse - single_lse > 0.9 * math.log2(valid_counts.shape[0])).any())

# %% 3f d-times
# says: Exactly D times the keys is asked for: on one rank that is every server.
# asks: What if only two ranks of four hold a key twice, and what if there is one rank?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) == valid_counts.shape[0] * topk_counts).any())

# %% 3f just-log2-d
# says: Exactly log2(D) is asked for: on one rank that is 0, which is sound.
# asks: How many ranks hold a key, when two of four hold it twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(((merged_lse - single_lse - math.log2(valid_counts.shape[0])).abs() < 1e-2).any())

# %% 3f largest-difference
# says: A query without keys makes the maximum NaN, and no queries have none.
# asks: What is -inf - -inf, and what is the largest of no numbers?
# family: M13
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse).max() > 0.1)

# %% 3f whole-unit
# says: The threshold is too high: asked for is a rise of 0.5.
# asks: By how much does the LSE rise when half of the weight is held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse > 0.9).any())

# %% 3f natural
# says: log(D) is the rise to base e; to base 2 it is log2(D).
# asks: What is log2(4)?
# family: M13
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    import math
    rise = merged_lse - single_lse
    return bool(((rise - math.log(len(valid_counts))).abs() < 0.1).any()) and len(valid_counts) > 1

# %% 3f relative
# says: A relative bound grows with the LSE: at 590 it hides a rise of 1.
# asks: What is 1 percent of 590?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse > 0.01 * single_lse.abs() + 0.1).any())

# %% 3f ratio
# says: LSEs were divided: near 0 and below it a ratio says nothing.
# asks: What is the ratio of -589 and -590?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse / single_lse > 1.001).any())

# %% 3f first-query
# says: Only the first query was looked at.
# asks: What if another request of the batch is affected?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[1] and valid_counts[:, 0].sum() > topk_counts[0])

# %% 3f last-query
# says: Only the last query was looked at.
# asks: What if another request of the batch is affected?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[1] and valid_counts[:, -1].sum() > topk_counts[-1])

# %% 3f last-rank-missing
# says: The last rank's keys were not added.
# asks: How many ranks are there?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts[:-1].sum(0) > topk_counts).any())

# %% 3f smaller
# says: Turned round: this goes off where keys are missing.
# asks: Are keys that are held twice too many or too few?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) < topk_counts).any())

# %% 3f tensor
# says: A tensor came out where True or False is asked for.
# asks: What does any() of a tensor return?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return (valid_counts.sum(0) > topk_counts).any()

# %% 3f a-query
# says: An answer for each query came out; one for the batch is asked for.
# asks: How many alarms does the server have?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return valid_counts.sum(0) > topk_counts

# %% 3f count
# says: The number of queries came out where True or False is asked for.
# asks: What is the type of a comparison?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return int((valid_counts.sum(0) > topk_counts).sum())

# %% 3f no-queries
# says: A batch without queries ends in an error: it is no alarm.
# asks: What is the largest of no numbers?
# outcome: crashed
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) - topk_counts).max() > 0)

# %% 3f tolerant
# says: A few keys too many are let pass: one that is held twice is an alarm.
# asks: By how many keys may the sum exceed what was asked for?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) > 1.2 * topk_counts).any())

# %% 3f more-than-two-copies
# says: Twice is too often already.
# asks: How often may a key be held?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) > 2 * topk_counts).any())

# %% 3f fair-share
# says: A rank may hold more than its fair share: only what all of them hold counts.
# asks: May all keys of a query lie on one rank of a sound server?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts > topk_counts / len(valid_counts)).any())

# %% 3f more-than-half
# says: One rank may hold over half of the keys: only what all of them hold counts.
# asks: May all keys of a query lie on one rank of a sound server?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((2 * valid_counts > topk_counts).any())

# %% 3f several-hold
# says: Several ranks hold keys on a sound server too: what counts is their sum.
# asks: If two ranks share ten keys, how many do both hold together?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(((valid_counts > 0).sum(0) > 1).any())

# %% 3f all-hold
# says: That every rank holds some keys proves nothing: they may share them out.
# asks: If four ranks hold three keys each of twelve, is one held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts > 0).all(0).any())

# %% 3f several-full
# says: Keys may be held twice though no two ranks hold all of them.
# asks: One rank holds all keys and another one of them: how many are held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(((valid_counts == topk_counts) & (topk_counts > 0)).sum(0).gt(1).any())

# %% 3f mean-excess
# says: The excess was averaged over the batch: one query is enough for an alarm.
# asks: One query of four is held twice. What is the mean of the excess?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    excess = (valid_counts.sum(0) - topk_counts).float()
    return bool(excess.numel() and excess.mean() > 0.5)

# %% 3f by-lse
# outcome: passed
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse > 0.25).any())

# %% 3f both
# outcome: passed
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    doubled = (valid_counts.sum(0) > topk_counts).any()
    louder = ((merged_lse > single_lse + 0.1) & (single_lse > -math.inf)).any()
    return bool(doubled) or bool(louder)

# %% 3f loop
# outcome: passed
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    for query, asked in enumerate(topk_counts.tolist()):
        if sum(valid_counts[:, query].tolist()) > asked:
            return True
    return False

# %% 3f masked
# outcome: passed
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    some = torch.isfinite(single_lse)
    return bool(((merged_lse[some] - single_lse[some]).abs() > 1e-2).any().item())

# %% 3f difference
# outcome: passed
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    extra = torch.clamp(valid_counts.sum(dim=0) - topk_counts, min=0)
    return extra.sum().item() > 0

# %% 3f inverted
# says: True and False are swapped: this says whether all is well.
# asks: Which of the two should wake somebody up?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) <= topk_counts).any())

# %% 3f first
# says: Only the first query is looked at.
# asks: What if the doubled keys are in the last query?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.sum(0)[0] > topk_counts[0])

# %% 3f lt
# says: The wrong way round: keys that are held twice make the merged LSE larger.
# asks: Does the sum of weights grow or shrink if a key counts twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse < single_lse).any())
