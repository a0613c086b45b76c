from typing import Any

import pytest

from benchmark.datasets.searches import SEARCHES, SearchesDataset
from benchmark.errors import UserError


def test_each_search_of_each_repeat_is_a_sample() -> None:
    data = SearchesDataset("", {"searches": ["evolution", "lance"], "repeats": 2})
    assert [(sample.id, sample.text, sample.group) for sample in data] == [
        ("evolution-0", "evolution", "repeat-0"),
        ("lance-0", "lance", "repeat-0"),
        ("evolution-1", "evolution", "repeat-1"),
        ("lance-1", "lance", "repeat-1"),
    ]
    assert len(data) == 4
    assert all(sample.image is None for sample in data)
    assert data.mean_words == 1


def test_all_searches_run_once_by_default() -> None:
    assert [sample.text for sample in SearchesDataset("", {})] == list(SEARCHES)


def test_its_hash_is_that_of_its_samples() -> None:
    def digest(**settings: Any) -> str:
        return SearchesDataset("", settings).info.weights

    assert digest() == digest(repeats=1) == digest(searches=list(SEARCHES))
    assert len({digest(), digest(repeats=2), digest(searches=["lance"])}) == 3


@pytest.mark.parametrize(
    ("argument", "settings", "message"),
    [
        ("evolution", {}, r"takes no argument, not 'evolution': name searches with --set"),
        ("", {"searches": []}, r"searches \[\] cannot be used: give names, each once"),
        ("", {"searches": ["lance", "lance"]}, "each once"),
        ("", {"searches": "lance"}, "searches 'lance' cannot be used"),
        ("", {"repeats": 0}, "repeats 0 cannot be used: give a whole number of 1 or more"),
    ],
)
def test_what_cannot_be_is_refused(argument: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        SearchesDataset(argument, settings)
