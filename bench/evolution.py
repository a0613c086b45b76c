"""Whether evolution beats random search where partial matches pay, and by how much.

    python -m bench.evolution [--seeds 5] [--hole snowman,night,beach,green]

The target is synthetic: the more words of the hole a caption holds, the more things it misnames (with
probabilities .12, .22, .40, .65 and .95 for none to four of four words). Both searches begin with the same
captions and make the same number of evaluations; the best 25 captions of each are scored again on three
new pictures, which no selection saw.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from attacks.evolution.concepts import words_in
from tests.codec_world import CONJUNCTION, ERRORS, CodecTarget, context, found

SEARCHES = ("evolution", "random_search")


def fresh(one: Mapping[str, Any]) -> float:
    """Mean CAPTURE of the finals on new pictures."""
    return fmean(final["capture_fresh"] for final in one["finals"])


def held(one: Mapping[str, Any], hole: Sequence[str]) -> float:
    """How many words of the hole a final holds, on average."""
    return fmean(len(words_in(final["text"]) & {*hole}) for final in one["finals"])


def errors_of(words: int) -> list[float]:
    """Error rates for a hole of so many words: the first is that of none, the last that of all."""
    return [ERRORS[round(k * (len(ERRORS) - 1) / words)] for k in range(words + 1)]


def main() -> None:
    """Print a row for each seed, and who won."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--hole", default=",".join(CONJUNCTION))
    args = parser.parse_args()
    hole = args.hole.split(",")
    target = CodecTarget(hole=hole, errors=errors_of(len(hole)))
    print("seed   pool  evolution  random search  evaluations   words held  seconds")
    wins = 0
    for seed in range(args.seeds):
        start = time.perf_counter()
        evolution, random = found(context(SEARCHES, seed), target=target)
        wins += fresh(evolution) < fresh(random)
        print(
            f"{seed:4}  {evolution['pool']['mean']:.3f}      {fresh(evolution):.3f}"
            f"          {fresh(random):.3f}  {evolution['evaluations']:5} {random['evaluations']:5}"
            f"    {held(evolution, hole):.2f} {held(random, hole):.2f}"
            f"  {time.perf_counter() - start:7.1f}"
        )
    print(f"evolution is lower in {wins} of {args.seeds}")


if __name__ == "__main__":
    main()
