"""Diversity of RoCOCO's captions as MAC measures it, and how long that takes.

    python bench/rococo.py same_concept.json

The file is one of `annotations/*.json` of RoCOCO (25,000 pairs). For `same_concept` MAC's code gives
H = 7.0916 and D1 = 0.0876 with spaCy's en_core_web_sm 3.8.0.
"""

import argparse
import tempfile
import time

from metrics.score_mac import score_pairs
from metrics.tagger_spacy import SpacyTagger


def main() -> None:
    """Score the file and print H, D1 and the seconds it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="RoCOCO's JSON, or JSON lines of pairs")
    parser.add_argument("--model", default="", help="spaCy model (default: en_core_web_sm)")
    options = parser.parse_args()
    start = time.perf_counter()
    tagger = SpacyTagger(options.model)
    with tempfile.TemporaryDirectory() as folder:
        summary = score_pairs(options.file, "coco", tagger, folder)
    seconds = time.perf_counter() - start
    print(f"{summary['n']} pairs, {tagger.info.id} {tagger.info.revision}")
    print(f"H = {summary['entropy']:.4f}  D1 = {summary['distinct_1']:.4f}  {seconds:.1f} s")


if __name__ == "__main__":
    main()
