"""Shows the live owner table: controls, a picture and a text table over `owner.state` and `owner.scene`.

Values that cannot be drawn give a sentence above the picture, which stays unchanged.
"""

from __future__ import annotations

from dcplab.viz.core import live
from dcplab.viz.core.live import control
from dcplab.viz.core.picture import Picture, notice
from dcplab.viz.views.owner import scene as owner_scene
from dcplab.viz.views.owner import state as owner_state
from dcplab.viz.views.owner.state import OwnerState


def owner_table(dcp_size=4, page_size=4, size=12, first=None, last=None, requests=None, selected=None) -> OwnerTable | Picture:
    """Show the owner table: live where a kernel runs, elsewhere as a picture with a table.

    ``dcp_size`` D, ``page_size`` P, ``size`` C: the geometry. ``first``, ``last``: locs, both shown (at most 128; about 64 by
    default). ``requests``: a mapping from name to a length in tokens (whole pages are taken in order) or to the request's locs
    in position order; two requests by default. ``selected``: the loc to begin with.
    """
    try:
        state = owner_state.make(dcp_size, page_size, size, first, last, requests, selected)
    except (ValueError, TypeError) as error:
        return notice(f"owner_table: {error}")
    return OwnerTable(state, requests, keep_range=first is not None or last is not None)


class _Live(live.Live):
    def __init__(self, owner: OwnerTable):
        import ipywidgets as w

        super().__init__(owner)
        state = owner.state
        most = max(8, state.dcp_size)
        self.d = control(w.IntSlider, "D", "DCP group size", 230, 20, min=1, max=most)
        self.p = control(w.IntText, "P", "slots of a page", 110, 20)
        self.c = control(w.IntText, "C", "rows of a rank's pool, spare page not counted", 130, 20)
        self.first = control(w.IntText, "first loc", "first loc shown", 155, 60)
        self.last = control(w.IntText, "last loc", "last loc shown", 155, 60)
        self.request = control(w.Dropdown, "request", "the request that is looked at", 180, 55)
        self.position = control(w.IntSlider, "position", "position in the request", 235, 55)
        self.loc = control(w.IntSlider, "loc", "the selected loc", 215, 30)
        before = control(w.Button, "loc - 1", "previous loc", 70)
        after = control(w.Button, "loc + 1", "next loc", 70)

        for part in (self.d, self.p, self.c):
            part.observe(self.guarded(self._new_geometry), "value")
        for part in (self.first, self.last):
            part.observe(self.guarded(self._new_range), "value")
        self.request.observe(self.guarded(lambda: owner_state.with_request(self.state, self.request.value)), "value")
        self.position.observe(self.guarded(self._new_position), "value")
        self.loc.observe(self.guarded(lambda: owner_state.with_selected(self.state, self.loc.value)), "value")
        before.on_click(self.guarded(lambda: owner_state.with_selected(self.state, self.state.selected - 1)))
        after.on_click(self.guarded(lambda: owner_state.with_selected(self.state, self.state.selected + 1)))
        self.box = self.assemble(
            [self.d, self.p, self.c, self.first, self.last], [self.request, self.position, self.loc, before, after]
        )
        self.show(state)

    def _new_geometry(self) -> OwnerState:
        return owner_state.with_geometry(
            self.state, self.d.value, self.p.value, self.c.value, self.owner._asked, self.owner._keep_range
        )

    def _new_range(self) -> OwnerState:
        state = owner_state.with_range(self.state, self.first.value, self.last.value)
        self.owner._keep_range = True
        return state

    def _new_position(self) -> OwnerState:
        locs = self.state.requests[self.state.request].locs
        return owner_state.with_selected(self.state, locs[self.position.value])

    def with_chosen(self, chosen: int) -> OwnerState:
        return owner_state.with_selected(self.state, chosen)

    def marked(self, state: OwnerState) -> int | None:
        return state.shown.index(state.selected)

    def set_controls(self, state: OwnerState) -> None:
        self.d.value, self.p.value, self.c.value = state.dcp_size, state.page_size, state.size
        self.first.value, self.last.value = state.first, state.last
        options = tuple((f"{r.name} ({len(r.locs)} tokens)", i) for i, r in enumerate(state.requests))
        if self.request.options != options:
            self.request.options = options
        self.request.value = state.request
        locs = state.requests[state.request].locs
        self.position.max = max(0, len(locs) - 1)
        self.position.disabled = not locs
        holder = state.holder(state.selected)
        if holder is not None:
            self.position.value = holder[1]
        self.loc.min, self.loc.max = 0, state.largest
        self.loc.value = state.selected


class OwnerTable(live.View):
    """The return value of `owner_table`; see `live.View`."""

    name, scenes, shell = "table", owner_scene, _Live

    def __init__(self, state: OwnerState, requests=None, keep_range: bool = False):
        super().__init__(state)
        self._asked = requests
        self._keep_range = keep_range
