"""Targets and tools: one module a library, all behind the protocols of the harness."""
