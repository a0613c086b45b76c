import pytest

from benchmark.report.markup import Markup, el, isolated, number, text, verbatim


def test_texts_are_escaped_and_markup_is_not() -> None:
    inner = el("b", "1 < 2 & 'x' \"y\"")
    assert inner == "<b>1 &lt; 2 &amp; &#x27;x&#x27; &quot;y&quot;</b>"
    assert el("p", inner, "<i>", None, 3, [el("br"), "a"]) == f"<p>{inner}&lt;i&gt;3<br>a</p>"
    assert isinstance(inner, Markup)


def test_attributes_are_escaped() -> None:
    made = el("a", class_="x", aria_label='"><script>', hidden=True, title=None, dir=False)
    assert made == '<a class="x" aria-label="&quot;&gt;&lt;script&gt;" hidden></a>'
    assert el("circle", r=2.5, cx=1.0) == '<circle r="2.5" cx="1"></circle>'
    assert el("input", name="show", type="radio") == '<input name="show" type="radio">'


def test_a_str_subclass_of_somebody_else_is_escaped() -> None:
    class Sly(str):
        def __html__(self) -> str:
            return str(self)

    assert el("p", Sly("<b>")) == "<p>&lt;b&gt;</p>"


def test_what_no_file_may_hold_is_replaced() -> None:
    assert text("a\x00b\x1bc\ud800d\x85e\ufffff") == "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf"
    assert text("tab\tline\n\u05e9\u05dc🙂") == "tab\tline\n\u05e9\u05dc🙂"
    text("\ud83d" * 3).encode("utf-8")


def test_somebody_elses_direction_stays_inside() -> None:
    assert isolated("\u202eabc") == "<bdi>\u202eabc</bdi>"


def test_style_and_script_are_ours_and_end_where_they_should() -> None:
    assert verbatim("style", "a > b {}") == "<style>a > b {}</style>"
    with pytest.raises(ValueError, match="ends <script>"):
        verbatim("script", "'</SCRIPT >'")
    with pytest.raises(ValueError, match="use `verbatim`"):
        el("script", "x")


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1"), (0.126, "0.13"), (-0.001, "0"), (100.0, "100"), (-2.5, "-2.5")]
)
def test_coordinates_are_short(value: float, shown: str) -> None:
    assert number(value) == shown
