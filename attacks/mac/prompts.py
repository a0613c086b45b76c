"""The writer's prompts: templates in files, a built-in set by name or a folder of one's own.

A template may use {caption}, {contents_modality} and {max_word_distance_plus_one}; filling is one
literal pass, so a caption with braces in it does no harm.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmark.errors import UserError
from benchmark.types import JSON

OPERATIONS = (
    "object-add",
    "attribute-add",
    "object-replace",
    "object-swap",
    "attribute-replace",
    "attribute-swap",
    "relation-replace",
    "count-replace",
)
"""The eight kinds of edit of the specific mode, in the published order."""

GENERAL = "general"
BUILT_IN = ("trident", "mini")
"""trident: for instructed language models. mini: for the embedded writer, which needs no instruction."""

_ROOT = Path(__file__).parent / "prompts"
_PUBLISHED = Path(__file__).parent / "published.json"
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")
_KNOWN = ("caption", "contents_modality", "max_word_distance_plus_one")


@dataclass(frozen=True, slots=True)
class PromptSet:
    """Templates by operation ("general" among them), and the sha256 of each file's bytes.

    `again` asks a second time and shows {previous} captions; None where the writer could not use it.
    """

    name: str
    templates: Mapping[str, str]
    digests: Mapping[str, str]
    again: str | None

    @property
    def published(self) -> bool:
        """Whether all nine templates are the authors' own, byte for byte."""
        return dict(self.digests) == published_digests()

    def fill(
        self,
        operation: str,
        caption: str,
        *,
        modality: str,
        max_distance: int,
        previous: Sequence[str] = (),
    ) -> str:
        """The prompt for one caption; with `previous` captions it asks for another one.

        Raises:
            UserError: `previous` is given, but the set has no template that shows it.
        """
        values = {
            "caption": caption,
            "contents_modality": modality,
            "max_word_distance_plus_one": str(max_distance + 1),
        }
        prompt = _fill(self.templates[operation], values)
        if not previous:
            return prompt
        if self.again is None:
            raise UserError(
                f"prompts {self.name!r} cannot show the writer its earlier captions:"
                " use --set generation=parallel or --set prompts=trident"
            )
        listed = "".join(f"- {text}\n" for text in previous)
        return _fill(self.again, {"prompt": prompt, "previous": listed.rstrip("\n")})

    def describe(self) -> dict[str, JSON]:
        """For the run's record: which templates they were."""
        return {"set": self.name, "published": self.published, "sha256": dict(self.digests)}


def load_prompts(name: str) -> PromptSet:
    """A built-in set, or a folder with nine templates.

    A folder's files are named `object-swap.txt` or, as in the authors' repository,
    `deceptive-object-swap_prompt_text.txt`; an `again.txt` is optional.

    Raises:
        UserError: The folder or one of its files is missing, or a template cannot be filled.
    """
    folder = _ROOT / name if name in BUILT_IN else Path(name)
    if not folder.is_dir():
        raise UserError(
            f"no prompts {name!r}: give {' or '.join(BUILT_IN)}, or a folder with"
            f" {GENERAL}.txt and one file for each of {', '.join(OPERATIONS)}"
        )
    templates, digests = {}, {}
    for operation in (GENERAL, *OPERATIONS):
        path = _find(folder, operation)
        templates[operation] = _read(path, required=("caption",), known=_KNOWN)
        digests[operation] = hashlib.sha256(path.read_bytes()).hexdigest()
    again = _ROOT / "trident" / "again.txt" if name not in BUILT_IN else folder / "again.txt"
    if (folder / "again.txt").is_file():
        again = folder / "again.txt"
    pair = ("prompt", "previous")
    return PromptSet(
        name,
        templates,
        digests,
        _read(again, required=pair, known=pair) if again.exists() else None,
    )


@cache
def published_digests() -> dict[str, str]:
    """sha256 of each of the authors' nine templates."""
    digests: dict[str, str] = json.loads(_PUBLISHED.read_text("utf-8"))["sha256"]
    return digests


def _find(folder: Path, operation: str) -> Path:
    names = (f"{operation}.txt", f"deceptive-{operation}_prompt_text.txt")
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"prompts {str(folder)!r} lack {names[0]} (or {names[1]}): add the file")


def _read(path: Path, required: tuple[str, ...], known: tuple[str, ...]) -> str:
    try:
        text = path.read_text("utf-8").rstrip("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"prompt {path} is not UTF-8 ({error.reason}): convert it") from error
    used = _PLACEHOLDER.findall(text)
    for name in required:
        if name not in used:
            raise UserError(f"prompt {path} lacks {{{name}}}: without it the writer sees no {name}")
    for name in used:
        if name not in known:
            options = ", ".join(f"{{{option}}}" for option in known)
            raise UserError(f"prompt {path} has {{{name}}}, which nothing fills: use {options}")
    return text


def _fill(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template)
