"""Searches that start from nothing: each sample is one search, and there is no picture to begin with."""

from collections.abc import Iterator, Mapping

from benchmark.datasets.images import sha256_of_rows
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Sample

SEARCHES = ("evolution", "random_search", "lance", "nl_adv")


class SearchesDataset:
    """One sample a search and repeat: "evolution-0" with the text "evolution" in the group "repeat-0".

    Settings:
        searches: The searches to run, all that there are by default.
        repeats: How often each; the searches of one repeat start from the same captions.

    Raises:
        UserError: There is an argument, no search, one twice, or less than one repeat.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        if argument:
            raise UserError(
                f"data set 'searches' takes no argument, not {argument!r}:"
                " name searches with --set dataset.searches=evolution,lance"
            )
        searches = settings.get("searches", list(SEARCHES))
        names = [str(name) for name in searches] if isinstance(searches, list) else []
        if not names or len({*names}) != len(names):
            raise UserError(f"searches {searches!r} cannot be used: give names, each once")
        repeats = settings.get("repeats", 1)
        if not isinstance(repeats, int) or repeats < 1:
            raise UserError(f"repeats {repeats!r} cannot be used: give a whole number of 1 or more")
        self._samples = [
            Sample(id=f"{name}-{repeat}", text=name, group=f"repeat-{repeat}")
            for repeat in range(repeats)
            for name in names
        ]
        rows = [(sample.id, sample.text, sample.group) for sample in self._samples]
        self.info = ModelInfo(id="searches", weights=sha256_of_rows(rows))

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def mean_words(self) -> float:
        """A search's name is one word."""
        return 1.0
