# Answers to 1i: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% preamble
# from: solution
- def name_the_space():
+ def solved():

# %% preamble
SEED, NAMES = solved()


def said(**other):
    return SEED, NAMES | {int(n[1:]): answer for n, answer in other.items()}


# %% 1i all-locs
# says: Snippet 1, space: that is what its name says; where does it come from?
# asks: Has any of these numbers been divided?
# family: M1
def name_the_space():
    return SEED, {n: f"loc, {answer.split()[-1]}" for n, answer in NAMES.items()}

# %% 1i all-rows
# says: Snippet 1, space: it counts tokens of a request, not places in a pool.
# asks: Which of these numbers was divided by D?
def name_the_space():
    return SEED, {n: f"row, {answer.split()[-1]}" for n, answer in NAMES.items()}

# %% 1i no-line-mixes
# says: Snippet 2, line: one of them takes another space than it is given.
# asks: By what is each buffer of the snippet read?
def name_the_space():
    return SEED, {n: answer.rsplit(",", 1)[0] + ", 0" for n, answer in NAMES.items()}

# %% 1i believes-names
# says: Snippet 3, space: that is what its name says; where does it come from?
# asks: What stands to the right of the equals sign where that name is made?
def name_the_space():
    return said(_3="rank, 2", _7="position, 0", _8="position, 2")

# %% 1i name-says-position
# says: Snippet 7, space: that is what its name says; where does it come from?
# asks: What does the table hold that it was looked up in?
def name_the_space():
    return said(_7="position, 0")

# %% 1i one-line-early
# says: Snippet 2, line: that one is in order still; two spaces meet after it.
# asks: Is the index of that line in the space that its buffer is read by?
def name_the_space():
    return SEED, {n: f"{a.split(',')[0]}, {max(0, int(a.split(',')[1]) - 1)}" for n, a in NAMES.items()}

# %% 1i one-line-late
# says: Snippet 2, line: two spaces meet before that one.
# asks: Which line comes first that joins indices?
def name_the_space():
    return SEED, {n: f"{a.split(',')[0]}, {int(a.split(',')[1]) + bool(int(a.split(',')[1]))}" for n, a in NAMES.items()}

# %% 1i sees-a-mix-in-a-lie
# says: Snippet 1, line: each index on that line is in the space asked for.
# asks: Which number goes in there, whatever it is called?
def name_the_space():
    return said(_1="position, 3")

# %% 1i sees-a-mix-in-pages
# says: Snippet 7, line: each index on that line is in the space asked for.
# asks: By what is that buffer read, and what is it given?
def name_the_space():
    return said(_7="index-K page, 3")

# %% 1i the-other-page
# says: Snippet 3, space: it is a page of the other kind; how wide is this one?
# asks: How many pages of one kind lie in one of the other?
# family: M5
def name_the_space():
    return said(_3="allocator page, 2")

# %% 1i the-other-page-too
# says: Snippet 5, space: it is a page of the other kind; how wide is this one?
# asks: By how much was the loc divided?
# family: M5
def name_the_space():
    return said(_5="index-K page, 4")

# %% 1i row-for-page
# says: Snippet 5, space: it counts whole pages, not what lies in them one by one.
# asks: How many locs share that number?
def name_the_space():
    return said(_5="row, 4")

# %% 1i page-for-row
# says: Snippet 8, space: it counts what lies in a page, one by one, not pages.
# asks: How many tokens does one of these numbers stand for?
def name_the_space():
    return said(_8="allocator page, 2")

# %% 1i row-for-rank
# says: Snippet 4, space: it says who, and not where.
# asks: What is left of a loc by D?
# family: M4
def name_the_space():
    return said(_4="row, 3")

# %% 1i rank-for-row
# says: Snippet 8, space: it says where, and not who.
# asks: Which of // and % was used?
# family: M4
def name_the_space():
    return said(_8="rank, 2")

# %% 1i loc-for-row
# says: Snippet 8, space: it counts within one rank, not over all of them.
# asks: What was it divided by?
# family: M2
def name_the_space():
    return said(_8="loc, 2")

# %% 1i row-for-loc
# says: Snippet 6, space: it counts slots of all ranks, not of one.
# asks: How many places has the page that it starts at?
def name_the_space():
    return said(_6="row, 5")

# %% 1i position-for-loc
# says: Snippet 6, space: a table has told already where that token is stored.
# asks: What does the table hold?
def name_the_space():
    return said(_6="position, 5")

# %% 1i page-without-a-kind
# says: Snippet 3, space: 'page' is none of the six words.
# asks: Which of the two kinds of page is it?
def name_the_space():
    return said(_3="page, 2")

# %% 1i own-words
# says: Snippet 6, space: 'cache slot' is none of the six words.
# asks: How does the lab's table call a slot of all ranks together?
def name_the_space():
    return said(_6="cache slot, 5")

# %% 1i no-line
# says: Snippet 4: the line is missing; 0 if none mixes two spaces.
# asks: Which of the lines mixes two spaces?
def name_the_space():
    return said(_4="rank")

# %% 1i no-such-line
# says: Snippet 2, line: it has 4 lines.
# asks: How many lines has the snippet?
def name_the_space():
    return said(_2="loc, 12")

# %% 1i unfinished
# says: Snippet 5 is not answered yet: a space and a line, as in 'row, 3'.
# asks: Which of the eight are still question marks?
def name_the_space():
    return said(_5="?", _8="?")

# %% 1i missing
# says: Snippet 8 is not answered yet: a space and a line, as in 'row, 3'.
# asks: How many snippets are there?
def name_the_space():
    return SEED, {n: NAMES[n] for n in range(1, 8)}

# %% 1i another-seed
# says: Snippet 1, space: it counts tokens of a request, not places in a pool.
# asks: Which seed stands above your snippets?
def name_the_space():
    other = "row, 5", "position, 3", "loc, 0", "rank, 0", "row, 2", "loc, 0", "allocator page, 3", "rank, 4"
    return SEED, dict(enumerate(other, 1))

# %% 1i from-zero
# says: Snippet 1, space: that is what its name says; where does it come from?
# asks: Where does the count of the snippets begin?
def name_the_space():
    return SEED, {n - 1: answer for n, answer in NAMES.items()}

# %% 1i no-seed
# says: None is no seed: `investigate.seed()` gives yours.
# asks: Which number stands above the snippets?
def name_the_space():
    return None, NAMES

# %% 1i no-pair
# says: The seed is missing: a pair is asked for, the seed and the dict.
# asks: What are the two things that name_the_space returns?
# outcome: crashed
def name_the_space():
    return NAMES

# %% 1i literal
# outcome: passed
def name_the_space():
    return SEED, NAMES

# %% 1i as-pairs
# outcome: passed
def name_the_space():
    return SEED, {n: (answer.split(", ")[0], int(answer.split(", ")[1])) for n, answer in NAMES.items()}

# %% 1i in-the-plural
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(", ", "s, line ").upper() for n, answer in NAMES.items()}

# %% 1i without-commas
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(",", " ").replace("-", "_") for n, answer in NAMES.items()}

# %% 1i none-in-words
# outcome: passed
def name_the_space():
    return SEED, {n: answer.replace(", 0", ", none") for n, answer in NAMES.items()}
