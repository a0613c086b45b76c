import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacks.mac import MAC, released_types
from attacks.mac.attack import grammar_offers, tagger_offers
from benchmark.errors import UserError
from benchmark.protocols import Dataset, Search
from benchmark.types import Candidate, Complete, Feedback, ModelInfo, Sample, Score, Trial

GOLDEN = json.loads((Path(__file__).parents[3] / "golden" / "mac_generation.json").read_text())
SAMPLE = Sample("1", "a red ball and a blue dog on the grass")


class Words:
    """A data set of which only the mean caption length is asked."""

    def __init__(self, mean_words: float, name: str) -> None:
        self.mean_words = mean_words
        self.info = ModelInfo(name)

    def __iter__(self) -> Any:
        return iter(())


class Letters:
    """A tagger that calls every word a noun."""

    info = ModelInfo("letters")

    def tag(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        return [[(word, "NOUN") for word in text.split()] for text in texts]


class Context:
    def __init__(self, mean_words: float = 10.431, dataset: str = "words", **settings: Any) -> None:
        self.settings: Mapping[str, Any] = settings
        self.dataset: Dataset = Words(mean_words, dataset)
        self.seed = 0

    def model(self, kind: str, spec: str) -> Any:
        assert (kind, spec) == ("taggers", "letters")
        return Letters()


def mac(**settings: Any) -> MAC:
    return MAC(Context(prompts="mini", **settings))


def play(
    search: Search, replies: Sequence[str], fooled: Sequence[bool] = (), budget: int = 99
) -> tuple[list[Complete], list[Candidate], int | None]:
    """Answer the requests of one sample; candidate i fools if fooled[i]."""
    asked: list[Complete] = []
    tried: list[Candidate] = []
    left = list(replies)
    answer: Any = None
    while True:
        try:
            request = search.send(answer)
        except StopIteration as stop:
            return asked, tried, stop.value
        if isinstance(request, Complete):
            asked.append(request)
            answer = [left.pop(0) for _ in request.prompts]
        else:
            assert isinstance(request, Score)
            new = request.candidates[: budget - len(tried)]
            start = len(tried)
            tried += new
            answer = [
                Feedback(start + i, success=start + i < len(fooled) and fooled[start + i])
                for i in range(len(new))
            ]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_parallel_asks_once_for_n_replies_and_scores_all_at_once() -> None:
    asked, tried, picked = play(
        mac(candidates=3).search(SAMPLE, rng()), ["one", "Generated Caption: two", "one"]
    )
    (request,) = asked
    assert request.prompts == (SAMPLE.text,) * 3
    assert request.tool == "writer"
    assert len(set(request.seeds)) == 3
    assert [candidate.text for candidate in tried] == ["one", "two", "one"]  # duplicates are kept
    assert picked in (0, 1, 2)


def test_the_first_candidates_do_not_depend_on_n() -> None:
    four, sixteen = (
        play(mac(candidates=n, mode=mode).search(SAMPLE, rng(5)), ["x"] * n)[0][0]
        for n, mode in ((4, "specific"), (16, "specific"))
    )
    assert sixteen.seeds[:4] == four.seeds
    assert sixteen.prompts[0] == four.prompts[0]


def test_sequential_shows_each_turn_what_came_before() -> None:
    attack = MAC(Context(prompts="trident", candidates=3, generation="sequential"))
    asked, tried, _ = play(attack.search(SAMPLE, rng()), ["a cat", "a cow", "a pig"])
    assert [len(request.prompts) for request in asked] == [1, 1, 1]
    assert "a cat" not in asked[0].prompts[0]
    assert "- a cat" in asked[1].prompts[0]
    assert "- a cow" not in asked[1].prompts[0]
    assert "- a cat\n- a cow\n" in asked[2].prompts[0]
    assert [candidate.text for candidate in tried] == ["a cat", "a cow", "a pig"]
    parallel, _, _ = play(
        MAC(Context(prompts="trident", candidates=3)).search(SAMPLE, rng()), ["x"] * 3
    )
    assert tuple(request.seeds[0] for request in asked) == parallel[0].seeds


def test_sequential_ends_with_the_budget() -> None:
    attack = MAC(Context(prompts="trident", candidates=5, generation="sequential"))
    asked, tried, picked = play(attack.search(SAMPLE, rng()), ["x"] * 5, budget=2)
    assert (len(asked), len(tried)) == (3, 2)
    assert picked in (0, 1)


def test_sequential_is_refused_where_the_prompts_cannot_do_it() -> None:
    with pytest.raises(UserError, match="cannot show the writer its earlier captions"):
        mac(candidates=2, generation="sequential")


def test_nothing_is_picked_of_nothing() -> None:
    _, tried, picked = play(mac().search(SAMPLE, rng()), ["x"] * 4, budget=0)
    assert (tried, picked) == ([], None)


def test_the_pick_is_uniform_among_successes() -> None:
    attack = mac(candidates=4)
    fooled = [False, True, False, True]
    picks = Counter(
        play(attack.search(SAMPLE, rng(seed)), ["x"] * 4, fooled)[2] for seed in range(400)
    )
    # 400 fair coin flips: 200 heads, standard deviation 10.
    assert set(picks) == {1, 3}
    assert 160 < picks[1] < 240


def test_the_pick_is_uniform_among_all_where_none_succeeds() -> None:
    attack = mac(candidates=4)
    picks = Counter(play(attack.search(SAMPLE, rng(s)), ["x"] * 4)[2] for s in range(400))
    assert set(picks) == {0, 1, 2, 3}
    assert min(picks.values()) > 60


def test_a_candidate_says_what_changed() -> None:
    replies = ["a blue ball and a red dog on the grass", "a red ball", "gibberish", SAMPLE.text]
    _, tried, _ = play(mac(candidates=4).search(SAMPLE, rng()), replies)
    assert [dict(candidate.perturbation) for candidate in tried] == [
        {"candidate": 0, "operation_found": "swap-colours"},
        {"candidate": 1, "operation_found": "several"},
        {"candidate": 2},
        {"candidate": 3, "operation_found": "identical"},
    ]


def test_in_the_embedded_world_a_text_that_is_no_caption_is_malformed() -> None:
    attack = MAC(Context(dataset="toybox", prompts="mini", candidates=1))
    _, tried, _ = play(attack.search(SAMPLE, rng()), ["gibberish"])
    assert tried[0].perturbation["operation_found"] == "malformed"


def test_specific_asks_for_one_operation_a_sample() -> None:
    attack = mac(candidates=2, mode="specific")
    seen = Counter[str]()
    for seed in range(300):
        asked, tried, _ = play(attack.search(SAMPLE, rng(seed)), ["x"] * 2)
        operation = str(tried[0].perturbation["operation"])
        assert {candidate.perturbation["operation"] for candidate in tried} == {operation}
        assert asked[0].prompts == (f"<{operation}> {SAMPLE.text}",) * 2
        seen[operation] += 1
    assert set(seen) == set(grammar_offers(SAMPLE.text))


def test_specific_asks_the_tagger_about_the_raw_caption() -> None:
    attack = mac(candidates=1, mode="specific", tagger="letters")
    operations = {
        str(
            play(attack.search(Sample("1", "one two"), rng(s)), ["x"])[1][0].perturbation[
                "operation"
            ]
        )
        for s in range(100)
    }
    assert operations == {"object-add", "attribute-add", "object-replace", "object-swap"}


def test_the_grammar_knows_what_a_caption_offers() -> None:
    assert grammar_offers("a red ball left of a blue dog") == [
        "object-add", "attribute-add", "object-replace", "object-swap",
        "attribute-replace", "attribute-swap", "relation-replace",
    ]  # fmt: skip
    assert "count-replace" in grammar_offers("two red balls")
    assert "object-swap" not in grammar_offers("two red balls")
    assert grammar_offers("a photograph of a man") == ["object-add", "attribute-add"]


def test_the_tagger_rule() -> None:
    assert tagger_offers({}) == ["object-add", "attribute-add"]
    assert tagger_offers({"NOUN": 2, "VERB": 1}) == [
        "object-add", "attribute-add", "object-replace", "object-swap", "relation-replace",
    ]  # fmt: skip


def test_the_released_draws_are_reproduced() -> None:
    golden = GOLDEN["specific_types"]
    assert released_types(golden["pos_stats"], golden["seed"]) == golden["types"]


def test_fitness_is_the_cross_modal_gap() -> None:
    candidate = Candidate("x")
    assert mac().fitness(Trial(SAMPLE, candidate, 0.25, 0.75)) == 0.5
    assert mac().fitness(Trial(SAMPLE, candidate, None, 0.75)) is None
    assert mac().fitness(Trial(SAMPLE, candidate, 0.25, None)) is None


@pytest.mark.parametrize(("mean", "limit"), [(10.431, 5), (9.405, 4), (10.374, 5), (10.0, 4)])
def test_the_word_limit_is_the_published_one(mean: float, limit: int) -> None:
    attack = MAC(Context(mean, prompts="trident"))
    assert attack.describe()["max_distance"] == limit
    asked, _, _ = play(attack.search(SAMPLE, rng()), ["x"] * 4)
    assert f"fewer than {limit + 1} words" in asked[0].prompts[0]


def test_a_given_word_limit_is_used() -> None:
    assert mac(max_distance=2).describe()["max_distance"] == 2


def test_the_record_says_which_prompts_they_were() -> None:
    described: Any = mac().describe()["prompts"]
    assert (described["set"], described["published"]) == ("mini", False)
    assert len(described["sha256"]) == 9
    json.dumps(described)


def test_the_parser_can_be_the_released_one() -> None:
    reply = 'Generated Caption: "a dog"'
    for parser, text in (("lenient", "a dog"), ("released", '"a dog"')):
        _, tried, _ = play(mac(candidates=1, parser=parser).search(SAMPLE, rng()), [reply])
        assert tried[0].text == text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"candidates": 0}, "candidates 0 cannot be used: give a whole number of 1 or more"),
        ({"candidates": "4"}, "candidates '4' cannot be used"),
        ({"mode": "vague"}, "mode 'vague' is unknown: use general or specific"),
        ({"generation": "both"}, "generation 'both' is unknown: use parallel or sequential"),
        ({"parser": "strict"}, "parser 'strict' is unknown: use lenient or released"),
        ({"max_distance": 0}, "max_distance 0 cannot be used"),
    ],
)
def test_a_wrong_setting_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        mac(**settings)
