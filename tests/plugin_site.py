"""The plugin package really installed, and the environment of a process that has it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "plugin_package"


def install(folder: Path) -> Path:
    """A folder of its own that the plugin is installed into."""
    source = folder / "source"  # setuptools leaves build files beside the source
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    site = folder / "site"
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-index", "--no-deps", "--no-build-isolation", "--target", str(site)),
            str(source),
        ],
        check=True,
    )
    return site


def environment(site: Path, **more: str) -> dict[str, str]:
    """Of a process that finds the plugin, and this Python under the name `python`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(site), **more}
