"""The printed commands resolve to the very experiment."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark import cli
from benchmark.commands.run import _plan
from benchmark.config import resolve
from benchmark.gate.rerun import replay_command, run_words, sample_command


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"samples": 20, "seed": 3, "access": "output", "query_budget": 7},
        {"overrides": ["candidates=8", "criteria=crossmodal, unimodal", "temperature=0.5"]},
        {"overrides": ["target.dtype=float16", "dataset.px=32", "prompts=my prompts"]},
        {"preset": "paper", "dataset": "coco", "data_root": "pictures"},
        {"dataset": "toybox:validation"},
    ],
)
def test_the_command_makes_the_same_experiment(options: dict[str, Any]) -> None:
    config = resolve("mac", "clip", **options)
    words = run_words(config)
    assert words is not None
    line = sample_command(words, "test/7")
    assert line.startswith("python -m benchmark run --attack mac --target clip")
    args = cli.build_parser().parse_args(shlex.split(line)[3:])
    assert args.ids == ["test/7"]
    again, _, _ = _plan(args)
    assert again.to_json() == config.to_json()


def test_a_file_of_pairs_is_named_by_its_path(tmp_path: Path) -> None:
    config = resolve("mac", "clip", dataset=str(tmp_path / "pairs.csv"))
    words = run_words(config)
    assert words is not None
    assert words[-2:] == ["--dataset", f"pairs:{tmp_path / 'pairs.csv'}"]


def test_what_the_preset_says_is_left_out() -> None:
    assert run_words(resolve("mac", "clip")) == ["run", "--attack", "mac", "--target", "clip"]


def test_odd_ids_are_quoted() -> None:
    assert sample_command(["run"], "a b").endswith("--ids 'a b'")
    assert sample_command(["run"], "-1").endswith("--ids=-1")


@pytest.mark.parametrize(
    "changes", [{"preset": "gone.toml"}, {"target": "miniature:older"}, {"attack": "plugin"}]
)
def test_where_no_command_makes_it_there_is_none(changes: dict[str, Any]) -> None:
    assert run_words(replace(resolve("mac", "clip"), **changes)) is None


def test_a_replay_is_shown_by_a_transfer() -> None:
    line = replay_command("runs/a b", "openai:x", {"detail": "low"}, "s1")
    args = cli.build_parser().parse_args(shlex.split(line)[3:])
    assert (args.run, args.target, args.ids) == (Path("runs/a b"), "openai:x", ["s1"])
    assert args.set == ["target.detail=low"]
