from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.errors import CourseError

POEM = [0, 11, 12, 13, 14, 15, 16, 17, 18, 19]


SMALL = dict(size=64, page_size=4, dcp_size=1, layers=2, topk=16, chunk=32)


def engine(**config):
    return Engine(ServerConfig(**SMALL | config), watch=False)


def test_it_goes_on_with_what_followed():
    assert engine().generate([[*POEM, 12]], 4) == [[13, 14, 15, 16]]


def test_two_requests_side_by_side():
    assert engine().generate([[*POEM, 12], [*POEM, 15]], 4) == [[13, 14, 15, 16], [16, 17, 18, 19]]


def test_a_second_round_finds_its_prefix():
    one = engine()
    for cached in (0, 8):
        assert one.generate([[*POEM, 12]], 3) == [[13, 14, 15]]
        assert one.metrics.cached == cached


def test_a_draft_changes_no_answer():
    one = engine(draft_tokens=2)
    assert one.generate([[*POEM, 12]], 6) == [[13, 14, 15, 16, 17, 18]]
    assert one.metrics.accepted > 0


def test_what_never_fits_is_refused():
    try:
        engine(size=8).submit(list(range(12)), 8)
    except CourseError:
        return
    raise AssertionError("it was accepted")
