"""How varied a set of edits is: MAC's entropy H, normalised entropy and distinct-1 (eq. 5-6).

An edit is a list of tokens such as "D_NOUN_dog", "I_NOUN_cat": what was deleted and inserted, with
its part of speech, read off a word alignment.

Deviations (the released code, which gives the published tables, does what the paper leaves open):
the alignment is over lemmas, so that a changed inflection is no edit; among equally short alignments
it prefers a deletion to an insertion to the diagonal; it stops where either text is used up, so that
what is added or removed at the very start goes unseen; only open word classes are counted; a
rewrite that fails the distance criterion counts as no edit, one that fails any other criterion counts.
The reference cannot compute fewer than two different tokens; the measures are 0 there.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from benchmark.protocols import RunContext, Tagger
from benchmark.types import Measure, Record
from metrics.caption_criteria import distance_limit
from metrics.distance import within, word_distances

OPEN_CLASS = frozenset({"ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB"})

REPLICATES = 1000
CONFIDENCE = 0.95

Tags = Sequence[tuple[str, str]]
Counts = Sequence[int] | npt.NDArray[np.int64]


def edit_tokens(before: Tags, after: Tags, *, with_substitutions: bool = False) -> list[str]:
    """The edit that turns one tagged text into another, from its end to its start.

    Args:
        before: (lemma, part of speech) of each word of the caption.
        after: The same of the rewrite.
        with_substitutions: Write a substitution as one token "S_POS_lemma" of the new word, not as
            a deletion and an insertion.

    >>> edit_tokens([("a", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")])
    ['D_NOUN_dog', 'I_NOUN_cat']
    """
    old, new = [lemma for lemma, _ in before], [lemma for lemma, _ in after]
    if old == new:
        return []
    table = _distances(old, new)
    found: list[str] = []
    i, j = len(old), len(new)
    while i and j:
        cost = table[i][j]
        if cost == table[i - 1][j] + 1:
            i -= 1
            found.append(_token("D", before[i]))
        elif cost == table[i][j - 1] + 1:
            j -= 1
            found.append(_token("I", after[j]))
        else:
            i, j = i - 1, j - 1
            if old[i] == new[j]:
                continue
            if with_substitutions:
                found.append(_token("S", after[j]))
            else:
                found += [_token("D", before[i]), _token("I", after[j])]
    return found


def is_open_class(token: str) -> bool:
    """Whether a token's part of speech is one that counts.

    >>> is_open_class("D_NOUN_dog"), is_open_class("I_ADP_without")
    (True, False)
    """
    return token.split("_", 2)[1] in OPEN_CLASS


def entropy(counts: Counts) -> float:
    """H = -sum p ln p over the tokens' shares, in nats (MAC eq. 5). 0 without tokens."""
    present = _present(counts)
    total = float(present.sum())
    if total == 0:
        return 0.0
    return max(0.0, math.log(total) - float((present * np.log(present)).sum()) / total)


def normalized_entropy(counts: Counts) -> float:
    """H / ln V, V the number of different tokens: 1 if all are equally frequent. 0 for V < 2."""
    unique = _present(counts).size
    return entropy(counts) / math.log(unique) if unique > 1 else 0.0


def distinct_1(counts: Counts) -> float:
    """V / T: different tokens by tokens. 0 without tokens."""
    present = _present(counts)
    return present.size / float(present.sum()) if present.size else 0.0


STATISTICS: dict[str, Callable[[Counts], float]] = {
    "H": entropy,
    "H_hat": normalized_entropy,
    "D1": distinct_1,
}
UNITS = {"H": "nats", "H_hat": "", "D1": ""}
UPPER_BOUNDS = {"H": math.inf, "H_hat": 1.0, "D1": 1.0}


class EditDiversity:
    """H, H_hat and D1 of the picked candidates, V different ones (`V`) of T tokens (`T`).

    Skipped and errored samples are left out. All three depend on how many samples there are, so
    compare only runs of one size. Intervals: a bootstrap that draws groups (all captions of one
    image) with replacement. A resample repeats groups and is therefore less diverse than a fresh
    sample of that size would be; replicates are shifted by their mean distance from the estimate,
    so that the interval shows their spread without this bias.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        """Three measures with intervals and two counts; None for all if nothing was picked."""
        rows = [(r, r.adversarial_text) for r in records if r.status in ("success", "failure")]
        edited = [(record, text) for record, text in rows if text is not None]
        n = len(edited)
        if not edited:
            return [Measure(name, None) for name in (*STATISTICS, "V", "T")]
        edits = self._edits([(record.text, text) for record, text in edited])
        counts = Counter(token for edit in edits for token in edit)
        pooled = list(counts.values())
        groups = [record.group or record.id for record, _ in edited]
        intervals = _bootstrap(groups, edits, self._run.seed)
        return [
            *(
                Measure(name, statistic(pooled), *intervals[name], n=n, unit=UNITS[name])
                for name, statistic in STATISTICS.items()
            ),
            Measure("V", len(counts), n=n, unit="tokens"),
            Measure("T", sum(pooled), n=n, unit="tokens"),
        ]

    def _edits(self, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
        tagger: Tagger = self._run.model("taggers", self._run.settings["tagger"])
        limit = distance_limit(self._run)
        near = [within(distance, limit) for distance in word_distances(pairs)]
        kept = [pair for pair, ok in zip(pairs, near, strict=True) if ok]
        tags = iter(tagger.tag([text for pair in kept for text in pair]))
        edits = (edit_tokens(next(tags), next(tags)) if ok else [] for ok in near)
        return [[token for token in edit if is_open_class(token)] for edit in edits]


def _bootstrap(
    groups: Sequence[str], edits: Sequence[Sequence[str]], seed: int
) -> dict[str, tuple[float | None, float | None]]:
    """An interval for each statistic. Works on counts: each resample weighs (group, token) rows."""
    # Sorted, so that the order of the records changes nothing.
    of_group = {group: index for index, group in enumerate(sorted(set(groups)))}
    of_token = {token: index for index, token in enumerate(sorted({t for e in edits for t in e}))}
    rows = [
        (of_group[group], of_token[token])
        for group, edit in zip(groups, edits, strict=True)
        for token in edit
    ]
    if len(of_group) < 2 or not rows:
        return dict.fromkeys(STATISTICS, (None, None))
    group_of, token_of = np.array(rows).T
    draw = np.random.default_rng(seed)
    n = len(of_group)
    replicates: dict[str, list[float]] = {name: [] for name in STATISTICS}
    for _ in range(REPLICATES):
        weights = np.bincount(draw.integers(n, size=n), minlength=n)
        counts = np.bincount(token_of, weights[group_of], minlength=len(of_token)).astype(np.int64)
        for name, statistic in STATISTICS.items():
            replicates[name].append(statistic(counts))
    pooled = np.bincount(token_of)
    return {
        name: _interval(statistic(pooled), replicates[name], 0.0, UPPER_BOUNDS[name])
        for name, statistic in STATISTICS.items()
    }


def _interval(
    estimate: float, replicates: Sequence[float], least: float, most: float
) -> tuple[float, float]:
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(replicates, (tail, 100 - tail)) - np.mean(replicates)
    # Replicates that are all equal may differ from their mean by a rounding error.
    below, above = min(0.0, float(low)), max(0.0, float(high))
    return max(least, estimate + below), min(most, estimate + above)


def _distances(old: Sequence[str], new: Sequence[str]) -> list[list[int]]:
    """Levenshtein table: [i][j] is the distance of the first i words from the first j."""
    row = list(range(len(new) + 1))
    table = [row]
    for i, word in enumerate(old, start=1):
        above, row = row, [i]
        left = i
        for j, other in enumerate(new):
            diagonal = above[j] if word == other else above[j] + 1
            up = above[j + 1] + 1
            left += 1
            if up < left:
                left = up
            if diagonal < left:
                left = diagonal
            row.append(left)
        table.append(row)
    return table


def _token(operation: str, tag: tuple[str, str]) -> str:
    lemma, part_of_speech = tag
    return f"{operation}_{part_of_speech}_{lemma}"


def _present(counts: Counts) -> npt.NDArray[np.float64]:
    """Counts above zero, sorted so that sums do not depend on the order of the tokens."""
    values = np.sort(np.asarray(counts, dtype=np.float64))
    return values[values > 0]
