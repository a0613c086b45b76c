"""A comparison for a terminal: the verdict, one line a question, what is missing, what flipped."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from benchmark.compare import Comparison
from benchmark.gate.flips import Flip
from benchmark.gate.scores import Change
from benchmark.gate.verdict import Answer

MISSING = "-"
_COLOURS = {"PASS": "32", "REGRESSION": "31", "INCONCLUSIVE": "33", "NOT COMPARABLE": "31"}
HEADINGS = ("", "", "pairs", "before", "now", "drop", "interval", "broken", "mended", "finds", "")


def render(
    comparison: Comparison, shown: int = 3, *, width: int = 100, colour: bool = False
) -> str:
    """The whole text, ending in a line break. `shown` limits how many broken samples are listed."""
    lines = (printable(line) for line in _lines(comparison, shown, width))
    return "".join(f"{_coloured(line) if colour else line}\n" for line in lines)


def headline(comparison: Comparison) -> str:
    """What the verdict means, in one sentence without the verdict."""
    limit = f"{100 * comparison.margin:g} points"
    match comparison.verdict:
        case "PASS":
            return f"robust accuracy fell by less than {limit}, if at all"
        case "REGRESSION":
            worse = [one.question.mode for one in comparison.answers if one.verdict == "REGRESSION"]
            if not worse:
                return "adversarial examples got fitter by more than the margin"
            kind = "clean" if set(worse) == {"clean"} else "robust"
            return f"{kind} accuracy fell by more than {limit}"
        case "INCONCLUSIVE":
            return f"too few samples to tell whether robust accuracy fell by {limit}"
        case "NOT COMPARABLE":
            return "the runs differ in more than the target; --allow KEY puts up with a difference"


def row(answer: Answer) -> tuple[str, ...]:
    """The numbers of one question, in points."""
    return (
        answer.question.attack,
        answer.question.mode,
        str(answer.n),
        points(answer.before),
        points(answer.now),
        points(answer.drop, sign=True),
        bounds(answer.interval),
        str(answer.broken),
        str(answer.mended),
        points(answer.detectable),
        answer.verdict,
    )


def explanations(comparison: Comparison) -> Iterator[str]:
    """Why something was not decided, what was left out or put up with: a sentence each."""
    for answer in comparison.answers:
        if answer.verdict == "INCONCLUSIVE":
            yield f"{answer.question.attack} {answer.question.mode}: {answer.reason}"
    if comparison.skipped:
        yield f"{comparison.skipped} samples that both runs skipped are left out"
    for attack, difference in comparison.allowed:
        yield f"allowed: {f'{attack}: ' if attack else ''}{difference}"
    for waiver in comparison.applied:
        yield f"waived: {waiver}"
    if comparison.verdict_unwaived not in (None, comparison.verdict):
        yield f"without waivers: {comparison.verdict_unwaived}"
    for waiver in comparison.expired:
        yield f"waiver expired, not applied: {waiver}"
    for waiver in comparison.unused:
        yield f"waiver about no sample of these runs: {waiver}"
    if comparison.notes:
        yield f"also different, seldom of effect: {', '.join(comparison.notes)}"


def changes(comparison: Comparison) -> Iterator[str]:
    """Changes of mean fitness, a line each."""
    for change in comparison.scores:
        yield f"{change.attack} {change.mode}: fitness {_change(change)}"


def counted(comparison: Comparison) -> str:
    """How many samples flipped, waived ones apart."""
    waived = sum(
        flip.direction == "broken" and flip.waiver is not None for flip in comparison.flips
    )
    mended = sum(flip.direction == "mended" for flip in comparison.flips)
    parts = [f"{len(comparison.broken)} broken"]
    parts += [f"{waived} waived"] * bool(waived)
    return ", ".join([*parts, f"{mended} mended"])


def words(flip: Flip) -> str:
    """The texts of a flip: the true one, and the one that was shown where that was changed."""
    if flip.adversarial_text is None or flip.adversarial_text == flip.text:
        return flip.text
    return f"{flip.text} -> {flip.adversarial_text}"


def changed_words(flip: Flip) -> str:
    """What of the text was changed, or the text where it was not."""
    if flip.adversarial_text is None or flip.adversarial_text == flip.text:
        return flip.text
    before, now = flip.text.split(), flip.adversarial_text.split()
    steps = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
    return ", ".join(
        f"{' '.join(before[a:b]) or MISSING} -> {' '.join(now[c:d]) or MISSING}"
        for kind, a, b, c, d in steps
        if kind != "equal"
    )


def printable(content: str) -> str:
    """Without what a terminal or a page would obey instead of show: captions come from models."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in content)


def points(value: float | None, *, sign: bool = False) -> str:
    """A share in points of 100, one decimal."""
    if value is None:
        return MISSING
    text = f"{100 * value:{'+' if sign else ''}.1f}"
    return text.lstrip("+-") if float(text) == 0 else text


def bounds(interval: tuple[float, float] | None) -> str:
    """An interval in points of 100."""
    return MISSING if interval is None else f"[{points(interval[0])}, {points(interval[1])}]"


def _lines(comparison: Comparison, shown: int, width: int) -> Iterator[str]:
    yield f"{comparison.verdict}  {headline(comparison)}"
    yield f"  before  {comparison.baseline}"
    yield f"  now     {comparison.new}"
    if comparison.refused:
        yield ""
        for attack, difference in comparison.refused:
            yield f"  {f'{attack}: ' if attack else ''}{difference}"
    if comparison.answers:
        yield ""
        yield from _table(comparison.answers)
        yield ""
        share = f"{100 * (1 - 2 * comparison.alpha):g} %"
        yield f"  accuracy under attack in points; {share} intervals; finds: drops found with 80 % power"
    extra = [*explanations(comparison), *changes(comparison)]
    if extra:
        yield ""
        yield from (f"  {line}" for line in extra)
    if comparison.flips:
        yield ""
        yield from _flipped(comparison, shown, width)


def _table(answers: Sequence[Answer]) -> Iterator[str]:
    rows = [HEADINGS, *map(row, answers)]
    widths = [max(len(line[column]) for line in rows) for column in range(len(HEADINGS))]
    previous = ""
    for cells in rows:
        attack = "" if cells[0] == previous else cells[0]
        previous = cells[0]
        padded = [attack.ljust(widths[0]), cells[1].ljust(widths[1])]
        padded += [cell.rjust(width) for cell, width in zip(cells[2:-1], widths[2:-1], strict=True)]
        yield f"  {'  '.join([*padded, cells[-1]])}".rstrip()


def _flipped(comparison: Comparison, shown: int, width: int) -> Iterator[str]:
    broken = comparison.broken
    more = f"; {shown} of the broken ones:" if len(broken) > shown else ":" if broken else ""
    yield f"  flipped: {counted(comparison)}{more}"
    for flip in _spread(broken, shown):
        yield f"    {_cut(f'{flip.attack} {flip.mode} {flip.id}: {changed_words(flip)}', width - 4)}"
        yield f"      {flip.command or 'no command makes this run again: its preset has changed'}"


def _spread(broken: Sequence[Flip], shown: int) -> Iterable[Flip]:
    """The first of every attack and mode before the second of any."""
    ranks: dict[tuple[str, str], int] = {}
    ranked = []
    for flip in broken:
        rank = ranks[flip.attack, flip.mode] = ranks.get((flip.attack, flip.mode), -1) + 1
        ranked.append((rank, flip))
    return [flip for _, flip in sorted(ranked, key=lambda pair: pair[0])[:shown]]


def _change(change: Change) -> str:
    interval = MISSING
    if change.interval is not None:
        interval = f"[{change.interval[0]:+.3f}, {change.interval[1]:+.3f}]"
    verdict = f"  {change.verdict}" if change.verdict else ""
    return f"{change.mean:+.3f} {interval}, higher is more adversarial{verdict}"


def _cut(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _coloured(line: str) -> str:
    """A line with the verdict that it begins or ends with in its colour."""
    for verdict, code in _COLOURS.items():
        bold = f"\x1b[1;{code}m{verdict}\x1b[0m"
        if line.startswith(f"{verdict}  "):
            return bold + line.removeprefix(verdict)
        if line.endswith(f"  {verdict}"):
            return line.removesuffix(verdict) + bold
    return line
