"""MAC: captions rewritten by a language model until a dual encoder prefers the wrong one.

Source: "Can LLMs Deceive CLIP? Benchmarking Adversarial Compositionality of Pre-trained Multimodal
Representation via Text Updates" (ACL 2025, arXiv 2505.22943) and its released code (commit d1c85a8).
This package writes candidates and picks one; criteria and diversity are in `metrics`.

Deviations
----------
From the released code, unless the paper is named:

- All draws (operation, writer's seeds, pick) come from one generator a sample. The released code draws
  the operations and the picks from one global `random.seed(1234)`, in file order, and leaves the writer
  unseeded, so its candidates cannot be drawn again. The pick is uniform among the successes, else among
  all candidates, as released. `released_types` gives the released operations of a whole file.
- Prompts are in our words, with the same placeholders, limits and layout. `--set prompts=DIR` takes the
  authors' nine templates, which are recognised by their sha256.
- top_p is a setting: the code has 0.9, the paper says 0.95. Drawing stops at top_p; the released call
  also inherits `top_k = 50` from transformers (`top_k` is a setting of the language model here).
- A chat template's own <bos> is the only one: the released batches have two with Llama.
- Only the writer's reply is parsed. The released parser reads the whole decoded text, so that a reply
  of Gemma without the expected prefix comes back as the end of the prompt.
- `parser = "lenient"` also takes off quotes, bullets, introductions and notes. `"released"` does not.
- `generation = "sequential"` (paper, table 14) is not released: its wording and the rule that each turn
  is shown all earlier captions, but not how they fared, are ours.
- The word limit in the prompts follows the data set's mean caption length, as in the paper. This gives
  the 5, 4 and 5 words that the code fixes for COCO, MSR-VTT and AudioCaps.
- Prompts are not cut at 512 tokens.
- `tagger = "toybox"` asks the embedded world's grammar which operations a caption offers: relations are
  no verbs there, yet can be replaced.
- count-replace is an operation like any other: the released evaluation stops at the first one.
- The authors tagged MSR-VTT with an older spaCy model, so its operations cannot be drawn exactly.

Kept as released: duplicates and empty candidates count, nothing is asked again, all N candidates of a
caption share its operation.
"""

from attacks.mac.attack import MAC, released_types

__all__ = ["MAC", "released_types"]
