"""nltk from an excerpt of WordNet and data of our own making; what is missing is said in one line."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import nltk
import pytest

from benchmark.errors import UserError
from metrics.capture.resources import NltkResources
from tests.unit.metrics.capture.capture_fakes import WORDNET, nltk_data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sentence splitter that knows one abbreviation, and a tagger that knows three words."""
    punkt = tmp_path / "tokenizers" / "punkt_tab" / "english"
    punkt.mkdir(parents=True)
    (punkt / "abbrev_types.txt").write_text("dr\n")
    for name in ("sent_starters.txt", "collocations.tab", "ortho_context.tab"):
        (punkt / name).write_text("")
    tagger = tmp_path / "taggers" / "averaged_perceptron_tagger_eng"
    tagger.mkdir(parents=True)
    tags = {"dogs": "NNS", "bark": "VBP", ".": "."}
    for name, content in (("tagdict", tags), ("weights", {}), ("classes", sorted(tags.values()))):
        file = tagger / f"averaged_perceptron_tagger_eng.{name}.json"
        file.write_text(json.dumps(content))
    return tmp_path


def test_sentences_and_tags(folder: Path) -> None:
    with nltk_data(folder):
        resources = NltkResources()
        assert resources.sentences("Dr. Lee waits. Dogs bark.") == ["Dr. Lee waits.", "Dogs bark."]
        assert resources.tagged("dogs bark.") == [("dogs", "NNS"), ("bark", "VBP"), (".", ".")]


def test_wordnet() -> None:
    with nltk_data(WORDNET):
        resources = NltkResources()
        assert resources.lemma_names("fire_truck") == {"fire_engine", "fire_truck"}
        assert resources.lemma_names("zzzz") == frozenset()
        assert (resources.noun("trees"), resources.noun("Trees")) == ("tree", "Trees")
        assert (resources.adjective("busiest"), resources.noun("busiest")) == ("busy", "busiest")
        assert resources.version.endswith(", WordNet 3.0")


def test_missing_data_are_one_error_with_two_commands(tmp_path: Path) -> None:
    remedy = (
        r"is missing: `pip install 'trident-vlm\[capture\]'` and"
        r" `python -m nltk\.downloader wordnet punkt_tab averaged_perceptron_tagger_eng`"
    )
    # nltk keeps what it has loaded, so its own search is asked, of an empty folder.
    for name in ("taggers/averaged_perceptron_tagger_eng", "tokenizers/punkt_tab"):
        what = name.partition("/")[2]
        with nltk_data(tmp_path), pytest.raises(UserError, match=f"{what} {remedy}") as raised:
            NltkResources()._have(partial(nltk.data.find, name))
    assert "\n" not in str(raised.value)


ASK = """
from metrics.capture.resources import NltkResources
try:
    NltkResources().lemma_names("car")
except ValueError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", "nltk's data, wordnet is missing"),
        ("import sys; sys.modules['nltk'] = None", "nltk, which is not installed"),
    ],
)
def test_a_process_without_wordnet_or_nltk(tmp_path: Path, before: str, said: str) -> None:
    """In a process of its own: here WordNet may have been loaded already."""
    environment = {"NLTK_DATA": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": "."}
    result = subprocess.run(
        [sys.executable, "-c", f"{before}\n{ASK}"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=Path(__file__).parents[4],
    )
    assert result.stdout.startswith(f"UserError CAPTURE needs {said}")
    assert "nltk.downloader wordnet punkt_tab" in result.stdout


def test_errors_of_the_data_are_not_taken_for_missing_data() -> None:
    with pytest.raises(KeyError):
        NltkResources()._have(partial(dict[str, str]().__getitem__, "a"))
