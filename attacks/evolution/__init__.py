"""Semantic evolution: captions whose pictures a vision-language model describes badly.

Source: "Blind Spot Navigation: Evolutionary Discovery of Sensitive Semantic Concepts for LVLMs" (arXiv
2505.15265; its second version withdraws it). No code is public.

Deviations
----------
To be completed.
"""

from attacks.evolution.attack import Evolution

__all__ = ["Evolution"]
