import hashlib
import json
import threading
import urllib.error
from collections.abc import Callable
from email.message import Message
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest

from benchmark import doctor


def test_an_old_python_is_named() -> None:
    finding = doctor.python((3, 10))
    assert (finding.level, finding.remedy) == ("fail", "install Python 3.11 or later")
    assert doctor.python((3, 11)).level == "ok"


def test_packages_that_are_there() -> None:
    finding = doctor.packages(["numpy>=1.0", "pytest", "nosuch>=2; extra == 'api'"])
    assert (finding.level, finding.detail) == ("ok", "2 dependencies")


def test_missing_and_old_packages_come_with_the_command() -> None:
    finding = doctor.packages(["no-such-package>=2.0", "numpy>=999.1", "pytest>=1"])
    assert finding.level == "fail"
    assert "no-such-package is missing; numpy" in finding.detail
    assert "is older than 999.1" in finding.detail
    assert finding.remedy == "pip install 'no-such-package>=2.0' 'numpy>=999.1'"


def test_our_own_requirements_can_be_read() -> None:
    finding = doctor.packages(requires("trident-vlm") or [])
    assert finding.level == "ok", finding.detail


@pytest.mark.parametrize(
    ("probe", "level", "detail"),
    [
        ("print('torch 9: CPU')", "ok", "torch 9: CPU"),
        (
            "raise ImportError('libcudart.so is missing')",
            "fail",
            "torch does not start: ImportError: libcudart.so is missing",
        ),
        ("import os; os.kill(os.getpid(), 11)", "fail", "torch does not start: exit status -11"),
    ],
)
def test_device_survives_whatever_torch_does(probe: str, level: str, detail: str) -> None:
    finding = doctor.device(probe)
    assert (finding.level, finding.detail) == (level, detail)


def test_device_does_not_wait_for_ever() -> None:
    finding = doctor.device("import time; time.sleep(60)", seconds=0.2)
    assert finding.detail == "torch did not start in 0.2 s"


def make_miniature(folder: Path, name: str, content: bytes) -> Path:
    model = folder / "weights" / name
    model.mkdir(parents=True)
    (model / "w.safetensors").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    card = {"weights": {"file": "w.safetensors", "sha256": digest}}
    (model / "card.json").write_text(json.dumps(card))
    return model / "w.safetensors"


def test_weights_that_match_their_cards(tmp_path: Path) -> None:
    make_miniature(tmp_path, "a-mini", b"a")
    make_miniature(tmp_path, "b-mini", b"b")
    assert doctor.miniatures(tmp_path).detail == "a-mini, b-mini: as their cards say"


def test_weights_that_were_changed_are_found(tmp_path: Path) -> None:
    path = make_miniature(tmp_path, "a-mini", b"a")
    path.write_bytes(b"A")
    assert doctor.miniatures(tmp_path).detail == f"{path} is not the file of its card"
    path.unlink()
    assert doctor.miniatures(tmp_path).detail == f"{path} is missing"


def test_no_weights_at_all(tmp_path: Path) -> None:
    assert doctor.miniatures(tmp_path).level == "fail"


def test_a_folder_that_is_yet_to_be_made_is_writable(tmp_path: Path) -> None:
    assert doctor.writable("cache", tmp_path / "a" / "b").level == "ok"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    finding = doctor.writable("cache", file)
    assert finding.level == "fail"
    assert finding.detail == f"{file}: Not a directory"


def test_disk() -> None:
    full = doctor.disk(Path(), usage=lambda path: (10**12, 10**12 - 10**9, 10**9))
    assert (full.level, full.detail) == ("fail", "1.0 GB free at .")
    assert doctor.disk(Path(), usage=lambda path: (10**12, 0, 10**12)).level == "ok"


def answer(error: Exception | None = None) -> Callable[..., None]:
    def opener(request: object, timeout: float) -> None:
        if error is not None:
            raise error

    return opener


def test_the_hub_answers() -> None:
    assert doctor.hub({}, opener=answer()).detail == "https://huggingface.co answers"
    refused = urllib.error.HTTPError("u", 403, "no", Message(), None)
    assert doctor.hub({"HF_ENDPOINT": "http://mirror"}, opener=answer(refused)).level == "ok"


def test_the_hub_is_not_reachable() -> None:
    finding = doctor.hub({}, opener=answer(urllib.error.URLError("no route")))
    assert finding.level == "note"
    assert "is not reachable (<urlopen error no route>)" in finding.detail
    assert "give a model's folder" in finding.remedy


def test_a_hub_that_hangs_does_not_hang_the_doctor() -> None:
    release = threading.Event()
    finding = doctor.hub({}, seconds=0.1, opener=lambda request, timeout: release.wait(30))
    release.set()
    assert "no answer in 0.1 s" in finding.detail


def test_offline_by_choice_asks_nobody() -> None:
    def refuse(request: object, timeout: float) -> None:
        raise AssertionError("asked the hub")

    finding = doctor.hub({"HF_HUB_OFFLINE": "1"}, opener=refuse)
    assert "only models on disk" in finding.detail


def test_the_spacy_model_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "English model 3.8.0" in doctor.spacy_model().detail

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", missing)
    finding = doctor.spacy_model()
    assert (finding.level, finding.detail) == ("note", "spacy is not installed")
    assert "pip install 'trident-vlm[paper]'" in finding.remedy


def test_missing_nltk_data_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    finding = doctor.nltk_data()
    assert finding.level == "note"
    assert "lacks wordnet, punkt_tab, averaged_perceptron_tagger_eng" in finding.detail
    assert finding.remedy.endswith(
        "python -m nltk.downloader wordnet punkt_tab averaged_perceptron_tagger_eng"
    )
    for place in doctor.NLTK_DATA.values():
        (tmp_path / place).mkdir(parents=True)
    assert doctor.nltk_data().level == "ok"


def test_nltk_that_is_not_installed_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", missing)
    assert doctor.nltk_data().detail == "nltk is not installed"
    assert "trident-vlm[capture]" in doctor.nltk_data().remedy
