# Answers to 4h: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% preamble
# from: solution
- def name_the_space():
+ def solved():

# %% preamble
SEED, NAMES = solved()


def said(**other):
    return SEED, NAMES | {int(n[1:]): answer for n, answer in other.items()}


# %% 4h all-ragged
# says: Snippet 1, space: it does not count places of the workspace.
# asks: To which of these numbers was the start of a request added?
# family: M15
def name_the_space():
    return SEED, {n: f"ragged index, {answer.split()[-1]}" for n, answer in NAMES.items()}

# %% 4h all-positions
# says: Snippet 1, space: it does not count tokens of a request.
# asks: Which of these numbers counts through one request only?
# family: M15
def name_the_space():
    return SEED, {n: f"position, {answer.split()[-1]}" for n, answer in NAMES.items()}

# %% 4h no-line-mixes
# says: Snippet 1, line: one of them takes another space than it is given.
# asks: By what is each buffer of the snippet read?
def name_the_space():
    return SEED, {n: answer.rsplit(",", 1)[0] + ", 0" for n, answer in NAMES.items()}

# %% 4h one-line-early
# says: Snippet 1, line: that one is in order still; two spaces meet after it.
# asks: Is the index of that line in the space that it is asked for?
def name_the_space():
    return SEED, {n: f"{a.split(',')[0]}, {max(0, int(a.split(',')[1]) - 1)}" for n, a in NAMES.items()}

# %% 4h one-line-late
# says: Snippet 1, line: two spaces meet before that one.
# asks: Which line comes first that joins indices?
def name_the_space():
    return SEED, {n: f"{a.split(',')[0]}, {int(a.split(',')[1]) + bool(int(a.split(',')[1]))}" for n, a in NAMES.items()}

# %% 4h believes-names
# says: Snippet 3, space: that is what its name says; where does it come from?
# asks: What stands to the right of the equals sign where that name is made?
def name_the_space():
    return said(_3="position, 4", _4="token, 0", _8="ragged index, 0")

# %% 4h name-says-request
# says: Snippet 5, space: that is what its name says; where does it come from?
# asks: What does the table hold that it was looked up in?
def name_the_space():
    return said(_5="request, 0")

# %% 4h sees-a-mix-in-a-lie
# says: Snippet 8, line: each index on that line is in the space asked for.
# asks: Which number goes in there, whatever it is called?
def name_the_space():
    return said(_8="request, 3")

# %% 4h sees-a-mix-in-a-start
# says: Snippet 4, line: each index on that line is in the space asked for.
# asks: What is a start and what a place in it?
def name_the_space():
    return said(_4="request, 3")

# %% 4h ragged-for-gathered
# says: Snippet 1, space: it does not count places of the workspace.
# asks: Into which buffer does the table of starts point?
def name_the_space():
    return said(_1="ragged index, 3")

# %% 4h row-for-gathered
# says: Snippet 1, space: it says where a token lies after the gather, not before.
# asks: Whose rows are they, the pool's or the shard's?
def name_the_space():
    return said(_1="row, 3")

# %% 4h gathered-for-row
# says: Snippet 6, space: it says where a token lies before the gather, not after.
# asks: Which buffer is read by it?
def name_the_space():
    return said(_6="gathered row, 2")

# %% 4h token-for-request
# says: Snippet 4, space: that is what its name says; where does it come from?
# asks: What does the table hold for each token?
def name_the_space():
    return said(_4="token, 0")

# %% 4h request-for-rank
# says: Snippet 3, space: it says who, and not where.
# asks: Which of the two is left of a position by D?
def name_the_space():
    return said(_3="request, 4")

# %% 4h position-for-rank
# says: Snippet 3, space: that is what its name says; where does it come from?
# asks: What is left of a position by D?
def name_the_space():
    return said(_3="position, 4")

# %% 4h ragged-for-position
# says: Snippet 2, space: no start of a request stands before it.
# asks: Has the start of its request been added?
# family: M15
def name_the_space():
    return said(_2="ragged index, 4")

# %% 4h position-for-ragged
# says: Snippet 7, space: it counts places of the workspace, not tokens of one request.
# asks: In which buffer does a request begin there?
# family: M15
def name_the_space():
    return said(_7="position, 4")

# %% 4h token-for-ragged
# says: Snippet 7, space: it counts cached tokens too, not new ones only.
# asks: Which of the two tables of starts is it?
# family: M15
def name_the_space():
    return said(_7="token, 4")

# %% 4h row-for-loc
# says: Snippet 5, space: it counts slots of all ranks, not of one.
# asks: Has it been divided by D?
# family: M6
def name_the_space():
    return said(_5="row, 0")

# %% 4h loc-for-row
# says: Snippet 6, space: it counts within one rank, not over all of them.
# asks: By what is it divided before it is used?
# family: M2
def name_the_space():
    return said(_6="loc, 2")

# %% 4h page-is-no-word-here
# says: Snippet 5, space: 'allocator page' is none of the eight words.
# asks: Which eight words does the lab ask for?
def name_the_space():
    return said(_5="allocator page, 0")

# %% 4h own-words
# says: Snippet 7, space: 'workspace row' is none of the eight words.
# asks: How does the lab's table call an index of the workspace?
def name_the_space():
    return said(_7="workspace row, 4")

# %% 4h no-line
# says: Snippet 4: the line is missing; 0 if none mixes two spaces.
# asks: Which of the lines mixes two spaces?
def name_the_space():
    return said(_4="request")

# %% 4h no-such-line
# says: Snippet 1, line: it has 4 lines.
# asks: How many lines has the snippet?
def name_the_space():
    return said(_1="gathered row, 12")

# %% 4h unfinished
# says: Snippet 5 is not answered yet: a space and a line, as in 'row, 3'.
# asks: Which of the eight are still question marks?
def name_the_space():
    return said(_5="?", _8="?")

# %% 4h missing
# says: Snippet 8 is not answered yet: a space and a line, as in 'row, 3'.
# asks: How many snippets are there?
def name_the_space():
    return SEED, {n: NAMES[n] for n in range(1, 8)}

# %% 4h another-seed
# says: Snippet 1, space: it does not count slots of all ranks.
# asks: Which seed stands above your snippets?
def name_the_space():
    other = "loc, 0", "request, 0", "gathered row, 3", "ragged index, 1", "position, 2", "rank, 4", "token, 5", "ragged index, 4"
    return SEED, dict(enumerate(other, 1))

# %% 4h from-zero
# says: Snippet 1, space: it does not count tokens of a request.
# asks: Where does the count of the snippets begin?
def name_the_space():
    return SEED, {n - 1: answer for n, answer in NAMES.items()}

# %% 4h no-seed
# says: None is no seed: `investigate.seed()` gives yours.
# asks: Which number stands above the snippets?
def name_the_space():
    return None, NAMES

# %% 4h no-pair
# says: The seed is missing: a pair is asked for, the seed and the dict.
# asks: What are the two things that name_the_space returns?
# outcome: crashed
def name_the_space():
    return NAMES

# %% 4h literal
# outcome: passed
def name_the_space():
    return SEED, NAMES

# %% 4h as-pairs
# outcome: passed
def name_the_space():
    return SEED, {n: (answer.split(", ")[0], int(answer.split(", ")[1])) for n, answer in NAMES.items()}

# %% 4h in-the-plural
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(", ", "s, line ").upper() for n, answer in NAMES.items()}

# %% 4h none-in-words
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(", 0", ", none") for n, answer in NAMES.items()}
