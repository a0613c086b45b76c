"""The attack: run one search, show its finals again, say what was found."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from attacks.evolution.drawings import DRAWINGS
from attacks.evolution.engine import Engine
from attacks.evolution.evaluation import FRESH, GATE, PAINTER, Evaluator, Gate
from attacks.evolution.evolution import schedule_of
from attacks.evolution.grammar_operators import GrammarOperators
from attacks.evolution.guards import Limits
from attacks.evolution.individuals import Evaluation, Individual, random_of, short
from attacks.evolution.operators import Operators
from attacks.evolution.outcome import (
    FIRST_FRESH,
    best_candidate,
    found_of,
    individual_of,
    picture_name,
    with_fresh,
)
from attacks.evolution.prompt_operators import PromptOperators, load_templates
from attacks.evolution.ranking import pool_mean
from attacks.evolution.searches import SEARCHES
from attacks.evolution.tasks import CAPTURE, Answering, Captioning, Task
from benchmark import registry
from benchmark.album import PICKED
from benchmark.answer_guards import answer_status, capture_of, reference_of
from benchmark.errors import UserError
from benchmark.protocols import RunContext, Search
from benchmark.types import (
    JSON,
    Candidate,
    Feedback,
    Pixels,
    Record,
    Sample,
    Sampling,
    Score,
    Submission,
    Trial,
)

NONE = "none"
LLM = "llm"
OTHER_LLM = "other_llm"


class Evolution:
    """Searches for captions whose pictures a vision-language model describes badly.

    Settings: see `python -m benchmark list settings`, and the README.

    Raises:
        UserError: A setting has a value that cannot be used.
    """

    name = "evolution"
    version = "1"
    needs_answers = True
    tolerant = True
    drawings = DRAWINGS

    def __init__(self, run: RunContext) -> None:
        settings = self._settings = dict(run.settings)
        self._seed = run.seed
        self._schedule = schedule_of(settings)
        self._limits = Limits(
            int(settings["min_objects"]),
            max_caption_words=int(settings["max_caption_words"]),
            min_answer_words=int(settings["min_answer_words"]),
        )
        self._captions = settings["task"] == "caption"
        self._question = str(settings["question"])
        self._templates = load_templates(str(settings["prompts"]))
        self._llms = tuple(key for key in (LLM, OTHER_LLM) if settings[key] != NONE)
        if settings["operators"] == "prompts" and LLM not in self._llms:
            raise UserError(
                "operators = prompts needs a language model: name one, such as"
                " --set llm=openai:gpt-4o, or choose --set operators=grammar"
            )
        self._has_gate = settings["gate"] != NONE
        self.tools = (PAINTER, CAPTURE, *((GATE,) if self._has_gate else ()), *self._llms)
        self.answering = Sampling(temperature=0.0, max_new_tokens=int(settings["max_new_tokens"]))
        self._capture_spec = str(settings["capture"])
        self._capture: Any = run.model("tools", self._capture_spec)
        for sample in run.dataset:
            if sample.text not in SEARCHES:
                raise UserError(registry.unknown("search", sample.text, SEARCHES, "list settings"))

    def question(self, sample: Sample) -> str:
        """What the target is asked about each picture, where it is to describe it."""
        del sample
        return self._question

    def fitness(self, trial: Trial) -> float | None:
        """Minus CAPTURE (eq. 4). None without a fair answer, or where it cannot be judged alone."""
        reference = reference_of(trial.candidate.text, trial.candidate.perturbation)
        if reference is None or trial.output is None:
            return None
        least = self._limits.min_answer_words if self._captions else 1
        if answer_status(trial.output, trial.refusal, least) != "scored":
            return None
        (said,) = self._ask_capture([(reference, trial.output)])
        capture = capture_of(said)
        return None if capture is None else -capture

    def describe(self) -> dict[str, JSON]:
        """What the run's record says beyond the settings: prompts by hash, the budget."""
        return {
            "prompts": self._templates.describe(),
            "evaluations": self._limit(int(self._settings["pool"])),
        }

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        """Make the pool, have it scored, and run the search that the sample names."""
        operators = self._operators()
        repeat = _repeat(sample)
        texts = yield from operators.initial(
            int(self._settings["pool"]), random_of(self._seed, "pool", repeat)
        )
        pool = [Individual(n, text, "initial") for n, text in enumerate(texts)]
        evaluator = self._evaluator(operators, self._limit(len(pool)))
        scored = yield from evaluator.evaluate(pool)
        engine = Engine(
            evaluator, operators, self._settings, rng, pool, scored, self._limit(len(pool))
        )
        yield from engine.note(
            f"{len(pool)} captions to begin with, mean {short(pool_mean(scored))}"
        )
        found = yield from SEARCHES[sample.text](engine)
        yield from engine.note(
            f"{found.stopped} after {evaluator.used} evaluations, {len(found.finals)} captions"
        )
        index = best_candidate(found, float(self._settings["blind_below"]))
        return Submission(index, found_of(sample.text, repeat, engine, found))

    def report(self, sample: Sample, found: Mapping[str, JSON], rng: np.random.Generator) -> Search:
        """Show new pictures of the finals, which no selection saw; the first of each is kept."""
        del sample, rng
        finals = cast("list[dict[str, JSON]]", found["finals"])
        individuals = [individual_of(final) for final in finals]
        evaluator = self._evaluator(self._operators(), None)
        evaluator.pictures = {}
        if evaluator.gate is not None:
            evaluator.gate = Gate(cast("float | None", found["gate_threshold"]))
        replicas = range(FIRST_FRESH, FIRST_FRESH + int(self._settings["fresh"]))
        evaluations = yield from evaluator.evaluate(individuals, list(replicas), "report")
        by_id: dict[int, list[Evaluation]] = {one.id: [] for one in individuals}
        for evaluation in evaluations:
            by_id[evaluation.individual.id].append(evaluation)
        shown = [
            with_fresh(final, by_id[one.id]) for final, one in zip(finals, individuals, strict=True)
        ]
        pictures = {
            picture_name(n): evaluator.pictures[one.id, FIRST_FRESH]
            for n, one in enumerate(individuals)
            if (one.id, FIRST_FRESH) in evaluator.pictures
        }
        return Submission(found={"finals": cast("JSON", shown)}, pictures=pictures)

    def replay(
        self,
        sample: Sample,
        record: Record,
        picked: Candidate,
        picture: Callable[[str], Pixels],
    ) -> Search:
        """Show a target the picked candidate and the kept picture of every final once more.

        Of answers to questions (`task = "vqa"`) only the picked candidate's is asked for again.
        """
        del sample
        question = picked.perturbation.get("question")
        asked = str(question) if question is not None else self._question
        yield Score((Candidate(picked.text, picked.image, picked.perturbation, asked),))
        finals = cast("list[dict[str, JSON]]", record.found.get("finals", []))
        names = [name for name in record.artifacts if name != PICKED]
        shown = [final for final in finals if final["picture"] in names]
        pictures = {str(final["picture"]): picture(str(final["picture"])) for final in shown}
        again: list[dict[str, JSON]] = []
        if self._captions and shown:
            candidates = tuple(
                Candidate(str(final["text"]), pictures[str(final["picture"])], {"condition": FRESH})
                for final in shown
            )
            feedback = cast("list[Feedback]", (yield Score(candidates, "report")))
            again = [
                with_fresh(_bare(final), [self._answered(final, said)])
                for final, said in zip(shown, feedback, strict=True)
            ]
        pool = cast("dict[str, Any]", record.found.get("pool", {"captions": []}))
        texts: JSON = [[text, None] for text, _ in pool["captions"]]
        return Submission(
            0,
            {
                "search": record.found.get("search"),
                "repeat": record.found.get("repeat"),
                "pool": {"n": len(pool["captions"]), "mean": None, "captions": texts},
                "finals": cast("JSON", again),
            },
            pictures,
        )

    def _answered(self, final: Mapping[str, JSON], said: Feedback) -> Evaluation:
        """What one answer to a kept picture is worth."""
        one = individual_of(final)
        status = answer_status(said.output, said.refusal, self._limits.min_answer_words)
        if status != "scored" or said.output is None:
            return Evaluation(one, FIRST_FRESH, 0, status, None, said.output)
        (scores,) = self._ask_capture([(one.text, said.output)])
        capture = capture_of(scores)
        numbers = {key: value for key, value in scores.items() if not isinstance(value, dict)}
        status = "malformed" if capture is None else "scored"
        return Evaluation(one, FIRST_FRESH, 0, status, capture, said.output, None, numbers)

    def _ask_capture(self, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, Any]]:
        if not hasattr(self._capture, "ask"):
            # A replay loads none of the attack's models, yet what it shows again is to be scored.
            self._capture = registry.create("tools", self._capture_spec, {})
        return list(self._capture.ask(pairs))

    def _operators(self) -> Operators:
        settings = self._settings
        if settings["operators"] == "grammar":
            return GrammarOperators()
        sampling = Sampling(
            float(settings["temperature"]),
            float(settings["top_p"]),
            int(settings["llm_tokens"]),
        )
        most = settings["max_llm_calls"]
        return PromptOperators(
            self._llms, self._templates, sampling, None if most == NONE else int(most)
        )

    def _evaluator(self, operators: Operators, limit: int | None) -> Evaluator:
        least = self._limits.min_answer_words
        task: Task = (
            Captioning(self._question, least)
            if self._captions
            else Answering(operators, self._seed)
        )
        threshold = self._settings["gate_threshold"]
        gate = Gate(None if threshold == "auto" else float(threshold)) if self._has_gate else None
        return Evaluator(task, self._limits, self._seed, limit, gate)

    def _limit(self, pool: int) -> int:
        """Evaluations that each search may make: as many as evolution's schedule, if not told."""
        most = self._settings["max_evaluations"]
        if most != "schedule":
            return int(most)
        return self._schedule.evaluations(pool, str(self._settings["selection"]))


def _bare(final: Mapping[str, JSON]) -> dict[str, JSON]:
    """A final without what another target made of it."""
    return {
        key: final[key]
        for key in ("id", "text", "island", "operator", "parents", "generation", "picture")
    }


def _repeat(sample: Sample) -> int:
    _, _, repeat = sample.group.rpartition("-")
    return int(repeat) if repeat.isdecimal() else 0
