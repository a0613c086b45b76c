"""How large a submission may be. Generous for honest runs, small enough for a repository."""

KIB, MIB = 2**10, 2**20

ENTRY_BYTES = 16 * MIB
"""All files of one entry."""

FILE_BYTES = {
    "card.json": 32 * KIB,
    "run.json": 256 * KIB,
    "records.jsonl": 8 * MIB,
    "trace.jsonl.gz": 8 * MIB,
    "table.csv": 1 * MIB,
    "reproduced.json": 64 * KIB,
}
PICTURE_BYTES = 1 * MIB

TRACE_BYTES = 64 * MIB
"""What trace.jsonl.gz may unpack to."""

LINE_BYTES = 1 * MIB
FILES = 2_000
RECORDS = 10_000
CANDIDATES = 200_000
DEPTH = 12
"""How deep JSON may be nested."""

SIDE = 1024
"""Longest side of a picture, in pixels."""

SCENE_PX = 256
"""Largest pictures of the embedded world that the validator draws again."""

DRAWN = 500
"""How many pictures of the embedded world are drawn again to check their digests, evenly spread."""

TEXT = 2_000
"""Longest caption, in characters."""

SCORE = 1e6
"""Largest score, either way."""

PROBLEMS = 200
"""How many problems of one entry are listed; the rest are counted."""
