"""Data sets: one reader for each layout, all giving samples."""
