from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from attacks.advdreamer.pipeline import Outline, Pipeline
from attacks.advdreamer.pose import IDENTITY, Pose
from attacks.advdreamer.stages import ForegroundError
from benchmark.types import Sample
from tests.unit.attacks.advdreamer.stage_fakes import BoxPicture, LabelledData, Run, samples


@dataclass
class Outlined(LabelledData):
    where: Outline = None

    def outline(self, sample: Sample) -> Outline:
        return self.where


def taken_apart(run: Run, sample: Sample, max_side: int = 64) -> Any:
    stages = ("foreground", "background", "reconstruction", "composer")
    pipeline = Pipeline(run, {"max_side": max_side, **dict.fromkeys(stages, "fake")})
    return pipeline.take_apart(sample)


def test_a_picture_is_given_again_as_it_was() -> None:
    sample = samples(1)[0]
    case = taken_apart(Run({}), sample)
    (again,) = case.manipulator.pictures([IDENTITY])
    np.testing.assert_array_equal(again, case.clean)
    assert case.manipulator.box == (12, 12, 8, 8)
    assert case.manipulator.background.max() == 40


def test_and_elsewhere() -> None:
    case = taken_apart(Run({}), samples(1)[0])
    here, there = case.manipulator.pictures([IDENTITY, Pose(dx=0.25)])
    np.testing.assert_array_equal(np.roll(here, 8, axis=1), there)


def test_larger_pictures_are_scaled_down() -> None:
    sample = replace(samples(1)[0], image=BoxPicture("large", size=80))
    assert taken_apart(Run({}), sample, max_side=40).clean.shape == (40, 40, 3)


def test_a_box_is_scaled_with_the_picture() -> None:
    run = Run({}, dataset=Outlined([], where=(20, 24, 40, 44)))
    sample = replace(samples(1)[0], image=BoxPicture("large", size=80))
    taken_apart(run, sample, max_side=40)
    assert run.foreground.boxes == [(10, 12, 20, 22)]


def test_a_mask_needs_no_search_for_the_object() -> None:
    mask = np.zeros((80, 80), np.bool_)
    mask[20:50, 30:60] = True
    run = Run({}, dataset=Outlined([], where=mask))
    sample = replace(samples(1)[0], image=BoxPicture("large", size=80))
    case = taken_apart(run, sample, max_side=40)
    assert run.foreground.boxes == []
    assert case.manipulator.box == (15, 10, 15, 15)


def test_a_mask_of_another_size_is_refused() -> None:
    run = Run({}, dataset=Outlined([], where=np.ones((10, 12), np.bool_)))
    with pytest.raises(ForegroundError, match="the mask has 12 x 10 pixels, the picture 32 x 32"):
        taken_apart(run, samples(1)[0])


def test_a_box_outside_the_picture_is_refused() -> None:
    run = Run({}, dataset=Outlined([], where=(20, 4, 13, 8)))
    with pytest.raises(
        ForegroundError, match="box 20,4,13,8 leaves the picture, which has 32 x 32"
    ):
        taken_apart(run, samples(1)[0])


def test_a_sample_without_a_picture_is_refused() -> None:
    with pytest.raises(ForegroundError, match="sample s0 has no picture"):
        taken_apart(Run({}), replace(samples(1)[0], image=None))
