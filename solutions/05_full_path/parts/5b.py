"""5b: Wire extend, verify and draft"""

from __future__ import annotations

from dcplab.course import luck
from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import one_rank, recall_prompt, said_otherwise, serve_with, served_cells, served_rows, serving, wants_kernels


def _extend_cases(draw: Draw) -> list[Case]:
    def served(role, label, size, rounds, new, dcp_size, **options):
        call = "" if role == "all" else f"{role}_path"
        return serving(label, size, role, rounds, new, dcp_size, call=call, **options)

    three = [recall_prompt(draw, 13, 5), recall_prompt(draw, 24, 15), recall_prompt(draw, 34, 30)]
    again = [[*three[2][:30], *recall_prompt(draw, 11, 4)[1:]], recall_prompt(draw, 9, 4), [*three[1][:20], *three[1][5:7]]]
    two = [recall_prompt(draw, 12, 9), recall_prompt(draw, 17, 12)]
    return [
        served("extend", "one request in chunks of 9, two ranks", 0, [[recall_prompt(draw, 16, 14)]], 3, 2, chunk=9),
        served("extend", "two requests in one batch", 1, [two], 3, 2),
        served("extend", "three in chunks, then with cached pages and without", 2, [three, again], 3, 3, chunk=17, high=True),
        served("extend", "mixed: some decode while others extend", 3, [[*two, three[1]]], 9, 3, chunk=9, mixed=True),
        served("verify", "target verify, two ranks", 4, [[recall_prompt(draw, 10, 3)]], 8, 2, draft=2),
        served("verify", "target verify, high locs", 5, [two], 8, 3, draft=3, high=True),
        served("draft", "the draft, two ranks", 6, [[recall_prompt(draw, 10, 4)]], 8, 2, draft=2),
        served("draft", "the draft, high locs", 7, [two], 8, 3, draft=3, high=True),
        served("all", "all three at once, four ranks", 8, [three, again], 8, 4, chunk=19, draft=3, high=True),
    ]


def _but(source: str) -> str | None:
    if not luck.calls(source, "draft_path", "merge"):
        return None
    return "But the draft merges D equal outputs: the words are right, and its LSE is log2(D) too large for whoever reads it."


PART = Part(
    id="5b",
    entry="extend_path",
    also=("verify_path", "draft_path"),
    title="Wire extend, verify and draft",
    points=25,
    minutes=15,
    cases=_extend_cases,
    drive=serve_with,
    compiles=wants_kernels,
    oracle=one_rank,
    compare=said_otherwise,
    rows=served_rows,
    picture=Shows(drawn=served_cells, title="What the check looks at, by layer and rank"),
    carries=True,
    timeout_s=120.0,  # on a GPU, twice that: the first time TileLang compiles its kernels
    question="Which buffer does attention read in this batch, and what must its indices count?",
    hints=(
        "Three batches, three buffers: extend reads a workspace that you fill, verify reads this rank's pool, the "
        "draft's pool is whole on every rank.",
        "Extend: after the writes, every rank reads its share of the prefixes and step.all_gather gives all shares; "
        "interleave puts them in position order, join sets each request's new tokens behind its prefix. Top-k then has to "
        "become ragged indices. Nothing is merged.",
        "extend: rank.fill(step.join(prefix, rank.latent)), then attend_ragged(to_ragged(select_ragged())). verify: "
        "the wiring of decode. draft: rank.as_rows(...) where decode has rank.localize(...), and each rank's own out, "
        "no merge.",
    ),
    prediction=Prediction(
        question="Somebody localizes in the draft's path too. The draft's pool is whole on every rank. What do users see?",
        answer="right words, more slowly",
        because=(
            "The target verifies every guess, so no wrong word gets out. The guesses are bad, few are kept, and each step "
            "brings fewer words. No test of answers finds it; the acceptance rate does."
        ),
        choices=("wrong words", "right words, more slowly", "a crash", "nothing at all"),
    ),
    but=_but,
)
