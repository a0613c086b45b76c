"""What TripoSR costs at its published size: the pass of the network, points, rays and meshes.

    python bench/triposr.py [--network] [--device cuda]

Weights are drawn at random; they do not change the work, except that every ray meets fog. `--network` also
times the pass of the whole network, which needs 2 GB of memory; without it, the network has one block.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def seconds(work: Callable[[], object], wait: Callable[[], object] | None) -> float:
    """The shorter of two runs: of the process's CPU time, or of the wall clock with a device to wait for."""
    clock = time.perf_counter if wait else time.process_time
    times = []
    for _ in range(2):
        start = clock()
        work()
        if wait:
            wait()
        times.append(clock() - start)
    return min(times)


def main(argv: Sequence[str] | None = None) -> None:
    """Prints one row a stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", action="store_true", help="time the whole network too")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--mesh", type=int, nargs="+", default=[64, 128], help="resolutions")
    options = parser.parse_args(argv)

    import torch

    from attacks.advdreamer.triposr import TripoSR, cameras
    from attacks.advdreamer.triposr_config import PUBLISHED

    torch.set_num_threads(1)
    torch.manual_seed(0)
    shallow = {**PUBLISHED, "backbone": {**PUBLISHED["backbone"], "num_layers": 1}}
    config: Mapping[str, Any] = PUBLISHED if options.network else shallow
    model = TripoSR.from_config(config).to(options.device)
    wait = torch.cuda.synchronize if options.device.startswith("cuda") else None
    clock = "wall clock" if wait else "CPU time"
    print(f"{options.device}, {clock}, {parameters(model) / 1e6:.0f} M numbers")

    def row(name: str, work: Callable[[], object], units: int, unit: str) -> None:
        took = seconds(work, wait)
        each = f"{took / units * 1e6:>10.2f} us/{unit}" if units > 1 else ""
        print(f"{name:<28} {took * 1e3:>10.1f} ms {each}")

    if options.network:
        pixels = torch.rand(512, 512, 3)
        row("network, one picture", lambda: model.scene_codes(pixels), 1, "picture")
    code = torch.randn(3, 40, 64, 64, device=options.device)
    points = (torch.rand(1 << 16, 3, device=options.device) - 0.5) * 1.7
    row("query, 65,536 points", lambda: model.query(code, points), len(points), "point")
    for px in (64, 128):
        origins, directions = (
            part.to(options.device) for part in cameras(1, 20.0, 1.9, 40.0, px, px)
        )
        name = f"render, {px} x {px}"
        row(name, lambda o=origins, d=directions: model.render(code, o, d), px * px, "ray")  # type: ignore[misc]
    # A real object fills little of the box; random planes cross their median everywhere.
    high = model.grid_density(code, 32).flatten().quantile(0.98).item()
    for side in options.mesh:
        name = f"mesh, {side}^3"
        row(name, lambda n=side: model.mesh(code, n, high), side**3, "point")  # type: ignore[misc]


def parameters(model: Any) -> int:
    """How many numbers a model has."""
    return sum(p.numel() for p in model.parameters())


if __name__ == "__main__":
    main()
