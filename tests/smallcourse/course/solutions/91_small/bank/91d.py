# %% 91d sum
# says: This is the sum.
# asks: By what is it divided?
def mean(x):
    return x.double().sum().item()

# %% 91d nan
# says: NaN is no number.
# asks: What is 0 / 0?
def mean(x):
    return float("nan")
