"""Shows the live retraction: controls and a figure over `retraction.state` and `retraction.scene`."""

from __future__ import annotations

from dcplab.viz.core import live
from dcplab.viz.core.live import control
from dcplab.viz.core.picture import Picture, notice
from dcplab.viz.views.retraction import scene as retraction_scene
from dcplab.viz.views.retraction import state as retraction_state
from dcplab.viz.views.retraction.state import RetractionState


def retraction(
    dcp_size=4, page_size=2, tokens=13, need_sort=True, restore="at the new locs", at=3, selected=0
) -> Retraction | Picture:
    """Show one request's pages and locs across a retraction, the host and the return. Live where a kernel runs.

    ``dcp_size`` D (1 to 4), ``page_size`` P (1 to 4), ``tokens``: the length of request A. ``need_sort``: freed pages wait, as
    on a decode node. ``restore``: "at the new locs", "at the old locs" or "not at all". ``at``: a moment, 0 to 3. ``selected``:
    a position of A.
    """
    try:
        state = retraction_state.make(dcp_size, page_size, tokens, need_sort, restore, at, selected)
    except (ValueError, TypeError) as error:
        return notice(f"retraction: {error}")
    return Retraction(state)


class _Live(live.Live):
    def __init__(self, owner: Retraction):
        import ipywidgets as w

        super().__init__(owner)
        state = owner.state
        self.at = control(w.IntSlider, "moment", "the moment that is looked at", 260, 55, min=0)
        self.at.max = len(retraction_state.MOMENTS) - 1
        earlier = control(w.Button, "moment - 1", "previous moment", 115)
        later = control(w.Button, "moment + 1", "next moment", 115)
        self.d = control(w.Dropdown, "D", "DCP group size", 75, 15, options=retraction_state.SIZES)
        self.restore = control(w.Dropdown, "restored", "where the restore writes", 210, 60, options=retraction_state.RESTORES)
        self.sort = control(w.Checkbox, "freed pages wait", "need_sort, as on a decode node", 140, indent=False)
        self.token = control(w.IntSlider, "position", "the token of A that is followed", 300, 55, min=0)
        self.at.observe(self.guarded(lambda: retraction_state.looked_at(self.state, self.at.value)), "value")
        earlier.on_click(self.guarded(lambda: retraction_state.looked_at(self.state, self.state.at - 1)))
        later.on_click(self.guarded(lambda: retraction_state.looked_at(self.state, self.state.at + 1)))
        self.d.observe(self.guarded(lambda: retraction_state.with_size(self.state, self.d.value)), "value")
        for part in (self.restore, self.sort):
            part.observe(self.guarded(self._new_ways), "value")
        self.token.observe(self.guarded(lambda: retraction_state.with_selected(self.state, self.token.value)), "value")
        self.box = self.assemble([self.at, earlier, later, self.restore], [self.token, self.d, self.sort])
        self.show(state)

    def _new_ways(self) -> RetractionState:
        return retraction_state.with_ways(self.state, self.sort.value, self.restore.value)

    def with_chosen(self, chosen: int) -> RetractionState:
        return retraction_state.with_selected(self.state, chosen)

    def set_controls(self, state: RetractionState) -> None:
        self.at.value, self.d.value = state.at, state.dcp_size
        self.restore.value, self.sort.value = state.restore, state.need_sort
        self.token.max = state.tokens - 1
        self.token.value = state.selected

    def marked(self, state: RetractionState) -> int | None:
        return state.selected


class Retraction(live.View):
    """The return value of `retraction`; see `live.View`."""

    name, scenes, shell = "retraction", retraction_scene, _Live
