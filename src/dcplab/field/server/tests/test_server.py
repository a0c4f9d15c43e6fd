from dcplab.field.server.config import QuayConfig, RequestRefused
from dcplab.field.server.server import QuayServer

POEM = [0, 11, 12, 13, 14, 15, 16, 17, 18, 19]


def generate(cfg, prompts, count):
    server = QuayServer(cfg)
    requests = [server.add_request(prompt, count) for prompt in prompts]
    server.run()
    return [request.output_token_ids for request in requests], server


def test_it_goes_on_with_what_followed():
    (out,), server = generate(QuayConfig(), [[*POEM, 12]], 4)
    assert out == [13, 14, 15, 16]
    assert server.num_free_blocks == server.cfg.num_blocks - 1


def test_two_requests_side_by_side():
    out, _ = generate(QuayConfig(), [[*POEM, 12], [*POEM, 15]], 4)
    assert out == [[13, 14, 15, 16], [16, 17, 18, 19]]


def test_a_second_round_finds_its_prefix():
    server = QuayServer(QuayConfig())
    for hits in (0, 8):
        request = server.add_request([*POEM, 12], 3)
        server.run()
        assert request.output_token_ids == [13, 14, 15]
        assert server.stats.prefix_hits == hits


def test_a_drafter_changes_no_answer():
    (out,), server = generate(QuayConfig(num_draft_tokens=3), [[*POEM, 12]], 6)
    assert out == [13, 14, 15, 16, 17, 18]
    assert server.stats.accepted > 0


def test_a_request_that_never_fits_is_refused():
    server = QuayServer(QuayConfig(num_blocks=4, block_size=4))
    try:
        server.add_request(list(range(12)), 8)
    except RequestRefused:
        return
    raise AssertionError("it was accepted")
