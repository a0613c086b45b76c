"""How long `python -m benchmark list` takes: best and median of ten fresh processes, in seconds.

Aim: a median below 0.5 s on two cores.
"""

import statistics
import subprocess
import sys
import time

RUNS = 10


def seconds(*arguments: str) -> float:
    """Wall time of one fresh process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    for name, arguments in {
        "python alone": ["-c", ""],
        "benchmark list": ["-m", "benchmark", "list"],
    }.items():
        times = [seconds(*arguments) for _ in range(RUNS)]
        print(f"{name:15} best {min(times):.3f}  median {statistics.median(times):.3f}")


if __name__ == "__main__":
    main()
