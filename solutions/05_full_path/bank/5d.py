# Answers to 5d: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% preamble
# from: solution
- def first_wrong():
+ def solved():

# %% preamble
SEED, NAMES = solved()


def names_with(n, **other):
    return SEED, NAMES | {n: NAMES[n] | other}


# %% 5d reader
# says: Case 1: that operation read what was wrong already. Who put it there?
# asks: Which operation comes before it in the trace?
def first_wrong():
    return names_with(1, op="sparse_mla_decode")

# %% 5d reader-of-index-k
# says: Case 2: that operation read what was wrong already. Who put it there?
# asks: Who wrote the key that this operation reads?
def first_wrong():
    return names_with(2, op="indexer_logits_paged")

# %% 5d later-write
# says: Case 1: that operation kept to its rule, or another came before it.
# asks: Which write of the same step comes first?
def first_wrong():
    return names_with(1, op="write_index_k", buffer="index_k.2")

# %% 5d writer
# says: Case 3: that write was right; what was wrong is where somebody looked for it.
# asks: At which row of which rank does that write put its token?
# family: M1
def first_wrong():
    return names_with(3, op="write_ckv")

# %% 5d prefix-reader
# says: Case 3: that operation kept to its rule, or another came before it.
# asks: Which of the two readers comes first in the trace?
def first_wrong():
    return names_with(3, op="read_prefix")

# %% 5d symptom
# says: Case 1: that is the symptom; an operation has a name in the trace.
# asks: How is that operation called in the trace?
def first_wrong():
    return names_with(1, op="silent")

# %% 5d victim
# says: Case 2: that buffer lies behind and was hit; whose index left its own?
# asks: Whose index was it that went there?
def first_wrong():
    return names_with(2, buffer="index_k.1")

# %% 5d layer-0
# says: Case 1: that is the right kind of buffer in another layer.
# asks: Which layer differs first from one rank?
def first_wrong():
    return names_with(1, buffer="ckv.0")

# %% 5d layer-0-read
# says: Case 3: that is the right kind of buffer in another layer.
# asks: Which layer differs first from one rank?
def first_wrong():
    return names_with(3, buffer="ckv.0")

# %% 5d other-kind
# says: Case 1: another buffer was used with a wrong index before that one.
# asks: Which buffer does this operation write?
def first_wrong():
    return names_with(1, buffer="index_k.2")

# %% 5d other-kind-read
# says: Case 3: another buffer was used with a wrong index before that one.
# asks: What does attention read?
def first_wrong():
    return names_with(3, buffer="workspace")

# %% 5d ckv-for-index-k
# says: Case 2: another buffer was used with a wrong index before that one.
# asks: Which of the two buffers is addressed by loc?
def first_wrong():
    return names_with(2, buffer="ckv.0")

# %% 5d last-rank
# says: Case 1: that rank did it later, or not at all; the trace is in order.
# asks: Which rank's access stands first in the trace?
def first_wrong():
    return names_with(1, rank=1)

# %% 5d last-rank-size
# says: Case 2: that rank did it later, or not at all; the trace is in order.
# asks: Which rank's access stands first in the trace?
def first_wrong():
    return names_with(2, rank=3)

# %% 5d owner
# says: Case 3: that rank owns the loc. Which rank used it wrongly, and first?
# asks: Which rank read it?
def first_wrong():
    return names_with(3, rank=0)

# %% 5d row-for-loc
# says: Case 1: that is a row of its owner; the loc is the number before any division.
# asks: Which number did the allocator give?
def first_wrong():
    return names_with(1, loc=6)

# %% 5d largest
# says: Case 2: there is a smaller loc that goes wrong in the same operation.
# asks: Which is the first index beyond the buffer?
def first_wrong():
    return names_with(2, loc=1158, row=1158)

# %% 5d smallest-of-the-access
# says: Case 2: that loc's index fits; which is the first beyond the buffer?
# asks: Which of the indices used are beyond the last slot?
def first_wrong():
    return names_with(2, loc=784, row=784)

# %% 5d divided-index-k
# says: Case 2: nothing is divided for index-K; which index was used?
# asks: By what is index-K addressed?
# family: M2
def first_wrong():
    return names_with(2, row=219)

# %% 5d later-loc
# says: Case 3: there is a smaller loc that goes wrong in the same operation.
# asks: Which is the smallest loc of that access?
def first_wrong():
    return names_with(3, loc=16, row=16)

# %% 5d smaller-loc
# says: Case 1: that loc was used rightly, or in another operation.
# asks: Which is the smallest loc of that access?
def first_wrong():
    return names_with(1, loc=0)

# %% 5d should-have
# says: Case 1: that is the row it has on its owner; which index was used?
# asks: Where was it stored in fact?
# family: M2
def first_wrong():
    return names_with(1, row=6)

# %% 5d should-have-read
# says: Case 3: that is the row it has on its owner; which index was used?
# asks: Where did the reader look in fact?
def first_wrong():
    return names_with(3, row=7)

# %% 5d row-of-the-buffer
# says: Case 2: the row is the index as it was used, in the buffer's own count.
# asks: Which index was used?
def first_wrong():
    return names_with(2, row=0)

# %% 5d capacity
# says: Case 1: that is C; the buffer has a spare page too.
# asks: What is the spare page for?
# family: M10
def first_wrong():
    return names_with(1, rows_available=810)

# %% 5d capacity-slots
# says: Case 2: that is C; the buffer has a spare page too.
# asks: What is the spare page for?
# family: M10
def first_wrong():
    return names_with(2, rows_available=872)

# %% 5d needed
# says: Case 2: that is what it needs to have; how many places has it got?
# asks: Is that how many there are, or how many there should be?
# family: M10
def first_wrong():
    return names_with(2, rows_available=3504)

# %% 5d last-index
# says: Case 3: that is the last index there is; there is one more place than that.
# asks: With how many places is the last index 902?
def first_wrong():
    return names_with(3, rows_available=902)

# %% 5d pages
# says: Case 1: the number of places is that of this buffer on one rank.
# asks: What does the buffer count, pages or rows?
def first_wrong():
    return names_with(1, rows_available=136)

# %% 5d unfinished
# says: Case 3 is not named yet: rank, row are missing.
# asks: Which of the six names are still None?
def first_wrong():
    return names_with(3, rank=None, row=None)

# %% 5d no-seed
# says: None is no seed: `investigate.seed()` gives yours.
# asks: Which number stands in the first line of each case?
def first_wrong():
    return None, NAMES

# %% 5d seed-as-text
# says: '36886' is no seed: `investigate.seed()` gives yours.
# asks: Is your seed a number?
def first_wrong():
    return str(SEED), NAMES

# %% 5d cases-shifted
# says: Case 1: that operation kept to its rule, or another came before it.
# asks: Which case is which?
def first_wrong():
    return SEED, {1: NAMES[2], 2: NAMES[3], 3: NAMES[1]}

# %% 5d one-case
# says: Case 2 is not named yet: buffer, op, rank, loc, row, rows_available are missing.
# asks: How many cases are there?
def first_wrong():
    return SEED, {1: NAMES[1]}

# %% 5d one-answer-for-all
# says: Case 2: that operation kept to its rule, or another came before it.
# asks: Do the three servers have the same fault?
def first_wrong():
    return SEED, {n: NAMES[1] for n in NAMES}

# %% 5d no-pair
# says: The seed is missing: a pair is asked for, the seed and the dict.
# asks: What are the two things that first_wrong returns?
# outcome: crashed
def first_wrong():
    return NAMES

# %% 5d literal
# outcome: passed
def first_wrong():
    return SEED, NAMES

# %% 5d as-a-list
# outcome: passed
def first_wrong():
    return [SEED, dict(NAMES)]

# %% 5d as-text
# outcome: passed
def first_wrong():
    return SEED, {n: {key: f" {value} ".upper() for key, value in names.items()} for n, names in NAMES.items()}

# %% 5d with-notes
# outcome: passed
def first_wrong():
    return SEED, {n: names | {"why": "the trace says so"} for n, names in NAMES.items()}
