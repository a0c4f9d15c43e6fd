"""Shows the live arena map: controls and a figure over `arena.state` and `arena.scene`."""

from __future__ import annotations

from dcplab.viz.core import live
from dcplab.viz.core.live import control
from dcplab.viz.core.picture import Picture, notice
from dcplab.viz.views.arena import scene as arena_scene
from dcplab.viz.views.arena import state as arena_state
from dcplab.viz.views.arena.state import ArenaState


def arena_map(engine, rank=None, reads=False, at=None) -> ArenaMap | Picture:
    """Show one rank's memory after a run: its regions, and the landing place of every wrong access. Live where a kernel runs.

    ``engine``: an `engine.scheduler.Engine` that watches, or an object with one as ``engine``, such as the result of
    `demos.server.replay`. The engine is read once and not changed.
    ``rank``: a rank of this process, by default its first. ``reads``: show reads too. ``at``: the number of accesses so far,
    all by default. The sentence that strict mode raises stands beside the map.
    """
    try:
        state = arena_state.make(engine, rank, reads, at)
    except (ValueError, TypeError) as error:
        return notice(f"arena_map: {error}")
    return ArenaMap(state)


class _Live(live.Live):
    def __init__(self, owner: ArenaMap):
        import ipywidgets as w

        super().__init__(owner)
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

    def set_controls(self, state: ArenaState) -> None:
        self.at.max = len(state.accesses)
        self.at.value = state.at
        self.rank.value, self.reads.value = state.rank, state.reads


class ArenaMap(live.View):
    """The return value of `arena_map`; see `live.View`."""

    name, scenes, shell = "arena map", arena_scene, _Live
