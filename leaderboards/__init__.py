"""Leaderboards: results as files in a repository, with a validator that recomputes them.

A submission is one folder, made from a run by `python -m benchmark submit`:

    <attack>/<preset>/<model>@<revision>/<digest>/
        card.json         who submits what: name, paper, sha256 of each file below, history
        run.json          the run's own
        records.jsonl     one line a sample
        trace.jsonl.gz    every candidate that was tried
        table.csv         the aggregates, which `validate` recomputes
        artifacts/        the pictures that fooled the target, named by the digest of their pixels
        reproduced.json   written by the keepers only: what a replay of the entry gave

It is hostile until proven otherwise: files are read within limits (`limits`), JSON strictly
(`strict_json`), everything has a type and a range (`checks`, `schema`), no picture is decoded before
its header and size are known (`pictures`), and what can be recomputed is (`consistency`, `recompute`).
"""
