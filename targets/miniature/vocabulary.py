"""The miniatures' tokenizers: one token for each word of the embedded world, nothing is ever unknown.

Saved as ordinary Hugging Face tokenizer folders, so that open_clip and transformers load them unaided.
"""

from collections.abc import Sequence

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from benchmark.toybox import words
from benchmark.toybox.grammar import VOCABULARY
from benchmark.toybox.operations import OPERATIONS, families

PAD, BOS, EOS, UNKNOWN, SEPARATOR = "<pad>", "<bos>", "<eos>", "<unk>", "<sep>"
CONTEXT_LENGTH = 32
"""The longest caption (three things with all attributes, place, light) has 26 tokens."""
ANSWERER_LENGTH = 256
"""Tokens of picture, question and answer together."""

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ message['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<sep>{% endif %}"
)

IMAGE = "<image>"
ASKING = (
    *("describe", "this", "the", "image", "picture", "scene", "detail", "main", "subject"),
    *("environment", "setting", "or", "what", "where", "how", "many", "is", "are", "there"),
    *("do", "you", "see", "it", "object", "objects", "colour", "color", "size", "light", "like"),
    *("place", "weather", "kind", "can", "seen", "yes", "no", "not", "any", "which", "time", "day"),
    *(".", "?", "!", ":", "one", "with", "have", "has", "does"),
)  # fmt: skip
"""Words of questions and answers that captions lack."""

ANSWERER_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}<sep>{% endif %}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<sep>{% endif %}"
)
"""One turn a message; a reply stands between <sep> and <eos>."""


def operation_token(operation: str) -> str:
    """How the writer names an operation or a family of operations: `<swap-objects>`."""
    return f"<{operation}>"


def caption_tokenizer() -> PreTrainedTokenizerFast:
    """For the dual encoders: <bos> words <eos>, padded with <pad>."""
    tokenizer = _word_level([PAD, BOS, EOS, UNKNOWN])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A {EOS}", special_tokens=[(BOS, 1), (EOS, 2)]
    )
    return _wrap(tokenizer, [])


def writer_tokenizer() -> PreTrainedTokenizerFast:
    """For the writer: the same words, a separator, and a token for each operation and family."""
    operations = [operation_token(name) for name in (*OPERATIONS, *families())]
    special = list(dict.fromkeys([PAD, BOS, EOS, UNKNOWN, SEPARATOR, *operations]))
    wrapped = _wrap(_word_level(special), special[4:])
    wrapped.chat_template = CHAT_TEMPLATE
    return wrapped


def answerer_tokenizer() -> PreTrainedTokenizerFast:
    """For the vision-language models: words of captions, questions and answers, and <image>."""
    special = [PAD, BOS, EOS, UNKNOWN, SEPARATOR, IMAGE]
    more = dict.fromkeys([*words.PLURALS.values(), *words.SINGULARS.values(), *ASKING])
    wrapped = _wrap(_word_level(special, [w for w in more if w not in VOCABULARY]), special[4:])
    wrapped.model_max_length = ANSWERER_LENGTH
    wrapped.chat_template = ANSWERER_TEMPLATE
    return wrapped


def _word_level(special: list[str], more: Sequence[str] = ()) -> Tokenizer:
    vocabulary = [*special, *VOCABULARY, *more]
    tokenizer = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token=UNKNOWN)
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
    )
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    return tokenizer


def _wrap(tokenizer: Tokenizer, more_special: list[str]) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        unk_token=UNKNOWN,
        additional_special_tokens=more_special,
        padding_side="left" if more_special else "right",
        model_max_length=CONTEXT_LENGTH if not more_special else 3 * CONTEXT_LENGTH,
    )
