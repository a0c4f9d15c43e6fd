# Answers to 2i: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% preamble
# from: solution
- def name_the_space():
+ def solved():

# %% preamble
SEED, NAMES = solved()


def said(**other):
    return SEED, NAMES | {int(n[1:]): answer for n, answer in other.items()}


# %% 2i all-locs
# says: Snippet 1, space: it counts within one rank, not over all of them.
# asks: Which of these numbers are so many slots of all ranks?
# family: M1
def name_the_space():
    return SEED, {n: f"loc, {answer.split()[-1]}" for n, answer in NAMES.items()}

# %% 2i all-rows
# says: Snippet 2, space: that is what its name says; where does it come from?
# asks: Which of these numbers are so many rows of one rank?
# family: M1
def name_the_space():
    return SEED, {n: f"row, {answer.split()[-1]}" for n, answer in NAMES.items()}

# %% 2i no-line-mixes
# says: Snippet 2, line: one of them takes another space than it is given.
# asks: By what is each buffer of the snippet read?
def name_the_space():
    return SEED, {n: answer.rsplit(",", 1)[0] + ", 0" for n, answer in NAMES.items()}

# %% 2i one-line-early
# says: Snippet 2, line: that one is in order still; two spaces meet after it.
# asks: Is the index of that line in the space that it is asked for?
def name_the_space():
    return SEED, {n: f"{a.split(',')[0]}, {max(0, int(a.split(',')[1]) - 1)}" for n, a in NAMES.items()}

# %% 2i one-line-late
# says: Snippet 2, line: it has 5 lines.
# asks: Which line comes first that joins indices?
def name_the_space():
    return SEED, {n: f"{a.split(',')[0]}, {int(a.split(',')[1]) + bool(int(a.split(',')[1]))}" for n, a in NAMES.items()}

# %% 2i believes-names
# says: Snippet 1, space: that is what its name says; where does it come from?
# asks: What stands to the right of the equals sign where that name is made?
def name_the_space():
    return said(_1="index-K page, 0", _2="row, 5", _3="loc, 5")

# %% 2i name-says-loc
# says: Snippet 3, space: that is what its name says; where does it come from?
# asks: By what has it been multiplied?
def name_the_space():
    return said(_3="loc, 5")

# %% 2i name-says-float
# says: Snippet 4, space: that is what its name says; where does it come from?
# asks: Which buffer is read by it?
def name_the_space():
    return said(_4="float, 0")

# %% 2i sees-a-mix-in-a-lie
# says: Snippet 1, line: each index on that line is in the space asked for.
# asks: Which number goes in there, whatever it is called?
def name_the_space():
    return said(_1="row, 2")

# %% 2i sees-a-mix-in-a-multiple
# says: Snippet 4, line: each index on that line is in the space asked for.
# asks: How many index-K pages has an allocator page?
def name_the_space():
    return said(_4="allocator page, 2")

# %% 2i the-other-page
# says: Snippet 4, space: it is a page of the other kind; how wide is this one?
# asks: How many pages of one kind lie in one of the other?
# family: M5
def name_the_space():
    return said(_4="index-K page, 0")

# %% 2i the-other-page-too
# says: Snippet 2, space: it is a page of the other kind; how wide is this one?
# asks: By how much was the loc divided?
# family: M5
def name_the_space():
    return said(_2="allocator page, 5")

# %% 2i slots-for-pages
# says: Snippet 5, space: it counts whole pages, not what lies in them one by one.
# asks: How many of C's rows make one of these?
def name_the_space():
    return said(_5="row, 3")

# %% 2i pages-for-rows
# says: Snippet 6, space: it counts what lies in a page, one by one, not pages.
# asks: Has C been divided by anything yet?
def name_the_space():
    return said(_6="allocator page, 3")

# %% 2i loc-for-row
# says: Snippet 6, space: it counts within one rank, not over all of them.
# asks: Which of the two sizes counts all ranks?
# family: M2
def name_the_space():
    return said(_6="loc, 3")

# %% 2i row-for-loc
# says: Snippet 8, space: it counts slots of all ranks, not of one.
# asks: What is it compared with, and what was that multiplied by?
def name_the_space():
    return said(_8="row, 0")

# %% 2i float-for-byte
# says: Snippet 3, space: nothing has divided it by the bytes of a float yet.
# asks: By what is it divided in that line?
def name_the_space():
    return said(_3="float, 5")

# %% 2i loc-for-byte
# says: Snippet 7, space: it does not count slots of all ranks.
# asks: What are the index-K pages multiplied by?
def name_the_space():
    return said(_7="loc, 4")

# %% 2i byte-for-loc
# says: Snippet 8, space: it does not count bytes.
# asks: Has anything been multiplied on its way?
def name_the_space():
    return said(_8="byte, 0")

# %% 2i rank-is-no-word-here
# says: Snippet 1, space: 'rank' is none of the six words.
# asks: Which six words does the lab ask for?
def name_the_space():
    return said(_1="rank, 0")

# %% 2i page-without-a-kind
# says: Snippet 4, space: 'page' is none of the six words.
# asks: Which of the two kinds of page is it?
def name_the_space():
    return said(_4="page, 0")

# %% 2i own-words
# says: Snippet 6, space: 'capacity' is none of the six words.
# asks: How does the lab's table call a row of one rank?
def name_the_space():
    return said(_6="capacity, 3")

# %% 2i no-line
# says: Snippet 4: the line is missing; 0 if none mixes two spaces.
# asks: Which of the lines mixes two spaces?
def name_the_space():
    return said(_4="allocator page")

# %% 2i no-such-line
# says: Snippet 2, line: it has 5 lines.
# asks: How many lines has the snippet?
def name_the_space():
    return said(_2="index-K page, 12")

# %% 2i unfinished
# says: Snippet 5 is not answered yet: a space and a line, as in 'row, 3'.
# asks: Which of the eight are still question marks?
def name_the_space():
    return said(_5="?", _8="?")

# %% 2i missing
# says: Snippet 8 is not answered yet: a space and a line, as in 'row, 3'.
# asks: How many snippets are there?
def name_the_space():
    return SEED, {n: NAMES[n] for n in range(1, 8)}

# %% 2i another-seed
# says: Snippet 1, space: that is what its name says; where does it come from?
# asks: Which seed stands above your snippets?
def name_the_space():
    other = "index-K page, 0", "loc, 4", "row, 0", "loc, 0", "byte, 5", "allocator page, 4", "index-K page, 4", "float, 5"
    return SEED, dict(enumerate(other, 1))

# %% 2i from-zero
# says: Snippet 1, space: that is what its name says; where does it come from?
# asks: Where does the count of the snippets begin?
def name_the_space():
    return SEED, {n - 1: answer for n, answer in NAMES.items()}

# %% 2i no-seed
# says: None is no seed: `investigate.seed()` gives yours.
# asks: Which number stands above the snippets?
def name_the_space():
    return None, NAMES

# %% 2i no-pair
# says: The seed is missing: a pair is asked for, the seed and the dict.
# asks: What are the two things that name_the_space returns?
# outcome: crashed
def name_the_space():
    return NAMES

# %% 2i literal
# outcome: passed
def name_the_space():
    return SEED, NAMES

# %% 2i as-pairs
# outcome: passed
def name_the_space():
    return SEED, {n: (answer.split(", ")[0], int(answer.split(", ")[1])) for n, answer in NAMES.items()}

# %% 2i in-the-plural
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(", ", "s, line ").upper() for n, answer in NAMES.items()}

# %% 2i none-in-words
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(", 0", ", none") for n, answer in NAMES.items()}
