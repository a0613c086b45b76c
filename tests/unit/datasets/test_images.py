from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmark.datasets.images import ImageFile, mean_words, read_image, sha256_of_rows

LEFT_RED = np.zeros((2, 4, 3), np.uint8)
LEFT_RED[:, :2, 0] = 255


def test_pixels_are_those_of_the_file(tmp_path: Path) -> None:
    Image.fromarray(LEFT_RED).save(tmp_path / "a.png")
    image = ImageFile(tmp_path / "a.png")
    assert image.name == str(tmp_path / "a.png")
    np.testing.assert_array_equal(image.load(), LEFT_RED)


def test_a_picture_is_turned_as_its_exif_data_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # Orientation: turn a quarter clockwise to see it upright
    Image.fromarray(LEFT_RED).save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), np.rot90(LEFT_RED, -1))


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "CMYK", "1"])
def test_any_mode_becomes_rgb(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    Image.new("RGB", (4, 2), (255, 255, 255)).convert(mode).save(path)
    pixels = read_image(path)
    assert pixels.shape == (2, 4, 3)
    assert pixels.dtype == np.uint8
    assert (pixels == 255).all()


def test_a_transparent_palette_does_not_warn(tmp_path: Path) -> None:
    image = Image.new("P", (4, 2))
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.save(tmp_path / "a.png", transparency=bytes([0, 128]))
    assert read_image(tmp_path / "a.png")[0, 0].tolist() == [255, 0, 0]


def test_sixteen_bits_are_scaled_not_clipped(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 0x8000, 0xFFFF]], np.uint16)).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png")[0, :, 0].tolist() == [0, 128, 255]


def test_a_truncated_picture_is_named(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    for name in ("a.jpg", "a.png"):
        path = tmp_path / name
        Image.fromarray(noise).save(path)
        path.write_bytes(path.read_bytes()[:2000])
        with pytest.raises(OSError, match=rf"image .*{name} cannot be decoded \(.*\): replace"):
            read_image(path)


def test_what_is_no_picture_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("hello")
    with pytest.raises(OSError, match=r"a\.jpg is not a picture that PIL can read"):
        read_image(tmp_path / "a.jpg")
    with pytest.raises(FileNotFoundError, match=r"gone\.jpg does not exist: correct its path"):
        read_image(tmp_path / "gone.jpg")
    with pytest.raises(OSError, match=r"cannot be decoded"):
        read_image(tmp_path)


def test_a_decompression_bomb_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.fromarray(LEFT_RED).save(tmp_path / "a.png")
    for limit in (3, 6):  # 8 pixels: more than twice the limit raises in PIL, less only warns
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
        with pytest.raises(OSError, match=rf"has more than {limit} pixels: scale it down"):
            read_image(tmp_path / "a.png")


def test_mean_words() -> None:
    assert mean_words(["a red  ball", "two\tdogs, one\n", "x"]) == 7 / 3
    with pytest.raises(ValueError, match="no captions"):
        mean_words([])


def test_rows_are_hashed_with_their_borders() -> None:
    assert sha256_of_rows([("ab", "c")]) != sha256_of_rows([("a", "bc")])
    assert sha256_of_rows([("a", "b")]) != sha256_of_rows([("a",), ("b",)])
