"""Runs an answer in a process of its own: the warm server, the child that runs the answer, and the guards of both."""
