"""A run of some samples only: what a flipped sample is looked at with."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from benchmark.assembly import Parts, assemble
from benchmark.config import Execution, RunConfig
from benchmark.errors import UserError
from benchmark.protocols import Dataset
from benchmark.types import ModelInfo, Pixels, Sample

ROLE = "subset"


class Subset:
    """The samples of a data set that have one of some ids, in its order."""

    def __init__(self, dataset: Dataset, samples: Sequence[Sample]) -> None:
        self.info = dataset.info
        self._dataset = dataset
        self._samples = samples
        if (load_many := getattr(dataset, "load_many", None)) is not None:
            self.load_many: Callable[[Sequence[Sample]], Sequence[Pixels | None]] = load_many

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def mean_words(self) -> float:
        """Of the whole data set: what an attack may do must not depend on the selection."""
        return self._dataset.mean_words


def assemble_only(ids: Sequence[str], config: RunConfig, execution: Execution) -> Parts:
    """What `config` names, with only these samples. The run says so among its models, as "subset".

    A sample is attacked as it would be among the others.

    Raises:
        UserError: The samples of `config` have no such id, or it is as for `assemble`.
    """
    parts = assemble(config, execution)
    wanted = set(ids)
    found = {
        sample.id: sample for sample in islice(parts.dataset, config.samples) if sample.id in wanted
    }
    if missing := sorted(wanted - found.keys()):
        among = "" if config.samples is None else f" among its first {config.samples} samples"
        raise UserError(
            f"data set {config.dataset} has no sample {missing[0]!r}{among}: give ids as records.jsonl"
            " has them"
        )
    info = ModelInfo(id=" ".join(found), revision=f"{len(found)} samples")
    return replace(
        parts,
        dataset=Subset(parts.dataset, list(found.values())),
        infos={**parts.infos, ROLE: info},
    )
