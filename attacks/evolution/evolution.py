"""Semantic evolution (sec. 3.2): islands of captions, crossed and mutated, the least described survive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean
from typing import Any

from attacks.evolution.concepts import similarity
from attacks.evolution.engine import Engine, Found
from attacks.evolution.individuals import (
    Asking,
    Entrant,
    Individual,
    normalised,
    short,
)
from attacks.evolution.niches import Niches
from attacks.evolution.ranking import draw_parents, pool_mean, ranked, scores_of, shrunk
from benchmark.errors import UserError
from benchmark.types import JSON

_AGAIN = 2
"""So often an operator is asked again where it gave what is there already (as in EoH)."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Table 3 of the paper.

    Attributes:
        sizes: Offspring of each operator on each island in each generation (pop_size).
        kept: Survivors of each island (pop_save_number); the last is what the search gives.
        islands: n_pop.
        parents: m, for each crossover and each mutation.
    """

    sizes: tuple[int, ...] = (20, 15, 10, 10, 5, 5)
    kept: tuple[int, ...] = (20, 15, 10, 10, 5, 5)
    islands: int = 5
    parents: int = 2

    @property
    def finals(self) -> int:
        """How many captions come out: 25."""
        return self.islands * self.kept[-1]

    def evaluations(self, pool: int, selection: str) -> int:
        """The pictures that are shown in all: 2 * 65 * 5 beside the pool's, as in the paper's 1,650.

        With `selection` "robust", survivors are shown once more in each generation.
        """
        offspring = 2 * self.islands * sum(self.sizes)
        return pool + offspring + (self.islands * sum(self.kept) if selection == "robust" else 0)


_Island = list[Entrant]


def evolution(engine: Engine) -> Asking[Found]:
    """Run the schedule; ends early when a budget is spent or an early stop is met."""
    return (yield from _Evolution(engine).run())


class _Evolution:
    """One run of the algorithm of sec. 3.5 of the specification."""

    def __init__(self, engine: Engine) -> None:
        settings = engine.settings
        self._engine = engine
        self._schedule = schedule_of(settings)
        self._robust = settings["selection"] == "robust"
        self._ties = engine.rng if settings["tie_breaking"] == "random" else None
        self._prior = pool_mean(engine.scored)
        self._members = [
            Entrant(evaluation.individual, [evaluation])
            for evaluation in engine.scored
            if evaluation.capture is not None
        ]
        """Everything that was ever scored."""
        self._seen = {normalised(one.text) for one in engine.pool}
        self._niches: Niches[Entrant] = Niches(
            lambda member: member.text,
            [one.text for one in engine.pool],
            float(settings["niche_frequency"]),
            float(settings["niche_log_odds"]),
            float(settings["niche_effect"]),
        )
        self._has_niches = bool(settings["niches"])
        self._rows: list[dict[str, JSON]] = []
        self._lived: list[_Island] = []

    def run(self) -> Asking[Found]:
        """The islands are filled from the pool by chance, not by score; then the generations."""
        drawn = self._engine.rng.permutation(len(self._members)).tolist()
        n, size = self._schedule.islands, self._schedule.sizes[0]
        self._lived = [
            [self._members[k] for k in drawn[i * size : (i + 1) * size]] for i in range(n)
        ]
        self._report(0, self._members)
        stopped, islands = "", self._survivors(size)
        for generation, kept in enumerate(self._schedule.kept, start=1):
            whole = yield from self._generation(islands, generation)
            islands = self._survivors(kept)
            survivors = self._best(*islands)
            self._report(generation, survivors)
            yield from self._tell(generation)
            if self._has_niches and (yield from self._set_aside(survivors, generation)):
                islands = self._survivors(kept)
            stopped = self._stop(survivors, whole)
            if stopped:
                break
        finals = self._best(self._niches.dealt(self._best(*islands), self._schedule.finals))
        return Found(
            [member.evaluations for member in finals],
            self._rows,
            stopped or "schedule",
            [self._value(member) for member in finals],
            {"niches": list(self._niches.to_json())} if self._has_niches else {},
        )

    def _generation(self, islands: Sequence[_Island], generation: int) -> Asking[bool]:
        """Offspring of all islands, and, if robust, one more picture of those that would survive.

        Returns:
            Whether the budget sufficed.
        """
        size, kept = self._schedule.sizes[generation - 1], self._schedule.kept[generation - 1]
        offspring = yield from self._offspring(islands, size, generation)
        evaluations = yield from self._engine.evaluator.evaluate(offspring)
        whole = len(evaluations) == len(offspring)
        for evaluation in evaluations:
            if evaluation.capture is not None:
                member = Entrant(evaluation.individual, [evaluation])
                self._members.append(member)
                self._lived[evaluation.individual.island].append(member)
        if self._robust:
            shown = [member for island in self._survivors(kept) for member in island]
            pairs = [(one.individual, len(one.evaluations)) for one in shown]
            again = yield from self._engine.evaluator.evaluate_pairs(pairs)
            for member, evaluation in zip(shown, again, strict=False):
                member.evaluations.append(evaluation)
            whole = whole and len(again) == len(pairs)
        return whole

    def _survivors(self, kept: int) -> list[_Island]:
        """The best `kept` of all that ever lived on each island, in order of rank.

        With one score a caption these are the best of parents and offspring, as numbers only fall. With
        several, who lost to luck comes back when the other's luck is out.
        """
        return [self._best(lived)[:kept] for lived in self._lived]

    def _offspring(
        self, islands: Sequence[_Island], size: int, generation: int
    ) -> Asking[list[Individual]]:
        """`size` children by crossover and `size` by mutation for each island, all of new captions.

        All parents are of the generation before, so that everything can be asked at once.
        """
        wanted = {
            (operator, i): size
            for operator in ("explore", "mutate")
            for i, island in enumerate(islands)
            if island
        }
        born: list[Individual] = []
        for _ in range(1 + _AGAIN):
            if not any(wanted.values()) or self._engine.operators.exhausted:
                break
            for operator, ask in (("explore", self._explored), ("mutate", self._mutated)):
                made = yield from ask(islands, {i: wanted.get((operator, i), 0)
                                                for i in range(len(islands))})  # fmt: skip
                for i, text, parents in made:
                    if wanted[operator, i] and self._is_new(text):
                        wanted[operator, i] -= 1
                        ids = [parent.individual.id for parent in parents]
                        born.append(self._engine.born(text, operator, ids, generation, i))
        # Islands take turns where the budget cuts, as they would if each had its own machine.
        return sorted(born, key=lambda one: one.id)

    def _explored(
        self, islands: Sequence[_Island], wanted: Mapping[int, int]
    ) -> Asking[list[tuple[int, str, list[Entrant]]]]:
        m = self._schedule.parents
        groups = [(i, self._drawn(islands[i], m)) for i, n in wanted.items() for _ in range(n)]
        texts = yield from self._engine.operators.explore(
            [[one.text for one in group] for _, group in groups], self._engine.rng
        )
        return [
            (i, text, group)
            for (i, group), text in zip(groups, texts, strict=True)
            if text is not None
        ]

    def _mutated(
        self, islands: Sequence[_Island], wanted: Mapping[int, int]
    ) -> Asking[list[tuple[int, str, list[Entrant]]]]:
        """m parents are drawn at a time, each has one mutant; the surplus of the last is not wanted."""
        m = self._schedule.parents
        groups = [
            (i, self._drawn(islands[i], m)) for i, n in wanted.items() for _ in range(ceil(n / m))
        ]
        mutants = yield from self._engine.operators.mutate(
            [[one.text for one in group] for _, group in groups], self._engine.rng
        )
        return [
            (i, text, [parent])
            for (i, group), texts in zip(groups, mutants, strict=True)
            for parent, text in zip(group, texts, strict=True)
            if text is not None
        ]

    def _drawn(self, island: _Island, m: int) -> list[Entrant]:
        return [island[rank] for rank in draw_parents(len(island), m, self._engine.rng)]

    def _is_new(self, text: str) -> bool:
        """Whether a caption was on no island before and is not set aside; from now on it is known."""
        key = normalised(text)
        if not key or key in self._seen or not self._niches.admits(text):
            return False
        self._seen.add(key)
        return True

    def _value(self, member: Entrant) -> float:
        """What a caption is ranked by: its first score, or the shrunk mean of all its scores."""
        scores = scores_of(member.evaluations)
        return shrunk(scores, self._prior) if self._robust else scores[0]

    def _best(self, *islands: Sequence[Entrant]) -> _Island:
        """All members in order of rank, the least described first."""
        members = [member for island in islands for member in island]
        return ranked(members, self._value, self._ties)

    def _set_aside(self, survivors: Sequence[Entrant], generation: int) -> Asking[bool]:
        """If a concept was found, its holders leave, and what lived nowhere yet is dealt out."""
        first = [(one.text, scores_of(one.evaluations)[0]) for one in self._members]
        niche = self._niches.set_aside(survivors, generation, first)
        if niche is None:
            return False
        lived = {member.individual.id for island in self._lived for member in island}
        waiting = [one for one in self._members if one.individual.id not in lived]
        for number, member in enumerate(self._best(waiting)):
            self._lived[number % len(self._lived)].append(member)
        for island in self._lived:
            island[:] = [member for member in island if self._niches.admits(member.text)]
        concept = niche.concept
        yield from self._engine.note(
            f'found "{concept.word}" in {concept.frequency:.0%} of the survivors'
            f" ({concept.pool_frequency:.0%} of the pool): set aside"
        )
        return True

    def _stop(self, survivors: Sequence[Entrant], whole: bool) -> str:
        """Why to stop now, "" to go on."""
        settings, row = self._engine.settings, self._rows[-1]
        last = row["generation"] == len(self._schedule.kept)
        if not whole or (self._engine.spent and not last):
            return "budget"
        if self._engine.operators.exhausted:
            return "llm budget"
        if survivors and fmean(map(self._value, survivors)) <= float(settings["stop_mean"]):
            return "low mean"
        alike = row["similarity"]
        if isinstance(alike, float) and alike >= float(settings["stop_similarity"]):
            return "similar"
        return ""

    def _report(self, generation: int, members: Sequence[Entrant]) -> None:
        values = [self._value(member) for member in members]
        texts = [member.text for member in members]
        alike = similarity(texts)
        self._rows.append(
            {
                "generation": generation,
                "evaluations": self._engine.evaluator.used,
                "best": round(min(values), 6) if values else None,
                "mean": round(fmean(values), 6) if values else None,
                "similarity": None if alike is None else round(alike, 6),
                "captions": list(texts),
            }
        )

    def _tell(self, generation: int) -> Asking[None]:
        row = self._rows[-1]
        shown = {key: short(row[key]) for key in ("best", "mean")}
        yield from self._engine.note(
            f"generation {generation}/{len(self._schedule.sizes)}: best {shown['best']},"
            f" mean {shown['mean']}, {row['evaluations']} evaluations"
        )


def schedule_of(settings: Mapping[str, Any]) -> Schedule:
    """The schedule that the settings describe.

    Raises:
        UserError: The sizes are no numbers of 1 or more, or there are not as many of both.
    """
    sizes, kept = (
        tuple(_count(key, text) for text in str(settings[key]).split(","))
        for key in ("population", "survivors")
    )
    if len(sizes) != len(kept):
        raise UserError(
            f"population has {len(sizes)} generations and survivors {len(kept)}:"
            " give as many numbers in both"
        )
    return Schedule(sizes, kept, int(settings["islands"]), int(settings["parents"]))


def _count(key: str, text: str) -> int:
    text = text.strip()
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"{key} holds {text!r}: give whole numbers of 1 or more, as in 20,15,10")
    return int(text)
