"""Hypothesis strategies for facts of the embedded world."""

from hypothesis import strategies as st

from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing

things = st.builds(
    Thing,
    st.sampled_from(words.CLASSES),
    st.sampled_from((None, *words.COLOURS)),
    st.sampled_from((None, *words.SIZES)),
    st.sampled_from((None, *words.MATERIALS)),
)


@st.composite
def all_facts(draw: st.DrawFn) -> Facts:
    """Any facts that the data type allows, those that no scene can show included."""
    named = tuple(draw(st.lists(things, min_size=1, max_size=3)))
    return Facts(
        named,
        draw(st.sampled_from((1, 2, 3))) if len(named) == 1 else 1,
        draw(st.sampled_from((None, *words.RELATIONS))) if len(named) == 2 else None,
        draw(st.sampled_from((None, *words.PLACES))),
        draw(st.sampled_from((None, *words.LIGHTS))),
    )
