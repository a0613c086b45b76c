import hashlib
import json
from pathlib import Path

import pytest

from attacks.mac import prompts
from attacks.mac.prompts import GENERAL, OPERATIONS, load_prompts, published_digests
from benchmark.errors import UserError
from benchmark.toybox.operations import families

GOLDEN = json.loads((Path(__file__).parents[3] / "golden" / "mac_generation.json").read_text())
ALL = (GENERAL, *OPERATIONS)


def folder_of(path: Path, name: str = "{}.txt", text: str = "edit {caption}") -> Path:
    for operation in ALL:
        (path / name.format(operation)).write_text(text)
    return path


def test_the_published_hashes_are_those_of_the_golden_file() -> None:
    assert published_digests() == GOLDEN["prompt_sha256"]["templates"]
    assert set(published_digests()) == set(ALL)


def test_operations_are_the_families_of_the_embedded_world() -> None:
    assert families() == OPERATIONS


@pytest.mark.parametrize("operation", ALL)
def test_our_template_says_what_the_published_one_must_say(operation: str) -> None:
    template = load_prompts("trident").templates[operation]
    # The published general template has the modality three times, as the golden notes say.
    assert template.count("{contents_modality}") == 3
    assert template.count("{caption}") == template.count("{max_word_distance_plus_one}") == 1
    assert "Generated Caption: " in template
    for word in ("no", "not", "empty", "without"):
        assert f'"{word}"' in template


def test_each_operation_has_a_prompt_of_its_own() -> None:
    for name in ("trident", "mini"):
        assert len(set(load_prompts(name).templates.values())) == 9


def test_the_built_in_prompts_are_not_taken_for_the_published_ones() -> None:
    assert not load_prompts("trident").published
    assert load_prompts("mini").describe()["published"] is False


def test_the_mini_prompts_are_what_the_writer_was_trained_on() -> None:
    mini = load_prompts("mini")
    filled = {o: mini.fill(o, "a red ball", modality="image", max_distance=5) for o in ALL}
    assert filled[GENERAL] == "a red ball"
    assert filled["object-swap"] == "<object-swap> a red ball"


def test_the_limit_in_the_prompt_is_one_more_than_the_distance(tmp_path: Path) -> None:
    text = "{contents_modality} {max_word_distance_plus_one} {caption}"
    mine = load_prompts(str(folder_of(tmp_path, text=text)))
    assert mine.fill(GENERAL, "a dog", modality="video", max_distance=4) == "video 5 a dog"


def test_braces_in_a_caption_are_not_placeholders(tmp_path: Path) -> None:
    mine = load_prompts(str(folder_of(tmp_path, text="{contents_modality}: {caption}")))
    caption = "a sign that says {contents_modality} {caption} {x}"
    filled = mine.fill(GENERAL, caption, modality="image", max_distance=5)
    assert filled == f"image: {caption}"


def test_a_second_turn_shows_the_earlier_captions() -> None:
    trident = load_prompts("trident")
    once = trident.fill(GENERAL, "a dog", modality="image", max_distance=5)
    again = trident.fill(
        GENERAL, "a dog", modality="image", max_distance=5, previous=("a cat", "{prompt}")
    )
    assert again.startswith(once)
    assert "\n- a cat\n- {prompt}\n" in again


def test_the_mini_writer_cannot_be_shown_earlier_captions() -> None:
    with pytest.raises(UserError, match=r"'mini' cannot show .* --set generation=parallel"):
        load_prompts("mini").fill(
            GENERAL, "a dog", modality="image", max_distance=5, previous=("a cat",)
        )


def test_a_folder_may_have_its_own_second_turn(tmp_path: Path) -> None:
    folder_of(tmp_path)
    assert load_prompts(str(tmp_path)).again == load_prompts("trident").again
    (tmp_path / "again.txt").write_text("{prompt}; not {previous}")
    assert load_prompts(str(tmp_path)).again == "{prompt}; not {previous}"


@pytest.mark.parametrize("name", ["{}.txt", "deceptive-{}_prompt_text.txt"])
def test_the_authors_file_names_are_understood(tmp_path: Path, name: str) -> None:
    mine = load_prompts(str(folder_of(tmp_path, name)))
    assert mine.digests["count-replace"] == hashlib.sha256(b"edit {caption}").hexdigest()
    assert not mine.published


def test_published_templates_are_recognised_by_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = hashlib.sha256(b"edit {caption}").hexdigest()
    monkeypatch.setattr(prompts, "published_digests", lambda: dict.fromkeys(ALL, digest))
    assert load_prompts(str(folder_of(tmp_path))).published
    (tmp_path / "general.txt").write_text("edit {caption}\n")
    assert not load_prompts(str(tmp_path)).published


def test_a_missing_folder_is_named() -> None:
    with pytest.raises(UserError, match=r"no prompts 'nowhere': give trident or mini, or a folder"):
        load_prompts("nowhere")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (folder_of(tmp_path) / "object-add.txt").unlink()
    with pytest.raises(UserError, match=r"lack object-add\.txt \(or deceptive-object-add_prompt"):
        load_prompts(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"edit it", r"general\.txt lacks \{caption\}: without it the writer sees no caption"),
        (b"{caption} {captoin}", r"has \{captoin\}, which nothing fills: use \{caption\}, "),
        (b"{caption} \xff", r"general\.txt is not UTF-8"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(
    tmp_path: Path, text: bytes, message: str
) -> None:
    (folder_of(tmp_path) / "general.txt").write_bytes(text)
    with pytest.raises(UserError, match=message):
        load_prompts(str(tmp_path))
