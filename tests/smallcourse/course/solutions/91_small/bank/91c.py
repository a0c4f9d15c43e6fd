# %% 91c pad-as-row
# says: Padding is being treated as a row.
# asks: Where does index -1 write?
def write_rows(kv, src, rows):
    kv[rows] = src

# %% 91c gap
# says: What lies between the rows belongs to somebody else.
# asks: How long is a row?
# outcome: unsafe
def write_rows(kv, src, rows):
    kv[rows[rows >= 0]] = src[rows >= 0]
    kv.as_strided((8, 5), (5, 1)).fill_(0)

# %% 91c endless
# says: The loop never ends.
# asks: What makes it stop?
# outcome: timeout
def write_rows(kv, src, rows):
    while True:
        pass
