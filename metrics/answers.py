"""When the answer to a question about a picture is wrong (AdvDreamer sec. 5): by its choice, or by a judge.

`answer_judge` is "words", which needs no model: a free answer is right if it names the right choice and no
other, word for word. Or it is a language model (a tool, such as openai:gpt-4o), which reads what was meant.
"""

from collections.abc import Sequence

from benchmark.protocols import RunContext
from benchmark.questions import Question, named, read_choice
from benchmark.types import SCORE_EPSILON, Role, Trial
from metrics.judge import Judge

WORDS = "words"


class Misanswered:
    """The target's answer is wrong. None where it cannot be read, or the judge will not say.

    A target that scores texts answers with the choice that matches best.
    """

    name = "misanswered"
    role: Role = "criterion"

    def __init__(self, run: RunContext) -> None:
        self._free = run.settings.get("task") == "free"
        spec = str(run.settings.get("answer_judge", WORDS))
        self._judge = None if spec == WORDS else Judge(run.model("tools", spec))

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Marks each answer.

        Raises:
            ValueError: A sample has no question, or the target gives no free answers.
        """
        right = [self._by_itself(trial) for trial in trials]
        if self._judge is not None:
            open_rows = [
                row
                for row, trial in enumerate(trials)
                if trial.output is not None and (self._free or right[row] is None)
            ]
            judged = self._judge.correct(
                [_asked(trials[row]).text for row in open_rows],
                [[_asked(trials[row]).answer] for row in open_rows],
                [self._shown(trials[row]) for row in open_rows],
            )
            for row, verdict in zip(open_rows, judged, strict=True):
                right[row] = verdict
        return [None if verdict is None else not verdict for verdict in right]

    def _by_itself(self, trial: Trial) -> bool | None:
        """Whether the answer is right, as far as that can be told without a judge."""
        asked = _asked(trial)
        if trial.output is None:
            return self._best_scoring(trial)
        if self._free:
            return named(trial.output, asked.choices) == {asked.answer}
        chosen = read_choice(trial.output, asked.choices)
        return None if chosen is None else chosen == asked.answer

    def _best_scoring(self, trial: Trial) -> bool | None:
        if self._free:
            raise ValueError(
                "the target only scores texts, free answers need one that answers:"
                " use --set task=choice"
            )
        if len(trial.option_scores) < 2:
            return None
        return max(trial.option_scores[1:]) <= trial.option_scores[0] + SCORE_EPSILON

    def _shown(self, trial: Trial) -> str:
        """The answer as the judge sees it: a letter means nothing without the choices."""
        assert trial.output is not None
        if self._free:
            return trial.output
        return f"{trial.output}\n(The choices were:\n{_asked(trial).listed})"


def _asked(trial: Trial) -> Question:
    if not isinstance(trial.sample.scene, Question):
        raise ValueError(
            f"sample {trial.sample.id} has no question: misanswered is for data sets of questions"
        )
    return trial.sample.scene
