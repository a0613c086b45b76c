from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import pytest

from attacks.advdreamer.losses import isp
from attacks.advdreamer.selection import Asking, Naturalness, Selection, rate
from benchmark.types import Ask, Feedback, Pixels

T = TypeVar("T")

PICTURES: list[Pixels] = [np.full((2, 2, 3), shade, np.uint8) for shade in (10, 20, 30)]
CLEAN = np.zeros((2, 2, 3), np.uint8)
OPTIONS = ["a cat", "a dog", "a cow"]
FEEDBACK = [
    Feedback(0, True, 0.1, option_scores=(0.1, 0.4, 0.2)),
    Feedback(1, False, 0.5, option_scores=(0.5, 0.4, 0.2)),
    Feedback(2, True, 0.3, option_scores=(0.3, 0.1, 0.35)),
]


def answered(asking: Asking[T], *replies: Sequence[Any]) -> tuple[T, list[Ask]]:
    """What a generator returns when its requests get these replies, and the requests."""
    asked: list[Ask] = []
    waiting = iter(replies)
    try:
        request = next(asking)
        while True:
            assert isinstance(request, Ask)
            asked.append(request)
            request = asking.send(list(next(waiting)))
    except StopIteration as end:
        assert next(waiting, None) is None, "fewer requests than replies"
        return end.value, asked


def test_isp_needs_no_tool() -> None:
    losses, asked = answered(Selection().losses(FEEDBACK, PICTURES, CLEAN, OPTIONS))
    assert losses == [isp(one.option_scores) for one in FEEDBACK]
    assert asked == []


def test_image_against_text() -> None:
    losses, _ = answered(Selection("mf_it").losses(FEEDBACK, PICTURES, CLEAN, OPTIONS))
    assert losses == pytest.approx([0.9, 0.5, 0.7])


def test_image_against_image_asks_the_encoder() -> None:
    losses, asked = answered(
        Selection("mf_ii").losses(FEEDBACK, PICTURES, CLEAN, OPTIONS), [0.9, 0.8, 0.25]
    )
    assert losses == pytest.approx([0.1, 0.2, 0.75])
    assert asked[0].tool == "encoder"
    assert [pair[0] is picture for pair, picture in zip(asked[0].items, PICTURES, strict=True)]
    assert all(pair[1] is CLEAN for pair in asked[0].items)


def test_text_against_text_compares_what_the_target_says() -> None:
    feedback = [FEEDBACK[0], FEEDBACK[1], Feedback(2, True, 0.3, output="a sheep")]
    losses, asked = answered(
        Selection("mf_ii+mf_tt").losses(feedback, PICTURES, CLEAN, OPTIONS),
        [1.0, 1.0, 1.0],
        [0.6, 1.0, 0.2],
    )
    assert losses == pytest.approx([0.4, 0.0, 0.8])
    # Its best option where it does not talk, its words where it does.
    assert asked[1].items == (("a dog", "a cat"), ("a cat", "a cat"), ("a sheep", "a cat"))


@pytest.mark.parametrize("loss", ["isp", "mf_it"])
def test_where_scores_are_hidden_success_is_all_there_is(loss: str) -> None:
    hidden = [Feedback(0, True), Feedback(1, False)]
    losses, _ = answered(Selection(loss).losses(hidden, PICTURES[:2], CLEAN, OPTIONS))
    assert losses == [1.0, 0.0]


def test_only_the_shortlist_is_asked_about() -> None:
    selection = Selection(shortlist=2)
    (order, natural), asked = answered(
        selection.order([3.0, 1.0, 2.0], lambda some: [PICTURES[i] for i in some]),
        [(1, 2), (5, 4)],
    )
    assert asked[0].tool == "naturalness"
    assert [item is PICTURES[i] for item, i in zip(asked[0].items, (0, 2), strict=True)]
    assert order == [2, 0, 1]
    assert natural == {0: Naturalness(1, 2), 2: Naturalness(5, 4)}
    assert natural[2].mean == 4.5


def test_without_the_reward_model_the_loss_decides() -> None:
    selection = Selection(shortlist=2, by_naturalness=False)
    (order, natural), asked = answered(selection.order([3.0, 1.0, 2.0], lambda some: []))
    assert (order, natural, asked) == ([0, 2, 1], {}, [])


def test_pictures_are_rated() -> None:
    scores, asked = answered(rate(PICTURES[:1]), [(3.5, 2)])
    assert scores == [Naturalness(3.5, 2.0)]
    assert len(asked) == 1
