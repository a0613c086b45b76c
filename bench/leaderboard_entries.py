"""Make the entries that ship with Trident: miniature models under each attack, by real runs.

    python bench/leaderboard_entries.py --out leaderboards/entries [--only mac]

Run it in a clean checkout: run.json names the commit, and a changed harness is flagged on the site.
Entries of earlier weights stay in a leaderboard, so remove those of the miniatures by hand first
when their models were trained again before a release.
"""

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmark.config import Execution, resolve
from benchmark.errors import UserError
from benchmark.runner import run
from leaderboards.keeper import Keeper


@dataclass(frozen=True, slots=True)
class Shipped:
    """One entry. `samples` None is the preset's own number."""

    attack: str
    target: str
    model_name: str
    samples: int | None = None
    overrides: tuple[str, ...] = ()
    note: str = ""


_SMALL = "a small run, which keeps the repository small"

SHIPPED = (
    Shipped("mac", "clip", "CLIP mini"),
    Shipped("mac", "siglip", "SigLIP mini"),
    Shipped("mac", "negclip", "NegCLIP mini"),
    Shipped("mac", "clip", "CLIP mini", overrides=("writer=grammar",), note="random valid edits"),
    Shipped("advdreamer", "clip", "CLIP mini", 12, ("pictures=sheet",), _SMALL),
    Shipped("evolution", "lvlm", "LVLM mini", note="one repeat of each search"),
    Shipped(
        "evolution",
        "lvlm_planted",
        "LVLM mini, planted",
        note="fog, umbrella and rocket are never named",
    ),
)


def main() -> None:
    """Run, pack, validate, replay."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of entries")
    parser.add_argument("--only", help="one attack")
    args = parser.parse_args()
    keeper = Keeper()
    for one in SHIPPED:
        if args.only not in (None, one.attack):
            continue
        config = resolve(one.attack, one.target, overrides=one.overrides, samples=one.samples)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run"
            summary = run(config, Execution(), path)
            try:
                out, report = keeper.submit(
                    path, args.out, model_name=one.model_name, note=one.note
                )
            except UserError as error:
                print(error)
                continue
        if not report.passed:
            raise SystemExit("\n".join(report.problems))
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        print(
            f"{out}: {size / 2**20:.2f} MiB, {summary.counts}, {summary.seconds:.0f} s", flush=True
        )
        for line in keeper.replay(out, report, Execution(), share=0.1, by="Trident maintainers"):
            print(line, flush=True)


if __name__ == "__main__":
    main()
