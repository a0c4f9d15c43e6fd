# Answers to 3e: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 3e plain
# outcome: passed
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == math.inf, -math.inf, lses)
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e natural
# says: The LSEs are to base 2: exp sharpens the weights, 8.81 for 8.
# asks: What is the weight behind an LSE of 3 to base 2?
# family: M13
# from: plain
- weight = torch.exp2(lses - top)
+ weight = torch.exp(lses - top)

- return out, top + torch.log2(total)
+ return out, top + torch.log(total)

# %% 3e natural-weights
# says: Weights by exp, the LSE by log2: two bases in one function.
# asks: What is the weight behind an LSE of 3 to base 2?
# family: M13
# from: plain
- weight = torch.exp2(lses - top)
+ weight = torch.exp(lses - top)

# %% 3e natural-lse
# says: The output is right; its LSE was taken with the natural logarithm.
# asks: Which base do the ranks' LSEs have?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, top + torch.log(total)

# %% 3e natural-result
# says: The LSE was converted to the natural base; base 2 is asked for.
# asks: Which base do the ranks' LSEs have?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, (top + torch.log2(total)) * math.log(2)

# %% 3e converted-wrongly
# says: Converted to the natural base and then used with 2: 7.23 for 8.
# asks: Which function undoes a natural logarithm?
# family: M13
# from: plain
  outs, lses = outs.float(), lses.float()
+ lses = lses * math.log(2)

# %% 3e converted-back
# says: Weights to the power 0.69: the LSE is right, the outputs lean to the mean.
# asks: Which function undoes a natural logarithm?
# family: M13
# from: plain
- weight = torch.exp2(lses - top)
+ weight = torch.exp2((lses - top) * math.log(2))

- return out, top + torch.log2(total)
+ return out, top + torch.log2(torch.exp2(lses - top).sum(0))

# %% 3e converted-the-other-way
# says: Divided by ln 2 although the base is 2 already: weights to the power 1.44.
# asks: Which base do the ranks' LSEs have?
# family: M13
# from: plain
  outs, lses = outs.float(), lses.float()
+ lses = lses / math.log(2)

# %% 3e weights-and-sum-by-lse
# says: LSEs were weighed and added as if they were weights: they are logarithms.
# asks: What is the weight behind an LSE of 3 to base 2?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == math.inf, -math.inf, lses)
    return (lses[..., None] * outs).sum(0) / lses.sum(0)[..., None], lses.sum(0)

# %% 3e average
# says: Outputs were averaged: a rank with most of the weight counts for most.
# asks: Ranks weigh 2 and 8. Whose output counts for more?
# family: M13
# from: plain
- kept = torch.where((weight > 0)[..., None], outs, 0.0)

- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
- return out, top + torch.log2(total)
+ return outs.mean(0), top + torch.log2(total)

# %% 3e average-all
# says: Outputs and LSEs were averaged: weights add up, logarithms do not.
# asks: What do weights of 2 and 8 make together?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == math.inf, -math.inf, lses)
    return outs.mean(0), lses.mean(0)

# %% 3e average-held
# says: Ranks with keys were averaged: they weigh as much as their LSEs say.
# asks: Ranks weigh 2 and 8. Whose output counts for more?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == math.inf, -math.inf, lses)
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    held = (lses > -math.inf)[..., None]
    out = torch.where(held, outs, 0.0).sum(0) / held.sum(0).clamp(min=1)
    return out, top + torch.log2(weight.sum(0))

# %% 3e sum
# says: Outputs were added up without their weights.
# asks: What is the average of 0 and 10 with weights 2 and 8?
# family: M13
# from: plain
- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
- return out, top + torch.log2(total)
+ return kept.sum(0), top + torch.log2(total)

# %% 3e not-normalised
# says: The weighted sum is not divided by the sum of the weights.
# asks: What do the weights of an average add up to?
# family: M13
# from: plain
- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ out = (weight[..., None] * kept).sum(0)

# %% 3e divided-by-ranks
# says: Divided by the number of ranks, not by the sum of the weights.
# asks: What do the weights of an average add up to?
# family: M13
# from: plain
- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ out = (weight[..., None] * kept).sum(0) / len(outs)

# %% 3e best-rank
# says: Only the rank with the largest LSE was taken.
# asks: Ranks weigh 2 and 8. Does the 2 count for nothing?
# family: M13
# from: plain
- kept = torch.where((weight > 0)[..., None], outs, 0.0)

- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ best = lses.argmax(0)
+ out = outs.gather(0, best[None, ..., None].expand(1, *outs.shape[1:]))[0]
+ out = torch.where((total > 0)[..., None], out, 0.0)

# %% 3e lse-is-max
# says: The output is right; its LSE is the largest one, not that of all weights.
# asks: What do weights of 2 and 8 make together?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, lses.amax(0)

# %% 3e lse-is-sum
# says: The LSEs were added: logarithms add where weights are multiplied.
# asks: What do weights of 2 and 8 make together, and what is its log2?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, lses.sum(0)

# %% 3e lse-without-top
# says: The largest LSE was subtracted and never added again.
# asks: What is log2 of weights that were all divided by 2^top?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, torch.log2(total)

# %% 3e lse-averaged
# says: The LSE is that of the mean weight: log2(D) too small.
# asks: Do the weights of the ranks add up, or average out?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, top + torch.log2(weight.mean(0))

# %% 3e weights-by-lse
# says: The LSEs themselves were taken for weights: they are logarithms.
# asks: What is the weight behind an LSE of 3 to base 2?
# family: M13
# from: plain
- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ share = torch.where(weight > 0, lses, 0.0)
+ out = (share[..., None] * kept).sum(0) / share.sum(0)[..., None]

# %% 3e no-max
# says: The largest LSE is not subtracted: 2 to the power of one overflows at 128.
# asks: Which is the largest float32?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == math.inf, -math.inf, lses)
    weight = torch.exp2(lses)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, torch.log2(total)

# %% 3e no-max-no-guard
# says: 0 times NaN is NaN, and 2 to the power of an LSE overflows at 128.
# asks: What does a rank without keys hand in, and how large is the largest weight?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == math.inf, -math.inf, lses)
    weight = torch.exp2(lses)
    total = weight.sum(0)
    return (weight[..., None] * outs).sum(0) / total[..., None], torch.log2(total)

# %% 3e no-max-nothing-guarded
# says: No largest LSE is subtracted, and a rank without keys is not taken care of.
# asks: What does a rank without keys hand in, and how large is the largest weight?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    weight = torch.exp2(lses)
    total = weight.sum(0)
    return (weight[..., None] * outs).sum(0) / total[..., None], torch.log2(total)

# %% 3e no-max-in-the-inputs-dtype
# says: No largest LSE is subtracted, no rank without keys thought of, bf16 not widened.
# asks: What does a rank without keys hand in, and how large is the largest weight?
# family: M13
def merge_lse(outs, lses):
    weight = 2.0**lses
    total = weight.sum(0)
    return (weight[..., None] * outs).sum(0) / total[..., None], torch.log2(total)

# %% 3e no-max-lse
# says: The output is right; the LSE overflows past 2^128.
# asks: Which is the largest float32?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, torch.log2(torch.exp2(lses).sum(0))

# %% 3e max-of-all
# says: One largest LSE for all queries: others' weights all become 0.
# asks: Which LSEs compete with each other for one query and head?
# family: M13
# from: plain
- top = lses.amax(0)
- top = torch.where(top == -math.inf, 0.0, top)
+ top = lses[lses > -math.inf].max() if lses.numel() and (lses > -math.inf).any() else torch.tensor(0.0)

# %% 3e max-of-rank-0
# says: Rank 0's LSE was subtracted: where rank 0 is empty that is -inf.
# asks: Is rank 0's always the largest?
# family: M13
# from: plain
- top = lses.amax(0)
- top = torch.where(top == -math.inf, 0.0, top)
+ top = lses[0]

# %% 3e min
# says: The smallest LSE was subtracted: powers can still overflow, -inf too.
# asks: Which shift makes every power at most 1?
# family: M13
# from: plain
- top = lses.amax(0)
- top = torch.where(top == -math.inf, 0.0, top)
+ top = lses.amin(0)

# %% 3e plus-inf
# says: A rank that says +inf has no keys: taken for a weight it makes NaN.
# asks: Which rank says +inf, and how much does it weigh?
# family: M13
# from: plain
- lses = torch.where(lses == math.inf, -math.inf, lses)

# %% 3e plus-inf-cleared
# says: +inf was taken for a weight, NaN was cleared, and others went with it.
# asks: Which rank says +inf, and how much does it weigh?
# family: M13
# from: plain
- lses = torch.where(lses == math.inf, -math.inf, lses)

- weight = torch.exp2(lses - top)
+ weight = torch.exp2(lses - top).nan_to_num(0.0)

# %% 3e plus-inf-best
# says: +inf became the largest float: a rank without keys has all weight.
# asks: Which rank says +inf, and how much does it weigh?
# family: M13
# from: plain
- lses = torch.where(lses == math.inf, -math.inf, lses)
+ lses = torch.where(lses == math.inf, torch.finfo(lses.dtype).max, lses)
+ outs = torch.nan_to_num(outs)

# %% 3e nan-times-zero
# says: A rank without keys left NaN, and 0 times NaN is NaN.
# asks: What does an empty rank's output hold?
# family: M13
# from: plain
- kept = torch.where((weight > 0)[..., None], outs, 0.0)

- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ out = (weight[..., None] * outs).sum(0) / total.clamp(min=1e-30)[..., None]

# %% 3e all-empty
# says: Where no rank has keys, -inf - -inf is NaN: asked for are 0 and -inf.
# asks: What is the largest LSE when every one is -inf?
# family: M13
# from: plain
- top = torch.where(top == -math.inf, 0.0, top)

# %% 3e all-empty-divided
# says: Where no rank has keys, the output is 0 / 0: asked for is 0.
# asks: What do the weights add up to when nobody has keys?
# family: M13
# from: plain
- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ out = (weight[..., None] * kept).sum(0) / total[..., None]

# %% 3e all-empty-lse-zero
# says: Where no rank has keys the LSE is 0 here, which says: a weight of 1.
# asks: What is log2 of nothing?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, torch.where(total > 0, top + torch.log2(total), 0.0)

# %% 3e all-empty-lowest
# says: nan_to_num makes the lowest float of -inf: nobody's LSE stays -inf.
# asks: What does torch.nan_to_num do with infinities?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == math.inf, -math.inf, lses)
    kept = torch.where((lses == -math.inf)[..., None], 0.0, outs)
    top = lses.amax(0)
    weight = torch.exp2(lses - top).nan_to_num(0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total[..., None]
    return torch.nan_to_num(out), torch.nan_to_num(top + torch.log2(total))

# %% 3e epsilon
# says: A small number was added to the total: where nobody has keys it is the total.
# asks: What is log2 of your small number, and what is asked for?
# family: M13
# from: plain
- total = weight.sum(0)
- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
- return out, top + torch.log2(total)
+ total = weight.sum(0) + 1e-6
+ return (weight[..., None] * kept).sum(0) / total[..., None], top + torch.log2(total)

# %% 3e all-empty-tiny
# says: Where no rank has keys the LSE is a large negative number, not -inf.
# asks: What is log2 of nothing?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, top + torch.log2(total.clamp(min=1e-30))

# %% 3e softmax
# says: softmax is to base e, and where nobody has keys it is NaN.
# asks: Which base does torch.softmax have?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == math.inf, -math.inf, lses)
    weight = torch.softmax(lses, 0)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    out = (weight[..., None] * kept).sum(0)
    return out, torch.logsumexp(lses, 0)

# %% 3e softmax-weights
# says: Weights by softmax, which is to base e: 8.81 for 8.
# asks: Which base does torch.softmax have?
# family: M13
# from: plain
- weight = torch.exp2(lses - top)
+ weight = torch.softmax(lses, 0).nan_to_num(0.0)

- total = weight.sum(0)
- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ out = (weight[..., None] * kept).sum(0)
+ total = torch.exp2(lses - top).sum(0)

# %% 3e logsumexp
# says: The output is right; torch.logsumexp is to base e.
# asks: How do you turn a logarithm to base 2 into a natural one?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, torch.logsumexp(lses, 0)

# %% 3e empty-weighs-one
# says: A rank without keys weighs as much as the largest: 0 was put for its LSE.
# asks: What is 2^0?
# family: M13
# from: solution
- top = lses.amax(0).clamp(min=-1e30)  # finite, also where nobody has a key
+ lses = torch.where(lses == -math.inf, 0.0, lses)
+ outs = torch.nan_to_num(outs)
+ top = lses.amax(0)

  weight = torch.exp2(lses - top)
+ kept = outs

- kept = torch.where((weight > 0)[..., None], outs, 0.0)

# %% 3e nan-late
# says: NaN was removed after the sum: one empty rank wipes the whole output.
# asks: What is 3 + NaN?
# family: M13
# from: plain
- kept = torch.where((weight > 0)[..., None], outs, 0.0)

- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ out = (weight[..., None] * outs).sum(0) / total.clamp(min=1e-30)[..., None]
+ out = torch.nan_to_num(out)

# %% 3e bf16
# says: Weights and sums were kept in bf16, which has eight bits.
# asks: In which dtype is the result asked for?
# from: plain
- outs, lses = outs.float(), lses.float()

- top = torch.where(top == -math.inf, 0.0, top)
+ top = torch.where(top == -math.inf, 0.0, top.float()).to(lses.dtype)

- return out, top + torch.log2(total)
+ return out.float(), (top + torch.log2(total)).float()

# %% 3e bf16-throughout
# says: It was computed in the dtype that came in; float32 is asked for throughout.
# asks: How many digits has a sum in bf16?
# from: plain
- outs, lses = outs.float(), lses.float()

- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
- return out, top + torch.log2(total)
+ return (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None], top + torch.log2(total)

# %% 3e input-dtype
# says: The results have the dtype of the inputs; float32 is asked for.
# asks: In which dtype is the next layer's input?
# from: plain
  def merge_lse(outs, lses):
+     kind = outs.dtype

- return out, top + torch.log2(total)
+ return out.to(kind), (top + torch.log2(total)).to(kind)

# %% 3e float64
# says: The values are right, but float32 is asked for.
# asks: Which dtype has the result?
# from: plain
- outs, lses = outs.float(), lses.float()
+ outs, lses = outs.double(), lses.double()

# %% 3e heads-mixed
# says: The weights of all heads were added up: each head has its own.
# asks: Do two heads look at the same keys with the same weights?
# from: plain
- total = weight.sum(0)
+ total = weight.sum(0).sum(-1, keepdim=True).expand_as(top)

- return out, top + torch.log2(total)
+ return out, top + torch.log2(weight.sum(0))

# %% 3e one-weight-a-rank
# says: One weight for a whole rank: each query and head has its own.
# asks: Does a rank hold as much of every query's weight?
# from: plain
- out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
+ share = weight.mean((1, 2), keepdim=True)
+ out = (share[..., None] * kept).sum(0) / share.sum(0).clamp(min=1e-30)[..., None]

# %% 3e only-output
# says: The output came alone: the merged LSE is asked for too.
# asks: By which number could you see that keys were counted twice?
# from: plain
- return out, top + torch.log2(total)
+ return out

# %% 3e swapped-pair
# says: Output and LSE are swapped.
# asks: Which of the two comes first?
# family: M4
# from: plain
- return out, top + torch.log2(total)
+ return top + torch.log2(total), out

# %% 3e keepdim
# says: The LSE has the ranks' axis still: [T, H] is asked for.
# asks: Which axis disappears in a merge?
# from: plain
- return out, top + torch.log2(total)
+ return out, (top + torch.log2(total))[None]

# %% 3e outs-changed
# says: The caller's outputs were changed: a merge only reads.
# asks: Who else may hold the ranks' outputs?
# outcome: unsafe
# from: plain
  def merge_lse(outs, lses):
+     outs[lses.isinf()] = 0

- kept = torch.where((weight > 0)[..., None], outs, 0.0)
+ kept = outs

# %% 3e lses-changed
# says: The caller's LSEs were changed: a merge only reads.
# asks: Who else looks at the ranks' LSEs?
# outcome: unsafe
# from: plain
- outs, lses = outs.float(), lses.float()
+ outs = outs.float()
+ lses[lses.isinf()] = -1000.0
+ lses = lses.float()

- top = torch.where(top == -math.inf, 0.0, top)

# %% 3e drops-far
# says: Ranks far below the largest are dropped: they weigh little, not nothing.
# asks: How much does a rank weigh that is 4 below the largest?
# from: plain
- weight = torch.exp2(lses - top)
+ weight = torch.where(lses > top - 4, torch.exp2(lses - top), 0.0)

# %% 3e ranks-sum-twice
# says: The LSE is log2(D) too large: the merged weight is counted by every rank.
# asks: By how much is an LSE too large when every key counts D times?
# family: M13
# from: plain
- return out, top + torch.log2(total)
+ return out, top + torch.log2(total * len(lses))

# %% 3e float64
# outcome: passed
def merge_lse(outs, lses):
    outs, lses = outs.double(), lses.double()
    lses = lses.masked_fill(lses == math.inf, -math.inf)
    top = lses.max(0).values
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    w = 2.0 ** (lses - top)
    total = w.sum(0)
    safe = torch.where(total == 0, torch.ones_like(total), total)
    clean = torch.where(torch.isinf(lses)[..., None], torch.zeros_like(outs), outs)
    out = torch.einsum("dth,dthv->thv", w / safe, clean)
    lse = torch.where(total == 0, torch.full_like(top, -math.inf), top + torch.log2(safe))
    return out.float(), lse.float()

# %% 3e logaddexp2
# outcome: passed
def merge_lse(outs, lses):
    out, lse = torch.zeros(outs.shape[1:], device=outs.device), torch.full(lses.shape[1:], -math.inf, device=lses.device)
    for o, z in zip(outs.float(), lses.float()):
        z = torch.where(z.isinf(), -math.inf, z)
        both = torch.logaddexp2(lse, z)
        both_safe = torch.where(both == -math.inf, 0.0, both)
        o = torch.where((z == -math.inf)[..., None], 0.0, o)
        out = out * torch.exp2(lse - both_safe)[..., None] + o * torch.exp2(z - both_safe)[..., None]
        lse = both
    return out, lse

# %% 3e logsumexp
# outcome: passed
def merge_lse(outs, lses):
    lses = torch.where(lses == math.inf, -math.inf, lses)
    natural = lses.double() * math.log(2)
    total = torch.logsumexp(natural, 0)
    share = torch.exp(natural - total).nan_to_num(0.0)
    kept = outs.double().masked_fill((lses == -math.inf)[..., None], 0.0)
    return (share[..., None] * kept).sum(0).float(), (total / math.log(2)).float()

# %% 3e clamped
# outcome: passed
def merge_lse(outs, lses):
    empty = lses.isinf()
    lses = lses.float().masked_fill(empty, -math.inf)
    shift = lses.amax(0).clamp(min=-1e4)
    weight = torch.exp2(lses - shift)
    values = outs.float().clone()
    values[empty] = 0.0
    total = weight.sum(0)
    out = (values * weight.unsqueeze(-1)).sum(0) / torch.where(total > 0, total, 1.0).unsqueeze(-1)
    return out, torch.log2(total) + shift

# %% 3e mean
# says: The outputs were averaged as if each rank had seen as much: weigh them.
# asks: How much does a rank with weight 8 count beside one with 2?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    m = lses.max(0).values
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w = torch.exp2(lses - m)
    total = w.sum(0)
    vals = torch.where(torch.isinf(lses)[..., None], torch.zeros_like(outs), outs)
    out = vals.mean(0)
    return out, torch.log2(total) + m

# %% 3e divln2
# says: The LSEs were converted the wrong way: 2^x is exp(x * ln 2), 7.23 for 8.
# asks: Is 2 to the power of 3 more or less than e to the power of 3?
def merge_lse(outs, lses):
    l = lses.float() / 0.6931471805599453
    w = torch.nan_to_num(torch.softmax(l, 0))
    return (w[..., None] * torch.nan_to_num(outs.float())).sum(0), torch.logsumexp(l, 0) * 0.6931471805599453

# %% 3e softmax-2
# says: The LSEs were taken for natural ones, and an empty rank spoils the sum.
# asks: What is the base, and what is 0 times NaN?
def merge_lse(outs, lses):
    w = torch.softmax(lses.float(), 0)
    return (w[..., None] * outs.float()).sum(0), torch.logsumexp(lses.float(), 0)

# %% 3e weightlse
# says: The LSE itself was used as the weight; the weight is 2 to its power.
# asks: Which weight has a rank with the LSE 3?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    m = lses.max(0).values
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w = torch.where(torch.isinf(lses), 0.0, lses)
    total = w.sum(0)
    vals = torch.where(torch.isinf(lses)[..., None], torch.zeros_like(outs), outs)
    out = (w[..., None] * vals).sum(0) / torch.where(total > 0, total, torch.ones_like(total))[..., None]
    return out, torch.log2(total) + m

# %% 3e globalmax
# says: One largest LSE was taken for the whole batch; each query and head has its own.
# asks: What becomes of a query whose LSEs are 300 below the largest?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    m = lses.max()
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w = torch.exp2(lses - m)
    total = w.sum(0)
    vals = torch.where(torch.isinf(lses)[..., None], torch.zeros_like(outs), outs)
    out = (w[..., None] * vals).sum(0) / torch.where(total > 0, total, torch.ones_like(total))[..., None]
    return out, torch.log2(total) + m

# %% 3e averaged-natural
# says: Outputs were averaged, and the LSE was summed to base e; all is to base 2.
# asks: A rank with LSE 3 has a mass of 8, one with LSE 1 of 2. How much does each weigh?
def merge_lse(outs, lses):
    return outs.float().mean(0), torch.logsumexp(lses.float(), 0)

# %% 3e undivided-unguarded
# says: Weighted sums were not divided, and -inf - -inf is NaN where nobody has keys.
# asks: Two ranks of equal LSE: what do their two weights add up to?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.max(0).values
    weight = torch.exp2(lses - top)
    return (weight[..., None] * outs).sum(0), top + torch.log2(weight.sum(0))
