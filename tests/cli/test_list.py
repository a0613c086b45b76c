import pytest

from benchmark import registry
from benchmark.settings import ATTACKS, COMMON
from tests.cli.conftest import Trident


def test_list_shows_everything(trident: Trident) -> None:
    result = trident("list")
    assert result.code == 0
    headings = [line for line in result.out.splitlines() if line and not line.startswith(" ")]
    assert headings == [*registry.KINDS, "presets", "settings"]


@pytest.mark.parametrize("kind", registry.KINDS)
def test_list_of_a_kind_is_its_names_and_lines(trident: Trident, kind: str) -> None:
    lines = [line.split(maxsplit=1) for line in trident("list", kind).out.splitlines()]
    described = registry.describe(kind)
    assert [(name, summary) for name, summary in lines][-len(described) :] == described


def test_list_targets_says_what_short_names_stand_for_in_each_preset(trident: Trident) -> None:
    lines = dict(line.split(maxsplit=1) for line in trident("list", "targets").out.splitlines())
    assert lines["negclip"] == "miniature:negclip-mini (mini)"
    assert lines["siglip"] == (
        "miniature:siglip-mini (mini), transformers:google/siglip-so400m-patch14-384 (paper)"
    )


def test_list_presets_says_what_short_names_stand_for(trident: Trident) -> None:
    mini, paper = trident("list", "presets").out.splitlines()
    assert mini.startswith("mini")
    assert "clip = miniature:clip-mini" in mini
    assert "clip = transformers:laion/CLIP-ViT-H-14-laion2B-s32B-b79K" in paper


def test_list_settings_has_every_setting(trident: Trident) -> None:
    lines = dict(line.split(maxsplit=1) for line in trident("list", "settings").out.splitlines())
    assert {*COMMON, *ATTACKS["mac"], "target.revision", "dataset.split"} <= lines.keys()
    assert lines["candidates"].startswith("mac: captions written for each sample")
    assert lines["judge"].endswith("a name from `list judges`")


def test_list_shows_plugins(trident: Trident, paint: object) -> None:
    assert "repaint" in trident("list", "attacks").out
