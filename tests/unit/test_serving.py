from pathlib import Path

import numpy as np
import pytest

from benchmark.cache import Cache
from benchmark.errors import UserError
from benchmark.protocols import Embeddings
from benchmark.serving import ANSWERING, Target
from benchmark.sights import Sight, View
from benchmark.types import ModelInfo, Pixels, Sampling
from tests.fakes import FakeEncoder, FakeTarget, FakeTool, picture
from tests.report_fakes import FakeAnswerer, FakeSeer

GREEDY, DRAWN = Sampling(temperature=0), Sampling(temperature=0.7)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "calls.sqlite", pytest.fail)


def test_a_cosine_is_the_dot_product_to_six_digits() -> None:
    class Two:
        info = ModelInfo("two", weights="w")

        def encode_images(self, images: list[Pixels]) -> Embeddings:
            return np.array([[1.0, 0.0]] * len(images), dtype=np.float32)

        def encode_texts(self, texts: list[str]) -> Embeddings:
            return np.array([[1 / 3, np.sqrt(8 / 9)]] * len(texts), dtype=np.float32)

    assert Target(Two()).score([(picture(0), "t")]) == [0.333333]


def test_each_image_and_text_is_encoded_once_in_full_batches() -> None:
    model = FakeEncoder()
    target = Target(model, batch_size=4)
    pairs = [(picture(n % 2), f"text {n % 5}") for n in range(20)]
    scores = target.score(pairs)
    assert model.images == [4]  # 2 unique ones, padded
    assert model.texts == [
        ["text 0", "text 1", "text 2", "text 3"],
        ["text 4", "text 4", "text 4", "text 4"],
    ]
    assert scores[0] == scores[10]
    assert target.counts.images_encoded == 2
    assert target.counts.texts_encoded == 5
    assert target.counts.asked == 20
    assert target.score(pairs) == scores
    assert len(model.texts) == 2


def test_scores_belong_to_their_pairs() -> None:
    model = FakeEncoder()
    pairs = [(picture(n), f"text {n}") for n in range(9)]
    images = model.encode_images([image for image, _ in pairs])
    texts = model.encode_texts([text for _, text in pairs])
    expected = (images.astype(np.float64) * texts.astype(np.float64)).sum(axis=1)
    assert Target(model, batch_size=4).score(pairs) == pytest.approx(expected, abs=1e-6)


def test_equal_pictures_in_other_arrays_are_one_and_changed_ones_are_not() -> None:
    target = Target(model := FakeTarget(), batch_size=1)
    image = picture(0)
    first = target.score([(image, "t")])
    assert target.score([(image.copy(), "t")]) == first
    image[0, 0, 0] ^= 1
    assert target.score([(image, "t")]) != first
    assert len(model.history) == 2


def test_pairs_are_scored_once_in_full_batches() -> None:
    model = FakeTarget()
    target = Target(model, batch_size=3)
    scores = target.score([(picture(0), text) for text in "abcdab"])
    assert model.history == [["a", "b", "c"], ["d", "d", "d"]]
    assert scores[:2] == scores[4:]
    assert target.counts.pairs_scored == 4


def test_the_cache_answers_in_a_second_run(cache: Cache) -> None:
    pairs = [(picture(0), "a"), (picture(1), "b")]
    first = Target(FakeEncoder(), cache, 2)
    scores = first.score(pairs)
    assert first.counts.cache_hits == 0
    second = Target(model := FakeEncoder(), cache, 2)
    assert second.score(pairs) == scores
    assert model.images == []
    assert model.texts == []
    assert second.counts.cache_hits == 4
    assert second.counts.texts_encoded == 0


def test_a_cached_pair_score_is_the_computed_one(cache: Cache) -> None:
    pairs = [(picture(n), "a") for n in range(50)]
    assert Target(FakeTarget(), cache).score(pairs) == Target(FakeTarget(), cache).score(pairs)


def test_other_weights_never_get_the_old_answer(cache: Cache) -> None:
    Target(FakeEncoder(), cache).score([(picture(0), "a")])
    other = Target(FakeEncoder(info=ModelInfo("fake-encoder", weights="e1")), cache)
    other.score([(picture(0), "a")])
    assert other.counts.cache_hits == 0


def test_a_model_that_does_not_say_its_weights_is_not_cached(cache: Cache) -> None:
    for _ in range(2):
        target = Target(FakeTarget(info=ModelInfo("nameless")), cache)
        target.score([(picture(0), "a")])
        assert target.counts.pairs_scored == 1


def test_memory_is_bounded_and_the_cache_is_behind_it(cache: Cache) -> None:
    target = Target(model := FakeEncoder(), cache, 8, remembered=4)
    pairs = [(picture(0), f"text {n}") for n in range(20)]
    scores = target.score(pairs)
    assert len(target._texts._recent) == 4
    assert target.score(pairs) == scores
    assert len(model.texts) == 3
    assert target.counts.cache_hits == 16


def test_without_a_cache_the_forgotten_is_computed_again() -> None:
    target = Target(FakeEncoder(), None, 8, remembered=1)
    target.score([(picture(0), "a"), (picture(0), "b")])
    target.score([(picture(0), "a")])
    assert target.counts.texts_encoded == 3


def test_no_pairs_need_no_call() -> None:
    target = Target(model := FakeTarget())
    assert target.score([]) == []
    assert model.history == []


def test_what_is_no_target_is_refused() -> None:
    with pytest.raises(UserError, match=r"FakeTool cannot be a target: it needs .*encode_images"):
        Target(FakeTool())


def test_a_batch_size_of_zero_is_refused() -> None:
    with pytest.raises(UserError, match="batch size 0 is too small"):
        Target(FakeTarget(), batch_size=0)


def test_vectors_that_are_not_unit_are_refused() -> None:
    class Long(FakeEncoder):
        def encode_texts(self, texts: list[str]) -> Embeddings:  # type: ignore[override]
            return 3 * super().encode_texts(texts)

    with pytest.raises(ValueError, match=r"encode_texts returned a vector of length 3, expected 1"):
        Target(Long()).score([(picture(0), "a")])


def test_a_wrong_number_of_vectors_is_refused() -> None:
    class Short(FakeEncoder):
        def encode_images(self, images: list[Pixels]) -> Embeddings:  # type: ignore[override]
            return super().encode_images(images)[:1]

    with pytest.raises(ValueError, match=r"shape \(1, 32\) for 4 inputs, expected \(4, width\)"):
        Target(Short(), batch_size=4).score([(picture(0), "a")])


def test_a_score_that_is_no_number_is_refused() -> None:
    model = FakeTarget()
    model.enqueue("bad", float("nan"))
    with pytest.raises(ValueError, match="match returned nan for the text 'bad'"):
        Target(model, batch_size=2).score([(picture(0), "good"), (picture(0), "bad")])


# Many texts a picture, questions.


def test_a_view_is_scored_with_each_of_its_texts() -> None:
    target = Target(model := FakeEncoder(), batch_size=4)
    views = [View(picture(n), ("cat", "dog", "duck")[: n + 1]) for n in range(3)]
    sights = target.look(views)
    pairs = [(view.pixels, text) for view in views for text in view.texts]
    flat = Target(FakeEncoder(), batch_size=4).score(pairs)
    assert [sight.scores for sight in sights] == [
        tuple(flat[:1]), tuple(flat[1:3]), tuple(flat[3:])
    ]  # fmt: skip
    assert [sight.score for sight in sights] == [flat[0], flat[1], flat[3]]
    assert Sight(()).score is None
    assert (model.images, model.texts) == ([4], [["cat", "dog", "duck", "duck"]])


def test_many_pairs_are_multiplied_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(picture(n % 3), f"text {n % 7}") for n in range(50)]
    whole = Target(FakeEncoder()).score(pairs)
    monkeypatch.setattr("benchmark.serving._PAIRS_A_PRODUCT", 8)
    assert Target(FakeEncoder()).score(pairs) == whole


def test_the_cache_has_the_options_in_a_second_run(cache: Cache) -> None:
    views = [View(picture(n), ("cat", "dog"), "What is it?") for n in range(3)]
    first = Target(FakeSeer(), cache, 2).look(views)
    again = Target(model := FakeSeer(), cache, 2)
    assert again.look(views) == first
    assert (model.images, model.texts, model.answerer.history) == ([], [], [])
    assert again.counts.cache_hits == 3 + 2 + 3
    assert again.look([View(picture(0), ("cat", "duck"))])[0].scores[0] == first[0].scores[0]
    assert model.texts == [["duck", "duck"]]


def test_questions_are_asked_once_in_full_batches() -> None:
    target = Target(model := FakeAnswerer(), batch_size=2)
    questions = [(picture(n % 3), "What?") for n in range(6)] + [(picture(0), "Where?")]
    answers = target.answer(questions)
    assert model.history == [["What?", "What?"], ["What?", "Where?"]]
    assert answers[:3] == answers[3:6]
    assert len(set(answers)) == 4
    assert model.samplings == [ANSWERING, ANSWERING]
    assert (target.counts.asked, target.counts.replies_generated) == (7, 4)
    target.answer(questions[:1], Sampling(temperature=0, max_new_tokens=5))
    assert target.counts.replies_generated == 5


def test_only_views_with_a_question_are_asked_about() -> None:
    target = Target(model := FakeSeer(), batch_size=1)
    with_question = View(picture(0), ("cat",), "What?")
    sights = target.look([View(picture(0), ("cat",)), with_question])
    assert [sight.output is None for sight in sights] == [True, False]
    assert model.answerer.history == [["What?"]]


def test_a_target_says_what_it_can_do() -> None:
    abilities = [
        (target.gives_scores, target.answers)
        for target in map(Target, (FakeEncoder(), FakeTarget(), FakeAnswerer(), FakeSeer()))
    ]
    assert abilities == [(True, False), (True, False), (False, True), (True, True)]


def test_what_a_target_cannot_do_is_said() -> None:
    with pytest.raises(ValueError, match="fake-answerer only answers questions"):
        Target(FakeAnswerer()).score([(picture(0), "a")])
    with pytest.raises(ValueError, match="fake-encoder gives scores: it cannot answer"):
        Target(FakeEncoder()).answer([(picture(0), "a")])


def test_missing_answers_are_refused() -> None:
    class Silent(FakeAnswerer):
        def answer(self, *_: object) -> list[str]:
            return ["yes"]

    with pytest.raises(ValueError, match="answer returned 1 replies for 4 questions"):
        Target(Silent(), batch_size=4).answer([(picture(0), "a")])
