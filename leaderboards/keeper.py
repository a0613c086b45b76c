"""What the command line reaches: packing, validating, building and serving, by one name."""

import shutil
import tempfile
from http.server import ThreadingHTTPServer
from pathlib import Path, PurePosixPath

from benchmark.config import Execution
from benchmark.errors import UserError
from leaderboards import copies, history
from leaderboards.pack import pack
from leaderboards.replayed import ENOUGH, NotHadError, keep, replay_some
from leaderboards.report import Report
from leaderboards.serve import server
from leaderboards.site import build
from leaderboards.submission import read
from leaderboards.validate import find_entries, validate, validate_submission

SHIPPED = Path(__file__).with_name("entries")


class Keeper:
    """The leaderboard of a folder of entries."""

    shipped = SHIPPED

    def submit(
        self,
        run: Path,
        root: Path,
        *,
        model_name: str,
        paper: str = "",
        note: str = "",
        all_pictures: bool = False,
    ) -> tuple[Path, Report]:
        """Pack a run and validate it; what does not pass is not written.

        Raises:
            UserError: The run cannot be packed.
        """
        report = Report()
        with tempfile.TemporaryDirectory() as folder:
            packed = pack(
                run,
                Path(folder),
                model_name=model_name,
                paper=paper,
                note=note,
                all_pictures=all_pictures,
            )
            out = root / packed.relative_to(folder)
            if out.exists():
                raise UserError(
                    f"{out} is there already: remove it, or name another folder with --out"
                )
            _, problems, notes = validate_submission(packed)
            report.add(run, problems, notes)
            if report.passed:
                shutil.copytree(packed, out)
        return out, report

    def validate(self, path: Path, *, base: Path | None = None, keeper: bool = False) -> Report:
        """Check a submission or a folder of entries, with `base` also what changed since.

        Raises:
            UserError: A folder does not exist or holds nothing.
        """
        if base is not None and not base.is_dir():
            raise UserError(f"--base {base} is no folder: give the entries before the change")
        report = validate(path)
        if base is not None:
            report.problems += history.of_base(path, base, keeper=keeper)
        return report

    def validate_diff(
        self, diff: str, root: Path, entries: str, *, keeper: bool = False, base: Path | None = None
    ) -> Report:
        """Check what `git diff --name-status` lists; `entries` is their folder below the checkout `root`.

        The whole folder is compared for copies, but only what changed is checked in full.
        """
        change = history.parse_diff(diff, PurePosixPath(entries))
        report = Report()
        report.problems += change.problems
        report.problems += history.of_diff(change, keeper=keeper)
        folder = root / entries
        if base is not None:
            report.problems += history.of_base(folder, base, keeper=keeper)
        places = list(find_entries(folder, report.problems)) if folder.is_dir() else []
        names = [PurePosixPath(place.relative_to(folder).as_posix()) for place in places]
        prints = []
        for name, place in zip(names, places, strict=True):
            if name in change.touched:
                found, problems, notes = validate_submission(place)
                report.add(str(name), problems, notes)
            else:
                found = read(place)
            prints.append(copies.fingerprint(str(name), found))
        report.problems += [
            f"{name}: is in the diff, but not in {folder}"
            for name in sorted(change.touched.keys() - set(names))
        ]
        report.problems += copies.among(prints)
        return report

    def build(self, entries: Path, out: Path) -> list[str]:
        """Make the static site; returns its pages.

        Raises:
            UserError: An entry does not pass, or `out` holds something else.
        """
        return build(entries, out)

    def server(self, site: Path, port: int) -> ThreadingHTTPServer:
        """A server of a site on this machine only."""
        return server(site, port)

    def replay(
        self, path: Path, report: Report, execution: Execution, *, share: float, by: str | None
    ) -> list[str]:
        """Replay a part of each entry; returns lines for people. What does not agree is a problem."""
        single = (path / "run.json").exists()
        lines = []
        for place in [path] if single else find_entries(path, []):
            name = str(place) if single else str(place.relative_to(path))
            found = read(place)
            if found.problems:
                continue
            try:
                agreement = replay_some(found, share=share, execution=execution)
            except NotHadError as error:
                report.notes.append(f"{name}: not replayed: {error}")
                continue
            lines.append(
                f"{name}: {agreement.agreed} of {agreement.replayed} replayed examples agree,"
                f" success {agreement.success:.4f} (reported {agreement.reported:.4f})"
            )
            if not agreement.enough:
                report.problems.append(
                    f"{name}: only {agreement.agreed} of {agreement.replayed} replayed examples agree,"
                    f" at least {ENOUGH:.0%} must: {', '.join(agreement.differing[:5])}"
                )
            if by is not None:
                keep(found, agreement, by)
        return lines
