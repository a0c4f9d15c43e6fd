"""Grades many notebooks: one row for each, whatever it holds. No line of a learner's code runs in the grading process."""
