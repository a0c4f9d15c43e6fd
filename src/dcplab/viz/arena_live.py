"""The live arena map: controls and a figure over `arena_state` and `arena_scene`."""

from __future__ import annotations

import functools

from . import arena_scene, arena_state, live, table
from .arena_state import State
from .live import control
from .picture import Picture, notice


def arena_map(engine, rank=None, reads=False, at=None) -> ArenaMap | Picture:
    """One rank's memory after a run: its regions, and where every wrong access landed. Live where a kernel runs.

    ``engine``: an `engine.scheduler.Engine` that watches, or what has one as ``engine``, such as `demos.server.replay` returns.
    ``rank``: a rank of this process, its first by default. ``reads``: reads too, not only writes. ``at``: after how many of
    them, all by default. Beside it stands the sentence that strict mode raises. The engine is read once and not changed.
    """
    try:
        state = arena_state.make(engine, rank, reads, at)
    except (ValueError, TypeError) as error:
        return notice(f"arena_map: {error}")
    return ArenaMap(state)


class ArenaMap:
    """What `arena_map` returns: ``state``, ``picture`` of it, and ``widget``, the live view, made when first needed."""

    def __init__(self, state: State):
        self.state = state

    @property
    def picture(self) -> Picture:
        return arena_scene.picture(self.state)

    @functools.cached_property
    def widget(self):
        """The live view, an ipywidgets ``VBox``."""
        return _Live(self).box

    def __repr__(self) -> str:
        return self.picture.text

    def _ipython_display_(self) -> None:
        live.show(self.picture, "arena map", lambda: self.widget)


class _Live(live.Live):
    def __init__(self, owner: ArenaMap):
        import ipywidgets as w

        super().__init__(arena_scene.scene(owner.state))
        self.owner = owner
        state = owner.state
        self.at = control(w.IntSlider, "access", "after how many wrong accesses", 420, 45, min=0)
        before = control(w.Button, "access - 1", "previous access", 105)
        after = control(w.Button, "access + 1", "next access", 105)
        first = control(w.Button, "where strict stops", "the first index outside its buffer", 155)
        self.rank = control(w.Dropdown, "rank", "the rank whose memory this is", 110, 35, options=state.ranks)
        self.reads = control(w.Checkbox, "reads too", "show reads, not only writes", 110, indent=False)
        self.at.observe(self.guarded(lambda: arena_state.looked_at(self.state, self.at.value)), "value")
        before.on_click(self.guarded(lambda: arena_state.looked_at(self.state, self.state.at - 1)))
        after.on_click(self.guarded(lambda: arena_state.looked_at(self.state, self.state.at + 1)))
        first.on_click(self.guarded(lambda: arena_state.at_first_outside(self.state)))
        for part in (self.rank, self.reads):
            part.observe(
                self.guarded(lambda: arena_state.filtered(self.state, self.rank.value, self.reads.value)),
                "value",
            )
        self.box = self.assemble([self.at, before, after, first], [self.rank, self.reads])
        self.show(state)

    @property
    def state(self) -> State:
        return self.owner.state

    def show(self, state: State) -> None:
        """Makes every part show ``state``. Controls are set quietly."""
        self.owner.state = state
        self.busy = True
        try:
            self.at.max = len(state.accesses)
            self.at.value = state.at
            self.rank.value, self.reads.value = state.rank, state.reads
        finally:
            self.busy = False
        picture = arena_scene.picture(state)
        self.tell(arena_scene.sentence(state), arena_scene.legend(state), table.every(picture.tables))
        self.draw(picture.scene)
