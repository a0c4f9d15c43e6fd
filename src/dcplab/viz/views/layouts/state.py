"""The state of two layouts side by side: the same tokens on a source and on a target, each with its own D and I. Frozen.

On either node the tokens have neighbouring locs from a round's beginning on: after one round on the source, after two on the
target. So no token has the same loc on both, if the rounds are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcplab.engine import index_spaces
from dcplab.engine.index_spaces import Layout
from dcplab.viz.core.validate import whole

MOST_RANKS, LONGEST_RUN, MOST_TOKENS = 8, 16, 32


@dataclass(frozen=True)
class LayoutsState:
    """``source``, ``target``: their layouts. ``selected``: a token, 0 to ``tokens`` - 1."""

    source: Layout
    target: Layout
    tokens: int
    selected: int

    @property
    def nodes(self) -> tuple[NodeLayout, NodeLayout]:
        """Return source and target, with the first loc of the tokens."""
        source, target = self.source, self.target
        return (
            NodeLayout("source", source, source.dcp_size * source.interleave),
            NodeLayout("target", target, 2 * target.dcp_size * target.interleave),
        )


@dataclass(frozen=True)
class NodeLayout:
    """One node: its layout, and the loc of token 0 there."""

    name: str
    layout: Layout
    first: int

    def loc(self, token: int) -> int:
        return self.first + token

    def owner(self, token: int) -> int:
        return index_spaces.owner_rank(self.loc(token), self.layout.dcp_size, self.layout.interleave)

    def row(self, token: int) -> int:
        return index_spaces.local_row(self.loc(token), self.layout.dcp_size, self.layout.interleave)

    def rows(self, tokens: int) -> range:
        """Return the rows of all rounds in which a token lies."""
        run = self.layout.interleave
        whole_round = self.layout.dcp_size * run
        return range(self.first // whole_round * run, -(-self.loc(tokens) // whole_round) * run)


def make(source=(2, 1), target=(4, 4), tokens=24, selected=9) -> LayoutsState:
    """Check the settings and make a state of them. ValueError in a sentence for one that cannot be shown."""
    tokens = whole(tokens, "tokens", 1)
    if tokens > MOST_TOKENS:
        raise ValueError(f"there are at most {MOST_TOKENS} tokens here, not {tokens}.")
    state = LayoutsState(_layout(source, "source"), _layout(target, "target"), tokens, 0)
    return with_selected(state, selected)


def with_selected(state: LayoutsState, selected) -> LayoutsState:
    """Return the state with another token selected."""
    selected = whole(selected, "the token")
    if selected >= state.tokens:
        raise ValueError(f"there are {state.tokens} tokens, 0 to {state.tokens - 1}, and no token {selected}.")
    return replace(state, selected=selected)


def with_layouts(state: LayoutsState, source, target, tokens) -> LayoutsState:
    """Return the state with other layouts or another number of tokens. The last token takes over from one that is gone."""
    fresh = make(source, target, tokens, 0)
    return with_selected(fresh, min(state.selected, fresh.tokens - 1))


def together(state: LayoutsState) -> list[int]:
    """Return the tokens that go from the selected one's source rank to its target rank: those of one launch."""
    pairs = [tuple(node.owner(token) for node in state.nodes) for token in range(state.tokens)]
    return [token for token, pair in enumerate(pairs) if pair == pairs[state.selected]]


def _layout(given, name: str) -> Layout:
    try:
        size, run = given
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be two numbers, D and I, not {given!r}.") from None
    size, run = whole(size, f"the {name}'s D", 1), whole(run, f"the {name}'s I", 1)
    if size > MOST_RANKS or run > LONGEST_RUN:
        raise ValueError(f"D is at most {MOST_RANKS} and I at most {LONGEST_RUN} here, and the {name}'s are {size} and {run}.")
    return Layout(size, run)
