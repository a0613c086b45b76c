import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from benchmark import registry
from benchmark.errors import UserError

Install = Callable[..., None]


@pytest.fixture
def plugin_points(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Pretend that these entry points are installed."""

    def install(*points: EntryPoint) -> None:
        monkeypatch.setattr(
            registry,
            "entry_points",
            lambda group: [point for point in points if point.group == group],
        )
        registry._entries.cache_clear()

    yield install
    registry._entries.cache_clear()


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of somebody's with a factory that remembers what it was given."""
    module = ModuleType("shop")
    module.make = lambda argument, settings: (argument, settings)  # type: ignore[attr-defined]
    module.from_run = lambda run: ("built from", run)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shop", module)
    return module


def point(group: str, name: str, value: str = "shop:make") -> EntryPoint:
    return EntryPoint(name=name, value=value, group=f"trident.{group}")


def test_every_kind_has_sorted_names_and_a_line_for_each() -> None:
    for kind in registry.KINDS:
        described = registry.describe(kind)
        assert [name for name, _ in described] == sorted(registry.names(kind))
        assert all(summary.endswith(".") and "\n" not in summary for _, summary in described)


def test_describing_imports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> ModuleType:
        raise AssertionError(f"imported {name}")

    monkeypatch.setattr("importlib.import_module", refuse)
    for kind in registry.KINDS:
        registry.describe(kind)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("toybox", ("toybox", "")),
        ("open_clip:ViT-B-32/openai", ("open_clip", "ViT-B-32/openai")),
        ("pairs:C:\\data.csv", ("pairs", "C:\\data.csv")),
    ],
)
def test_a_spec_is_split_at_the_first_colon(spec: str, parts: tuple[str, str]) -> None:
    assert registry.split(spec) == parts


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("attacks", "mca", "unknown attack 'mca': did you mean 'mac'"),
        ("targets", "openclip", "unknown target 'openclip': did you mean 'open_clip'"),
        ("targets", "OPEN_CLIP", "did you mean 'open_clip'"),
        ("datasets", "toy", "unknown data set 'toy': did you mean 'toybox'"),
        ("criteria", "cross", "unknown criterion 'cross': did you mean 'crossmodal'"),
        ("metrics", "zzz", "unknown metric 'zzz': `python -m benchmark list metrics` shows"),
    ],
)
def test_an_unknown_name_is_answered_with_likely_ones(kind: str, name: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        registry.load(kind, name)
    assert message in str(caught.value)
    assert f"list {kind}" in str(caught.value)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UserError, match="unknown kind 'target': did you mean 'targets'"):
        registry.entries("target")


def test_an_entry_point_adds_an_entry(plugin_points: Install, shop: ModuleType) -> None:
    plugin_points(point("targets", "mine"), point("attacks", "other", "shop:from_run"))
    assert "mine" in registry.names("targets")
    assert registry.create("targets", "mine:a:b", {"x": 1}) == ("a:b", {"x": 1})
    assert registry.build("attacks", "other", "the run") == ("built from", "the run")
    assert dict(registry.describe("targets"))["mine"] == "From shop."


def test_the_factory_cannot_change_the_callers_settings(
    plugin_points: Install, shop: ModuleType
) -> None:
    plugin_points(point("tools", "mine"))
    settings = {"x": 1}
    _, received = registry.create("tools", "mine", settings)
    received["x"] = 2
    assert settings == {"x": 1}


def test_a_plugin_may_not_take_a_name(plugin_points: Install) -> None:
    plugin_points(point("attacks", "mac"))
    with pytest.raises(
        UserError, match=r"plugin shop registers 'mac' in trident.attacks, .* trident-vlm has"
    ):
        registry.names("attacks")


def test_two_plugins_may_not_share_a_name(plugin_points: Install) -> None:
    plugin_points(point("judges", "mine"), point("judges", "mine", "mall:make"))
    with pytest.raises(UserError, match=r"plugin mall registers 'mine'.* shop has: uninstall"):
        registry.names("judges")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            ModuleNotFoundError("No module named 'spacy'", name="spacy"),
            "target mine:x needs spacy: pip install 'trident-vlm[paper]'",
        ),
        (
            ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"),
            "target mine:x needs torch: pip install 'torch'",
        ),
        (
            ImportError("LlamaTokenizer requires the SentencePiece library but it was not found"),
            "target mine:x needs sentencepiece: pip install 'trident-vlm[paper]'",
        ),
    ],
)
def test_a_missing_library_is_answered_with_the_install_command(
    plugin_points: Install, shop: ModuleType, error: ImportError, message: str
) -> None:
    def fail(argument: str, settings: object) -> None:
        raise error

    shop.make = fail  # type: ignore[attr-defined]
    plugin_points(point("targets", "mine"))
    with pytest.raises(UserError) as caught:
        registry.create("targets", "mine:x")
    assert str(caught.value) == message


def test_a_missing_library_at_import_is_answered_too(
    plugin_points: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)  # As if it were not installed.
    monkeypatch.delitem(sys.modules, "metrics.tagger_spacy", raising=False)
    plugin_points()
    with pytest.raises(UserError, match=r"tagger spacy needs spacy: pip install 'trident-vlm\[pa"):
        registry.create("taggers", "spacy")


def test_a_bug_in_an_import_is_not_dressed_up(plugin_points: Install) -> None:
    plugin_points(point("targets", "mine", "no_such_module_of_mine:make"))
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_mine"):
        registry.load("targets", "mine")
