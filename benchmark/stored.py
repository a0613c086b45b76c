"""What a run kept of its adversarial examples: read back, and checked against its digests."""

import re
from collections.abc import Collection
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import numpy as np

from benchmark.cache import pixels_digest
from benchmark.config import RunConfig
from benchmark.errors import UserError
from benchmark.jsonl import DamagedRunError
from benchmark.protocols import Dataset
from benchmark.records import ARTIFACTS, read_header, read_records
from benchmark.types import Pixels, Record, Sample

_REMEDY = "bring back the data that the run had"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Stored:
    """The adversarial examples of a run folder: `records` by id, each with a candidate picked."""

    def __init__(self, run: Path, ids: Collection[str] | None = None) -> None:
        """Read the records, of these `ids` only if given, and check their pictures.

        Raises:
            UserError: `run` is no run, an id is not among its records, a picture is missing or was
                changed, or nothing is left to show.
        """
        self.path = run
        self.header = read_header(run)
        if "config" not in self.header:
            raise UserError(f"{run} holds no config: it is not from a run")
        self.config = RunConfig.from_json(self.header["config"])
        known = {record.id: record for record in read_records(run)}
        if ids is not None and (missing := sorted(set(ids) - known.keys())):
            raise UserError(
                f"{run} has no record of sample {missing[0]!r}: give ids of its records"
            )
        self.records = {
            id: record
            for id, record in known.items()
            if record.picked is not None and (ids is None or id in ids)
        }
        if not self.records:
            raise UserError(
                f"{run} has no adversarial example to show: its {len(known)} records, or those that were"
                " named, are skipped or errored"
            )
        for record in self.records.values():
            for name in record.artifacts:
                self.picture(record, name)

    def picture(self, record: Record, name: str) -> Pixels:
        """Load the artefact `name` of a record.

        Raises:
            DamagedRunError: There is none, it cannot be read, or it is not the picture that was kept.
        """
        from PIL import Image

        digest = record.artifacts.get(name)
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise DamagedRunError(
                f"{self.path}, sample {record.id}: no picture {name!r} was kept"
                if digest is None
                else f"{self.path}, sample {record.id}: {digest!r:.80} is no digest of a picture"
            )
        file = self.path / ARTIFACTS / f"{digest}.png"
        try:
            with Image.open(file, formats=["PNG"]) as image:
                pixels = np.asarray(image)
            found = pixels_digest(pixels)
        except FileNotFoundError as error:
            raise DamagedRunError(
                f"{file} is missing (picture {name!r} of sample {record.id}): copy the whole run folder,"
                " or run again"
            ) from error
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise DamagedRunError(
                f"{file} is damaged ({error}): restore it or run again"
            ) from error
        if found != digest:
            raise DamagedRunError(
                f"{file} was changed: its pixels have the digest {found[:12]}... (picture {name!r} of"
                f" sample {record.id}): restore it or run again"
            )
        return pixels

    def samples(self, dataset: Dataset) -> list[Sample]:
        """The samples of the records, in their order.

        Raises:
            UserError: `dataset` is not the data that was attacked.
        """
        now, before = asdict(dataset.info), self.header.get("models", {}).get("data set")
        if before is not None and before != now:
            differing = [
                f"{key} was {before.get(key)!r} and is now {value!r}"
                for key, value in now.items()
                if before.get(key) != value
            ]
            raise UserError(
                f"{self.path} attacked other data than what {self.config.dataset} is now"
                f" ({'; '.join(differing)}): {_REMEDY}"
            )
        found = {
            sample.id: sample
            for sample in islice(dataset, self.config.samples)
            if sample.id in self.records
        }
        for id, record in self.records.items():
            if id not in found:
                raise UserError(
                    f"{self.path} attacked sample {id!r}, which data set {self.config.dataset} no"
                    f" longer has: {_REMEDY}"
                )
            if found[id].text != record.text:
                raise UserError(
                    f"{self.path}: the text of sample {id!r} was {record.text!r:.80} and is now"
                    f" {found[id].text!r:.80}: {_REMEDY}"
                )
        return [found[id] for id in self.records]
