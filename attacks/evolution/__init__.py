"""Semantic evolution: captions whose pictures a vision-language model describes badly.

Source: "Blind Spot Navigation: Evolutionary Discovery of Sensitive Semantic Concepts for LVLMs" (arXiv
2505.15265; its second version withdraws it, "needs major revisions"). No code is public, and the paper is
silent in many places; what it says itself is followed where `selection = "paper"`.

Deviations
----------
Search (`evolution`, `ranking`), where the paper is silent:

- Its 1,650 queries are read as 1,000 initial captions and, in six generations on five islands, 65 offspring
  by each of two operators; with its own average of 1,150 they are 1,800. All of the pool is scored.
- The islands are filled from the pool by chance, without replacement. Nobody migrates.
- Offspring of both operators have parents of the generation before. m different parents are drawn with the
  weights 1 / (rank + 1 + n) of EoH, the lineage that the paper names; a crossover makes one caption
  (N_e = 1), a mutation one mutant of each of its m parents.
- Captions that are equal but for case, spacing and punctuation are one; another is asked for in place of
  the second, twice, so that a run may make a few evaluations less than its schedule.
- Equal scores are ordered by chance (`tie_breaking = "age"`: the earlier one wins): many may be at 0.
- The early stops of the paper, "obvious failure" and "very similar" captions, are off unless `stop_mean` and
  `stop_similarity` set them. Similarity is the mean cosine of the captions' sets of content words.
- `selection = "robust"`, the default of the preset mini, is not in the paper. With one picture a caption the
  score is a lottery (test-retest .49 in a prototype), and selection keeps the winners. Those that would
  survive are shown once more in each generation, on a new picture; captions are ranked by the mean of their
  scores shrunk towards the pool's mean (one picture's weight); who was ousted by luck can come back. It takes
  325 evaluations more, which the baselines get as well.
- `niches` is not in the paper either; see `niches`.

Operators (`prompt_operators`, `grammar_operators`):

- The prompts are figures in the paper. Ours follow its eq. 2 part by part; `--set prompts=DIR` takes others,
  which are recorded by hash. Scores are not shown to the language model.
- Replies are read leniently; what holds no caption is asked for again, warmer, three times in all.
- In the embedded world there is no language model: facts are crossed and mutated. The four categories are its
  kinds of scene (single, pair, triple, counted); captions say everything but materials, which the miniature
  was not taught to tell. The initial captions, and so random search, are drawn as the world's scenes are:
  never two things of one colour. Crossover and mutation know no such rule, and reach more than chance does.

Evaluation (`evaluation`, `guards`, `tasks`):

- The fitness is minus CAPTURE, whose variants are those of `metrics.capture`. An empty graph scores 0, so a
  search without guards finds refusals, empty captions and unpaintable text: here the caption must name two
  things (what a relation names is one) and an attribute or relation, be of 60 words at most, and be painted;
  refusals, errors, answers below five words, that repeat themselves or name nothing have no score. All are
  counted by what they are. The paper's only control is a study with people.
- The prompt for descriptions is "Describe this image in detail."; the paper leaves it open. Greedy answers.
- The painter's seed is a function of run, caption and picture number.
- The image-text gate (`gate`) is ours. Its threshold is the 5th percentile of what is painted of the pool
  first (128 captions), or a number.
- VQA: two fixed questions, three made from the caption (by the language model, or from the facts), with their
  answers as sentences. The score is the mean of four: the fixed answers joined, against the caption, and each
  other answer against its sentence. Answers of one word are fair there. The paper tells neither numbers nor
  aggregation. A single fixed answer has no verdict.
- The finals are scored again on three new pictures each, which the paper does not do; that is the number to
  quote. FLUX1.1-pro ultra is an API: the preset paper takes FLUX.1-dev, to which 50 steps and 3.5 belong.

Baselines (`random_search`, `lance`, `nl_adv`): see there. Random is the mean of the pool. All searches of a
repeat begin with the same pool, and none makes more evaluations than evolution's schedule.
"""

from attacks.evolution.attack import Evolution

__all__ = ["Evolution"]
