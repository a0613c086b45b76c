"""What a validation found, all of it at once."""

from dataclasses import dataclass, field
from pathlib import Path

from leaderboards import limits


@dataclass(slots=True)
class Report:
    """`problems` refuse, `notes` only say what was not checked. Both name the entry they are about."""

    entries: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def add(self, entry: Path | str, problems: list[str], notes: list[str]) -> None:
        """Take in what was found of one entry."""
        self.entries += 1
        kept = list(dict.fromkeys(problems))
        self.problems += [f"{entry}: {_one_line(text)}" for text in kept[: limits.PROBLEMS]]
        if more := len(kept) - limits.PROBLEMS:
            if more > 0:
                self.problems.append(f"{entry}: and {more} more problems")
        self.notes += [f"{entry}: {_one_line(text)}" for text in dict.fromkeys(notes)]


def _one_line(text: str) -> str:
    """Printable ASCII without line breaks: what a stranger wrote must not steer a terminal."""
    plain = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    return plain.encode("ascii", "backslashreplace").decode()
