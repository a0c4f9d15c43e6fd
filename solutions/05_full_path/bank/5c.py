# Answers to 5c: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% preamble
# from: solution
- def isolation():
+ def solved():

# %% preamble
MATRIX = solved()

# %% 5c half-is-half
# says: Half of the c-KV fix breaks the one rule that all three places kept.
# asks: The write is mended and decode is not. Where does decode look?
# family: M1
def isolation():
    said = dict(MATRIX)
    said["write, below"] = "right"
    said["write+read, below"] = "right"
    said["extend, below"] = "right"
    return said

# %% 5c half-mends-all
# says: A part of the fix cannot mend what all three c-KV places do wrong together.
# asks: Which of write, read and extend still takes a loc for a row?
# family: M1
# from: half-is-half
  said["write, below"] = "right"
+ said["write, above"] = "right"

  said["write+read, below"] = "right"
+ said["write+read, above"] = "right"

  said["extend, below"] = "right"
+ said["extend, above"] = "right"

# %% 5c write-and-read-do
# says: Write and read are mended, extend is not: a prefix is looked for in wrong rows.
# asks: Who reads the cached pages of a prompt that is asked again?
# family: M1
# from: half-is-half
- said["write, below"] = "right"

- said["extend, below"] = "right"
+ said["write+read, above"] = "right"

# %% 5c write-alone-waits
# says: The mended write and the raw reads disagree at once; no watermark is needed.
# asks: At which row does decode look for loc 10 here?
# from: half-is-half
- said["write+read, below"] = "right"
- said["extend, below"] = "right"

# %% 5c extend-alone-waits
# says: Extend gathers rows that nobody wrote: wrong as soon as a prompt has a prefix.
# asks: What does the gather read, while the write is raw?
# from: half-is-half
- said["write, below"] = "right"
- said["write+read, below"] = "right"

# %% 5c extend-fires-below
# says: Below the line no loc reaches the old bound: no alarm, only wrong words.
# asks: How large is the largest loc of this row, against C + P?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["extend, below"] = "alarm"
    return said

# %% 5c crash-above
# says: Just above the line an overflow hits a neighbour in mapped memory: silent.
# asks: What lies behind the last slot of layer 0's index-K?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["none, above"] = "crash"
    said["size, above"] = "crash"
    said["all but size, above"] = "crash"
    return said

# %% 5c crash-unpatched
# says: The unpatched server above the line does not crash: it spoils its neighbours.
# asks: What lies behind the last row of layer 0's c-KV?
# family: M10
# from: crash-above
- said["size, above"] = "crash"
- said["all but size, above"] = "crash"

# %% 5c size-mends
# says: With index-K mended, c-KV is still written and read at rows that are locs.
# asks: How many rows has c-KV, and how large are the locs above the line?
# family: M1
def isolation():
    said = dict(MATRIX)
    said["size, above"] = "right"
    return said

# %% 5c bug-is-always-there
# says: Below the watermark all fits and all agree: the unpatched server is right.
# asks: When did the report's users first see a wrong answer?
def isolation():
    said = dict(MATRIX)
    said["none, below"] = "silent"
    said["size, below"] = "silent"
    said["all but size, below"] = "silent"
    return said

# %% 5c unpatched-below
# says: One wrong rule, kept by everybody, gives right answers until the watermark.
# asks: How many ranks hold a token on the unpatched server?
# from: bug-is-always-there
- said["all but size, below"] = "silent"

# %% 5c alarm-everywhere
# says: The old assert needs the table that only a gathering extend makes.
# asks: Which rows have the extend patch in force?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["none, above"] = "alarm"
    said["size, above"] = "alarm"
    said["write, above"] = "alarm"
    said["write+read, above"] = "alarm"
    return said

# %% 5c no-alarm
# says: The old assert holds locs against rows: above the line it stops a legal loc.
# asks: Which bound does the assert use while its patch is missing?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["extend, above"] = "silent"
    said["all but assert, above"] = "right"
    said["all but assert, full"] = "right"
    return said

# %% 5c assert-is-harmless
# says: An assert with the wrong bound is no safety: it stops a server that is right.
# asks: Against what does the old assert hold the flattened table?
# family: M11
# from: no-alarm
- said["extend, above"] = "silent"

# %% 5c assert-only-when-full
# says: The old bound is C + P: any loc above one rank's rows trips it, full or not.
# asks: Which is the first loc that the old assert refuses?
# family: M11
# from: no-alarm
- said["extend, above"] = "silent"

- said["all but assert, full"] = "right"

# %% 5c assert-crashes
# says: An assert that stops a server is an alarm: no memory was touched wrongly.
# asks: What is the difference between an alarm and a crash here?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["extend, above"] = "crash"
    said["all but assert, above"] = "crash"
    said["all but assert, full"] = "crash"
    return said

# %% 5c size-is-memory-only
# says: Index-K without its patch has one rank's slots: above the line keys are lost.
# asks: Which locs have a slot in index-K when it has C + P of them?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["all but size, above"] = "right"
    return said

# %% 5c index-k-below
# says: Below the line every loc has a slot, even in an index-K that is too small.
# asks: How large is the largest loc of this row, against C + P?
# family: M10
# from: bug-is-always-there
- said["none, below"] = "silent"
- said["size, below"] = "silent"

# %% 5c index-k-crashes-early
# says: The last layer's overflow meets unmapped memory only when the pool is full.
# asks: What lies behind the last layer's index-K, and how much of it is there?
# family: M10
# from: crash-above
- said["none, above"] = "crash"
- said["size, above"] = "crash"

# %% 5c full-is-silent
# says: To the last page the overflow runs out of mapped memory: that is the crash.
# asks: How far behind index-K does loc D * C lie?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["all but size, full"] = "silent"
    return said

# %% 5c full-is-right
# says: Full is where index-K is shortest: it has one rank's slots for all locs.
# asks: How many of D locs have a slot when the pool is full?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["all but size, above"] = "right"
    said["all but size, full"] = "right"
    return said

# %% 5c never-all-right
# says: With all five patches every loc has its slot, and all keep to one rule.
# asks: Which patch is still missing in this row?
def isolation():
    said = dict(MATRIX)
    said["all, above"] = "silent"
    return said

# %% 5c above-below-swapped
# says: Above and below are swapped: above is where locs exceed one rank's rows.
# asks: On which side of the line does everything fit?
def isolation():
    swap = {"below": "above", "above": "below", "full": "full"}
    return {row: MATRIX[f"{row.rpartition(' ')[0]} {swap[row.rpartition(' ')[2]]}"] for row in MATRIX}

# %% 5c all-right
# says: Every row was called right; the matrix would be of no use then.
# asks: Which row is the server of the report?
def isolation():
    return dict.fromkeys(MATRIX, "right")

# %% 5c all-silent
# says: Every row was called silent; two of them have every patch.
# asks: What is wrong on a server with all five patches?
def isolation():
    return dict.fromkeys(MATRIX, "silent")

# %% 5c all-crash
# says: Every row was called a crash; most of these never touch unmapped memory.
# asks: Which answers did the report's users get, before any crash?
def isolation():
    return dict.fromkeys(MATRIX, "crash")

# %% 5c own-words
# says: A wrong answer without an error is called silent here.
# asks: Which four verdicts are there?
def isolation():
    return {row: "wrong" if verdict == "silent" else verdict for row, verdict in MATRIX.items()}

# %% 5c empty
# says: Rows are missing in the table: they have no verdict.
# asks: Which rows are there?
def isolation():
    return {}

# %% 5c a-list
# says: A list of verdicts does not say which row each is for.
# asks: What does isolation return?
# outcome: crashed
def isolation():
    return list(MATRIX.values())

# %% 5c nothing
# says: isolation returns nothing.
# asks: Is there a return at the end?
# outcome: crashed
def isolation():
    said = dict(MATRIX)

# %% 5c literal
# outcome: passed
def isolation():
    return dict(MATRIX)

# %% 5c by-rule
# outcome: passed
def isolation():
    patches = {"none": "", "size": "s", "write": "w", "extend": "e", "write+read": "wr", "all but size": "wrea"}
    patches |= {"all but assert": "swre", "all": "swrea"}

    def verdict(has, level):
        agree = len({"w" in has, "r" in has, "e" in has}) == 1
        fits = level == "below" or ("s" in has and "w" in has)
        if level != "below" and "e" in has and "a" not in has:
            return "alarm"
        if level == "full" and not fits:
            return "crash"
        return "right" if agree and fits else "silent"

    return {row: verdict(patches[row.rpartition(",")[0]], row.rpartition(" ")[2]) for row in MATRIX}

# %% 5c shouted
# outcome: passed
def isolation():
    return {row: f" {verdict.upper()} " for row, verdict in MATRIX.items()}
