"""Makes dated copies of a learner's work before anything replaces it."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

from dcplab import paths


def keep(path: Path) -> Path:
    """Copy ``path`` into the backups folder, under its own name and the local time. Returns the copy's path.

    An earlier backup is never overwritten: a second one in the same second gets a number.
    """
    folder = paths.state_dir() / "backups"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{path.stem}-{datetime.now():%Y%m%d-%H%M%S}"
    for n in range(1, 10_000):
        copy = folder / f"{stem}{'' if n == 1 else f'-{n}'}{path.suffix}"
        try:
            with copy.open("xb") as out, path.open("rb") as source:
                shutil.copyfileobj(source, out)
        except FileExistsError:
            continue
        return copy
    raise FileExistsError(f"{folder} already holds 9999 backups of this second.")
