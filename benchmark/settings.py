"""What can be set, and to what: so that a wrong value is refused before a run starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchmark.errors import UserError
from benchmark.types import JSON

Shape = Literal["integer", "number", "text", "true or false", "list of names"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a setting may be.

    `choices` are the only texts allowed; `words` are texts allowed beside numbers ("auto");
    `entry` is the registry kind whose names (or specs) the value must hold.
    """

    shape: Shape
    meaning: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    entry: str = ""

    @property
    def expected(self) -> str:
        """What to write, in words: 'an integer of at least 1 or "auto"'."""
        if self.choices:
            text = " or ".join(f'"{choice}"' for choice in self.choices)
        elif self.shape == "list of names":
            text = f"a list of names from `list {self.entry}`" if self.entry else "a list of names"
        elif self.entry:
            text = f"a name from `list {self.entry}`"
        else:
            text = ("an " if self.shape == "integer" else "a ") * (self.shape != "true or false")
            text += self.shape
        if self.minimum is not None and self.maximum is not None:
            text += f" from {self.minimum:g} to {self.maximum:g}"
        elif self.minimum is not None:
            text += f" of at least {self.minimum:g}"
        return text + "".join(f' or "{word}"' for word in self.words)

    def accepts(self, value: JSON) -> bool:
        """Whether `value` is of the right type and within the limits."""
        if isinstance(value, str) and value in self.words:
            return True
        match self.shape:
            case "true or false":
                return isinstance(value, bool)
            case "text":
                return isinstance(value, str) and (not self.choices or value in self.choices)
            case "list of names":
                return isinstance(value, list) and all(isinstance(name, str) for name in value)
            case "integer" | "number":
                if isinstance(value, bool) or not isinstance(value, int | float):
                    return False
                if self.shape == "integer" and not isinstance(value, int):
                    return False
                low = self.minimum is None or value >= self.minimum
                return low and (self.maximum is None or value <= self.maximum)


COMMON: dict[str, Setting] = {
    "criteria": Setting("list of names", "all must hold for a success", entry="criteria"),
    "observations": Setting("list of names", "reported, never required", entry="criteria"),
    "metrics": Setting("list of names", "what the table holds", entry="metrics"),
    "ties": Setting(
        "text", 'does a tie of scores fool? "released": yes', choices=("paper", "released")
    ),
    "unimodal": Setting(
        "text",
        'contradicted how? "released": P(E) < P(C); "paper": P(E) < 0.5',
        choices=("paper", "released"),
    ),
    "auxiliary": Setting(
        "text",
        'the rules of the authors\' code ("released") or of the text ("paper")',
        choices=("paper", "released"),
    ),
    "max_distance": Setting(
        "integer",
        'words that may change; "auto": below half the mean caption length',
        minimum=1,
        words=("auto",),
    ),
    "judge": Setting("text", "the entailment judge", entry="judges"),
    "tagger": Setting("text", "lemmas and parts of speech for diversity", entry="taggers"),
}
"""What criteria and metrics read: the same for every attack on captions."""

MAC: dict[str, Setting] = {
    "candidates": Setting("integer", "captions written for each sample (N)", minimum=1),
    "mode": Setting(
        "text", "one prompt for all, or one operation a caption", choices=("general", "specific")
    ),
    "generation": Setting(
        "text", "all at once, or each knowing the ones before", choices=("parallel", "sequential")
    ),
    "prompts": Setting("text", 'prompt templates: "mini", "trident", or a folder of your own'),
    "parser": Setting(
        "text",
        'how a reply is read: "released" as the authors do',
        choices=("lenient", "released"),
    ),
    "modality": Setting(
        "text", "what the captions describe, for the prompt", choices=("image", "video", "audio")
    ),
    "writer": Setting("text", "the tool that writes the captions", entry="tools"),
    "temperature": Setting("number", "the writer's; 0 is greedy", minimum=0),
    "top_p": Setting("number", "the writer's nucleus", minimum=0, maximum=1),
    "max_new_tokens": Setting("integer", "the writer's limit", minimum=1),
}

ADVDREAMER: dict[str, Setting] = {
    "generations": Setting("integer", "steps of the search", minimum=1),
    "population": Setting("integer", "poses in each step; each is one query", minimum=2),
    "shortlist": Setting("integer", "first stage: so many of the highest loss", minimum=1),
    "parents": Setting("integer", "second stage: of these so many of the most natural", minimum=1),
    "sigma": Setting("number", "the step size that the search begins with", minimum=0.001),
    "sigma_cap": Setting("number", "the largest step size", minimum=0.001, words=("none",)),
    "selection": Setting(
        "text", 'by loss and naturalness, or by "loss" alone', choices=("two-stage", "loss")
    ),
    "bounds": Setting(
        "text",
        "the box of poses",
        choices=("frontal", "full", "upright", "mild", "rotonly", "viewfool"),
    ),
    "loss": Setting("text", "what is maximised", choices=("isp", "mf_it", "mf_ii", "mf_ii+mf_tt")),
    "temperature": Setting("number", "of the loss's softmax; the paper has none: 1", minimum=1e-6),
    "labels": Setting(
        "text", '"dataset", "toybox", "coco", "imagenet", a file, or "cat, dog, ..."'
    ),
    "prompt": Setting("text", "what a label is made into; {label}, {article}"),
    "question": Setting("text", 'what targets that answer are asked; "" asks nothing'),
    "naturalness": Setting("text", 'the reward model, a tool, or "none"'),
    "encoder": Setting("text", 'the tool for losses on embeddings, similarity:TARGET, or "none"'),
    "foreground": Setting("text", "finds the object", entry="foregrounds"),
    "background": Setting("text", "completes what is behind it", entry="backgrounds"),
    "reconstruction": Setting("text", "makes it a 3D model", entry="reconstructions"),
    "composer": Setting("text", "puts it back", entry="composers"),
    "conditions": Setting("list of names", "what is measured after the search"),
    "draws": Setting("integer", "pictures of each condition that has many", minimum=1),
    "reproduce": Setting("true or false", "show the true object in the same poses too"),
    "pictures": Setting(
        "text", "which are kept: of all conditions, or the sheet's", choices=("all", "sheet")
    ),
    "max_side": Setting("integer", "larger pictures are scaled down to this", minimum=32),
}

MM3DTBENCH: dict[str, Setting] = {
    "task": Setting("text", "show the choices, or not", choices=("choice", "free")),
    "prompt": Setting("text", "what a choice is made into for dual encoders; {choice}, {article}"),
    "max_new_tokens": Setting("integer", "the most that a target may answer", minimum=1),
    "answer_judge": Setting(
        "text", 'who marks answers: "words", or a language model such as openai:gpt-4o'
    ),
}

EVOLUTION: dict[str, Setting] = {
    "task": Setting("text", "describe pictures, or answer questions", choices=("caption", "vqa")),
    "question": Setting("text", "how the target is asked to describe a picture"),
    "painter": Setting("text", "the tool that paints captions", entry="tools"),
    "capture": Setting("text", "the tool that scores answers, and how", entry="tools"),
    "operators": Setting(
        "text", "who writes captions: a language model or a grammar", choices=("grammar", "prompts")
    ),
    "llm": Setting("text", 'the language model for operators = prompts, a tool, or "none"'),
    "other_llm": Setting("text", 'a second one for half of the initial captions, or "none"'),
    "prompts": Setting("text", 'templates: "trident", or a folder of your own'),
    "temperature": Setting("number", "of the language model's first try", minimum=0),
    "top_p": Setting("number", "the language model's nucleus", minimum=0, maximum=1),
    "llm_tokens": Setting("integer", "the language model's limit", minimum=1),
    "max_llm_calls": Setting("integer", "cap for each search", minimum=0, words=("none",)),
    "pool": Setting("integer", "captions to begin with", minimum=1),
    "population": Setting("text", "offspring of each operator an island, by generation"),
    "survivors": Setting("text", "survivors an island, by generation"),
    "islands": Setting("integer", "populations side by side", minimum=1),
    "parents": Setting("integer", "parents drawn at a time (m)", minimum=1),
    "selection": Setting(
        "text",
        'by the first picture, or "robust": survivors are shown again, ranked by shrunk means',
        choices=("paper", "robust"),
    ),
    "tie_breaking": Setting("text", "who survives of equals", choices=("random", "age")),
    "niches": Setting("true or false", "set found concepts aside, so that others surface"),
    "niche_frequency": Setting("number", "found: so many survivors hold it", minimum=0, maximum=1),
    "niche_log_odds": Setting("number", "found: its log-odds grew by so much"),
    "niche_effect": Setting("number", "found: captions with it score lower by so much"),
    "max_evaluations": Setting("integer", "cap for each search", minimum=0, words=("schedule",)),
    "lance_accept": Setting(
        "text",
        "LANCE's rewrites: all of them, or those described worse",
        choices=("always", "greedy"),
    ),
    "word_reduction": Setting("true or false", "NL-adv: drop words of captions described best"),
    "stop_mean": Setting("number", "stop at this mean CAPTURE; 0: only if all is 0", minimum=0),
    "stop_similarity": Setting("number", "stop when captions are so alike; above 1: never"),
    "min_objects": Setting("integer", "things that a caption must name", minimum=0),
    "max_caption_words": Setting("integer", "the longest caption", minimum=1),
    "min_answer_words": Setting("integer", "shorter descriptions are not scored", minimum=1),
    "gate": Setting("text", 'tells pictures that miss their caption: similarity:TARGET, or "none"'),
    "gate_threshold": Setting(
        "number", 'the least cosine; "auto": 5th percentile of the pool', words=("auto",)
    ),
    "blind_below": Setting("number", "CAPTURE below this is a blind spot", minimum=0, maximum=1),
    "encoder": Setting(
        "text", 'says how alike captions are: one of `list encoders`, or "none" for their words'
    ),
    "fresh": Setting("integer", "new pictures of each final", minimum=1),
    "max_new_tokens": Setting("integer", "the most that a target may answer", minimum=1),
}

ATTACKS: dict[str, dict[str, Setting]] = {
    "advdreamer": ADVDREAMER,
    "evolution": EVOLUTION,
    "mac": MAC,
    "mm3dtbench": MM3DTBENCH,
}

TARGET: dict[str, Setting] = {
    "quick_gelu": Setting("true or false", "open_clip: the activation of OpenAI's first CLIPs"),
    "revision": Setting("text", "commit of the model on the hub"),
    "dtype": Setting(
        "text", "precision of the weights", choices=("float32", "bfloat16", "float16")
    ),
    "base_url": Setting("text", "openai: the server (--base-url), if it is not OpenAI's"),
    "key_env": Setting("text", "openai: the variable of the environment that holds the key"),
    "timeout_s": Setting("number", "openai: seconds to wait for an answer", minimum=0.1),
    "retries": Setting("integer", "openai: after failures that may pass", minimum=0),
    "parallel": Setting("integer", "openai: requests under way at a time", minimum=1),
    "detail": Setting(
        "text", "openai: how closely to look at a picture", choices=("auto", "low", "high")
    ),
    "sampling": Setting(
        "true or false", "openai: send temperature, top_p and seed, which some models refuse"
    ),
}

DATASET: dict[str, Setting] = {
    "data_root": Setting("text", "folder of pictures and captions (--data-root)"),
    "px": Setting("integer", "toybox: height and width of a picture", minimum=8),
    "split": Setting("text", "part of the data", choices=("train", "validation", "test")),
    "kind": Setting(
        "text",
        "toybox: how many objects there are",
        choices=("any", "single", "pair", "triple", "counted"),
    ),
    "labels": Setting("true or false", "toybox: an object's class instead of a caption"),
    "balanced": Setting("true or false", "toybox: every class equally often"),
    "label": Setting("text", "photo: what it shows (--label)"),
    "mask": Setting("text", "photo: a black and white picture of where it is (--mask)"),
    "shuffle": Setting("true or false", "mm3dtbench: choices in an order drawn by the id"),
    "box": Setting("text", "photo: left,top,width,height in pixels (--box)"),
    "searches": Setting("list of names", "searches: which ones"),
    "repeats": Setting("integer", "searches: how often each", minimum=1),
}


def of_defaults(defaults: Mapping[str, JSON]) -> dict[str, Setting]:
    """The settings of a plugin's attack, their types read off its `defaults`."""
    return {key: Setting(_shape(key, value), "") for key, value in defaults.items()}


def _shape(key: str, value: JSON) -> Shape:
    match value:
        case bool():
            return "true or false"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "text"
        case list():
            return "list of names"
        case _:
            raise UserError(
                f"default {key} = {value!r} must be a number, a text, a truth value or a list"
            )
