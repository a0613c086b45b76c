"""One's own pictures: a CSV file with the columns image, caption and, if you like, id."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from benchmark.datasets.images import ImageFile, mean_words, sha256_of_rows
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Sample


class PairsDataset:
    """Pictures and captions from a CSV file; paths are relative to its folder.

    Without an id, a row's id is its image and, from the second caption of an image on, a number. All
    captions of an image are one group. A picture that cannot be decoded fails when it is loaded, so
    the other rows go on. `info` hashes ids, paths as written and captions; records hash the pictures.

    Settings:
        data_root: Folder that the paths are relative to, if it is not the file's own.

    Raises:
        UserError: The file is missing, empty or no CSV in UTF-8, lacks a column or has no rows, a
            field is empty, or an id occurs twice.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._path = Path(argument)
        if not argument or not self._path.is_file():
            raise UserError(
                f"no file {argument!r}: give a CSV file with columns image,caption[,id]"
            )
        root = settings.get("data_root")
        folder = Path(str(root)) if root else self._path.parent
        self._samples = [
            Sample(id=key, text=caption, image=ImageFile(folder / image), group=image)
            for key, image, caption in _rows(self._path)
        ]
        rows = ((sample.id, sample.group, sample.text) for sample in self._samples)
        self.info = ModelInfo(id=f"pairs:{self._path.name}", weights=sha256_of_rows(rows))

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

    @cached_property
    def mean_words(self) -> float:
        """Over all captions of the file."""
        return mean_words(sample.text for sample in self._samples)


def _rows(path: Path) -> list[tuple[str, str, str]]:
    """(id, image, caption) of each row, checked."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = [name.strip().lower() for name in reader.fieldnames or []]
            reader.fieldnames = columns
            _check_columns(path, columns)
            rows = [(reader.line_num, row) for row in reader]
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 ({error.reason}): save it as UTF-8") from error
    except csv.Error as error:
        raise UserError(f"{path} is not a CSV file ({error}): quote fields with commas") from error
    if not rows:
        raise UserError(f"{path} has a header but no rows: add one row for each picture")
    seen: Counter[str] = Counter()
    ids: dict[str, int] = {}
    checked = []
    for line, row in rows:
        if None in row or None in row.values():
            expected = f"{len(columns)} ({','.join(columns)})"
            raise UserError(f"{path} line {line}: a row needs {expected} fields: quote the commas")
        image, caption = row["image"].strip(), row["caption"].strip()
        if not image or not caption:
            empty = "image" if not image else "caption"
            raise UserError(f"{path} line {line}: the {empty} is empty: fill it in or drop the row")
        key = row["id"].strip() if "id" in columns else ""
        if not key:
            key = f"{image}#{seen[image]}" if seen[image] else image
        seen[image] += 1
        if key in ids:
            raise UserError(
                f"{path} lines {ids[key]} and {line}: id {key!r} twice: make ids unique"
            )
        ids[key] = line
        checked.append((key, image, caption))
    return checked


def _check_columns(path: Path, columns: list[str]) -> None:
    if not columns:
        raise UserError(f"{path} is empty: give a CSV file with columns image,caption[,id]")
    for name in ("image", "caption"):
        if name not in columns:
            found = ",".join(columns)
            raise UserError(
                f"{path} has no column {name!r}, only {found}: add it to the first line"
            )
    for name, times in Counter(columns).items():
        if times > 1:
            raise UserError(f"{path} has {times} columns {name!r}: keep one")
