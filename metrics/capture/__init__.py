"""CAPTURE: how well one caption's scene graph covers another's (Dong et al., arXiv 2405.19092).

Five steps, each a module of pure functions:

    parse    text -> graph                      `parser_toybox`, `parser_factual` (with `factual_strings`)
    merge    sentences' graphs -> one graph     `merging`
    filter   abstract and unsaid nouns go       `filtering`
    match    exact, synonym, soft               `matching`
    score    precision, recall, F1, CAPTURE     `scoring`

`metric.Capture` puts them together, `tool` offers them to attacks, `score_pairs` to the command line.

Source: the released package capture-metric 0.1.13 defines `variant = "released"`, the default. Where it and
its papers differ, `variant = "paper"` takes the formulas as arXiv 2505.15265 prints them (appendix B,
eqs. 5-10).

Deviations from the released package, with the option that gives its behaviour:

- Elements are matched in sorted order: the package takes them as Python's sets yield them, so that its score
  depends on the process (`order = "given"` keeps the order of a graph).
- The stop list is our own (`stop_words = "released"` reads the package's).
- A sentence is read to the parser's limit of 64 tokens whatever its batch; the package also cuts the last
  token of the longest sentence of each batch.
- A type of fact that the reference lacks may be left out of the mean (`empty = "renormalise"`); the package
  gives it an F1 of 0, so that identical captions without relations score .83.
"""
