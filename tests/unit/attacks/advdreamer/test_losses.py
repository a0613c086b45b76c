import math

import pytest

from attacks.advdreamer.losses import isp, mf_ii, mf_it, mf_tt


def test_isp_by_hand() -> None:
    # -log(e^0.2 / (e^0.2 + e^0.3 + e^0.1)) = log(1.221403 + 1.349859 + 1.105171) - 0.2
    assert isp([0.2, 0.3, 0.1]) == pytest.approx(math.log(3.676433) - 0.2, abs=1e-6)
    assert isp([0.2, 0.3, 0.1]) == pytest.approx(1.101943, abs=1e-6)


def test_equal_scores_give_the_logarithm_of_their_number() -> None:
    assert isp([0.25] * 20) == pytest.approx(math.log(20))


def test_without_a_temperature_cosines_hardly_move_it() -> None:
    # From the paper's own eq. 6: 80 labels, the true one first or last by 0.2.
    assert isp([0.3] + [0.1] * 79) == pytest.approx(math.log(math.exp(0.2) + 79) - 0.2)
    assert 4.1 < isp([0.3] + [0.1] * 79) < isp([0.1] + [0.3] + [0.1] * 78) < 4.5


def test_the_temperature_sharpens() -> None:
    # log(1 + e^(-0.1 / 0.05)) = log(1 + e^-2)
    assert isp([0.3, 0.2], temperature=0.05) == pytest.approx(math.log(1 + math.exp(-2)))
    assert isp([0.0, 1000.0]) == 1000.0  # and nothing overflows


def test_it_grows_as_the_true_label_falls_behind() -> None:
    losses = [isp([true, 0.3, 0.1]) for true in (0.9, 0.5, 0.3, 0.0, -0.5)]
    assert losses == sorted(losses)


def test_the_alternatives_are_one_minus_a_cosine() -> None:
    assert mf_it(0.25) == 0.75
    assert mf_ii(1.0) == 0.0
    assert mf_tt(-1.0) == 2.0
