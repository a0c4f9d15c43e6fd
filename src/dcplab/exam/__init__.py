"""The examination: a bug report, a checkout with one planted fault, and what is handed in for it (docs/field.md).

``from dcplab import exam`` gives lab 08's notebook its words: `guided`, `practice`, `examination`.
"""

from dcplab.exam.seat import examination, guided, practice

__all__ = ["examination", "guided", "practice"]
