"""A training that is killed goes on from its last checkpoint, written once a minute."""

import time
from collections.abc import Callable
from pathlib import Path

import torch

INTERVAL = 60.0
"""Seconds between checkpoints."""


class Sitting:
    """One process's part of a training: from the checkpoint, if there is one, to the end.

    `first` is the step to go on with. Batches must be drawn from (seed, step) alone, so that nothing
    but model and optimizer has a state to keep.
    """

    def __init__(
        self,
        path: Path,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        report: Callable[[str], None],
    ) -> None:
        self._path, self._model, self._optimizer = path, model, optimizer
        self.first, self._seconds_before = 0, 0.0
        if path.exists():
            saved = torch.load(path, weights_only=True)
            model.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            self.first, self._seconds_before = saved["step"], saved["seconds"]
            report(f"resumed at step {self.first}")
        self._started = self._saved_at = time.monotonic()

    @property
    def seconds(self) -> float:
        """Spent on the training so far, all sittings."""
        return self._seconds_before + time.monotonic() - self._started

    def rate(self, steps: int, batch: int) -> float:
        """Examples a second in this sitting, `steps` being done since the training's start."""
        return (steps - self.first) * batch / (time.monotonic() - self._started)

    def keep(self, steps: int, *, last: bool) -> None:
        """Save after `steps` steps if a minute has passed or this is the `last` one."""
        if not last and time.monotonic() - self._saved_at < INTERVAL:
            return
        self._saved_at = time.monotonic()
        partial = self._path.with_suffix(".partial")
        state = {
            "model": self._model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "step": steps,
            "seconds": self.seconds,
        }
        torch.save(state, partial)
        partial.replace(self._path)
