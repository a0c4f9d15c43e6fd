"""Says which states of each live picture a page without a kernel can show, and which control leads to which."""

from __future__ import annotations

from collections.abc import Callable

from dcplab.site.film import Film, Frame
from dcplab.viz import Layouts, OwnerTable, Retraction, TokenJourney, Watermark, Workspace
from dcplab.viz.core.live import View
from dcplab.viz.views.journey import scene as journey_scene
from dcplab.viz.views.journey import state as journey_state
from dcplab.viz.views.layouts import scene as layouts_scene
from dcplab.viz.views.layouts import state as layouts_state
from dcplab.viz.views.owner import scene as owner_scene
from dcplab.viz.views.owner import state as owner_state
from dcplab.viz.views.retraction import scene as retraction_scene
from dcplab.viz.views.retraction import state as retraction_state
from dcplab.viz.views.watermark import scene as watermark_scene
from dcplab.viz.views.watermark import state as watermark_state
from dcplab.viz.views.workspace import scene as workspace_scene
from dcplab.viz.views.workspace import state as workspace_state

RANKS = range(2, 9)  # the values of D that the owner table steps through
NO_YES = ("no", "yes")
TARGET_RUNS = (1, 2, 4, 8)  # of the target in two layouts


def owner_table(view: OwnerTable) -> Film:
    """Film an owner table: any D, and of each D every loc of the range that is shown first."""
    state = view.state

    def of(d: int) -> owner_state.OwnerState:
        if d == state.dcp_size:
            return state
        return owner_state.with_geometry(state, d, state.page_size, state.size, view._asked, view._keep_range)

    def frames(d: str) -> list[Frame]:
        begin = of(int(d))
        states = [owner_state.with_selected(begin, loc) for loc in begin.shown]
        return [
            Frame(f"loc {s.selected}", owner_scene.picture(s), owner_scene.sentence(s), owner_scene.legend(s), s.selected)
            for s in states
        ]

    ranks = [str(d) for d in sorted({*RANKS, state.dcp_size})]
    return Film("owner table", "loc", frames, f"loc {state.selected}", {"D": ranks}, (str(state.dcp_size),))


def watermark(view: Watermark) -> Film:
    """Film a watermark: every step of its script."""
    states = [watermark_state.looked_at(view.state, at) for at in range(len(view.state.actions) + 1)]
    frames = [
        Frame(f"step {s.at}", watermark_scene.picture(s), watermark_scene.sentence(s), watermark_scene.legend(s))
        for s in states
    ]
    return Film("watermark", "step", lambda: frames, f"step {view.state.at}", {})


def token_journey(view: TokenJourney) -> Film:
    """Film a journey: either side mended or not, request B low or high, and every token."""
    state = view.state

    def frames(write: str, read: str, level: str) -> list[Frame]:
        begin = journey_state.with_level(journey_state.with_fixes(state, write == "yes", read == "yes"), level)
        states = [journey_state.with_selected(begin, token.index) for token in begin.tokens]
        return [
            Frame(
                f"token {s.selected}, {s.token.word!r}",
                journey_scene.picture(s),
                journey_scene.sentence(s),
                journey_scene.legend(s),
                s.token.loc,
            )
            for s in states
        ]

    axes = {"write mended": NO_YES, "read mended": NO_YES, "watermark": journey_state.LEVELS}
    start = (NO_YES[state.write], NO_YES[state.read], state.level)
    return Film("token's journey", "token", frames, f"token {state.selected}, {state.token.word!r}", axes, start)


def workspace(view: Workspace) -> Film:
    """Film a workspace: every use of an id, and every token of every request."""
    state = view.state
    uses = {use.says: key for key, use in workspace_state.USES.items()}

    def frames(use: str) -> list[Frame]:
        begin = workspace_state.with_use(state, uses[use])
        states = [workspace_state.with_token(begin, *token) for token in state.tokens]
        return [
            Frame(
                step(s),
                workspace_scene.picture(s),
                workspace_scene.sentence(s),
                workspace_scene.legend(s),
                s.followed.locs[s.position],
            )
            for s in states
        ]

    def step(s: workspace_state.WorkspaceState) -> str:
        return f"request {s.followed.name}, position {s.position}"

    return Film("workspace", "token", frames, step(state), {"used as": list(uses)}, (workspace_state.USES[state.use].says,))


def retraction(view: Retraction) -> Film:
    """Film a retraction: each moment and each restore, with either allocator, for the selected token."""
    state = view.state

    def frames(restore: str, waits: str) -> list[Frame]:
        begin = retraction_state.with_ways(state, waits == "yes", restore)
        states = [retraction_state.looked_at(begin, at) for at in range(len(retraction_state.MOMENTS))]
        return [
            Frame(step(s), retraction_scene.picture(s), retraction_scene.sentence(s), retraction_scene.legend(s))
            for s in states
        ]

    def step(s: retraction_state.RetractionState) -> str:
        return f"moment {s.at}, {retraction_state.MOMENTS[s.at]}"

    axes = {"restored": retraction_state.RESTORES, "freed pages wait": NO_YES}
    return Film("retraction", "moment", frames, step(state), axes, (state.restore, NO_YES[state.need_sort]))


def layouts(view: Layouts) -> Film:
    """Film two layouts: every token, by the length of the target's runs."""
    state = view.state

    def frames(run: str) -> list[Frame]:
        begin = layouts_state.with_layouts(state, state.source, (state.target.dcp_size, int(run)), state.tokens)
        states = [layouts_state.with_selected(begin, token) for token in range(state.tokens)]
        return [
            Frame(
                f"token {s.selected}", layouts_scene.picture(s), layouts_scene.sentence(s), layouts_scene.legend(s), s.selected
            )
            for s in states
        ]

    def step(s: layouts_state.LayoutsState) -> str:
        return f"token {s.selected}"

    runs = [str(run) for run in sorted({*TARGET_RUNS, state.target.interleave})]
    axes = {"target I": runs}
    return Film("picture of two layouts", "token", frames, step(state), axes, (str(state.target.interleave),))


FILMED: dict[type[View], Callable[..., Film]] = {
    OwnerTable: owner_table,
    Watermark: watermark,
    TokenJourney: token_journey,
    Workspace: workspace,
    Retraction: retraction,
    Layouts: layouts,
}
