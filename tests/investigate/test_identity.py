"""The fourth question: what a read finds, held against what was put there for its token."""

import pytest

from dcplab import investigate
from dcplab.errors import CourseError
from dcplab.investigate import hidden_cases, identity, local_faults
from dcplab.investigate.hidden_cases import Setup
from dcplab.investigate.identity import ANOTHER, NOBODY, OWN
from dcplab.investigate.local_faults import Fault

pytestmark = pytest.mark.slow  # servers run


def found(seen):
    """What reads found that was not their own, by the kind of buffer."""
    kinds = {}
    for buffer, what in identity.counts(seen).items():
        kinds.setdefault(buffer.partition(".")[0] if "draft" not in buffer else "draft", []).append(
            what[ANOTHER] + what[NOBODY]
        )
    return {kind: sum(counts) > 0 for kind, counts in kinds.items()}


@pytest.mark.parametrize("more", [{}, {"mixed": True}])
def test_on_a_right_server_every_read_finds_its_own(more):
    """Prefix cache, retraction, mixed batches, and pages that have other holders one after another."""
    setup = hidden_cases.draw(2, 3)
    clean = Setup(local_faults.replace(setup.config, layers=2, **more), Fault(), setup.salt, retract=not more)
    run = hidden_cases.recorded(clean)
    counted = identity.counts(run.seen)
    assert run.outcome.verdict == "right" and set(counted) == {"ckv.0", "ckv.1", "index_k.0", "index_k.1"}
    assert all(what[OWN] > 500 and not what[ANOTHER] and not what[NOBODY] for what in counted.values())


@pytest.mark.parametrize(
    "defect, stale",
    [
        ("none", {"ckv": False, "index_k": False}),
        ("index_k_stale", {"ckv": False, "index_k": True}),
        ("restore_old_locs", {"ckv": True, "index_k": True}),
        ("draft_stale", {"ckv": False, "index_k": False, "draft": True}),
    ],
)
def test_what_a_restore_forgot_is_anothers_and_no_type_sees_it(defect, stale):
    night = investigate.night(defect)
    assert found(night._seen) == stale
    assert "typed spaces:  nothing was refused" in str(night) and ("right" in str(night)) >= (defect == "none")


def test_the_story_of_a_loc_names_who_wrote_it_when_and_for_whom():
    told = investigate.night("index_k_stale").identity(loc=21, buffer="index_k.0", rank=0)
    lines = [dict(zip(told.table.header, row, strict=True)) for row in told.table.rows]
    first, last = lines[0], lines[-1]
    assert (first["operation"], first["for"], first["found"]) == ("write_index_k", "the tenant, position 5", "written")
    assert last["for"] == "mine, position 5" and last["found"] == ANOTHER
    assert last["what lay there"].startswith("the tenant, position 5, write_index_k on index_k.0, step")


def test_a_write_outside_its_buffer_is_followed_to_what_it_hits():
    run = next(r for n in (1, 2, 3) if (r := hidden_cases.visible_run(n, 0)).setup.fault.defects == {"index_k_size"})
    counted = identity.counts(run.seen)
    assert counted["index_k.1"][ANOTHER] and not counted["ckv.0"][NOBODY], "index_k.0 runs into index_k.1"
    hit = next(u for u in identity.uses(run.seen) if u.outcome == ANOTHER and u.access.buffer == "index_k.1")
    assert hit.last.buffer == "index_k.0" and hit.last.op == "write_index_k"


def test_a_case_counts_and_does_not_say_where():
    for n in (1, 2, 3):
        told = investigate.case(n, 0).identity()
        assert told.table.header == ("buffer", OWN, ANOTHER, NOBODY) and "write_" not in str(told) and "rank " not in str(told)


def test_what_is_not_there_is_said():
    night = investigate.night()
    assert "Nothing matches" in str(night.identity(loc=10**6))
    assert "nothing matches" in str(night.trace(step=999))
    with pytest.raises(CourseError, match="Nothing is asked by 'rnak'"):
        night.identity(rnak=1)
    with pytest.raises(CourseError, match="no night 'x'; there are none, retract"):
        investigate.night("x")
