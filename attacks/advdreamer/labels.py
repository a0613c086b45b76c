"""Label sets: what a picture may show, the set Y of eq. 5."""

from pathlib import Path

from benchmark.errors import UserError
from benchmark.protocols import Dataset
from benchmark.toybox.words import CLASSES

COCO = (
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat",
    "traffic light", "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog",
    "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "backpack", "umbrella",
    "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball", "kite",
    "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle",
    "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple", "sandwich", "orange",
    "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch", "potted plant",
    "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone",
    "microwave", "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors",
    "teddy bear", "hair drier", "toothbrush",
)  # fmt: skip
"""The 80 categories of COCO, in their published order."""


def label_set(name: str, dataset: Dataset) -> tuple[str, ...]:
    """The labels that `name` stands for.

    Args:
        name: "dataset" for the data set's own, "toybox", "coco" (80), "imagenet" (1,000, by the names
            that CLIP was published with), "cat, dog, ..." or a file with one label a line.
        dataset: Asked for its `labels` where `name` is "dataset".

    Raises:
        UserError: The data set has none, a file is missing, or there are fewer than two.
    """
    match name:
        case "dataset":
            labels = tuple(getattr(dataset, "labels", ()))
            if not labels:
                raise UserError(
                    f"data set {dataset.info.id} names no labels:"
                    " give --set labels=coco, imagenet, toybox, a file, or 'cat, dog, ...'"
                )
        case "toybox":
            labels = CLASSES
        case "coco":
            labels = COCO
        case "imagenet":
            from open_clip.zero_shot_metadata import IMAGENET_CLASSNAMES

            labels = tuple(IMAGENET_CLASSNAMES)
        case _:
            labels = _listed(name)
    labels = tuple(dict.fromkeys(label.strip() for label in labels if label.strip()))
    if len(labels) < 2:
        raise UserError(f"labels {name!r} hold {len(labels)} label(s): give at least two")
    return labels


def _listed(name: str) -> tuple[str, ...]:
    if "," in name:
        return tuple(name.split(","))
    path = Path(name)
    if not path.is_file():
        raise UserError(
            f"labels {name!r} are no file: give dataset, toybox, coco, imagenet, a file with one"
            " label a line, or several labels with commas between them"
        )
    return tuple(path.read_text(encoding="utf-8").splitlines())
