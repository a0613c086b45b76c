import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import registry
from benchmark.config import (
    RunConfig,
    _dataset,
    load_preset,
    presets,
    redirect,
    resolve,
)
from benchmark.errors import UserError
from benchmark.overrides import parse_value
from benchmark.settings import ATTACKS, COMMON


def test_mini_resolves_clip_to_a_miniature() -> None:
    config = resolve("mac", "clip")
    assert (config.target_name, config.target) == ("clip", "miniature:clip-mini")
    assert (config.dataset, config.samples) == ("toybox", 240)
    assert config.dataset_settings == {"split": "test"}
    assert config.settings["writer"] == "miniature:writer-mini"
    assert (config.settings["candidates"], config.settings["ties"]) == (4, "paper")
    assert (config.preset, config.seed, config.access) == ("mini", 0, "score")
    assert config.query_budget is None


def test_paper_resolves_to_the_published_models_and_settings() -> None:
    config = resolve("mac", "clip", "paper", data_root="/data/coco")
    assert config.target == "transformers:laion/CLIP-ViT-H-14-laion2B-s32B-b79K"
    assert config.target_settings == {"revision": "1c2b8495b28150b8a4922ee1c8edee224c284c0c"}
    assert config.dataset_settings == {"split": "test", "data_root": "/data/coco"}
    assert config.samples is None
    expected = {"temperature": 0.7, "top_p": 0.9, "max_new_tokens": 40, "ties": "released"}
    assert {key: config.settings[key] for key in expected} == expected
    assert (
        config.settings["writer"]
        == "transformers:meta-llama/Meta-Llama-3.1-8B-Instruct@0e9e39f249a16976918f6564b8830bc894c89659"
    )


@pytest.mark.parametrize("preset", presets())
def test_a_preset_leaves_no_setting_open(preset: str) -> None:
    table = load_preset(preset)
    for attack, schema in ATTACKS.items():
        given = {**table["attack"], **table["attack"][attack]}
        assert {*COMMON, *schema} <= set(given)


@pytest.mark.parametrize("preset", presets())
def test_a_presets_aliases_name_registry_entries(preset: str) -> None:
    table = load_preset(preset)
    for kind in ("targets", "tools"):
        for alias in table[kind].values():
            spec = alias if isinstance(alias, str) else alias["spec"]
            assert registry.split(spec)[0] in registry.names(kind)


def test_a_target_can_be_named_outright() -> None:
    config = resolve("mac", "open_clip:ViT-B-32/laion2b_s34b_b79k")
    assert config.target == config.target_name == "open_clip:ViT-B-32/laion2b_s34b_b79k"


def test_a_csv_file_is_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = resolve("mac", "clip", dataset="mine/pairs.csv")
    assert config.dataset == f"pairs:{tmp_path}/mine/pairs.csv"
    assert (config.dataset_name, config.samples) == ("pairs.csv", None)
    assert resolve("mac", "clip", dataset="pairs:mine/pairs.csv").dataset == config.dataset


def test_a_split_can_be_named_with_the_world() -> None:
    config = resolve("mac", "clip", dataset="toybox:validation")
    assert (config.dataset, config.dataset_name) == ("toybox:validation", "toybox")
    assert config.dataset_settings == {"split": "validation"}


def test_flags_win_over_the_preset() -> None:
    config = resolve(
        "mac", "clip", samples=3, seed=7, access="decision", query_budget=0, overrides=["top_p=0.5"]
    )
    assert (config.samples, config.seed, config.access, config.query_budget) == (
        3,
        7,
        "decision",
        0,
    )
    assert config.settings["top_p"] == 0.5


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("candidates=16", "candidates", 16),
        ("max_distance=3", "max_distance", 3),
        ("max_distance=auto", "max_distance", "auto"),
        ("mode=specific", "mode", "specific"),
        ('mode = "specific"', "mode", "specific"),
        ("temperature=1", "temperature", 1),
        ("criteria=crossmodal, distance", "criteria", ["crossmodal", "distance"]),
        ('criteria=["crossmodal"]', "criteria", ["crossmodal"]),
        ("writer=grammar", "writer", "grammar"),
        ("writer=writer", "writer", "miniature:writer-mini"),
        ("writer=transformers:a/b", "writer", "transformers:a/b"),
        ("prompts=./my=prompts", "prompts", "./my=prompts"),
    ],
)
def test_set(override: str, key: str, value: object) -> None:
    assert resolve("mac", "clip", overrides=[override]).settings[key] == value


def test_dotted_keys_set_what_belongs_to_the_target_and_the_data_set() -> None:
    config = resolve("mac", "clip", overrides=["target.revision=abc", "dataset.split=validation"])
    assert config.target_settings == {"revision": "abc"}
    assert config.dataset_settings == {"split": "validation"}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("candidate=8", "unknown setting 'candidate': did you mean candidates?"),
        ("zzz=8", "unknown setting 'zzz': there are auxiliary, candidates"),
        ("candidates", "--set candidates: write key=value"),
        ("=3", "--set =3: write key=value"),
        ("attack.mac=1", "'attack.mac' must start with target. or dataset."),
        ("target.rev=1", "unknown setting 'rev': there are base_url, detail, dtype, key_env"),
        ("candidates=many", 'candidates = "many": expected an integer of at least 1'),
        ("candidates=0", "candidates = 0: expected an integer of at least 1"),
        ("candidates=true", "candidates = true: expected an integer"),
        ("candidates=4.5", "candidates = 4.5: expected an integer"),
        ("top_p=2", "top_p = 2.0: expected a number from 0 to 1"),
        ("temperature=nan", "temperature = NaN: expected a number of at least 0"),
        ("mode=best", 'mode = "best": expected "general" or "specific"'),
        ("max_distance=far", 'expected an integer of at least 1 or "auto"'),
        ("criteria=3", "criteria = 3: expected a list of names"),
        ("criteria=crossmodel", "unknown criterion 'crossmodel': did you mean 'crossmodal'"),
        ("judge=mnl", "unknown judge 'mnl': did you mean 'mnli'"),
        ("writer=wirter", "unknown tool 'wirter'"),
    ],
)
def test_a_wrong_override_is_refused(override: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve("mac", "clip", overrides=[override])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"attack": "mca"}, "unknown attack 'mca': did you mean 'mac'"),
        ({"target": "clpi"}, "unknown target 'clpi': did you mean 'clip'"),
        ({"target": "open_clip"}, "target 'open_clip' needs a model after a colon"),
        ({"dataset": "coc"}, "unknown data set 'coc': did you mean 'coco'"),
        ({"dataset": "coco"}, "data set 'coco' needs the folder of its pictures: --data-root DIR"),
        ({"dataset": "pairs"}, "data set 'pairs' needs a file"),
        ({"preset": "maxi"}, "unknown preset 'maxi': give mini or paper"),
        ({"preset": "none.toml"}, "preset none.toml: there is no such file"),
        ({"access": "all"}, "unknown access 'all': give decision, score or output"),
    ],
)
def test_a_wrong_name_is_refused(arguments: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve(**{"attack": "mac", "target": "clip", **arguments})  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_a_preset_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = (Path(__file__).parents[2] / "benchmark/presets/mini.toml").read_text()
    path.write_text(text.replace('clip = "miniature:clip-mini"', 'clip = "open_clip:/m/clip"'))
    config = resolve("mac", "clip", str(path))
    assert (config.target, config.preset) == ("open_clip:/m/clip", str(path))


def test_a_revision_in_a_preset_becomes_a_setting_of_the_target(tmp_path: Path) -> None:
    path = tmp_path / "pinned.toml"
    text = (Path(__file__).parents[2] / "benchmark/presets/paper.toml").read_text()
    path.write_text(text.replace("1c2b8495b28150b8a4922ee1c8edee224c284c0c", "de7d", 1))
    config = resolve("mac", "clip", str(path), data_root="/data")
    assert config.target_settings == {"revision": "de7d"}


@pytest.mark.parametrize(
    ("text", "message"),
    [("seed = ", "is not TOML"), ("[run]\nseed = 0\n", r"lacks \[targets\]")],
)
def test_a_broken_preset_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        resolve("mac", "clip", str(path))


def test_a_config_can_be_turned_to_another_target() -> None:
    before = resolve("mac", "clip", samples=3, overrides=["candidates=2"])
    after = redirect(before, "siglip", ["ties=released", "target.revision=abc"])
    assert (after.target_name, after.target) == ("siglip", "miniature:siglip-mini")
    assert after.settings == {**before.settings, "ties": "released"}
    assert after.target_settings == {"revision": "abc"}
    assert (after.samples, after.dataset_settings) == (3, before.dataset_settings)
    assert redirect(before, None) == before
    assert redirect(before, None, ["candidates=3"]).target == "miniature:clip-mini"


@pytest.mark.parametrize(
    ("target", "override", "message"),
    [
        ("clipp", "ties=released", "unknown target 'clipp'"),
        (None, "dataset.split=train", "the data are those of the run, leave it out"),
        (None, "candidate=2", "unknown setting 'candidate': did you mean candidates"),
        (None, "candidates=two", 'setting candidates = "two": expected'),
    ],
)
def test_a_config_is_not_turned_to_what_there_is_not(
    target: str | None, override: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        redirect(resolve("mac", "clip"), target, [override])


def test_a_config_survives_json() -> None:
    config = resolve("mac", "clip", overrides=["candidates=2"])
    again = RunConfig.from_json(json.loads(json.dumps(config.to_json())))
    assert again == config
    assert again.digest == config.digest


def test_a_config_of_another_version_is_refused() -> None:
    data = {**resolve("mac", "clip").to_json(), "colour": 1}
    with pytest.raises(UserError, match=r"other keys .*\(colour\): finish it with the version"):
        RunConfig.from_json(data)


@given(st.permutations(sorted(resolve("mac", "clip").settings)))
def test_the_digest_does_not_depend_on_the_order_of_keys(keys: list[str]) -> None:
    data = resolve("mac", "clip").to_json()
    shuffled = {**data, "settings": {key: data["settings"][key] for key in keys}}
    backwards = dict(reversed(shuffled.items()))
    assert RunConfig.from_json(backwards).digest == resolve("mac", "clip").digest


@pytest.mark.parametrize("override", ["candidates=5", "seed", "target.revision=x"])
def test_the_digest_names_the_experiment(override: str) -> None:
    changed = (
        resolve("mac", "clip", seed=1)
        if override == "seed"
        else resolve("mac", "clip", overrides=[override])
    )
    assert changed.digest != resolve("mac", "clip").digest


def test_one_and_one_point_zero_are_one_experiment() -> None:
    whole, point = (resolve("mac", "clip", overrides=[f"top_p={text}"]) for text in ("1", "1.0"))
    assert whole.digest == point.digest


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("true", True),
        ('"3"', "3"),
        ("three words here", "three words here"),
        ("[1, 2]", [1, 2]),
        ("1979-05-27", "1979-05-27"),
        ("", ""),
        ("1\nother = 2", "1\nother = 2"),
    ],
)
def test_values_are_toml_and_else_text(text: str, value: object) -> None:
    assert parse_value(text) == value


def test_an_attack_may_want_other_data_than_the_preset_gives_the_rest() -> None:
    table = load_preset("mini")["datasets"]["toybox"]
    config = resolve("mac", "clip")
    assert config.samples == table["samples"] == 240
    assert "advdreamer" not in config.dataset_settings
    name, spec, settings = _dataset("toybox", load_preset("mini"), "advdreamer", None)
    assert (name, spec) == ("toybox", "toybox")
    assert settings == {
        "samples": 60, "split": "test", "kind": "single", "balanced": True, "labels": True, "px": 128,
    }  # fmt: skip


def test_a_photo_is_named_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = resolve("mac", "clip", dataset="photo:mine/cat.png", overrides=["dataset.label=cat"])
    assert config.dataset == f"photo:{tmp_path}/mine/cat.png"
    assert (config.dataset_name, config.dataset_settings) == ("cat.png", {"label": "cat"})
