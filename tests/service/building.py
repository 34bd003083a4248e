"""What the servers of the tests are made of: built once, outside the checkout, by one process at a time."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from tests.service.errors import BuildFailed

SAID = 3_000  # characters of what a tool says, the last


def cache_folder() -> Path:
    """Return where it is kept: $XDG_CACHE_HOME/shrag-tests (~/.cache/shrag-tests)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shrag-tests"


def built_once(name: str, kind: str, build: Callable[[Path], Path]) -> Path:
    """Return the folder of that name, which `build` makes in a scratch folder where it is not there yet.

    What killed builds of the same kind have left is removed.
    """
    cache = cache_folder()
    built = cache / name
    if built.is_dir():
        return built
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = f"building-{kind}-"
    with FileLock(cache / f"build-{kind}.lock"):
        if not built.is_dir():
            for left in cache.glob(f"{unfinished}*"):
                shutil.rmtree(left, ignore_errors=True)  # what it had started may still be writing
            with tempfile.TemporaryDirectory(dir=cache, prefix=unfinished) as scratch:
                build(Path(scratch)).rename(built)
    return built


def run_tool(
    command: Sequence[str], *, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> None:
    """Run a command to its end.

    Raises:
        BuildFailed: it fails; with the end of what it said.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildFailed(f"{Path(command[0]).name} ended with {done.returncode}:\n{done.stdout[-SAID:]}")
