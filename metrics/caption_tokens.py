"""Captions to words as caption metrics expect them: the Penn Treebank's rules, lower case, no punctuation.

pycocoevalcap calls Stanford's tokeniser (CoreNLP 3.4.1) in Java and then drops punctuation; this is the same
for what captions consist of, in Python: contractions are split (ca n't, dog 's, gon na), hyphenated words,
numbers, abbreviations (mr., p.m., u.s.) and addresses stay whole, brackets become -lrb- and -rrb-.

Known to differ, all rare in captions: smileys, telephone numbers in brackets, feet and inches, rock'n'roll,
some commas without a space behind them, abbreviations outside the short list below. tests/golden holds
Stanford's own words of 182 captions, mostly odd ones; the two differ on eight of them, which it names.
"""

import re

PUNCTUATION = frozenset("'' ' `` ` \" . ? ! , : - -- ;".split())
"""What pycocoevalcap drops, and runs of full stops. It means brackets, too, but looks for -LRB- in capitals,
which lower-case words never are: they stay."""

_PLAIN = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2026": "...",
        "\u2014": "--",
        "\u2013": "--",
        "£": "#",
        "€": "$",
        "¢": " cents",
    }
)
"""Curly quotes, ellipsis, dashes and currencies, as Stanford's lexer writes them."""

_BRACKETS = {
    "(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-",
}  # fmt: skip

_ABBREVIATIONS = (
    "mr mrs ms dr st ave blvd rd jr sr vs etc co inc ltd corp prof gen sen rep capt lt col sgt rev mt ft"
    " jan feb mar apr jun jul aug sept sep oct nov dec ph.d"
)  # fmt: skip
_JOINED = {
    word: (word[:cut], word[cut:])
    for word, cut in {
        "cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "lemme": 3, "gimme": 3, "y'all": 2,
        "'tis": 2, "'twas": 2,
    }.items()
}  # fmt: skip
"""Words that the treebank splits: "can not", "gon na"."""

_WORD = r"[^\W_]+(?:[-'_&/.,:][^\W_]+)*"
_TOKEN = re.compile(
    rf"""
      https?://[^\s"<>]*[^\s"<>.,;:!?)]
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
    | @\w+
    | </?\w[^<>]*>
    | '(?:tis|twas)\b | '\d\ds\b | '?\bn'(?=\s)
    | n't\b
    | (?:{"|".join(map(re.escape, _ABBREVIATIONS.split()))})\.(?![^\W_])
    | no\.(?=\s?\d)
    | (?:[a-z]\.)+(?![^\W_])
    | \d\d?:\d\d(?=[ap]m\b)
    | \.\d+
    | {_WORD}
    | '(?:s|m|d|ll|re|ve)\b
    | \.{{2,}} | -{{2,}} | [!?]{{2,}} | `` | ''
    | [^\s\w] | _
    """,
    re.VERBOSE,
)
_CONTRACTION = re.compile(r"(n't|'(?:s|m|d|ll|re|ve))$")
_WHOLE = re.compile(r"(?:[od]'[^\W_]+|ma'am|c'mon|o'clock)$")
_NUMBER = re.compile(r"\d+(?:[-.,:/]\d+)*$")


def tokens(caption: str) -> list[str]:
    """The words of a caption.

    >>> tokens("A man's dog (brown) can't swim: it's 5 p.m.")
    ['a', 'man', "'s", 'dog', '-lrb-', 'brown', '-rrb-', 'ca', "n't", 'swim', 'it', "'s", '5', 'p.m.']
    """
    text = caption.translate(_PLAIN).lower()
    found = [part for match in _TOKEN.finditer(text) for part in _parts(match[0])]
    return [
        token
        for token in found
        # Stanford's lexer cannot read characters beyond the first plane, such as emoji.
        if token not in PUNCTUATION and not token.startswith("..") and token <= "\uffff"
    ]


def _parts(token: str) -> list[str]:
    """One run of characters as the treebank's tokens."""
    if token in _BRACKETS:
        return [_BRACKETS[token]]
    if token in _JOINED:
        return list(_JOINED[token])
    if not token[0].isalnum() or "://" in token or "@" in token or _WHOLE.match(token):
        return [token]
    if _NUMBER.match(token):
        return [token]
    for mark in ",:":
        if mark in token:
            return [part for piece in token.split(mark) for part in _parts(piece)]
    endings: list[str] = []
    while (match := _CONTRACTION.search(token)) and match.start() > 0:
        endings.insert(0, match[0])
        token = token[: match.start()]
    return [token, *endings]
