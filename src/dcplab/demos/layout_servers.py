"""What lab 07 opens with: one server that deals four locs a turn, right, and with three rules that are right for another one.

It runs on the CPU, in torch.
"""

from __future__ import annotations

from dcplab.engine import defects, scenario
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.engine.threads import one_thread
from dcplab.present.display import Shown

D = P = TURN = 4  # ranks, and locs in a page and in a turn
SERVERS = (
    ("one loc a turn", "none", 1),
    ("four locs a turn", "none", TURN),
    ("reads as if it were one", "interleave_other", TURN),
    ("index-K by half a block", "kernel_block", TURN),
    ("index-K dealt, too", "index_k_localized", TURN),
)


def five_servers() -> Shown:
    """Ask three questions of a server with one loc a turn, of the same with four, and of that with each of three faults."""
    lines = [f"[CPU, torch] D {D}, P {P}: three questions, below the watermark", ""]
    lines.append(f"{'server':<26}{'right':<8}{'outside':<10}the second is told")
    for what, defect, interleave in SERVERS:
        out = _asked(defect, interleave)
        fresh = [answer for answer in out.answers if answer.when == "fresh"]
        right = sum(answer.right for answer in fresh)
        outside = "none" if out.first_outside is None else str(out.first_outside)
        lines.append(f"{what:<26}{f'{right} of {len(fresh)}':<8}{outside:<10}{fresh[1].got}")
    return Shown("\n".join(lines))


def _asked(defect: str, interleave: int) -> scenario.Outcome:
    chosen = defects.parse(defect)
    size = scenario.default_size(P, D)
    config = ServerConfig(size=size, page_size=P, topk=scenario.TOPK, interleave=interleave)
    with one_thread():
        return scenario.story(Engine(scenario.settings(config, chosen), chosen, Local(D)), "below", stored=True)
