import torch

from dcplab.field.server.attention import attend, index_scores, merge_states, merge_topk, store


def test_padding_is_not_stored():
    cache = torch.zeros(4, 2)
    store(cache, torch.ones(3, 2), torch.tensor([2, -1, 0]))
    assert cache.sum(1).tolist() == [2, 0, 2, 0]


def test_keys_beyond_the_length_have_no_score():
    query, weights = torch.ones(1, 1, 128), torch.ones(1, 1)
    scores = index_scores(query, weights, torch.ones(1, 3, 128), torch.ones(1, 3), torch.tensor([2]))
    assert scores[0].tolist() == [128.0, 128.0, float("-inf")]


def test_candidates_of_two_ranks_are_merged_by_score():
    scores, positions = torch.tensor([[5.0, 1.0, 7.0, float("-inf")]]), torch.tensor([[0, 2, 1, 3]])
    assert merge_topk(scores, positions, 2)[0].tolist() == [1, 0]


def test_two_halves_merge_to_the_whole():
    torch.manual_seed(0)
    query, cache = torch.randn(2, 1, 8), torch.randn(6, 8)
    whole, _ = attend(query, cache, torch.arange(6).expand(2, -1), 0.5)
    halves = [attend(query, cache, torch.arange(start, start + 3).expand(2, -1), 0.5) for start in (0, 3)]
    merged = merge_states(torch.stack([out for out, _ in halves]), torch.stack([lse for _, lse in halves]))
    assert torch.allclose(merged, whole, atol=1e-5)
