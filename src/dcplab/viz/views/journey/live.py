"""Shows the live journey: controls and a figure over `journey.state` and `journey.scene`."""

from __future__ import annotations

from dcplab.viz.core import live
from dcplab.viz.core.live import control
from dcplab.viz.core.picture import Picture, drawn, notice
from dcplab.viz.views.journey import scene as journey_scene
from dcplab.viz.views.journey import state as journey_state
from dcplab.viz.views.journey.state import JourneyState


@drawn
def token_journey_picture(
    dcp_size=4, page_size=1, size=None, write=False, read=False, level="low", selected=None, old=None, new=None
) -> Picture:
    """Draw a token's journey on write and on read, every rank side by side, as a picture with tables.

    ``dcp_size`` D (2 to 4), ``page_size`` P, ``size`` C, by default the smallest possible. ``write`` and ``read``: True if that
    side is patched. ``level``: "low" or "high", the place of request B's locs. ``selected``: a word, or its number over both
    requests. ``old`` and ``new``: the words of request A and of request B.
    """
    return journey_scene.picture(journey_state.make(dcp_size, page_size, size, write, read, level, selected, old, new))


def token_journey(
    dcp_size=4, page_size=1, size=None, write=False, read=False, level="low", selected=None, old=None, new=None
) -> TokenJourney | Picture:
    """Show the same, live where a kernel runs: each fix, the watermark, D and the token are controls.

    Arguments: see `token_journey_picture`.
    """
    try:
        state = journey_state.make(dcp_size, page_size, size, write, read, level, selected, old, new)
    except (ValueError, TypeError) as error:
        return notice(f"token_journey: {error}")
    return TokenJourney(state)


class _Live(live.Live):
    def __init__(self, owner: TokenJourney):
        import ipywidgets as w

        super().__init__(owner)
        self.write = control(w.Checkbox, "write mended", "the writer keeps its own locs and divides them", 125, indent=False)
        self.read = control(w.Checkbox, "read mended", "the reader localizes what top-k selected", 120, indent=False)
        self.level = control(w.Dropdown, "watermark", "where request B's locs lie", 170, 75, options=journey_state.LEVELS)
        self.d = control(w.Dropdown, "D", "DCP group size", 75, 15, options=journey_state.SIZES)
        self.token = control(w.IntSlider, "token", "the token that is looked at", 300, 40, min=0)
        before = control(w.Button, "token - 1", "previous token", 85)
        after = control(w.Button, "token + 1", "next token", 85)

        for part in (self.write, self.read):
            part.observe(self.guarded(self._new_fixes), "value")
        self.level.observe(self.guarded(lambda: journey_state.with_level(self.state, self.level.value)), "value")
        self.d.observe(self.guarded(lambda: journey_state.with_size(self.state, self.d.value)), "value")
        self.token.observe(self.guarded(lambda: journey_state.with_selected(self.state, self.token.value)), "value")
        before.on_click(self.guarded(lambda: journey_state.with_selected(self.state, self.state.selected - 1)))
        after.on_click(self.guarded(lambda: journey_state.with_selected(self.state, self.state.selected + 1)))
        self.box = self.assemble([self.write, self.read, self.level, self.d], [self.token, before, after])
        self.show(owner.state)

    def _new_fixes(self) -> JourneyState:
        return journey_state.with_fixes(self.state, self.write.value, self.read.value)

    def with_chosen(self, chosen: int) -> JourneyState:
        return journey_state.with_loc(self.state, chosen)

    def set_controls(self, state: JourneyState) -> None:
        self.write.value, self.read.value, self.level.value = state.write, state.read, state.level
        self.d.value = state.dcp_size
        self.token.max = len(state.tokens) - 1
        self.token.value = state.selected

    def marked(self, state: JourneyState) -> int | None:
        return state.selected


class TokenJourney(live.View):
    """The return value of `token_journey`; see `live.View`."""

    name, scenes, shell = "journey", journey_scene, _Live
