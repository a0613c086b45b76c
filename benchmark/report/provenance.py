"""What was run on what: every id and hash, so that anybody can run it again."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.report.blocks import MISSING, table
from benchmark.report.markup import Child, Markup, el, isolated
from benchmark.report.runs import RunView


def provenance(run: RunView) -> list[Markup]:
    """The content of the section for one run."""
    header, config = run.header, run.config
    models = header.get("models")
    body: list[list[Child]] = []
    for role, info in models.items() if isinstance(models, dict) else ():
        known = info if isinstance(info, dict) else {}
        body.append(
            [
                isolated(str(role)),
                isolated(str(known.get("id", MISSING))),
                _code(known.get("revision")),
                _code(known.get("weights")),
                isolated(str(known.get("dtype", ""))),
            ]
        )
    facts: list[tuple[str, Child]] = [
        ("run folder", isolated(run.path.name or str(run.path))),
        ("status", isolated(str(header.get("status", MISSING)))),
        ("started", isolated(str(header.get("start", MISSING)))),
        ("ended", isolated(str(header.get("end") or MISSING))),
        ("config", _code(header.get("digest"))),
        ("records.jsonl", _code(run.records_sha256)),
        ("git commit", _code(header.get("git_commit"))),
        ("attack version", isolated(str(header.get("attack_version", MISSING)))),
        ("seed", str(config.seed)),
        ("access", f"{config.access}, query budget {_budget(config.query_budget)}"),
        ("device", isolated(", ".join(_devices(header.get("sessions"))) or MISSING)),
        ("python", isolated(str(header.get("python", MISSING)))),
        ("platform", isolated(str(header.get("platform", MISSING)))),
        ("queries", isolated(str(_total(header, "queries")))),
    ]
    if run.surrogate:
        facts.insert(0, ("found on", isolated(run.surrogate)))
    return [
        el("dl", [[el("dt", name), el("dd", value)] for name, value in facts], class_="ids"),
        table(
            ["role", "id", "revision", "sha256 of weights or data", "dtype"],
            body,
            "Models and data",
            words=5,
        ),
        el("h3", "Run it again"),
        _again(run),
        _folded("Settings", _settings(run)),
        _folded("Preprocessing", _preprocessing(models)),
        _folded("Versions", _versions(header.get("versions"))),
        _folded("The attack says of itself", _details(header.get("attack_details"))),
    ]


def _again(run: RunView) -> Markup:
    known = command(run)
    if known is None:
        return el(
            "p",
            "No command of this version makes this run again: it shows stored examples, its preset has"
            " changed since, or a plugin that it used is not installed here.",
            class_="note",
        )
    return el("pre", el("code", isolated(known)), tabindex="0")


def command(run: RunView) -> str | None:
    """The command line that gives the same config; None if none of this version does."""
    # It resolves names through the registry: only where it is asked for.
    from benchmark.gate.rerun import run_words

    words = None if run.surrogate else run_words(run.config)
    if words is None:
        return None
    # A line breaks before each option.
    pieces: list[list[str]] = [["python", "-m", "benchmark"]]
    for word in words:
        if word.startswith("--") and len(pieces[-1]) > 1 and word != "--attack":
            pieces.append([])
        pieces[-1].append(shlex.quote(word))
    return " \\\n  ".join(" ".join(piece) for piece in pieces)


def _settings(run: RunView) -> Markup:
    body = [
        [
            isolated(f"{prefix}{key}"),
            isolated(value if isinstance(value, str) else json.dumps(value)),
        ]
        for prefix, settings in (
            ("", run.config.settings),
            ("dataset.", run.config.dataset_settings),
            ("target.", run.config.target_settings),
        )
        for key, value in sorted(settings.items())
    ]
    return table(["setting", "value"], body, "Settings", words=2)


def _preprocessing(models: Any) -> Markup | None:
    body = [
        [isolated(str(role)), _code(info["preprocessing"])]
        for role, info in (models.items() if isinstance(models, dict) else ())
        if isinstance(info, dict) and info.get("preprocessing")
    ]
    return (
        table(["role", "before the first layer"], body, "Preprocessing", words=2) if body else None
    )


def _versions(versions: Any) -> Markup | None:
    if not isinstance(versions, dict) or not versions:
        return None
    body = [[isolated(name), isolated(str(version))] for name, version in sorted(versions.items())]
    return table(["package", "version"], body, "Versions", words=2)


def _details(details: Any) -> Markup | None:
    if not isinstance(details, Mapping) or not details:
        return None
    shown = json.dumps(details, indent=2, ensure_ascii=False)
    return el("pre", el("code", isolated(shown)), tabindex="0")


def _folded(title: str, content: Markup | None) -> Markup:
    if content is None:
        return el("div", hidden=True)
    return el("details", el("summary", title), content, class_="data")


def _code(value: Any) -> Markup | str:
    return el("code", isolated(str(value))) if value else MISSING


def _budget(budget: int | None) -> str:
    return "without limit" if budget is None else str(budget)


def _devices(sessions: Any) -> Sequence[str]:
    known = sessions if isinstance(sessions, list) else []
    return list(
        dict.fromkeys(
            str(one["device"]) for one in known if isinstance(one, dict) and "device" in one
        )
    )


def _total(header: Mapping[str, Any], name: str) -> Any:
    totals = header.get("totals")
    return totals.get(name, MISSING) if isinstance(totals, dict) else MISSING
