"""Attacks: procedures that perturb one sample, one folder a family."""
