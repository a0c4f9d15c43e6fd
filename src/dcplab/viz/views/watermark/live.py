"""Shows the live watermark: controls and a plotly figure over `watermark.state` and `watermark.scene`: a plot over time."""

from __future__ import annotations

import functools

from dcplab.viz.core import live
from dcplab.viz.core.live import control
from dcplab.viz.core.picture import Picture, notice
from dcplab.viz.views.watermark import scene as watermark_scene
from dcplab.viz.views.watermark import state as watermark_state
from dcplab.viz.views.watermark.state import Action, WatermarkState

# Name, tooltip, and C, P, D, layers. The first preset of a real server is that of SGLang #36886: 11 DSA layers.
PRESETS = (
    ("toy: 12, 4, 2", "C = 12, P = 4, D = 2: the lines are 16, 28 and 32", (12, 4, 2, 2)),
    ("toy: 8, 4, 2", "C = 8, P = 4, D = 2: the first line is crossed in the first page", (8, 4, 2, 2)),
    ("real: 455,744, 64, 8", "C = 455,744, P = 64, D = 8: the server of the report", (455_744, 64, 8, 11)),
)


def watermark(size=12, page_size=4, dcp_size=2, layers=2, requests=None, need_sort=False) -> Watermark | Picture:
    """Show the largest live loc, step by step, against the lines at which each consumer breaks. Live where a kernel runs.

    ``size`` C: rows of a rank, without the spare page. ``page_size`` P; ``dcp_size`` D. ``layers``: DSA layers, which are
    neighbours in memory. ``requests``: a list of events, by default a script. A number of tokens is a new request. ``"free A"``
    finishes request A and frees its pages, ``"keep A"`` finishes it and keeps its pages in the prefix cache, ``"evict"`` frees
    the prefix that the cache has kept longest. ``need_sort``: freed pages wait until the others run short, as on the prefill
    and decode nodes of a disaggregated server; else they come back first. Slots and bounds come from `engine.configurator`,
    pages from `engine.allocator`.
    """
    try:
        state = watermark_state.make(size, page_size, dcp_size, layers, need_sort)
        state = state if requests is None else watermark_state.with_all(watermark_state.emptied(state), requests)
    except (ValueError, TypeError) as error:
        return notice(f"watermark: {error}")
    return Watermark(state)


def _plot(*given):
    from dcplab.viz.core.plot import Plot  # imports plotly, which a grader does without

    return Plot(*given)


class _Live(live.Live):
    draws = staticmethod(_plot)
    shown: WatermarkState | None = None

    def __init__(self, owner: Watermark):
        import ipywidgets as w

        super().__init__(owner)
        presets = []
        for name, tip, values in PRESETS:
            presets.append(control(w.Button, name, tip, 150))
            presets[-1].on_click(self.guarded(functools.partial(self._preset, values)))
        self.c = control(w.IntText, "C", "rows of a rank's pool, spare page not counted", 130, 20)
        self.p = control(w.IntText, "P", "slots of a page", 100, 20)
        self.d = control(w.IntText, "D", "DCP group size", 100, 20)
        self.sort = control(w.Checkbox, "need_sort", "freed pages wait until the others run short", 110, indent=False)
        self.step = control(w.IntSlider, "step", "the step that is looked at; a new one goes behind it", 320, 35, min=0)
        over = control(w.Button, "start over", "an empty server", 90)
        self.tokens = control(w.IntText, "tokens", "tokens of the next request", 150, 45)
        new = control(w.Button, "new request", "a request of so many tokens arrives", 115)
        self.request = control(w.Dropdown, "request", "a running request", 150, 55)
        self.free = control(w.Button, "finish, free", "its pages are freed", 100)
        self.keep = control(w.Button, "finish, keep", "its whole pages stay in the prefix cache", 100)
        evict = control(w.Button, "evict", "the prefix cache lets go of what it has kept longest", 70)

        for part in (self.c, self.p, self.d, self.sort):
            part.observe(self.guarded(self._new_geometry), "value")
        self.step.observe(self.guarded(lambda: watermark_state.looked_at(self.state, self.step.value)), "value")
        over.on_click(self.guarded(lambda: watermark_state.emptied(self.state)))
        new.on_click(self.guarded(lambda: watermark_state.with_request(self.state, self.tokens.value)))
        self.free.on_click(self.guarded(lambda: self._finished("free")))
        self.keep.on_click(self.guarded(lambda: self._finished("keep")))
        evict.on_click(self.guarded(lambda: watermark_state.with_eviction(self.state)))
        self.box = self.assemble(
            [*presets, self.c, self.p, self.d, self.sort],
            [self.step, over],
            [self.tokens, new, self.request, self.free, self.keep, evict],
        )
        self.show(owner.state)

    def _preset(self, values: tuple[int, int, int, int]) -> WatermarkState:
        return watermark_state.make(*values, self.state.need_sort)

    def _new_geometry(self) -> WatermarkState:
        return watermark_state.make(self.c.value, self.p.value, self.d.value, self.state.layers, self.sort.value)

    def _finished(self, kind: str) -> WatermarkState:
        if self.request.value is None:
            raise ValueError("no request is running, so none can finish.")
        return watermark_state.with_action(self.state, Action(kind, self.request.value))

    def show(self, state: WatermarkState) -> Picture:
        self.fresh = self.shown is None or self.shown.config != state.config
        self.shown = state
        return super().show(state)

    def marked(self, state: WatermarkState) -> int | None:
        return state.at

    def set_controls(self, state: WatermarkState) -> None:
        self.c.value, self.p.value, self.d.value = state.size, state.page_size, state.dcp_size
        self.sort.value = state.need_sort
        self.step.max = len(state.actions)
        self.step.value = state.at
        if self.fresh:
            self.tokens.value = next(a.tokens for a in state.actions if a.tokens) if state.actions else state.config.width
        running = tuple((f"{h.name} ({h.tokens:,})", h.name) for h in state.step.held if not h.kept)
        names = [name for _, name in running]
        chosen = self.request.value if self.request.value in names else next(iter(names), None)
        if self.request.options != running:
            self.request.options = running
        self.request.value = chosen


class Watermark(live.View):
    """The return value of `watermark`; see `live.View`."""

    name, scenes, shell = "watermark", watermark_scene, _Live
