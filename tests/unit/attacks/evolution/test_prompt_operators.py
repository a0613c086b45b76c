import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacks.evolution.prompt_operators import (
    TEMPLATES,
    PromptOperators,
    Templates,
    load_templates,
)
from attacks.evolution.tasks import Question
from benchmark.errors import UserError
from benchmark.types import Complete, Sampling
from tests.unit.attacks.evolution.asking import result

SAMPLING = Sampling(temperature=0.7, top_p=0.9, max_new_tokens=100)


class Script:
    """Answers prompts by a function of (prompt, how often it was asked) and keeps the requests."""

    def __init__(self, say: Callable[[str, int], str]) -> None:
        self.requests: list[Complete] = []
        self._say = say
        self._asked: dict[str, int] = {}

    def __call__(self, request: Any) -> list[Any]:
        assert isinstance(request, Complete)
        self.requests.append(request)
        replies = []
        for prompt in request.prompts:
            replies.append(self._say(prompt, self._asked.get(prompt, 0)))
            self._asked[prompt] = self._asked.get(prompt, 0) + 1
        return replies


def listed(*captions: str) -> str:
    return json.dumps({"captions": list(captions)})


def operators(llms: tuple[str, ...] = ("llm",), max_calls: int | None = None) -> PromptOperators:
    return PromptOperators(llms, load_templates("trident"), SAMPLING, max_calls)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_pool_is_asked_for_in_four_categories_in_turn() -> None:
    script = Script(lambda *_: listed(*(f"a caption number {n}" for n in range(20))))
    result(operators().initial(1150, rng()), script)
    (request,) = script.requests
    assert len(request.prompts) == 50
    subjects = ("a human being", "an animal", "an object", "an environment")
    counts = [sum(subject in prompt for prompt in request.prompts) for subject in subjects]
    assert counts == [13, 13, 12, 12]
    assert all("Propose 23 captions" in prompt for prompt in request.prompts)
    assert all(seed < 2**31 for seed in request.seeds)


def test_duplicates_of_the_pool_are_dropped_and_the_rest_is_cut() -> None:
    said = listed("A red duck.", "a red  duck", "A wet cat waits.", "An old monk reads.")
    assert result(operators().initial(2, rng()), Script(lambda *_: said)) == [
        "A red duck.",
        "A wet cat waits.",
    ]


def test_initial_calls_draw_one_of_two_models() -> None:
    script = Script(lambda *_: listed("A wet cat waits."))
    result(operators(("llm", "other_llm")).initial(460, rng()), script)
    asked = {request.tool: len(request.prompts) for request in script.requests}
    assert sum(asked.values()) == 20
    assert min(asked.values()) >= 5


def test_crossover_shows_all_parents_and_takes_one_caption() -> None:
    script = Script(lambda *_: listed("A new caption here.", "A second one here."))
    groups = [["A red duck.", "A wet cat."], ["A blue dog.", "An old monk."]]
    assert result(operators().explore(groups, rng()), script) == ["A new caption here."] * 2
    first, second = script.requests[0].prompts
    assert "1. A red duck.\n2. A wet cat." in first
    assert "1. A blue dog.\n2. An old monk." in second
    assert "different from every one" in first
    assert '{"captions"' in first  # the format


def test_each_of_a_group_has_one_mutant_with_a_direction() -> None:
    script = Script(lambda *_: listed("Mutant number one.", "Mutant number two.", "One too many."))
    mutants = result(operators().mutate([["A red duck.", "A wet cat."]], rng()), script)
    assert mutants == [["Mutant number one.", "Mutant number two."]]
    (prompt,) = script.requests[0].prompts
    assert prompt.count("[change: ") == 2


def test_a_mutant_that_is_missing_is_none() -> None:
    script = Script(lambda *_: listed("Mutant number one."))
    mutants = result(operators().mutate([["A red duck.", "A wet cat."]], rng()), script)
    assert mutants == [["Mutant number one.", None]]


def test_a_rewrite_names_the_aspect() -> None:
    script = Script(lambda *_: listed("A red duck at noon."))
    changed = result(operators().rewrite(["A red duck at night."], ["weather"], rng()), script)
    assert changed == ["A red duck at noon."]
    assert "Aspect to change: the weather" in script.requests[0].prompts[0]


def test_questions_are_asked_with_the_caption_s_seed() -> None:
    said = [{"question": "What swims?", "answer": "A red duck swims."}]
    script = Script(lambda *_: json.dumps({"questions": said}))
    made = result(operators().questions(["A red duck swims."], [77]), script)
    assert made == [[Question("What swims?", "A red duck swims.")]]
    assert script.requests[0].seeds == (77,)


def test_a_reply_without_captions_is_asked_for_again_and_warmer() -> None:
    script = Script(
        lambda _, times: "I would rather not." if times < 2 else listed("A wet cat waits.")
    )
    used = operators()
    assert result(used.explore([["A red duck."]], rng()), script) == ["A wet cat waits."]
    assert [request.sampling.temperature for request in script.requests] == [0.7, 0.9, 1.1]
    first, second, third = (request.seeds[0] for request in script.requests)
    assert (second, third) == (first + 1, first + 2)
    assert (used.calls, used.failures) == (3, 0)


def test_after_three_tries_it_is_skipped_and_counted() -> None:
    script = Script(lambda prompt, _: "" if "duck" in prompt else listed("A wet cat waits."))
    used = operators()
    made = result(used.explore([["A red duck."], ["A blue dog."]], rng()), script)
    assert made == [None, "A wet cat waits."]
    assert [len(request.prompts) for request in script.requests] == [2, 1, 1]
    assert (used.calls, used.failures) == (4, 1)


def test_no_more_is_asked_than_allowed() -> None:
    script = Script(lambda *_: listed("A wet cat waits."))
    used = operators(max_calls=3)
    assert not used.exhausted
    made = result(used.explore([["A red duck."]] * 5, rng()), script)
    assert made == ["A wet cat waits."] * 3 + [None] * 2
    assert (used.calls, used.exhausted) == (3, True)
    assert result(used.explore([["A red duck."]], rng()), script) == [None]


def test_a_caption_with_a_placeholder_in_it_does_no_harm() -> None:
    texts = {name: "" for name in TEMPLATES}
    texts |= {"explore": "{task} {captions} {format} {unknown}", "task": "T", "format": "F"}
    filled = Templates("own", texts, {}).fill("explore", captions="a {task} {format}")
    assert filled == "T a {task} {format} F {unknown}\n"


def test_templates_can_be_one_s_own_and_are_known_by_hash(tmp_path: Path) -> None:
    own = load_templates("trident")
    for name in TEMPLATES:
        (tmp_path / f"{name}.txt").write_text(own.texts[name])
    copied = load_templates(str(tmp_path))
    assert copied.digests == own.digests
    assert {*own.digests} == {*TEMPLATES}
    (tmp_path / "explore.txt").write_text("mine {captions}")
    assert load_templates(str(tmp_path)).digests["explore"] != own.digests["explore"]
    assert "explore" in str(own.describe()["sha256"])


def test_missing_templates_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"prompts 'nowhere' is no folder: give 'trident'"):
        load_templates("nowhere")
    with pytest.raises(UserError, match=r"lack task\.txt: start from a copy of"):
        load_templates(str(tmp_path))
