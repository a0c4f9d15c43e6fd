"""One module a command.

``HELP``: a line for the list of commands; ``arguments(parser)`` adds its arguments to an argparse parser; ``run(args)`` does it
and returns the exit status. What the user can mend is raised as ``dcplab.errors.CourseError``. Heavy imports (torch,
jupyter) stand inside ``run``.
"""
