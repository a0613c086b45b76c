"""When a picture counts as a blind spot: what the target says of it covers little of its caption."""

from collections.abc import Sequence

from benchmark.answer_guards import answer_status, capture_of, reference_of
from benchmark.protocols import RunContext
from benchmark.types import Role, Trial


class Undescribed:
    """CAPTURE of the answer is below `blind_below`.

    None where there is no fair score: the target was not asked, refused or failed, said less than
    `min_answer_words` words, repeats itself or names nothing, or its answer cannot be judged alone.
    """

    name = "undescribed"
    role: Role = "criterion"

    def __init__(self, run: RunContext) -> None:
        self._capture = run.model("tools", str(run.settings["capture"]))
        self._below = float(run.settings["blind_below"])
        captioning = run.settings["task"] == "caption"
        self._least_words = int(run.settings["min_answer_words"]) if captioning else 1

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Asks the tool `capture` about all answers at once."""
        verdicts: list[bool | None] = [None] * len(trials)
        rows, pairs = [], []
        for row, trial in enumerate(trials):
            reference = reference_of(trial.candidate.text, trial.candidate.perturbation)
            status = answer_status(trial.output, trial.refusal, self._least_words)
            if reference is not None and trial.output is not None and status == "scored":
                rows.append(row)
                pairs.append((reference, trial.output))
        for row, said in zip(rows, self._capture.ask(pairs) if pairs else (), strict=True):
            capture = capture_of(said)
            verdicts[row] = None if capture is None else capture < self._below
        return verdicts
