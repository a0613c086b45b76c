"""One HTML file that shows a run, or two side by side: no network, opens from disk.

`write` makes it. `runs` reads a run folder, `figures` computes what charts and tables show, `pictures`
embeds pixels, `markup` writes HTML in which nothing is ever unescaped, the other modules are the parts of
the page. The page needs no script to be read; the script adds search, counts and the switch of colours.
"""

from benchmark.report.page import write

__all__ = ["write"]
