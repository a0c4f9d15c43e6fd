"""What the tests of a bank need so that each of its answers runs once on a case, not once for each of the others."""

from collections.abc import Callable


def once(attempt: Callable) -> Callable:
    """``attempt``, which runs a program on the same cases only once: every answer of a bank is held against the whole bank."""
    known = {}

    def remembered(programs, part, packed, mode, wall_s, note=None):
        cases = repr(packed)
        keys = [(p.source, part.id, mode, wall_s, cases) for p in programs]
        new = [i for i, key in enumerate(keys) if key not in known]
        ran = attempt([programs[i] for i in new], part, packed, mode, wall_s, note) if new else []
        known.update(zip([keys[i] for i in new], ran, strict=True))
        return [known[key] for key in keys]

    return remembered
