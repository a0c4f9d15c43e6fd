# %% 91f no-error
# says: A size that is no whole number of pages passed.
# asks: What is left of 9 after pages of 4?
def pages(size, page_size):
    return size // page_size
