"""Facts to caption and back. The grammar is regular, so one pattern reads all that it can say.

    caption := body [" " setting] | setting ", " body
    body    := thing | thing ("and" | relation) thing | thing ", " thing "and" thing
             | ("two" | "three") attributes plural
    thing   := ("a" | "an") attributes class
    setting := place | light | place light

`generate` puts the setting last; the fronted form and other orders come from `paraphrases`.
"""

import re
from dataclasses import replace
from itertools import permutations

from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing

_NUMERALS = {number: word for word, number in words.COUNTS.items()}
_SETTINGS = {
    (
        place,
        light,
    ): f"{words.PLACES[place] if place else ''} {words.LIGHTS[light] if light else ''}".strip()
    for place in (None, *words.PLACES)
    for light in (None, *words.LIGHTS)
}
_SETTING_OF = {phrase: setting for setting, phrase in _SETTINGS.items()}
_TOKEN = re.compile(r"[^\s,]+|,")


def generate(facts: Facts) -> str:
    """The caption that says exactly these facts."""
    setting = _SETTINGS[facts.place, facts.light]
    return f"{_body(facts)} {setting}" if setting else _body(facts)


def parse(caption: str) -> Facts | None:
    """The facts that a caption says, in its own order; the exact inverse of `generate`.

    Case, spacing and a final period do not matter; articles must fit the next word. None when
    the text is not a caption of this world. Raises nothing, whatever the text.
    """
    match = _CAPTION.fullmatch(" ".join(tokens(caption)))
    if match is None:
        return None
    said = match.groupdict()
    if said["front"] and said["back"]:
        return None
    place, light = _SETTING_OF[said["front"] or said["back"] or ""]
    if said["number"]:
        counted = _thing(said, 0, words.SINGULARS[said["cls0"]])
        return Facts((counted,), words.COUNTS[said["number"]], None, place, light)
    things = tuple(_thing(said, i, said[f"cls{i}"]) for i in (1, 2, 3, 4) if said[f"cls{i}"])
    return Facts(things, 1, said["relation"], place, light)


def paraphrases(facts: Facts) -> list[str]:
    """The other captions of exactly the same meaning, without `generate(facts)` itself.

    Things named in any order (a relation is then seen from its other side), each with the setting
    last or in front. Empty when there is no other way to say it.
    """
    setting = _SETTINGS[facts.place, facts.light]
    said: dict[str, None] = {}
    for other in _orders(facts):
        body = _body(other)
        said[f"{body} {setting}" if setting else body] = None
        if setting:
            said[f"{setting}, {body}"] = None
    del said[generate(facts)]
    return list(said)


def tokens(caption: str) -> list[str]:
    """Lower-case words; a comma is a token of its own, a final period is none."""
    return _TOKEN.findall(caption.lower().strip().removesuffix("."))


def _body(facts: Facts) -> str:
    things = facts.things
    if facts.count != 1:
        return f"{_NUMERALS[facts.count]} {_noun(things[0], words.PLURALS[things[0].cls])}"
    named = [_with_article(_noun(thing, thing.cls)) for thing in things]
    if len(named) == 2:
        return f"{named[0]} {facts.relation or 'and'} {named[1]}"
    if len(named) == 3:
        return f"{named[0]}, {named[1]} and {named[2]}"
    return named[0]


def _noun(thing: Thing, noun: str) -> str:
    if thing.colour:
        noun = f"{thing.colour} {noun}"
    if thing.material:
        noun = f"{thing.material} {noun}"
    if thing.size:
        noun = f"{thing.size} {noun}"
    return noun


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _orders(facts: Facts) -> list[Facts]:
    if facts.relation is not None:
        mirrored = replace(
            facts, things=facts.things[::-1], relation=words.OPPOSITE[facts.relation]
        )
        return [facts, mirrored]
    return [replace(facts, things=order) for order in permutations(facts.things)]


def _thing(said: dict[str, str], index: int, cls: str) -> Thing:
    return Thing(cls, said[f"colour{index}"], said[f"size{index}"], said[f"material{index}"])


def _any(*choices: str) -> str:
    return "|".join(choices)


def _thing_pattern(index: int, nouns: tuple[str, ...]) -> str:
    return (
        rf"(?:(?P<size{index}>{_any(*words.SIZES)}) )?"
        rf"(?:(?P<material{index}>{_any(*words.MATERIALS)}) )?"
        rf"(?:(?P<colour{index}>{_any(*words.COLOURS)}) )?"
        rf"(?P<cls{index}>{_any(*nouns)})"
    )


def _caption_pattern() -> re.Pattern[str]:
    article = r"(?:an(?= [aeiou])|a(?= [^aeiou])) "
    first, second, middle, last = (
        article + _thing_pattern(index, words.CLASSES) for index in (1, 2, 3, 4)
    )
    counted = rf"(?P<number>{_any(*words.COUNTS)}) {_thing_pattern(0, tuple(words.SINGULARS))}"
    joined = rf" (?:and|(?P<relation>{_any(*words.RELATIONS)})) {second}"
    listed = rf" , {middle} and {last}"
    setting = _any(*filter(None, _SETTING_OF))
    return re.compile(
        rf"(?:(?P<front>{setting}) , )?"
        rf"(?:{counted}|{first}(?:{joined}|{listed})?)"
        rf"(?: (?P<back>{setting}))?"
    )


_CAPTION = _caption_pattern()

VOCABULARY: tuple[str, ...] = tuple(
    sorted(
        {
            word
            for phrase in (
                *("a", "an", "and", ","),
                *(*words.CLASSES, *words.SINGULARS, *words.COUNTS, *words.RELATIONS),
                *(*words.SIZES, *words.MATERIALS, *words.COLOURS, *_SETTING_OF),
            )
            for word in phrase.split()
        }
    )
)
"""Every word that `generate` and `paraphrases` can say, sorted."""
