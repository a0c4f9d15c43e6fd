# %% 91e twice
# says: It made its counter twice.
# asks: How often is made() called?
class Counter:
    def __init__(self, made):
        made()
        made()
        self.steps = 0

    def step(self):
        self.steps += 1
