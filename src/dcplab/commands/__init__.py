"""Holds one module a command.

``HELP`` is a line for the list of commands. ``arguments(parser)`` adds the command's arguments to an argparse parser.
``run(args)`` does the work and returns the exit status. A mistake that the user can mend raises ``dcplab.errors.CourseError``.
Heavy imports (torch, jupyter) stand inside ``run``.
"""
