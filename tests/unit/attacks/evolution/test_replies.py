import pytest

from attacks.evolution.replies import captions_in, questions_in

TWO = ["A monk reads by candlelight.", "A wet robot waits for a bus."]


@pytest.mark.parametrize(
    "reply",
    [
        '{"captions": ["A monk reads by candlelight.", "A wet robot waits for a bus."]}',
        '["A monk reads by candlelight.", "A wet robot waits for a bus."]',
        '```json\n{"captions": ["A monk reads by candlelight.", "A wet robot waits for a bus."]}\n```',
        'Sure!\n```\n["A monk reads by candlelight.", "A wet robot waits for a bus."]\n```\nEnjoy.',
        'Here they are: ["A monk reads by candlelight.", "A wet robot waits for a bus."] - good luck',
        'So {"captions": ["A monk reads by candlelight.", "A wet robot waits for a bus."]} it is',
        '{"captions": [{"caption": "A monk reads by candlelight."}, '
        '{"caption": "A wet robot waits for a bus."}]}',
        "1. A monk reads by candlelight.\n2. A wet robot waits for a bus.",
        "Captions:\n- A monk reads by candlelight.\n- **A wet robot waits for a bus.**",
        '1) "A monk reads by candlelight."\n2) "A wet robot waits for a bus."',
        '<think>[1, 2] captions?</think>["A monk reads by candlelight.",'
        ' "A wet robot waits for a bus."]',
    ],
)
def test_captions_are_read_however_they_are_wrapped(reply: str) -> None:
    assert captions_in(reply) == TWO


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot help with that.",
        "A monk reads by candlelight.",  # prose is no list
        "{}",
        "[]",
        '{"captions": []}',
        '{"captions": ["one two"]}',
        '{"captions": [1, 2]}',
        '{"captions": ["A monk reads by candle',
        "<think>1. A monk reads by candlelight.",
    ],
)
def test_what_holds_no_caption_gives_none(reply: str) -> None:
    assert captions_in(reply) == []


def test_only_the_named_key_is_read() -> None:
    reply = '{"comment": "these are two captions", "captions": ["A monk reads by candlelight."]}'
    assert captions_in(reply) == TWO[:1]


def test_an_inner_quote_or_line_break_is_kept_in_one_line() -> None:
    assert captions_in('["A monk\\nreads \\"Zen\\" by candlelight"]') == [
        'A monk reads "Zen" by candlelight'
    ]


@pytest.mark.parametrize(
    "reply",
    [
        '{"questions": [{"question": "What flies?", "answer": "A red kite flies."}]}',
        '```json\n[{"question": "What flies?", "answer": "A red kite flies."}]\n```',
        'Well: [{"answer": "A red kite flies.", "question": "What flies?"}, {"question": "x"}]',
    ],
)
def test_questions_are_read(reply: str) -> None:
    assert questions_in(reply) == [("What flies?", "A red kite flies.")]


@pytest.mark.parametrize("reply", ["", "What flies?", "[]", '[{"question": "What flies?"}]'])
def test_what_holds_no_question_gives_none(reply: str) -> None:
    assert questions_in(reply) == []
