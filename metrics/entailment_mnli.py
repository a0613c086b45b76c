"""Entailment by published models, as MAC's unimodal criterion takes it (arXiv 2505.22943, eq. 2).

Deviation: columns are found by the names in the model's `id2label`; the released code relies on
their order, which is the same for the three published models.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo
from metrics.hub import weights_sha256

PUBLISHED = ",".join(
    (
        "FacebookAI/roberta-large-mnli@2a8f12d27941090092df78e4ba6f0928eb5eac98",
        "microsoft/deberta-xlarge-mnli@5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c",
        "facebook/bart-large-mnli@d7645e127eaf1aefc7862fd59a17a5aa8558b8ce",
    )
)
"""The three judges of the paper; it names no commits, these are the ones in general use."""

COLUMNS = ("entailment", "neutral", "contradiction")
BATCH = 32
MAX_TOKENS = 512
"""A pair is cut to this, or to what the tokenizer says that its model can read."""

Pair = tuple[str, str]


class MNLIEnsemble:
    """Several classifiers of (premise, hypothesis), each asked on its own.

    `argument` holds model ids or folders, separated by commas; "id@revision" pins a commit, branch
    or tag. The default is the three models of the paper. Settings: "device" ("cpu"), "batch_size".
    Texts keep their case; probabilities are a softmax in float32. A pair is judged once.
    """

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        settings = settings or {}
        device = torch.device(str(settings.get("device", "cpu")))
        self._batch = int(str(settings.get("batch_size", BATCH)))
        specs = [spec for part in (argument or PUBLISHED).split(",") if (spec := part.strip())]
        if not specs:
            raise UserError(f"judge mnli:{argument} names no model: give ids separated by commas")
        self._models = [_Classifier(spec, device) for spec in specs]
        infos = [model.info for model in self._models]
        self.info = ModelInfo(
            ",".join(info.id for info in infos),
            revision=",".join(info.revision for info in infos),
            weights=",".join(info.weights for info in infos),
            preprocessing="(premise, hypothesis) as they are, cut to the model's length",
        )
        self._known: dict[Pair, npt.NDArray[np.float64]] = {}

    def judge(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float64]:
        """Probabilities, shape (n, models, 3): entailment, neutral, contradiction."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        # Pairs of similar length share a batch, so that little of it is padding.
        new.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
        for batch in _chunks(new, self._batch):
            judged = np.stack([model.probabilities(batch) for model in self._models], axis=1)
            self._known.update(zip(batch, judged, strict=True))
        if not pairs:
            return np.empty((0, len(self._models), 3))
        return np.stack([self._known[pair] for pair in pairs])


class _Classifier:
    """One model with its tokenizer."""

    def __init__(self, spec: str, device: torch.device) -> None:
        name, _, revision = spec.partition("@")
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(name, revision=revision or "main")
            model = AutoModelForSequenceClassification.from_pretrained(
                name, revision=revision or "main", dtype=torch.float32
            )
        except OSError as error:
            raise UserError(
                f"the entailment model {spec!r} cannot be loaded: fetch it with"
                f" `hf download {name}`, give a folder that holds it, or choose another judge"
            ) from error
        self._model = model.to(device).eval()
        self._device = device
        self._columns = _columns(spec, model.config.id2label)
        self._limit = min(self._tokenizer.model_max_length, MAX_TOKENS)
        commit = getattr(model.config, "_commit_hash", None)
        self.info = ModelInfo(name, revision=commit or revision, weights=weights_sha256(name))

    def probabilities(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float64]:
        """Softmax over the labels, in the order of `COLUMNS`; shape (n, 3)."""
        premises, hypotheses = [a for a, _ in pairs], [b for _, b in pairs]
        inputs = self._tokenizer(
            premises,
            hypotheses,
            truncation=True,
            max_length=self._limit,
            padding="longest",
            return_tensors="pt",
        )
        with torch.inference_mode():
            logits = self._model(**inputs.to(self._device)).logits  # (n, labels)
        shares = logits.float().softmax(dim=-1)[:, self._columns]
        return np.asarray(shares.cpu().numpy(), dtype=np.float64)


def _columns(spec: str, id2label: Mapping[int, str]) -> list[int]:
    """Where entailment, neutral and contradiction are among the model's labels."""
    index = {label.strip().lower(): int(column) for column, label in id2label.items()}
    if set(index) != set(COLUMNS):
        raise UserError(
            f"{spec!r} has the labels {', '.join(id2label.values())}: a judge needs a model with"
            f" exactly {', '.join(COLUMNS)}"
        )
    return [index[name] for name in COLUMNS]


def _chunks(pairs: Sequence[Pair], size: int) -> Iterator[Sequence[Pair]]:
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]
