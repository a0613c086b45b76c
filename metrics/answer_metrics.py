"""Captioning metrics and a judge's marks of what targets answered, with intervals over whole pictures."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmark.answers import Answered, Marked
from benchmark.errors import UserError
from benchmark.stats import clustered_bootstrap, mean_interval, wilson
from benchmark.types import JSON, Measure
from metrics.captioning import ORDER, BleuCounts, bleu_counts, bleu_of, cider, cider_d, spice
from metrics.judge import ASPECTS, Judge


class Captions:
    """CIDEr-D (what papers call CIDEr), CIDEr as first published, and BLEU-1 to BLEU-4.

    Answers are measured against the references of all pictures asked about under the condition, so
    one picture alone has no CIDEr: None.
    """

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        _no_argument("captions", argument)
        self._seed = int(settings["seed"])

    def mark(self, answered: Sequence[Answered]) -> Marked:
        """Numbers of these answers."""
        said, known = _texts(answered)
        counts = bleu_counts(said, known)
        details: list[dict[str, JSON]] = [{} for _ in answered]
        measures = []
        pictures = [one.group for one in answered]
        alone = len(set(pictures)) < 2
        for name, measure in (("cider_d", cider_d), ("cider", cider)):
            scores = measure(said, known, pictures)
            values: list[float | None] = [None if alone else score for score in scores]
            measures.append(_mean(name, answered, values, self._seed))
            _add(details, name, values)
        blank = (None,) * ORDER
        for n in range(ORDER):
            name = f"bleu_{n + 1}"
            value = (bleu_of(counts) or blank)[n]
            low, high = self._interval(answered, counts) if n == ORDER - 1 else (None, None)
            measures.append(Measure(name, value, low, high, n=len(said), unit="rate"))
            _add(details, name, [(bleu_of([one]) or blank)[n] for one in counts])
        return Marked(measures, details)

    def _interval(
        self, answered: Sequence[Answered], counts: Sequence[BleuCounts]
    ) -> tuple[float | None, float | None]:
        """Of BLEU-4, resampling pictures."""
        groups: dict[str, list[BleuCounts]] = {}
        for one, count in zip(answered, counts, strict=True):
            groups.setdefault(one.group, []).append(count)
        # One sum a picture: BLEU is made of sums, and resampling the parts would take long.
        summed = {group: [_sum(parts)] for group, parts in groups.items()}

        def bleu_4(parts: Sequence[BleuCounts]) -> float | None:
            values = bleu_of(parts)
            return None if values is None else values[-1]

        return clustered_bootstrap(summed, bleu_4, self._seed) or (None, None)


class Spice:
    """SPICE, by pycocoevalcap in Java."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        _no_argument("spice", argument)
        self._seed = int(settings["seed"])

    def mark(self, answered: Sequence[Answered]) -> Marked:
        """Numbers of these answers."""
        # A caption without propositions has no F; NaN is the only number unequal to itself.
        values = [None if one != one else one for one in spice(*_texts(answered))]
        details: list[dict[str, JSON]] = [{} for _ in answered]
        _add(details, "spice", values)
        return Marked([_mean("spice", answered, values, self._seed)], details)


class GptScore:
    """GPT-Score and its three parts; see `metrics.judge`."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        _no_argument("gpt_score", argument)
        self._seed = int(settings["seed"])
        self._judge = _judge("gpt_score", settings)

    def mark(self, answered: Sequence[Answered]) -> Marked:
        """Numbers of these answers."""
        scores = self._judge.scores(*_texts(answered))
        details: list[dict[str, JSON]] = [{} for _ in answered]
        measures = []
        columns = {"gpt_score": [score.total for score in scores]}
        columns |= {aspect: [getattr(score, aspect) for score in scores] for aspect in ASPECTS}
        for name, values in columns.items():
            measures.append(_mean(name, answered, values, self._seed))
            _add(details, name, values)
        return Marked(measures, details)


class GptAcc:
    """GPT-Acc: the share of answers that the judge finds correct, with Wilson's interval."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        _no_argument("gpt_acc", argument)
        self._judge = _judge("gpt_acc", settings)

    def mark(self, answered: Sequence[Answered]) -> Marked:
        """Numbers of these answers."""
        said, known = _texts(answered)
        verdicts = self._judge.correct([one.question for one in answered], known, said)
        marked = [verdict for verdict in verdicts if verdict is not None]
        n, right = len(marked), sum(marked)
        low, high = wilson(right, n) or (None, None)
        value, flags = right / n if n else None, _unread(len(verdicts) - n)
        details: list[dict[str, JSON]] = [{"gpt_acc": verdict} for verdict in verdicts]
        return Marked([Measure("gpt_acc", value, low, high, n, "rate", flags=flags)], details)


def _judge(name: str, settings: Mapping[str, Any]) -> Judge:
    if settings.get("judge") is None:
        raise UserError(f"{name} needs a judge: give a language model, --judge openai:gpt-4o")
    return Judge(settings["judge"])


def _no_argument(name: str, argument: str) -> None:
    if argument:
        raise UserError(f"{name} takes no argument, not {argument!r}: write '{name}'")


def _texts(answered: Sequence[Answered]) -> tuple[list[str], list[tuple[str, ...]]]:
    return [one.answer for one in answered], [one.references for one in answered]


def _add(details: Sequence[dict[str, JSON]], name: str, values: Sequence[float | None]) -> None:
    for detail, value in zip(details, values, strict=True):
        detail[name] = None if value is None else round(value, 6)


def _mean(
    metric: str, answered: Sequence[Answered], values: Sequence[float | None], seed: int
) -> Measure:
    groups: dict[str, list[float]] = {}
    for one, value in zip(answered, values, strict=True):
        if value is not None:
            groups.setdefault(one.group, []).append(value)
    pooled = [value for group in groups.values() for value in group]
    flags = _unread(len(values) - len(pooled))
    if not pooled:
        return Measure(metric, None, unit="score", flags=flags)
    low, high = mean_interval(groups, seed) or (None, None)
    return Measure(metric, fmean(pooled), low, high, len(pooled), "score", flags=flags)


def _unread(missing: int) -> str:
    return f"unread={missing}" if missing else ""


def _sum(parts: Sequence[BleuCounts]) -> BleuCounts:
    return BleuCounts(
        tuple(map(sum, zip(*(part.correct for part in parts), strict=True))),
        tuple(map(sum, zip(*(part.guess for part in parts), strict=True))),
        sum(part.length for part in parts),
        sum(part.reference_length for part in parts),
    )
