"""Shows the live isolation matrix: run and stop, and a figure that fills while servers run in a thread."""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable

from dcplab.viz.core import live
from dcplab.viz.core.live import control
from dcplab.viz.core.picture import Picture, notice
from dcplab.viz.views.matrix import scene as matrix_scene
from dcplab.viz.views.matrix import state as matrix_state
from dcplab.viz.views.matrix.state import MatrixCell, MatrixState

Told = tuple[str, str, str, str]  # id, verdict, counts, because
# run(todo, starts, result, stop): runs the servers with these ids, calls ``starts(id)`` and ``result(told)``, asks ``stop()``.
Run = Callable[[list[str], Callable[[str], None], Callable[[Told], None], Callable[[], bool]], None]


def matrix(patches: tuple[str, ...], cells: tuple[MatrixCell, ...], run: Run) -> MatrixTable | Picture:
    """Show the isolation matrix of these servers. ``run`` runs them. Live where a kernel runs."""
    try:
        state = matrix_state.make(patches, cells)
    except (ValueError, TypeError) as error:
        return notice(f"matrix: {error}")
    return MatrixTable(state, run)


class _Live(live.Live):
    def __init__(self, owner: MatrixTable):
        import ipywidgets as w

        super().__init__(owner)
        self.lock = threading.RLock()  # two threads make states from states
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None
        self.go = control(w.Button, "run", "run the servers that have not run yet", 80)
        self.halt = control(w.Button, "stop", "stop after the server that runs now", 80)
        options = [(c.id, i) for i, c in enumerate(owner.state.cells)]
        self.at = control(w.Dropdown, "look at", "the server that is explained", 260, 50, options=options)
        surprise = control(w.Button, "next surprise", "the next server that did not do what you said", 120)
        self.bar = w.IntProgress(min=0, max=len(options), layout=w.Layout(width="160px"))
        self.bar.add_class("dcplab-progress")
        self.list = w.HTML()
        self.go.on_click(lambda _: self._start())
        self.halt.on_click(lambda _: self._stop())
        self.at.observe(self.guarded(lambda: matrix_state.looked_at(self.state, self.at.value)), "value")
        surprise.on_click(self.guarded(lambda: matrix_state.next_surprise(self.state)))
        self.box = self.assemble([self.go, self.halt, self.bar], [self.at, surprise])
        self.box.children = (*self.box.children, self.list)
        self.show(owner.state)

    def guarded(self, new_state: Callable) -> Callable:
        call = super().guarded(new_state)

        def locked(*given) -> None:
            with self.lock:
                call(*given)

        return locked

    def change(self, new_state: Callable[[MatrixState], MatrixState]) -> None:
        """Show another state, made from the present one."""
        with self.lock:
            self.show(new_state(self.state))

    def with_chosen(self, chosen: int) -> MatrixState:
        return matrix_state.looked_at(self.state, chosen)

    def _start(self) -> None:
        if self.thread is not None and self.thread.is_alive():
            return
        self.stopping.clear()
        # Run with the cell's own context, so that the thread's output belongs to this cell.
        work = functools.partial(contextvars.copy_context().run, self._work)
        self.thread = threading.Thread(target=work, name="matrix", daemon=True)
        self.thread.start()

    def _stop(self) -> None:
        self.stopping.set()
        if self.state.running is not None:
            self.say("Stops after the server that runs now.")

    def _work(self) -> None:
        ids = [c.id for c in self.state.cells]
        todo = [c.id for c in self.state.cells if not c.verdict]
        note = ""
        try:
            self.owner.run(
                todo,
                lambda id: self.change(lambda s: matrix_state.started(s, ids.index(id))),
                lambda told: self.change(lambda s: matrix_state.with_result(s, *told)),
                self.stopping.is_set,
            )
            if self.state.done < len(ids):
                note = "Stopped; run goes on from here."
        except Exception as error:  # a server's error: the matrix stays and shows it
            note = f"A server could not be run: {type(error).__name__}: {error}."
        self.change(lambda s: matrix_state.ended(s, note))

    def set_controls(self, state: MatrixState) -> None:
        self.at.value = state.at
        self.bar.value = state.done
        running = state.running is not None
        self.go.disabled, self.halt.disabled = running or state.done == len(state.cells), not running

    def marked(self, state: MatrixState) -> int | None:
        return state.at

    def show(self, state: MatrixState) -> Picture:
        picture = super().show(state)
        self.list.value = matrix_scene.listed(matrix_scene.surprises(state))
        return picture


class MatrixTable(live.View):
    """The return value of `matrix`; see `live.View`. ``run`` runs its servers."""

    name, scenes, shell = "matrix", matrix_scene, _Live

    def __init__(self, state: MatrixState, run: Run):
        super().__init__(matrix_state.ended(state))
        self.run = run
