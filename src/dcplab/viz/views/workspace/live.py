"""Shows the live workspace: controls and a figure over `workspace.state` and `workspace.scene`."""

from __future__ import annotations

from dcplab.viz.core import live
from dcplab.viz.core.live import control
from dcplab.viz.core.picture import Picture, notice
from dcplab.viz.views.workspace import scene as workspace_scene
from dcplab.viz.views.workspace import state as workspace_state
from dcplab.viz.views.workspace.state import MOST_RANKS, USES, WorkspaceState


def workspace(requests=None, dcp_size=2, page_size=2, request=None, position=None, use="ragged") -> Workspace | Picture:
    """Show the way from the shards of a batch's prefixes to the ragged workspace, and follow one top-k index. Live where a
    kernel runs.

    ``requests``: a mapping of a name to (cached words, new words), two texts; at most 4 requests and 24 words. ``dcp_size`` D,
    ``page_size`` P. ``request``, ``position``: the token that top-k picked, by name and place. ``use``: the way in which its id
    is used: ragged, row (both right), position, loc, prefix, layout, raw, pool (each wrong in its way).
    """
    try:
        state = workspace_state.make(requests, dcp_size, page_size, request, position, use)
    except (ValueError, TypeError) as error:
        return notice(f"workspace: {error}")
    return Workspace(state)


class _Live(live.Live):
    def __init__(self, owner: Workspace):
        import ipywidgets as w

        super().__init__(owner)
        state = owner.state
        names = [(r.name, i) for i, r in enumerate(state.requests)]
        tips = [f"follow a token of request {name}" for name, _ in names]
        self.request = w.ToggleButtons(options=names, tooltips=tips, style={"button_width": "auto"})
        self.position = control(w.IntSlider, "position", "the position that top-k picked", 250, 55, min=0)
        before = control(w.Button, "position - 1", "previous position", 105)
        after = control(w.Button, "position + 1", "next position", 105)
        uses = [(use.says, key) for key, use in USES.items()]
        self.use = control(w.Dropdown, "used as", "which id of the token is given to which buffer", 370, 55, options=uses)
        other = control(w.Button, "next use", "use the id in the next way", 90)  # JupyterLab would take a list's arrow keys
        self.cached = control(w.IntText, "cached", "tokens of this request that are cached; the others are new", 130, 55)
        self.d = control(w.IntSlider, "D", "DCP group size", 200, 20, min=1, max=max(4, min(MOST_RANKS, state.dcp_size)))
        self.request.observe(self.guarded(lambda: workspace_state.with_token(self.state, self.request.value, 0)), "value")
        self.position.observe(self.guarded(lambda: self._moved(self.position.value)), "value")
        before.on_click(self.guarded(lambda: self._moved(self.state.position - 1)))
        after.on_click(self.guarded(lambda: self._moved(self.state.position + 1)))
        self.use.observe(self.guarded(lambda: workspace_state.with_use(self.state, self.use.value)), "value")
        other.on_click(self.guarded(lambda: workspace_state.with_next_use(self.state)))
        self.cached.observe(self.guarded(lambda: workspace_state.with_cached(self.state, self.cached.value)), "value")
        self.d.observe(self.guarded(lambda: workspace_state.with_ranks(self.state, self.d.value)), "value")
        self.box = self.assemble(
            [w.Label("request"), self.request, self.position, before, after], [self.use, other, self.cached, self.d]
        )
        self.show(state)

    def _moved(self, position: int) -> WorkspaceState:
        return workspace_state.with_token(self.state, self.state.request, position)

    def with_chosen(self, chosen: int) -> WorkspaceState:
        at = next((i, r.locs.index(chosen)) for i, r in enumerate(self.state.requests) if chosen in r.locs)
        return workspace_state.with_token(self.state, *at)

    def set_controls(self, state: WorkspaceState) -> None:
        self.request.value = state.request
        self.position.max = len(state.followed.words) - 1
        self.position.value = state.position
        self.use.value, self.cached.value, self.d.value = state.use, state.followed.cached, state.dcp_size

    def marked(self, state: WorkspaceState) -> int | None:
        return list(USES).index(state.use)


class Workspace(live.View):
    """The return value of `workspace`; see `live.View`."""

    name, scenes, shell = "workspace", workspace_scene, _Live
