"""Runs `python -m dcplab COMMAND ...`: finds the command's module in ``dcplab.commands`` and calls it.

The exit status is 0 if the command ran, whatever it found. It is 2, with one sentence on stderr, if it could not run, and 130
on Ctrl-C. A traceback is shown only with ``DCPLAB_DEBUG=1``.

argparse suffices, and a command starts without the imports of the others. A command module imports nothing heavy before
``run``, since ``--help`` imports them all. A test holds this.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import pkgutil
import sys
from types import ModuleType

from dcplab import __version__, commands, ended, settings
from dcplab.errors import CourseError

# The order of the help text: what a learner needs first.
ORDER = (
    "lab",
    "doctor",
    "check",
    "hint",
    "progress",
    "reset",
    "incident",
    "isolate",
    "exam",
    "bench",
    "site",
    "grade",
    "build",
    "release",
    "workshop",
)


def names() -> list[str]:
    """List the commands, in the order of the help text."""
    found = [module.name for module in pkgutil.iter_modules(commands.__path__) if not module.name.startswith("_")]
    return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"dcplab.commands.{name}")


def help_text() -> str:
    rows = "\n".join(f"  {name:<10}{load(name).HELP}" for name in names())
    return (
        "usage: ./course COMMAND ...\n\nWhose slot is it? Labs on index-space bugs in LLM serving.\n\n"
        f"{rows}\n  {'test':<10}run the course's own tests (./course test [PYTEST ARGS])\n\n"
        "./course COMMAND --help says more. Start with: ./course lab"
    )


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a mark that the terminal's encoding lacks is no reason to stop
            stream.reconfigure(errors="replace")
    try:
        return dispatch(argv)
    except CourseError as error:
        return _failed(str(error))
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except BrokenPipeError:  # `| head` closed the pipe: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if settings.debug():
            raise
        if lost := ended.lost(str(error)):
            return _failed(f"{ended.poisoned(lost)} Nothing of this run counts; start it again. (DCPLAB_DEBUG=1 shows where)")
        return _failed(f"{type(error).__name__}: {str(error) or 'no message'} (DCPLAB_DEBUG=1 shows where)")


def dispatch(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(help_text())
        return 0
    if argv[0] in ("-V", "--version"):
        print(f"dcplab {__version__}")
        return 0
    name, rest = argv[0], argv[1:]
    if name not in names():
        near = difflib.get_close_matches(name, [*names(), "test"], n=1)
        hint = f"did you mean `./course {near[0]}`?" if near else "`./course --help` lists them."
        raise CourseError(f"there is no command {name!r}; {hint}")
    module = load(name)
    parser = argparse.ArgumentParser(
        prog=f"./course {name}", description=module.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    module.arguments(parser)
    return module.run(parser.parse_args(rest))


def _failed(sentence: str) -> int:
    print(f"course: {sentence}", file=sys.stderr)
    return 2
