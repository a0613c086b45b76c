"""A comparison for machines and for web pages: JUnit, SARIF 2.1.0, Markdown."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmark import __version__
from benchmark.compare import Comparison
from benchmark.gate import text
from benchmark.gate.flips import Flip
from benchmark.gate.verdict import Answer
from benchmark.records import RECORDS

_FLIP_RULE, _VERDICT_RULE = "robustness/broken-sample", "robustness/verdict"
_LISTED = 50


def junit(comparison: Comparison) -> str:
    """One test case a question: REGRESSION fails, INCONCLUSIVE is skipped, not comparable is an error."""
    suite = ElementTree.Element("testsuite", name="trident compare")
    for answer in comparison.answers:
        case = _case(suite, answer.question.attack, answer.question.mode)
        if answer.verdict == "REGRESSION":
            ElementTree.SubElement(case, "failure", type="REGRESSION", message=_message(answer))
        elif answer.verdict == "INCONCLUSIVE":
            ElementTree.SubElement(case, "skipped", message=_message(answer))
        mine = [
            flip
            for flip in comparison.flips
            if (flip.attack, flip.mode) == (answer.question.attack, answer.question.mode)
        ]
        output = ElementTree.SubElement(case, "system-out")
        output.text = _printable("\n".join([_message(answer), *map(_line, mine)]))
    for change in comparison.scores:
        if change.verdict is not None:
            case = _case(suite, change.attack, f"{change.mode} fitness")
            if change.verdict != "PASS":
                tag = "failure" if change.verdict == "REGRESSION" else "skipped"
                ElementTree.SubElement(case, tag, message=f"{change.verdict}: {change.mean:+.3f}")
    for attack, difference in comparison.refused:
        case = _case(suite, attack or "comparable", difference.key)
        message = _printable(str(difference))
        ElementTree.SubElement(case, "error", type="NOT COMPARABLE", message=message)
    for tag in ("failure", "skipped", "error"):
        plural = {"failure": "failures", "error": "errors"}.get(tag, tag)
        suite.set(plural, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def sarif(comparison: Comparison) -> str:
    """SARIF 2.1.0: the verdict, and each broken sample at its line of records.jsonl."""
    results = [_verdict_result(comparison)]
    results += [
        _flip_result(flip, comparison.verdict)
        for flip in comparison.flips
        if flip.direction == "broken"
    ]
    rules = [
        _rule(_VERDICT_RULE, "Robust accuracy compared with the baseline's"),
        _rule(_FLIP_RULE, "A sample that the baseline held and the new model does not"),
    ]
    driver = {"name": "trident", "semanticVersion": __version__, "rules": rules}
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(document, indent=2) + "\n"


def markdown(comparison: Comparison) -> str:
    """A summary for a pull request or $GITHUB_STEP_SUMMARY."""
    return "\n".join(_markdown(comparison)) + "\n"


def append(path: Path, content: str) -> None:
    """Add to a summary that other steps may have begun."""
    with path.open("a", encoding="utf-8") as file:
        file.write(content)


def _case(suite: ElementTree.Element, attack: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=f"trident.{attack}", name=name)


def _message(answer: Answer) -> str:
    return (
        f"{answer.verdict}: {answer.reason}; {text.points(answer.before)} ->"
        f" {text.points(answer.now)} points, drop {text.points(answer.drop, sign=True)}"
        f" {text.bounds(answer.interval)}, {answer.n} pairs, {answer.broken} broken,"
        f" {answer.mended} mended, p(drop within margin) {answer.p_worse:.3g},"
        f" p(drop beyond margin) {answer.p_no_worse:.3g}"
    )


def _line(flip: Flip) -> str:
    waived = f" (waived: {flip.waiver})" if flip.waiver else ""
    return f"{flip.direction} {flip.id}: {text.words(flip)}{waived}\n  {flip.command}"


def _printable(content: str) -> str:
    """Without the characters that XML 1.0 has no way to write."""
    return "".join(
        one if one in "\t\n" or " " <= one < "\ud800" or "\ue000" <= one <= "\ufffd" or one > "\uffff"
        else "\N{REPLACEMENT CHARACTER}"
        for one in content
    )  # fmt: skip


def _rule(id: str, description: str) -> dict[str, Any]:
    return {"id": id, "shortDescription": {"text": description}}


def _verdict_result(comparison: Comparison) -> dict[str, Any]:
    kinds = {
        "PASS": ("pass", "none"),
        "REGRESSION": ("fail", "error"),
        "INCONCLUSIVE": ("review", "none"),
        "NOT COMPARABLE": ("fail", "error"),
    }
    kind, level = kinds[comparison.verdict]
    lines = [f"{comparison.verdict}: {text.headline(comparison)}."]
    lines += [str(difference) for _, difference in comparison.refused]
    lines += [
        f"{one.question.attack} {one.question.mode}: {_message(one)}" for one in comparison.answers
    ]
    return {
        "ruleId": _VERDICT_RULE,
        "kind": kind,
        "level": level,
        "message": {"text": "\n".join(lines)},
        "locations": [_location(str(comparison.new), "run.json", 1)],
    }


def _flip_result(flip: Flip, verdict: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": _FLIP_RULE,
        "kind": "fail",
        "level": "error" if verdict == "REGRESSION" else "note",
        "message": {
            "text": f"{flip.attack} {flip.mode}, sample {flip.id}: {text.words(flip)}\n{flip.command}"
        },
        "locations": [_location(flip.run, RECORDS, flip.line)],
        "partialFingerprints": {"sample/v1": f"{flip.attack}/{flip.mode}/{flip.id}"},
    }
    if flip.waiver is not None:
        result["suppressions"] = [{"kind": "external", "justification": str(flip.waiver)}]
    return result


def _location(run: str, name: str, line: int) -> dict[str, Any]:
    path = Path(run) / name
    uri = path.absolute().as_uri() if path.is_absolute() else path.as_posix().replace(" ", "%20")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}


def _markdown(comparison: Comparison) -> Iterator[str]:
    icon = {"PASS": "✅", "REGRESSION": "❌", "INCONCLUSIVE": "⚠️"}.get(comparison.verdict, "⛔")
    yield f"## {icon} {comparison.verdict}: {text.headline(comparison)}"
    yield ""
    yield f"`{comparison.baseline}` → `{comparison.new}`"
    yield ""
    for attack, difference in comparison.refused:
        yield f"- {_escaped(f'{attack}: ' if attack else '')}{_escaped(str(difference))}"
    if comparison.answers:
        yield _cells("attack", "mode", *text.HEADINGS[2:-1], "verdict")
        yield _cells("---", "---", *["---:"] * (len(text.HEADINGS) - 3), "---")
        for answer in comparison.answers:
            yield _cells(*map(_escaped, text.row(answer)))
        yield ""
        share = f"{100 * (1 - 2 * comparison.alpha):g} %"
        yield (
            f"Accuracy under attack in points, {share} intervals, alpha {comparison.alpha:g};"
            " *finds*: drops that are found with 80 % power."
        )
        yield ""
    for line in (*text.explanations(comparison), *text.changes(comparison)):
        yield f"- {_escaped(line)}"
    if comparison.flips:
        broken = comparison.broken
        yield ""
        yield f"<details><summary>flipped: {text.counted(comparison)}</summary>"
        yield ""
        for flip in broken[:_LISTED]:
            yield f"- {_escaped(f'{flip.attack} {flip.mode} {flip.id}: {text.words(flip)}')}"
            yield f"  <br>{_code(flip.command)}"
        if len(broken) > _LISTED:
            yield f"- and {len(broken) - _LISTED} more"
        yield ""
        yield "</details>"


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(content: str) -> str:
    """Text that Markdown and HTML leave as it is: captions come from models."""
    content = text.printable(" ".join(content.split())).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{one}" if one in r"\`*_[]|#!~" else one for one in content)


def _code(command: str) -> str:
    """A command as code, in entities: within <code>, Markdown would still be at work."""
    kept = "".join(
        one if one.isalnum() or one in " -./:=" else f"&#{ord(one)};"
        for one in text.printable(command)
    )
    return f"<code>{kept}</code>"
