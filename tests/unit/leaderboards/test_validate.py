"""Honest submissions pass; each of these hostile ones is refused, with its reason."""

import csv
import gzip
import json
import os
import re
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from benchmark import tables
from benchmark.errors import UserError
from leaderboards import limits
from leaderboards.keeper import Keeper
from leaderboards.validate import validate, validate_submission
from tests.unit.leaderboards.conftest import SAMPLES, New
from tests.unit.leaderboards.drafts import Draft, Line, chunk, png, replaced

RECORDS, TRACE = "records.jsonl", "trace.jsonl.gz"


def test_honest_submissions_pass(new: New) -> None:
    root = new("mac").root
    for attack in ("advdreamer", "evolution"):
        shutil.copytree(new(attack, attack).root, root, dirs_exist_ok=True)
    report = validate(root)
    assert report.problems == []
    assert report.entries == 3


def test_the_aggregates_are_recomputed_not_read(new: New) -> None:
    """Without its values the table is refused, and each value is named as the records give it."""
    draft = new()
    rows = tables.read_csv(draft.path / "table.csv")
    total = next(row for row in rows if row.metric == "total" and not row.slice)
    successes = sum(record["status"] == "success" for record in draft.lines(RECORDS))
    assert 0 < successes < SAMPLES
    assert total.value == pytest.approx(successes / SAMPLES, abs=5e-5)
    draft.raw("table.csv", lambda data: b"\n".join(_emptied(data.split(b"\n"))))
    _, problems, _ = validate_submission(draft.path)
    assert f"value of 'total' is '', the records give '{successes / SAMPLES:.4f}'" in "\n".join(
        problems
    )
    assert len([one for one in problems if "value of" in one]) == sum(
        row.value is not None for row in rows
    )


def _emptied(lines: list[bytes]) -> list[bytes]:
    value = tables.COLUMNS.index("value")
    changed = []
    for number, line in enumerate(lines):
        cells = next(csv.reader(StringIO(line.decode())), [])
        if number and cells:
            cells[value] = ""
            line = ",".join(cells).encode()
        changed.append(line)
    return changed


Attack = Callable[[Draft], Any]
HOSTILE: dict[str, tuple[str, Attack, str]] = {}
"""Name -> which honest run it is made from, how, and the reason that must be given."""


def hostile(reason: str, of: str = "mac") -> Callable[[Attack], Attack]:
    def add(attack: Attack) -> Attack:
        HOSTILE[attack.__name__] = (of, attack, reason)
        return attack

    return add


def first(lines: list[Line], **wanted: Any) -> Line:
    return next(line for line in lines if all(line[k] == v for k, v in wanted.items()))


# Files and paths


@hostile(r"'run\.json' is a symbolic link")
def link_for_a_file(draft: Draft) -> None:
    replaced(draft.path / "run.json", Path("/etc/passwd"))


@hostile(r"'artifacts' is a symbolic link", of="advdreamer")
def link_for_a_folder(draft: Draft) -> None:
    replaced(draft.path / "artifacts", Path("/etc"))


@hostile(r"belongs in mac/mini/miniature-clip-mini@")
def path_of_another_model(draft: Draft) -> None:
    better = draft.path.parent.with_name("miniature-negclip-mini@0123456789ab") / draft.path.name
    better.parent.mkdir()
    draft.path.rename(better)
    draft.path = better


@hostile(r"'\.git' is no folder of a submission")
def hidden_folder(draft: Draft) -> None:
    (draft.path / ".git").mkdir()


@hostile(r"'setup\.py' is no file of a submission")
def code(draft: Draft) -> None:
    draft.write("setup.py", b"import os")


@hostile(r"'table\.csv' is no regular file")
def pipe_that_never_ends(draft: Draft) -> None:
    (draft.path / "table.csv").unlink()
    os.mkfifo(draft.path / "table.csv")


@hostile(rf"more than {limits.FILES} files")
def thousands_of_files(draft: Draft) -> None:
    (draft.path / "artifacts").mkdir()
    for number in range(limits.FILES):
        (draft.path / "artifacts" / f"{number:064x}.png").touch()


@hostile(r"'table\.csv' is executable")
def executable(draft: Draft) -> None:
    (draft.path / "table.csv").chmod(0o755)


@hostile(r"artifacts/\.\./\.\./x.* expected 64 hexadecimal digits", of="advdreamer")
def path_traversal_in_an_artefact(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0]["artifacts"].update(image="artifacts/../../x"))


@hostile(r"artifacts\.image is '/etc/passwd'", of="advdreamer")
def absolute_path_in_an_artefact(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0]["artifacts"].update(image="/etc/passwd"))


@hostile(r"card\.json names '\.\./run\.json', which is no file|a key of files is '\.\./run\.json'")
def path_traversal_in_the_card(draft: Draft) -> None:
    draft.edit("card.json", lambda card: card["files"].update({"../run.json": "0" * 64}))


@hostile(r"records\.jsonl is missing")
def missing_file(draft: Draft) -> None:
    (draft.path / RECORDS).unlink()


# Size


@hostile(rf"trace\.jsonl\.gz unpacks to more than {limits.TRACE_BYTES} bytes")
def gzip_bomb(draft: Draft) -> None:
    draft.write(TRACE, gzip.compress(b"\0" * (limits.TRACE_BYTES + 1), 9))
    draft.seal()


@hostile(r"trace\.jsonl\.gz has bytes after its end")
def second_gzip_member(draft: Draft) -> None:
    draft.write(TRACE, (draft.path / TRACE).read_bytes() + gzip.compress(b"{}\n"))
    draft.seal()


@hostile(rf"line 1: longer than {limits.LINE_BYTES} bytes")
def huge_line(draft: Draft) -> None:
    draft.raw(RECORDS, lambda data: b'{"id": "' + b"x" * limits.LINE_BYTES + b'"}\n' + data)


@hostile(rf"run\.json has \d+ bytes: at most {limits.FILE_BYTES['run.json']}")
def huge_file(draft: Draft) -> None:
    draft.raw("run.json", lambda data: data + b" " * limits.FILE_BYTES["run.json"])


@hostile(rf"adversarial_text has 100000 characters: at most {limits.TEXT}")
def huge_caption(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(adversarial_text="x" * 100_000))


# Pictures


@hostile(r"is 60000 x 60000 pixels", of="advdreamer")
def png_bomb(draft: Draft) -> None:
    draft.picture().write_bytes(png(60_000, 60_000, b"\0"))


@hostile(r"unpacks to another size than its header says", of="advdreamer")
def png_that_unpacks_to_more(draft: Draft) -> None:
    draft.picture().write_bytes(png(2, 2, b"\0" * 50_000_000))


@hostile(r"holds tEXt beside its pixels", of="advdreamer")
def png_with_a_message(draft: Draft) -> None:
    draft.picture().write_bytes(png(2, 2, None, chunk(b"tEXt", b"Comment\0payload")))


@hostile(r"\.png is another picture", of="advdreamer")
def another_picture(draft: Draft) -> None:
    draft.picture().write_bytes(png(128, 128))


@hostile(r"\.png not a PNG", of="advdreamer")
def page_as_a_picture(draft: Draft) -> None:
    draft.picture().write_bytes(b"<script>alert(1)</script>")


@hostile(
    r"neither the text nor the picture that was picked|its picture 'image', .* is missing",
    of="advdreamer",
)
def missing_picture(draft: Draft) -> None:
    draft.picture().unlink()


@hostile(r"belongs to no record", of="advdreamer")
def picture_of_nothing(draft: Draft) -> None:
    from leaderboards.pictures import digest_of

    data = png(3, 3)
    (draft.path / "artifacts" / f"{digest_of(data)}.png").write_bytes(data)


# JSON


@hostile(r"line 1: NaN is not a number of JSON")
def nan(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(score=float("nan")))


@hostile(r"line 1: 1e999 is too large for a number")
def infinity_in_disguise(draft: Draft) -> None:
    draft.raw(RECORDS, lambda data: data.replace(b'"seconds": ', b'"seconds": 1e999, "x": ', 1))


@hostile(r"line 1: score is 1e\+308: expected from -1e\+06 to 1e\+06")
def huge_number(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(score=1e308))


@hostile(r"line 1: queries is -4: expected from 0")
def negative_count(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(queries=-4))


@hostile(r"line 1: queries is '4': expected a whole number")
def wrong_type(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(queries="4"))


@hostile(r"line 1: queries is True: expected a whole number")
def truth_for_a_number(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(queries=True))


@hostile(r"line 1: key 'status' is there twice")
def duplicated_key(draft: Draft) -> None:
    draft.raw(RECORDS, lambda data: data.replace(b"{", b'{"status": "failure", ', 1))


@hostile(r"line 1: nested deeper than")
def deep_nesting(draft: Draft) -> None:
    deep = b'{"found": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    draft.raw(RECORDS, lambda data: deep + data)


@hostile(r"run\.json: byte 1 is not UTF-8")
def invalid_utf8(draft: Draft) -> None:
    draft.raw("run.json", lambda data: b"{\xff" + data)


@hostile(r"line 1: not JSON")
def endless_number(draft: Draft) -> None:
    draft.raw(RECORDS, lambda data: b'{"queries": ' + b"9" * 50_000 + b"}\n" + data)


@hostile(r"line 1: it has a key '__proto__' that no version")
def unknown_key(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(__proto__={}))


@hostile(r"model_name is '<img src=x onerror=alert\(1\)>'.* may not be in a name")
def html_in_the_name(draft: Draft) -> None:
    draft.edit("card.json", lambda card: card.update(model_name="<img src=x onerror=alert(1)>"))


@hostile(r"model_name is 'GPT\\u202e4'")
def reversed_name(draft: Draft) -> None:
    draft.edit("card.json", lambda card: card.update(model_name="GPT\u202e4"))


@hostile(r"model_name is 'CL.*: write it in its plain form")
def look_alike_name(draft: Draft) -> None:
    draft.edit("card.json", lambda card: card.update(model_name="CL\uff29P"))


@hostile(r"paper is 'javascript:alert\(1\)': expected an address that begins with https")
def script_for_a_paper(draft: Draft) -> None:
    draft.edit("card.json", lambda card: card.update(paper="javascript:alert(1)"))


@hostile(r"config\.target is 'miniature:<b>'")
def html_in_the_target(draft: Draft) -> None:
    draft.edit("run.json", lambda header: header["config"].update(target="miniature:<b>"))


# Forgery


@hostile(r"records\.jsonl is not the file whose sha256 the card names")
def forged_hash(draft: Draft) -> None:
    draft.edit("card.json", lambda card: card["files"].update({RECORDS: "0" * 64}))


@hostile(r"digest [0-9a-f]{12}\.\.\. is not that of its config")
def forged_digest(draft: Draft) -> None:
    draft.edit("run.json", lambda header: header["config"].update(samples=11))


@hostile(r"the data set's weights is .* made again it is")
def forged_data_hash(draft: Draft) -> None:
    draft.edit("run.json", lambda h: h["models"]["data set"].update(weights="0" * 64))


@hostile(r"the target is 'miniature:clip-mini', but the model is 'gpt-9'")
def another_model(draft: Draft) -> None:
    draft.edit("run.json", lambda header: header["models"]["target"].update(id="gpt-9"))
    draft.move()


@hostile(r"value of 'total' is '0\.0000', the records give")
def edited_aggregate(draft: Draft) -> None:
    def change(data: bytes) -> bytes:
        rows = list(csv.reader(StringIO(data.decode())))
        metric, value = (tables.COLUMNS.index(name) for name in ("metric", "value"))
        next(row for row in rows if row[metric] == "total")[value] = "0.0000"
        return "".join(",".join(row) + "\n" for row in rows).encode()

    draft.raw("table.csv", change)


@hostile(r"has 'robustness', which no metric of the run gives")
def invented_aggregate(draft: Draft) -> None:
    draft.raw(
        "table.csv",
        lambda data: data + data.splitlines()[1].replace(b"cross", b"robustness") + b"\n",
    )


@hostile(r"table\.csv lacks 'total'")
def dropped_aggregate(draft: Draft) -> None:
    draft.raw(
        "table.csv",
        lambda data: b"".join(x for x in data.splitlines(keepends=True) if b",total," not in x),
    )


@hostile(r"sample '[^']+' has no record")
def dropped_sample(draft: Draft) -> None:
    """A success that hurts, gone from records, trace and totals alike."""
    gone = first(draft.lines(RECORDS), status="success")
    _drop(draft, gone)


def _drop(draft: Draft, gone: Line) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines.remove(gone))
    draft.edit_lines(TRACE, lambda lines: lines.__setitem__(
        slice(None), [one for one in lines if one["id"] != gone["id"]]))  # fmt: skip
    kind = "successes" if gone["status"] == "success" else "failures"

    def change(header: Line) -> None:
        header["totals"]["done"] -= 1
        header["totals"]["total"] -= 1
        header["totals"][kind] -= 1
        header["totals"]["queries"] -= gone["queries"]

    draft.edit("run.json", change)


@hostile(r"11 records of 12 samples")
def dropped_sample_of_data_that_cannot_be_had(draft: Draft) -> None:
    draft.config(dataset="pairs:x.csv", dataset_name="pairs", dataset_settings={})
    dropped_sample(draft)
    draft.edit("run.json", lambda header: header["totals"].update(total=SAMPLES))


@hostile(r"totals\.failures is \d+, the records give")
def dropped_failures(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines.__setitem__(
        slice(None), [one for one in lines if one["status"] != "failure"]))  # fmt: skip


@hostile(r"sample '[^']+' has 2 records")
def doubled_sample(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines.append(first(lines, status="failure")))


@hostile(r"crossmodal is False, recomputed True")
def success_called_a_failure(draft: Draft) -> None:
    """Verdicts that make the model look robust, the same in records, trace, totals."""

    def spoil(lines: list[Line]) -> None:
        for line in lines:
            line["verdicts"]["crossmodal"] = False
            if "success" in line:
                line["success"] = False
            else:
                line.update(status="failure", queries_to_success=None)

    draft.edit_lines(TRACE, spoil)
    draft.edit_lines(RECORDS, spoil)
    draft.edit("run.json", lambda h: h["totals"].update(successes=0, failures=SAMPLES))


@hostile(r"unimodal is True, recomputed False|unimodal is False, recomputed True")
def entailment_turned_around(draft: Draft) -> None:
    def turn(lines: list[Line]) -> None:
        for line in lines:
            line["verdicts"]["unimodal"] = not line["verdicts"]["unimodal"]
            line["success"] = all(
                line["verdicts"][k] for k in ("crossmodal", "unimodal", "distance", "auxiliary")
            )

    draft.edit_lines(TRACE, turn)
    _follow(draft)


def _follow(draft: Draft) -> None:
    """Let records and totals follow the trace as it is now."""
    trace = draft.lines(TRACE)

    def change(lines: list[Line]) -> None:
        for line in lines:
            tried = [one for one in trace if one["id"] == line["id"]]
            wins = [n for n, one in enumerate(tried) if one["success"]]
            picked = wins[0] if wins else line["picked"]
            one = tried[picked]
            line.update(
                picked=picked, status="success" if wins else "failure", score=one["score"],
                queries_to_success=wins[0] + 1 if wins else None, verdicts=one["verdicts"],
                adversarial_text=one["text"], perturbation=one["perturbation"], queries=len(tried),
            )  # fmt: skip

    draft.edit_lines(RECORDS, change)
    records = draft.lines(RECORDS)
    wins = sum(one["status"] == "success" for one in records)
    draft.edit(
        "run.json",
        lambda h: h["totals"].update(
            successes=wins,
            failures=len(records) - wins,
            queries=sum(one["queries"] for one in records),
        ),
    )


@hostile(r"distance is True, recomputed False")
def caption_rewritten_afterwards(draft: Draft) -> None:
    def change(lines: list[Line]) -> None:
        line = next(one for one in lines if one["verdicts"]["distance"])
        line["text"] = "something else altogether that has nothing to do with it at all, has it"

    draft.edit_lines(TRACE, change)
    _follow(draft)


@hostile(r"its text is 'a cat', in the data set")
def easier_sample(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(text="a cat"))


@hostile(r"image_sha256 is not that of the sample's picture")
def another_sample_picture(draft: Draft) -> None:
    draft.edit_lines(RECORDS, lambda lines: lines[0].update(image_sha256="0" * 64))


@hostile(r"4 queries, but the budget was 2")
def overspent_budget(draft: Draft) -> None:
    draft.config(query_budget=2)


@hostile(r"3 queries where its settings promise 4: candidates are missing")
def dropped_candidates(draft: Draft) -> None:
    """The candidate that fooled the model is gone, as if the attack had tried less."""
    gone = first(draft.lines(TRACE), success=True)

    def drop(lines: list[Line]) -> None:
        lines.remove(gone)
        for index, line in enumerate(one for one in lines if one["id"] == gone["id"]):
            line["index"] = index

    draft.edit_lines(TRACE, drop)
    draft.edit_lines(RECORDS, lambda lines: first(lines, id=gone["id"]).update(picked=0))
    _follow(draft)


@hostile(r"a failure, although a candidate of the trace succeeded")
def worse_pick(draft: Draft) -> None:
    """A success swept under another candidate."""
    record = next(
        one
        for one in draft.lines(RECORDS)
        if one["status"] == "success"
        and any(not t["success"] for t in draft.lines(TRACE) if t["id"] == one["id"])
    )
    other = first(draft.lines(TRACE), id=record["id"], success=False)
    draft.edit_lines(
        RECORDS,
        lambda lines: first(lines, id=record["id"]).update(
            picked=other["index"], status="failure", score=other["score"],
            verdicts=other["verdicts"], adversarial_text=other["text"],
            perturbation=other["perturbation"],
        ),
    )  # fmt: skip
    draft.edit("run.json", lambda h: h["totals"].update(
        successes=h["totals"]["successes"] - 1, failures=h["totals"]["failures"] + 1))  # fmt: skip


@hostile(r"target clip is \S+ in the preset paper, not miniature:clip-mini")
def wrong_preset(draft: Draft) -> None:
    draft.config(preset="paper")


@hostile(r"the preset is paper, but miniature:clip-mini is of the embedded world")
def miniature_among_published_models(draft: Draft) -> None:
    draft.config(preset="paper", target_name="miniature:clip-mini")


@hostile(r"preset 'easy\.toml' is not one that ships")
def preset_of_ones_own(draft: Draft) -> None:
    draft.config(preset="easy.toml")


@hostile(r"criteria are \['tie'\], not those of the preset mini")
def easier_criteria(draft: Draft) -> None:
    draft.config(settings={**draft.json("run.json")["config"]["settings"], "criteria": ["tie"]})


@hostile(r"settings has 'exec', which mac does not know")
def unknown_setting(draft: Draft) -> None:
    draft.config(settings={**draft.json("run.json")["config"]["settings"], "exec": "rm"})


@hostile(r"px is 4096: at most 256 are made again")
def pictures_that_take_hours(draft: Draft) -> None:
    draft.config(dataset_settings={"split": "test", "px": 4096})


@hostile(
    r"reproduced\.'random' is .* the trace gives|accuracy_reproduced|condition", of="advdreamer"
)
def reproduction_made_up(draft: Draft) -> None:
    def change(lines: list[Line]) -> None:
        for line in lines:
            line["found"]["reproduced"]["random"].update(picture=2, both=2)

    draft.edit_lines(RECORDS, change)


@hostile(r"condition 'distribution': valid is \d, the trace gives \d", of="advdreamer")
def accuracy_made_up(draft: Draft) -> None:
    def change(lines: list[Line]) -> None:
        sums = lines[0]["conditions"]["distribution"]
        sums.update(valid=2 - sums["valid"] if sums["valid"] != 1 else 0)
        sums.update(fooled=sums["valid"])

    draft.edit_lines(RECORDS, change)


@hostile(r"misclassified is (True|False), recomputed (True|False)", of="advdreamer")
def option_scores_turned_around(draft: Draft) -> None:
    def change(lines: list[Line]) -> None:
        for line in lines:
            line["option_scores"] = [line["score"], *reversed(line["option_scores"][1:])]
            line["option_scores"][1] = 1.0 if not line["success"] else -1.0
            line["option_scores"][2:] = [-1.0] * (len(line["option_scores"]) - 2)

    draft.edit_lines(TRACE, change)


@hostile(r"recognised is True, its condition clean says otherwise", of="advdreamer")
def clean_accuracy_made_up(draft: Draft) -> None:
    def change(lines: list[Line]) -> None:
        lines[0]["conditions"]["clean"].update(fooled=1)

    draft.edit_lines(RECORDS, change)


@hostile(r"undescribed is True, recomputed False", of="evolution")
def description_called_a_blind_spot(draft: Draft) -> None:
    def change(lines: list[Line]) -> None:
        line = first(lines, success=False, purpose="report")
        line.update(success=True, verdicts={"undescribed": True})

    draft.edit_lines(TRACE, change)
    draft.edit_lines(
        RECORDS, lambda lines: lines[0]["conditions"]["fresh"].update(fooled=1, valid=1)
    )


@hostile(r"final caption \d+ has capture_fresh 0\.1234, the trace gives", of="evolution")
def capture_made_up(draft: Draft) -> None:
    draft.edit_lines(
        RECORDS, lambda lines: lines[0]["found"]["finals"][0].update(capture_fresh=0.1234)
    )


@hostile(r"initial caption 0 has CAPTURE 0\.5, its answer gives", of="evolution")
def harder_beginning(draft: Draft) -> None:
    draft.edit_lines(
        RECORDS, lambda lines: lines[0]["found"]["pool"]["captions"][0].__setitem__(1, 0.5)
    )


def test_there_are_enough_hostile_submissions() -> None:
    assert len(HOSTILE) >= 30


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_submissions_are_refused(name: str, new: New) -> None:
    of, attack, reason = HOSTILE[name]
    draft = new(of)
    attack(draft)
    report = Keeper().validate(draft.path)
    assert not report.passed
    found = [one for one in report.problems if re.search(reason, one)]
    assert found, "\n".join(report.problems)
    assert all(one.isascii() and one.isprintable() for one in report.problems)


def test_all_problems_are_listed_at_once(new: New) -> None:
    draft = new()
    html_in_the_name(draft)
    code(draft)
    wrong_type(draft)
    problems = "\n".join(Keeper().validate(draft.path).problems)
    for text in ("may not be in a name", "setup.py", "queries is '4'"):
        assert text in problems


def test_archives_are_refused(tmp_path: Path) -> None:
    archive = tmp_path / "entry.zip"
    archive.write_bytes(b"PK\x03\x04")
    with pytest.raises(UserError, match="archives are not accepted"):
        validate(archive)


def test_a_folder_that_is_a_link_is_refused(new: New, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(new().path)
    with pytest.raises(UserError, match="is no folder"):
        validate(link)


def test_a_link_among_the_entries_is_refused(new: New) -> None:
    draft = new()
    (draft.root / "mac" / "mini" / "others").symlink_to("/etc")
    assert any("others' is a symbolic link" in one for one in validate(draft.root).problems)


@pytest.mark.parametrize("noise", [0.0, 5e-5])
def test_a_copy_under_another_name_is_refused(new: New, noise: float) -> None:
    """Everything forged: the target, its weights, the digest, the path, the scores' last digits."""
    new()
    copy = new(name="copies")
    copy.edit("run.json", lambda h: h["models"]["target"].update(
        id="open_clip:Best/model", weights="1" * 64))  # fmt: skip
    copy.config(target="open_clip:Best/model", target_name="open_clip:Best/model")

    def blur(lines: list[Line]) -> None:
        for line in lines:
            line["clean_score"] += noise

    copy.edit_lines(RECORDS, blur)
    entries = copy.root.parent / "entries"
    shutil.copytree(copy.root, entries, dirs_exist_ok=True)
    report = validate(entries)
    assert any(
        f"{SAMPLES} of {SAMPLES} clean scores are those of" in one for one in report.problems
    ), report.problems


def test_the_same_weights_under_another_name_are_refused(new: New) -> None:
    new()
    copy = new(name="copies")
    copy.edit("run.json", lambda h: h["models"]["target"].update(id="open_clip:Best/model"))
    copy.config(target="open_clip:Best/model", target_name="open_clip:Best/model")
    entries = copy.root.parent / "entries"
    shutil.copytree(copy.root, entries, dirs_exist_ok=True)
    assert any("has the very weights of" in one for one in validate(entries).problems)


def test_nothing_is_loaded_that_a_submission_names(
    new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge behind a server, a data set of files: the validator asks neither."""
    from benchmark import registry

    made = []
    plain = registry.create

    def create(kind: str, spec: str, settings: Any = None) -> Any:
        made.append((kind, spec))
        return plain(kind, spec, settings)

    monkeypatch.setattr(registry, "create", create)
    draft = new()
    settings = draft.json("run.json")["config"]["settings"]
    draft.config(settings={**settings, "judge": "openai:x@http://127.0.0.1:1"})
    _, _, notes = validate_submission(draft.path)
    assert any("unimodal is not recomputed: it takes judge openai" in one for one in notes)
    assert {kind for kind, _ in made} <= {"datasets", "taggers"}
    made.clear()
    draft.config(dataset="pairs:/etc/passwd", dataset_name="pairs")
    validate_submission(draft.path)
    assert ("datasets", "pairs:/etc/passwd") not in made


def test_a_table_as_the_json_of_a_record_says_nothing(new: New) -> None:
    draft = new()
    draft.raw("table.csv", lambda _: json.dumps({"a": 1}).encode())
    assert any("table.csv" in one for one in validate(draft.path).problems)
