# Answers to 3h: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% preamble
# from: solution
- def name_the_space():
+ def solved():

# %% preamble
SEED, NAMES = solved()


def said(**other):
    return SEED, NAMES | {int(n[1:]): answer for n, answer in other.items()}


# %% 3h all-locs
# says: Snippet 2, space: that is what its name says; where does it come from?
# asks: Has any of these numbers been divided?
# family: M1
def name_the_space():
    return SEED, {n: f"loc, {answer.split()[-1]}" for n, answer in NAMES.items()}

# %% 3h all-rows
# says: Snippet 1, space: it counts slots of all ranks, not of one.
# asks: Which of these numbers was divided by D?
# family: M1
def name_the_space():
    return SEED, {n: f"row, {answer.split()[-1]}" for n, answer in NAMES.items()}

# %% 3h no-line-mixes
# says: Snippet 2, line: one of them takes another space than it is given.
# asks: By what is each buffer of the snippet read?
def name_the_space():
    return SEED, {n: answer.rsplit(",", 1)[0] + ", 0" for n, answer in NAMES.items()}

# %% 3h one-line-early
# says: Snippet 2, line: that one is in order still; two spaces meet after it.
# asks: Is the index of that line in the space that it is asked for?
def name_the_space():
    return SEED, {n: f"{a.split(',')[0]}, {max(0, int(a.split(',')[1]) - 1)}" for n, a in NAMES.items()}

# %% 3h one-line-late
# says: Snippet 2, line: it has 5 lines.
# asks: Which line comes first that joins indices?
def name_the_space():
    return SEED, {n: f"{a.split(',')[0]}, {int(a.split(',')[1]) + bool(int(a.split(',')[1]))}" for n, a in NAMES.items()}

# %% 3h believes-names
# says: Snippet 2, space: that is what its name says; where does it come from?
# asks: What stands to the right of the equals sign where that name is made?
def name_the_space():
    return said(_2="loc, 5", _3="allocator page, 3", _6="allocator page, 5")

# %% 3h name-says-token
# says: Snippet 4, space: that is what its name says; where does it come from?
# asks: What does the table hold that it was looked up in?
def name_the_space():
    return said(_4="token, 4")

# %% 3h name-says-page
# says: Snippet 7, space: that is what its name says; where does it come from?
# asks: By what was the loc divided?
def name_the_space():
    return said(_7="allocator page, 4")

# %% 3h sees-a-mix-in-a-lie
# says: Snippet 8, line: each index on that line is in the space asked for.
# asks: Which number goes in there, whatever it is called?
def name_the_space():
    return said(_8="allocator page, 3")

# %% 3h sees-a-mix-in-the-way-back
# says: Snippet 1, line: each index on that line is in the space asked for.
# asks: What is a row times D, with the rank added?
def name_the_space():
    return said(_1="loc, 2")

# %% 3h row-on-the-way-back
# says: Snippet 1, space: it counts slots of all ranks, not of one.
# asks: What was done to the rows before?
# family: M6
def name_the_space():
    return said(_1="row, 0")

# %% 3h row-for-loc
# says: Snippet 4, space: it counts slots of all ranks, not of one.
# asks: Does that function divide, or is it given what is divided?
# family: M6
def name_the_space():
    return said(_4="row, 4")

# %% 3h loc-for-row
# says: Snippet 7, space: it counts within one rank, not over all of them.
# asks: What was it divided by?
# family: M2
def name_the_space():
    return said(_7="loc, 4")

# %% 3h rank-for-row
# says: Snippet 3, space: it says where, and not who.
# asks: Which of // and % was used?
# family: M4
def name_the_space():
    return said(_3="rank, 3")

# %% 3h row-for-element
# says: Snippet 5, space: that is what its name says; where does it come from?
# asks: By what is it multiplied on its way?
def name_the_space():
    return said(_5="row, 0")

# %% 3h row-for-element-too
# says: Snippet 6, space: it has been multiplied since it was that.
# asks: How many numbers has a row?
def name_the_space():
    return said(_6="row, 5")

# %% 3h element-for-row
# says: Snippet 7, space: nothing has multiplied it yet.
# asks: Which of the two is multiplied by the stride?
def name_the_space():
    return said(_7="element, 4")

# %% 3h loc-for-token
# says: Snippet 2, space: it does not count rows of a pool.
# asks: Which list has the mask left something of?
def name_the_space():
    return said(_2="row, 5")

# %% 3h page-for-row
# says: Snippet 3, space: that is what its name says; where does it come from?
# asks: How many tokens does one of these numbers stand for?
def name_the_space():
    return said(_7="allocator page, 4", _3="allocator page, 3")

# %% 3h row-for-page
# says: Snippet 8, space: it counts whole pages, not what lies in them one by one.
# asks: How many rows share that number?
def name_the_space():
    return said(_8="row, 0")

# %% 3h position-is-no-word-here
# says: Snippet 2, space: 'position' is none of the six words.
# asks: Which six words does the lab ask for?
def name_the_space():
    return said(_2="position, 5")

# %% 3h own-words
# says: Snippet 2, space: 'batch entry' is none of the six words.
# asks: How does the lab's table call a token's place in the step?
def name_the_space():
    return said(_2="batch entry, 5")

# %% 3h no-line
# says: Snippet 4: the line is missing; 0 if none mixes two spaces.
# asks: Which of the lines mixes two spaces?
def name_the_space():
    return said(_4="loc")

# %% 3h no-such-line
# says: Snippet 2, line: it has 5 lines.
# asks: How many lines has the snippet?
def name_the_space():
    return said(_2="token, 12")

# %% 3h unfinished
# says: Snippet 5 is not answered yet: a space and a line, as in 'row, 3'.
# asks: Which of the eight are still question marks?
def name_the_space():
    return said(_5="?", _8="?")

# %% 3h missing
# says: Snippet 8 is not answered yet: a space and a line, as in 'row, 3'.
# asks: How many snippets are there?
def name_the_space():
    return SEED, {n: NAMES[n] for n in range(1, 8)}

# %% 3h another-seed
# says: Snippet 1, space: a table has told already where that token is stored.
# asks: Which seed stands above your snippets?
def name_the_space():
    other = "token, 5", "row, 4", "loc, 0", "rank, 4", "loc, 0", "allocator page, 0", "element, 5", "row, 2"
    return SEED, dict(enumerate(other, 1))

# %% 3h from-zero
# says: Snippet 1, space: a table has told already where that token is stored.
# asks: Where does the count of the snippets begin?
def name_the_space():
    return SEED, {n - 1: answer for n, answer in NAMES.items()}

# %% 3h no-seed
# says: None is no seed: `investigate.seed()` gives yours.
# asks: Which number stands above the snippets?
def name_the_space():
    return None, NAMES

# %% 3h no-pair
# says: The seed is missing: a pair is asked for, the seed and the dict.
# asks: What are the two things that name_the_space returns?
# outcome: crashed
def name_the_space():
    return NAMES

# %% 3h literal
# outcome: passed
def name_the_space():
    return SEED, NAMES

# %% 3h as-pairs
# outcome: passed
def name_the_space():
    return SEED, {n: (answer.split(", ")[0], int(answer.split(", ")[1])) for n, answer in NAMES.items()}

# %% 3h in-the-plural
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(", ", "s, line ").upper() for n, answer in NAMES.items()}

# %% 3h none-in-words
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(", 0", ", none") for n, answer in NAMES.items()}
