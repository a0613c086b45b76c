"""COCO captions in Karpathy's split, from files as they are published.

Under `data_root`, or in its folder `annotations`, either `dataset_coco.json` (Karpathy's own file) or
`captions_{train,val}2014.json` with `karpathy_{val,test}_coco_ids.txt` (one image id a line, as MAC's
authors use). Pictures are in `train2014/` and `val2014/`, also below `images/`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmark.datasets.images import ImageFile, mean_words, sha256_of_rows
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Sample

SPLITS = ("test", "validation", "train")
"""train is all of train2014 (82,783 pictures), as in MAC; Karpathy's test and validation are 5,000 each."""

_KARPATHY = "dataset_coco.json"
_NAME_IN_FILES = {"test": "test", "validation": "val"}


@dataclass(frozen=True, slots=True)
class _Picture:
    id: int
    folder: str
    file_name: str
    captions: tuple[str, ...]


class CocoDataset:
    """Pictures in the order of their ids, each with all its captions; one caption a sample.

    `info` hashes ids, file names and captions; records hash the pictures.

    Settings:
        data_root: The folder described above; the argument `coco:DIR` does the same.
        split: "test" (default), "validation" or "train".

    Raises:
        UserError: A file or all pictures are missing; the message says what was looked for.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        given = argument or settings.get("data_root")
        if not given:
            raise UserError("coco needs --data-root DIR, the folder with its captions and pictures")
        self._root = Path(str(given))
        self._split = str(settings.get("split", "test"))
        if self._split not in SPLITS:
            raise UserError(f"split {self._split!r} is unknown: use {', '.join(SPLITS)}")
        if not self._root.is_dir():
            raise UserError(f"data root {str(given)!r} is not a folder: give the one of COCO")
        self._pictures = sorted(_pictures(self._root, self._split), key=lambda picture: picture.id)
        if not self._pictures:
            raise UserError(f"{self._root}: no captions of the split {self._split!r} in its files")
        self._folders = _image_folders(self._root, self._pictures)
        rows = ((str(p.id), p.file_name, *p.captions) for p in self._pictures)
        self.info = ModelInfo(
            id="coco", revision=f"karpathy-{self._split}", weights=sha256_of_rows(rows)
        )

    def __iter__(self) -> Iterator[Sample]:
        for picture in self._pictures:
            image = ImageFile(self._folders[picture.folder] / picture.file_name)
            for index, caption in enumerate(picture.captions):
                yield Sample(
                    id=f"{picture.id}/{index}", text=caption, image=image, group=str(picture.id)
                )

    def __len__(self) -> int:
        return sum(len(picture.captions) for picture in self._pictures)

    @cached_property
    def mean_words(self) -> float:
        """Over all captions of the split: 10.431 for test."""
        return mean_words(caption for p in self._pictures for caption in p.captions)


def _pictures(root: Path, split: str) -> list[_Picture]:
    karpathy = _find(root, _KARPATHY)
    if karpathy is not None:
        return _from_karpathy(karpathy, split)
    if split == "train":
        return _from_captions(root, "train2014", None)
    ids = _find(root, f"karpathy_{_NAME_IN_FILES[split]}_coco_ids.txt")
    if ids is None:
        raise _missing(root, f"{_KARPATHY} or karpathy_{_NAME_IN_FILES[split]}_coco_ids.txt")
    try:
        wanted = {int(line) for line in ids.read_text("utf-8").split()}
    except ValueError as error:
        raise UserError(f"{ids}: {error}: it must hold one image id a line") from error
    return _from_captions(root, "val2014", wanted)


def _from_karpathy(path: Path, split: str) -> list[_Picture]:
    def belongs(entry: Mapping[str, Any]) -> bool:
        if split == "train":
            return bool(entry["filepath"] == "train2014")
        return bool(entry["split"] == _NAME_IN_FILES[split])

    try:
        return [
            _Picture(
                entry["cocoid"],
                entry["filepath"],
                entry["filename"],
                tuple(sentence["raw"] for sentence in entry["sentences"]),
            )
            for entry in _json(path)["images"]
            if belongs(entry)
        ]
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{path} is not Karpathy's {_KARPATHY} (no {error}): get it anew"
        ) from error


def _from_captions(root: Path, folder: str, wanted: set[int] | None) -> list[_Picture]:
    """Pictures of one captions file, in which captions keep their order; `wanted` None is all."""
    name = f"captions_{folder}.json"
    path = _find(root, name)
    if path is None:
        raise _missing(root, name)
    try:
        data = _json(path)
        files: dict[int, str] = {entry["id"]: entry["file_name"] for entry in data["images"]}
        captions: dict[int, list[str]] = {}
        for entry in data["annotations"]:
            if wanted is None or entry["image_id"] in wanted:
                captions.setdefault(entry["image_id"], []).append(entry["caption"])
        return [_Picture(key, folder, files[key], tuple(said)) for key, said in captions.items()]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is no file of COCO captions (no {error}): get it anew") from error


def _image_folders(root: Path, pictures: list[_Picture]) -> dict[str, Path]:
    """Where the pictures of train2014 and val2014 are; a split may have both."""
    folders = {}
    for name in sorted({picture.folder for picture in pictures}):
        places = [root / name, root / "images" / name]
        found = next((place for place in places if place.is_dir() and any(place.iterdir())), None)
        if found is None:
            example = next(p.file_name for p in pictures if p.folder == name)
            looked = " or ".join(str(place) for place in places)
            raise UserError(f"no images: looked for {example} in {looked}: unpack {name}.zip there")
        folders[name] = found
    return folders


def _find(root: Path, name: str) -> Path | None:
    return next((p for p in (root / name, root / "annotations" / name) if p.is_file()), None)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}): get it anew") from error


def _missing(root: Path, names: str) -> UserError:
    return UserError(f"no captions: looked for {names} in {root} and {root / 'annotations'}")
