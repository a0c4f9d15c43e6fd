"""An answer in a process of its own: the warm server, the child that runs it, and what guards both."""
