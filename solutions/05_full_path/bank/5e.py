# Answers to 5e: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% preamble
# from: solution
- def incident_record():
+ def solved():

# %% preamble
SEED, RECORD = solved()


def record_with(**other):
    text = RECORD
    for key, value in other.items():
        lines = [f"{key}: {value}" if line.startswith(f"{key}:") else line for line in text.split("\n")]
        text = "\n".join(lines)
    return SEED, text


# %% 5e legal-for-used
# says: largest_loc: that is what the allocator may issue; how far did it go?
# asks: How far did this run go?
def incident_record():
    return record_with(largest_loc=2534)

# %% 5e rows-for-watermark
# says: largest_loc: that counts rows; the watermark is a loc that held a token.
# asks: Which number grows as requests are held?
# family: M11
def incident_record():
    return record_with(largest_loc=845)

# %% 5e touched-for-held
# says: largest_loc: that slot was touched, for pages are read to their end.
# asks: Which of the two held a token?
def incident_record():
    return record_with(largest_loc=1124)

# %% 5e used-for-legal
# says: largest_legal_loc: that loc was used; how far may the allocator go?
# asks: What could the allocator still issue?
def incident_record():
    return record_with(largest_legal_loc=1121)

# %% 5e count-for-largest
# says: largest_legal_loc: that is how many there are; they count from 0.
# asks: With 2,535 places, which is the last index?
def incident_record():
    return record_with(largest_legal_loc=2535)

# %% 5e size-for-legal
# says: largest_legal_loc: that is C, in rows of one rank; locs count all ranks.
# asks: How many locs does one row make?
# family: M10
def incident_record():
    return record_with(largest_legal_loc=840)

# %% 5e page-for-first
# says: smallest_loc: page 0 is never issued, and a page of the allocator is P * D locs.
# asks: What is the first loc of page 1?
# family: M10
def incident_record():
    return record_with(smallest_loc=5)

# %% 5e no-spare-page
# says: ckv_rows: that is C without the spare page.
# asks: How many rows does the pool have with its spare page?
# family: M10
def incident_record():
    return record_with(ckv_rows=840)

# %% 5e locs-for-rows
# says: ckv_rows: that counts locs; c-KV has rows of one rank.
# asks: Does one rank hold a row for each loc?
# family: M10
def incident_record():
    return record_with(ckv_rows=2535)

# %% 5e rows-for-highest
# says: ckv_highest: that is how many rows there are; up to which one was written?
# asks: How far was c-KV written?
def incident_record():
    return record_with(ckv_highest=845)

# %% 5e slots-needed
# says: index_k_slots: that is what it needs; how many slots had it got?
# asks: What had this server got?
# family: M10
def incident_record():
    return record_with(index_k_slots=2535)

# %% 5e slots-had
# says: index_k_needed: that is what it had; how many does every legal loc need?
# asks: What does every legal loc need?
# family: M10
def incident_record():
    return record_with(index_k_needed=845)

# %% 5e needed-one-short
# says: index_k_needed: a largest index of n needs n + 1 places.
# asks: Locs 0 to n need how many places?
def incident_record():
    return record_with(index_k_needed=2534)

# %% 5e legal-for-highest
# says: index_k_highest: that loc is legal; how far was it used?
# asks: Which slot was the last that was used?
def incident_record():
    return record_with(index_k_highest=2534)

# %% 5e outside-for-wrong
# says: first_wrong_step: its index left the buffer; one was wrong long before.
# asks: Was everything right before the first overflow?
# family: M1
def incident_record():
    return record_with(first_wrong_step=14)

# %% 5e outside-index-for-wrong
# says: first_wrong_index: it is the first outside; one inside was wrong before.
# asks: Which index was the first in a wrong space?
# family: M1
def incident_record():
    return record_with(first_wrong_index=845)

# %% 5e wrong-for-outside
# says: first_outside_step: that step used a wrong space, but inside the buffer.
# asks: Was that index beyond the buffer's end?
def incident_record():
    return record_with(first_outside_step=1)

# %% 5e wrong-index-for-outside
# says: first_outside_index: that index is in a wrong space, but inside the buffer.
# asks: Which is the first index that the buffer has not got?
def incident_record():
    return record_with(first_outside_index=15)

# %% 5e last-for-first-outside
# says: first_outside_index: that is the last one outside; which was the first?
# asks: Which one came first?
def incident_record():
    return record_with(first_outside_index=1121)

# %% 5e reader-first
# says: first_wrong_op is not what the run shows.
# asks: Who was there before the first read?
def incident_record():
    return record_with(first_wrong_op="sparse_mla_decode")

# %% 5e last-layer-first
# says: first_wrong_buffer is not what the run shows.
# asks: Which layer comes first in a step?
def incident_record():
    return record_with(first_wrong_buffer="ckv.2")

# %% 5e one-layer
# says: bytes_outside: that is one layer; others were left as well.
# asks: In how many layers were bytes meant to lie outside?
def incident_record():
    return record_with(bytes_outside=946764)

# %% 5e one-buffer
# says: bytes_outside: that is one buffer; others were left as well.
# asks: How many buffers does the run list?
def incident_record():
    return record_with(bytes_outside=838656)

# %% 5e one-kind
# says: bytes_outside: that is one kind of buffer; others were left as well.
# asks: Which kinds of buffers does the run list?
def incident_record():
    return record_with(bytes_outside=324324)

# %% 5e places
# says: bytes_outside: that counts places; each place has its bytes.
# asks: How many bytes has a place in each of the buffers?
def incident_record():
    return record_with(bytes_outside=4914)

# %% 5e no-canary
# says: canaries_changed is not what the run shows.
# asks: Which bands does the run list?
def incident_record():
    return record_with(canaries_changed=0)

# %% 5e missing-patches
# says: patches: those are missing; this line is for the patches that are in force.
# asks: Which patches did this server have?
def incident_record():
    return record_with(patches="index_k_size, ckv_write, read, extend, assert")

# %% 5e patch-in-the-wrong-place
# says: patches: a patch is named whose defect shows in this run.
# asks: How many slots had index-K, and how many does it need?
def incident_record():
    return record_with(patches="size")

# %% 5e assert-for-granted
# says: patches: without extend the assert cannot fire: nothing tells of its patch.
# asks: Which patch makes the table that the assert checks?
def incident_record():
    return record_with(patches="assert")

# %% 5e none-of-the-wrong-space
# says: first_wrong_step: an index beyond its buffer is wrong too; the run has one.
# asks: Which two ways are there for an index to be wrong?
def incident_record():
    return record_with(first_wrong_step="none")

# %% 5e none-outside
# says: first_outside_op: an index left its buffer; the run says where.
# asks: Which operation does the run name?
def incident_record():
    return record_with(first_outside_op="none")

# %% 5e no-patch-for-the-first
# says: patch_for_first: an operation was wrong first; which patch is about it?
# asks: Which operation was wrong first?
def incident_record():
    return record_with(patch_for_first="none")

# %% 5e size-for-the-first
# says: patch_for_first does not follow from what the run shows.
# asks: Which operation was wrong first, and which patch is about it?
def incident_record():
    return record_with(patch_for_first="index_k_size")

# %% 5e one-is-enough
# says: patch_enough: which of the five would still be missing then?
# asks: What did 5c say of a server with the write patch alone?
def incident_record():
    return record_with(patch_enough="yes")

# %% 5e still-right
# says: verdict: the fresh server was right; what did it come to in the end?
# asks: How did the story end?
def incident_record():
    return record_with(verdict="right")

# %% 5e crashed
# says: verdict is not what the run shows.
# asks: Was there an error?
def incident_record():
    return record_with(verdict="crash")

# %% 5e all-fresh-wrong
# says: fresh is not what the run shows.
# asks: What did the server answer when it was fresh?
def incident_record():
    return record_with(fresh="0/3")

# %% 5e again-fixed
# says: again: that is with every patch; this line is for the unpatched server.
# asks: Whose answers are these?
def incident_record():
    return record_with(again="3/3")

# %% 5e long-fixed
# says: long: that is with every patch; this line is for the unpatched server.
# asks: Whose answers are these?
def incident_record():
    return record_with(long="2/2")

# %% 5e fixed-not-fixed
# says: fixed_long: that is unpatched; this line is for the server with every patch.
# asks: Which server is this line for?
def incident_record():
    return record_with(fixed_long="0/2")

# %% 5e expected-answer
# says: first_wrong_answer is not what the run shows.
# asks: What did the server say?
def incident_record():
    return record_with(first_wrong_answer="silver0 harp0 beneath0 snow0")

# %% 5e other-d
# says: dcp_size is not what the run shows.
# asks: How many ranks has your server?
def incident_record():
    return record_with(dcp_size=8)

# %% 5e report-c
# says: size is not what the run shows.
# asks: How many rows has your server?
def incident_record():
    return record_with(size=455744)

# %% 5e bits
# says: ckv_dtype is not what the run shows.
# asks: What type has a c-KV row?
def incident_record():
    return record_with(ckv_dtype="float8_e4m3fn")

# %% 5e on-a-gpu
# says: device is not what the run shows.
# asks: Where did this run?
def incident_record():
    return record_with(device="cuda")

# %% 5e no-cache
# says: tokens_cached is not what the run shows.
# asks: What came from the prefix cache when the questions were asked again?
def incident_record():
    return record_with(tokens_cached=0)

# %% 5e not-filled
# says: device is not filled in. What is asked for: cpu or cuda.
# asks: Which lines of the record are empty?
def incident_record():
    return record_with(device="")

# %% 5e template
# says: dcplab is not filled in. What is asked for: the version of this course.
# asks: What belongs before the #?
def incident_record():
    lines = [line.partition(":")[0] + ":" if ":" in line else line for line in RECORD.split("\n")]
    return SEED, "\n".join(lines)

# %% 5e no-seed
# says: None is no seed: `investigate.seed()` gives yours.
# asks: Which number do your cases show?
def incident_record():
    return None, RECORD

# %% 5e a-dict
# says: The record is a dict; it is a text, as the template is.
# asks: What is a record, as the template shows it?
def incident_record():
    lines = (line.split(":", 1) for line in RECORD.split("\n") if ":" in line)
    return SEED, {key: value.strip() for key, value in lines}

# %% 5e prose
# says: Line 1 of the record, 'The server was wrong.', is not of the form 'key: value'.
# asks: How does a line of the record look?
def incident_record():
    return SEED, "The server was wrong."

# %% 5e text-alone
# says: The seed is missing: a pair is asked for, the seed and the text.
# asks: What are the two things that incident_record returns?
# outcome: crashed
def incident_record():
    return RECORD

# %% 5e literal
# outcome: passed
def incident_record():
    return SEED, RECORD

# %% 5e thousands
# outcome: passed
def incident_record():
    return record_with(bytes_outside="2,840,292", largest_loc="1,121", index_k_needed="2,535")

# %% 5e as-the-lab-writes
# outcome: passed
def incident_record():
    return record_with(verdict="Silent", long="0 of 2", again="0 of  3", ckv_dtype="BF16", patch_for_first="write", patches="None")

# %% 5e with-notes
# outcome: passed
def incident_record():
    return SEED, "\n".join(line + "  # seen" if ":" in line else line for line in RECORD.split("\n"))

# %% 5e elsewhere
# outcome: passed
def incident_record():
    return record_with(torch="2.11.0+cu130", dcplab="0.2.0")

# %% 5e other-order
# outcome: passed
def incident_record():
    return SEED, "\n".join(reversed([line for line in RECORD.split("\n") if ":" in line]))
