"""Pictures from text by a server of the OpenAI protocol (/v1/images/generations)."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from benchmark.errors import NoAnswerError, UserError
from benchmark.types import Pixels
from targets.chat_http import ChatServer

PATH = "images/generations"
OPTIONS = {"size": "1024x1024", "quality": ""}
"""What can be told in the argument, and what it is otherwise; "" leaves it to the server."""

_DISPENSABLE = ("response_format", "seed", "quality")
"""Some servers refuse these: they send what is asked for anyway, or draw by chances of their own."""


def image_options(words: Sequence[str], model: str) -> dict[str, str]:
    """Options from words such as "size=512x512".

    Raises:
        UserError: There is no such option.
    """
    options = dict(OPTIONS)
    for word in words:
        key, separator, value = (part.strip() for part in word.partition("="))
        if not separator or key not in options or not value:
            raise UserError(
                f"{word!r} is no option of openai:{model}: give {' or '.join(OPTIONS)}, as in"
                f" openai:{model},size=512x512"
            )
        options[key] = value
    return options


class ImageModel:
    """An image model behind a server. Safe to use from several threads."""

    def __init__(
        self, server: ChatServer, model: str, options: Mapping[str, str], *, seeded: bool
    ) -> None:
        self._server = server
        self._model = model
        self._options = {key: value for key, value in options.items() if value}
        self._refused = set() if seeded else {"seed"}

    def picture(self, text: str, seed: int) -> Pixels | None:
        """A picture (height, width, 3) of the text, None where the server refuses to paint it.

        Raises:
            UserError: The server will not do: wrong key, no such model, no money left.
            ValueError: It finds the request wrong, or sends no picture.
            ConnectionError: It could not be had.
        """
        payload = {
            "model": self._model,
            "prompt": text,
            "n": 1,
            "response_format": "b64_json",
            "seed": seed,
            **self._options,
        }
        while True:
            sent = {key: value for key, value in payload.items() if key not in self._refused}
            try:
                return self._decoded(self._server.post(sent, PATH))
            except NoAnswerError:
                return None
            except ValueError as error:
                unknown = [key for key in _DISPENSABLE if key in sent and key in str(error)]
                if not unknown:
                    raise
                self._refused.update(unknown)

    def _decoded(self, body: Mapping[str, Any]) -> Pixels:
        try:
            encoded = body["data"][0]["b64_json"]
            with Image.open(BytesIO(base64.b64decode(encoded, validate=True))) as picture:
                return np.array(picture.convert("RGB"), dtype=np.uint8)
        except (KeyError, IndexError, TypeError, binascii.Error, UnidentifiedImageError) as error:
            raise ValueError(
                f"openai:{self._model} sent no picture as b64_json ({error!r:.80}): {body!r:.100}"
            ) from error
