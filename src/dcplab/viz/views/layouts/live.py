"""Shows two layouts side by side, live: controls and a figure over `layouts.state` and `layouts.scene`."""

from __future__ import annotations

from dcplab.viz.core import live
from dcplab.viz.core.live import control
from dcplab.viz.core.picture import Picture, notice
from dcplab.viz.views.layouts import scene as layouts_scene
from dcplab.viz.views.layouts import state as layouts_state
from dcplab.viz.views.layouts.state import LayoutsState


def layouts(source=(2, 1), target=(4, 4), tokens=24, selected=9) -> Layouts | Picture:
    """Show the same tokens on two nodes, and one token's way from the one to the other. Live where a kernel runs.

    ``source``, ``target``: D (1 to 8) and I (1 to 16) of a node. ``tokens``: at most 32. ``selected``: a token.
    """
    try:
        state = layouts_state.make(source, target, tokens, selected)
    except (ValueError, TypeError) as error:
        return notice(f"layouts: {error}")
    return Layouts(state)


class _Live(live.Live):
    def __init__(self, owner: Layouts):
        import ipywidgets as w

        super().__init__(owner)
        ranks, runs = dict(min=1, max=layouts_state.MOST_RANKS), dict(min=1, max=layouts_state.LONGEST_RUN)
        self.source_d = control(w.IntSlider, "source D", "ranks of the source", 240, 60, **ranks)
        self.source_i = control(w.IntSlider, "source I", "locs to a source rank before the next has its turn", 260, 60, **runs)
        self.target_d = control(w.IntSlider, "target D", "ranks of the target", 240, 60, **ranks)
        self.target_i = control(w.IntSlider, "target I", "locs to a target rank before the next has its turn", 260, 60, **runs)
        self.tokens = control(w.IntSlider, "tokens", "how many tokens there are", 250, 45, min=1, max=layouts_state.MOST_TOKENS)
        self.token = control(w.IntSlider, "token", "the token that is followed", 260, 40, min=0)
        before = control(w.Button, "token - 1", "previous token", 85)
        after = control(w.Button, "token + 1", "next token", 85)
        for part in (self.source_d, self.source_i, self.target_d, self.target_i, self.tokens):
            part.observe(self.guarded(self._new_layouts), "value")
        self.token.observe(self.guarded(lambda: layouts_state.with_selected(self.state, self.token.value)), "value")
        before.on_click(self.guarded(lambda: layouts_state.with_selected(self.state, self.state.selected - 1)))
        after.on_click(self.guarded(lambda: layouts_state.with_selected(self.state, self.state.selected + 1)))
        self.box = self.assemble(
            [self.source_d, self.source_i, self.tokens], [self.target_d, self.target_i], [self.token, before, after]
        )
        self.show(owner.state)

    def _new_layouts(self) -> LayoutsState:
        source, target = (self.source_d.value, self.source_i.value), (self.target_d.value, self.target_i.value)
        return layouts_state.with_layouts(self.state, source, target, self.tokens.value)

    def with_chosen(self, chosen: int) -> LayoutsState:
        return layouts_state.with_selected(self.state, chosen)

    def set_controls(self, state: LayoutsState) -> None:
        self.source_d.value, self.source_i.value = state.source.dcp_size, state.source.interleave
        self.target_d.value, self.target_i.value = state.target.dcp_size, state.target.interleave
        self.tokens.value = state.tokens
        self.token.max = state.tokens - 1
        self.token.value = state.selected

    def marked(self, state: LayoutsState) -> int | None:
        return state.selected


class Layouts(live.View):
    """The return value of `layouts`; see `live.View`."""

    name, scenes, shell = "picture of two layouts", layouts_scene, _Live
