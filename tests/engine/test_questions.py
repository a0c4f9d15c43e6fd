"""What is asked for lies where it should: behind the first top-k positions, and in pages that the prefix cache keeps."""

import pytest

from dcplab.engine import scenario, tokenizer


@pytest.mark.parametrize("topk", [3, scenario.TOPK, 64, 2048])
@pytest.mark.parametrize("width", [1, 4, 15, 16, 31, 50, 64, 96, 256, 512, 1024])
@pytest.mark.parametrize("salt", [0, 7])
def test_a_fact_lies_behind_topk_and_in_whole_pages(width, topk, salt):
    for question in scenario.asked(width, topk, salt):
        words, answer = [tokenizer.BOS_WORD, *question.prompt.split()], question.answer.split()
        at = next(i for i in range(len(words)) if words[i : i + len(answer)] == answer)
        cached = len(words) // width * width
        assert topk < at and at + len(answer) <= cached, (question.name, at, cached)
