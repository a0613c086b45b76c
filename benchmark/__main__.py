"""`python -m benchmark` is `trident`."""

import sys

from benchmark.cli import main

if __name__ == "__main__":
    sys.exit(main())
