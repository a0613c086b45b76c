"""The harness: it runs attacks against targets and scores them with metrics."""

__version__ = "0.1.0"
