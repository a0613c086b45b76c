"""Leaderboards: results as files in a repository, with a validator that recomputes them."""
