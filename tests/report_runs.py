"""Run folders for tests of the report, made without a model."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmark import tables
from benchmark.cache import pixels_digest
from benchmark.records import RunFolder
from benchmark.types import Measure, Pixels, Record, TraceEntry
from tests.fakes import config

HOSTILE = (
    "<script>document.title='owned'</script>",
    "</script><script>document.title='owned'</script>",
    "\"'><img src=x onerror=\"document.title='owned'\">",
    "</style><style>body{display:none}</style>",
    "\u202eright to left\u202c שלום عالم",
    "a" * 5000,
    "word " * 1000,
    "a\x00b\x1b[31m\ud800 \ufffe",
    "<!-- --> ]]> &amp; &lt;b&gt; ${1} {{2}}",
    "",
)
"""What a caption, an id, a file name or a model's answer may be."""


def picture(seed: int, size: int = 16) -> Pixels:
    """A small picture of noise."""
    return np.random.default_rng(seed).integers(0, 256, (size, size, 3), dtype=np.uint8)


def header(changes: Mapping[str, Any]) -> dict[str, Any]:
    """A run.json; changes are those of its config."""
    given = config(**changes)
    return {
        "schema": 1,
        "status": "finished",
        "config": given.to_json(),
        "digest": given.digest,
        "start": "2026-01-31T12:00:00+00:00",
        "end": "2026-01-31T12:10:00+00:00",
        "python": "3.11.7",
        "versions": {"numpy": "2.4.6"},
        "git_commit": "0123abc",
        "attack_version": "1",
        "models": {
            "target": {
                "id": given.target,
                "revision": "main",
                "weights": "ab" * 32,
                "dtype": "float32",
                "preprocessing": "none",
            }
        },
        "sessions": [{"device": "cpu"}],
        "totals": {"done": 1, "queries": 4},
    }


def write(
    path: Path,
    records: Sequence[Record],
    measures: Sequence[Measure] = (),
    traces: Mapping[str, Sequence[TraceEntry]] | None = None,
    **changes: Any,
) -> Path:
    """A finished run of these records."""
    with RunFolder.create(path, header(changes)) as folder:
        folder.append([(record, (traces or {}).get(record.id, ())) for record in records])
    tables.write_csv(tables.rows(measures, config(**changes)), path / "table.csv")
    return path


def keep(path: Path, pixels: Pixels) -> str:
    """Add a picture to the artefacts of a run that is there; its digest."""
    digest = pixels_digest(pixels)
    Image.fromarray(pixels).save(path / "artifacts" / f"{digest}.png")
    return digest


def captions(path: Path, outcomes: str = "SFFSE-", seed: int = 0, **changes: Any) -> Path:
    """A run on captions: S fooled at the second of 4 queries, F held, E error, - skipped.

    Its pictures are those of pairs.csv beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    pairs = path.parent / "pairs.csv"
    records, rows = [], []
    for i, outcome in enumerate(outcomes):
        pixels = picture(i)
        Image.fromarray(pixels).save(path.parent / f"{i}.png")
        rows.append([f"s{i}", f"{i}.png", f"a red ball number {i}"])
        gap = {"S": 0.01 * (i + 1), "F": -0.05}.get(outcome)
        tried = gap is not None
        records.append(
            Record(
                id=f"s{i}",
                group=f"{i}.png",
                status={"S": "success", "F": "failure", "E": "error", "-": "skipped"}[outcome],  # type: ignore[arg-type]
                text=f"a red ball number {i}",
                adversarial_text=f"a blue ball number {i}" if tried else None,
                image=f"{i}.png",
                image_sha256=pixels_digest(pixels),
                perturbation={"operation_found": "replace-colour", "candidate": 1} if tried else {},
                verdicts={"crossmodal": outcome == "S", "unimodal": True} if tried else {},
                clean_score=0.6 if tried else None,
                score=None if gap is None else 0.6 + gap,
                fitness=gap,
                picked=1 if tried else None,
                queries=4 if tried else 0,
                queries_to_success=2 if outcome == "S" else None,
                error="RuntimeError: no answer" if outcome == "E" else None,
            )
        )
    with pairs.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "image", "caption"], *rows])
    measures = [
        Measure("total", 0.5, 0.15, 0.85, 4, "rate"),
        Measure("total", 0.5, 0.15, 0.85, 4, "rate", slice="operation=replace-colour"),
        Measure("total", 0.25, 0.05, 0.7, 4, "rate", slice="operation=swap-objects"),
    ]
    given = {"attack": "mac", "dataset_name": "pairs", "dataset": f"pairs:{pairs}", **changes}
    return write(path, records, measures, **given)


def hostile(path: Path) -> Path:
    """A run whose every text comes from somebody who means harm."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records = []
    for i, text in enumerate(HOSTILE):
        status = ("success", "failure", "error")[i % 3]
        records.append(
            Record(
                id=f"{i}{text[:300]}",
                group=text[:50],
                status=status,  # type: ignore[arg-type]
                text=text,
                adversarial_text=f"{text} and {HOSTILE[(i + 1) % len(HOSTILE)]}",
                image=text[:100],
                perturbation={"operation_found": text[:200], text[:200]: text[:200]},
                verdicts={text[:200]: True, "crossmodal": None},
                clean_score=0.5,
                score=0.6,
                fitness=0.1,
                picked=0,
                queries=1,
                queries_to_success=1 if status == "success" else None,
                artifacts={"image": text[:64], "../../x": "../../x"},
                error=text if status == "error" else None,
                clean_output=text,
                output=text,
                found={"search": text, "generations": text, "finals": text, "poses": text},
            )
        )
    measures = [
        Measure(
            text[:60].replace("\x00", " ").replace("\ud800", ""),
            0.5,
            0.1,
            0.9,
            3,
            "rate",
            slice=f"operation={text[:60]}".replace("\x00", " ").replace("\ud800", ""),
            flags=text[:20].replace("\x00", " ").replace("\ud800", ""),
        )
        for text in HOSTILE[:6]
    ]
    write(path, records, measures, dataset_name=HOSTILE[0], target=f"fake:{HOSTILE[2]}")
    told = json.loads((path / "run.json").read_text())
    told["versions"] = {HOSTILE[0]: HOSTILE[1]}
    told["models"] = {HOSTILE[0]: {"id": HOSTILE[1], "preprocessing": HOSTILE[2]}}
    told["attack_details"] = {HOSTILE[1]: HOSTILE[0]}
    told["surrogate"] = HOSTILE[1]
    (path / "run.json").write_text(json.dumps(told))
    return path


def poses(path: Path) -> Path:
    """A run on poses: two samples, p* all at a yaw of 50, half of the random poses fool."""
    records, traces = [], {}
    for i in range(2):
        random: list[Any] = [[-60.0 + 12 * k, 0.0, 0.0, 0.0, 0.0, 1.0] for k in range(10)]
        axes = ("yaw_deg", "pitch_deg", "roll_deg", "dx", "dy", "scale")
        id = f"s{i}"
        traces[id] = [
            TraceEntry(
                id,
                0,
                None,
                {"generation": 0},
                {"misclassified": True},
                0.4,
                True,
                option_scores=[0.4, 0.7, 0.1],
            ),
            *(
                TraceEntry(
                    id,
                    1 + k,
                    None,
                    {"condition": "random", **dict(zip(axes, pose, strict=True))},
                    {"misclassified": k >= 5},
                    0.5,
                    k >= 5,
                    purpose="report",
                )
                for k, pose in enumerate(random)
            ),
        ]
        records.append(
            Record(
                id=id,
                group=id,
                status="success",
                text="ball",
                perturbation={"yaw_deg": 50.0, "scale": 0.8},
                verdicts={"misclassified": True},
                clean_score=0.6,
                score=0.4,
                fitness=1.0,
                picked=0,
                queries=20,
                queries_to_success=5 * (i + 1),
                found={
                    "poses": {"random": random, "distribution": [[50.0, 0, 0, 0, 0, 1.0]] * 3},
                    "generations": [{"fooled": 0.0}, {"fooled": 0.5 + 0.5 * i}],
                },
            )
        )
    measures = [Measure("accuracy", 0.5, 0.2, 0.8, 2, "rate", slice="condition=random")]
    write(path, records, measures, traces, attack="advdreamer")
    return path


def searches(path: Path) -> Path:
    """A run of searches over concepts: fog is new among what evolution ended with."""
    pool: list[Any] = [
        [f"a {colour} {thing} on the grass", 0.6]
        for colour in ("red", "blue", "green")
        for thing in ("lamp", "mug")
    ]
    finals: list[Any] = [
        {
            "text": f"a {colour} rocket in the fog",
            "selected": 0.1,
            "capture_fresh": score,
            "answer": "a lamp",
            "picture": f"final-{i:02}",
            "operator": "explore",
        }
        for i, (colour, score) in enumerate((("red", 0.1), ("blue", 0.5), ("green", None)))
    ]
    record = Record(
        id="evolution-0",
        group="repeat-0",
        status="success",
        text="evolution",
        queries=30,
        found={
            "search": "evolution",
            "pool": {"n": 6, "captions": pool},
            "generations": [
                {"evaluations": 6, "best": 0.5, "mean": 0.6},
                {"evaluations": 30, "best": 0.1, "mean": None},
            ],
            "finals": finals,
        },
    )
    measures = [
        Measure("capture_fresh", 0.3, 0.1, 0.5, 2, "score", slice="search=evolution"),
        Measure("capture_random", 0.6, 0.5, 0.7, 6, "score", slice="search=evolution"),
        Measure("log_odds", 2.0, 1.0, 3.0, 3, "", slice="concept=fog"),
    ]
    failed = Record("nl_adv-0", "repeat-0", "error", "nl_adv", error="RuntimeError: no answer")
    write(path, [record, failed], measures, attack="evolution", target="miniature:lvlm-mini")
    return path
