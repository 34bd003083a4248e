"""What the servers of the tests are made of: built once, outside the checkout, by one process at a time."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from filelock import FileLock

SAID = 3_000  # characters of what a tool says, the last


class ServerUnavailable(Exception):
    """This machine lacks what a server needs; the message names it."""


class BuildFailed(Exception):
    """What the server is made of could not be made as asked; the message holds the end of what was said."""


def built_once(name: str, kind: str, build: Callable[[Path], Path]) -> Path:
    """Return the folder of that name, which `build` makes in a scratch folder where it is not there yet.

    It is in $XDG_CACHE_HOME/shrag-tests (~/.cache/shrag-tests).
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shrag-tests"
    built = cache / name
    if built.is_dir():
        return built
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = f"building-{kind}-"
    with FileLock(cache / f"build-{kind}.lock"):
        if not built.is_dir():
            for left in cache.glob(f"{unfinished}*"):  # by builds that were killed
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=unfinished) as scratch:
                build(Path(scratch)).rename(built)
    return built


def run_tool(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    typed: str = "",
) -> None:
    """Run a command to its end; raise BuildFailed, with the end of what it said, if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        input=typed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildFailed(f"{Path(command[0]).name} ended with {done.returncode}:\n{done.stdout[-SAID:]}")
