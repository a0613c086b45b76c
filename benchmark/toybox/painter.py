"""The renderer as a painter of captions: a picture that is true of each, or none."""

import hashlib
from collections.abc import Mapping, Sequence

from benchmark.errors import UserError
from benchmark.toybox.grammar import parse
from benchmark.toybox.painting import scene_of
from benchmark.toybox.render import render
from benchmark.types import JSON, ModelInfo, Pixels

_LARGEST = 4096
_EXAMPLES = (
    "a small red ball left of a large blue dog on the grass at night",
    "two large green cars in a room",
    "a house, a black tree and a matte boat at sunset",
    "a rocket",
)


class ToyboxPainter:
    """`toybox`, or `toybox:PX` for pictures of another size than 64 pixels.

    Raises:
        UserError: The argument is no such number.
    """

    info: ModelInfo

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        del settings
        px = argument or "64"
        if not (px.isascii() and px.isdigit() and 8 <= int(px) <= _LARGEST):
            raise UserError(
                f"toybox paints pictures of 8 to {_LARGEST} pixels, not {argument!r}:"
                " write toybox:64"
            )
        self._px = int(px)
        self.info = ModelInfo(
            id="toybox-painter", weights=self._fingerprint(), preprocessing=f"{self._px} pixels"
        )

    def paint(self, texts: Sequence[str], seeds: Sequence[int]) -> list[Pixels | None]:
        """One picture (px, px, 3) of each text.

        None where the text is no caption of the embedded world, or says what no scene can show.
        """
        return [self._painted(text, seed) for text, seed in zip(texts, seeds, strict=True)]

    def _painted(self, text: str, seed: int) -> Pixels | None:
        facts = parse(text)
        scene = None if facts is None else scene_of(facts, seed)
        return None if scene is None else render(scene, self._px)

    def _fingerprint(self) -> str:
        """A hash of what is made of some captions, so that another world is another painter."""
        digest = hashlib.sha256()
        for seed, text in enumerate(_EXAMPLES):
            facts = parse(text)
            digest.update(f"{text} {facts and scene_of(facts, seed)!r}\n".encode())
        for picture in self.paint(_EXAMPLES[:1], [0]):
            digest.update(b"" if picture is None else picture.tobytes())
        return digest.hexdigest()
