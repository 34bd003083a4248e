"""Wheels: those of a lock, by its hashes, for this Python."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from stack.bundle.manifest import sha256_of

HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})\b")
LOCKS = {name: f"{name}.txt" for name in ("base", "elasticsearch", "models", "dev")}
LAST_LINES = 5  # of what pip says
BY_THE_LOCK = ("--quiet", "--require-hashes", "--only-binary=:all:", "--requirement")


def python_version() -> str:
    """Return this Python's version as wheels name it, like 3.11."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def collect_wheels(lock: Path, target: Path, platforms: Sequence[str]) -> str:
    """Download the wheels of a lock that are not there yet; return why not, or nothing.

    Files of other hashes, which a lock of before asked for, are removed.
    """
    if not lock.is_file():
        return f"the source has no {lock.parent.name}/{lock.name}"
    target.mkdir(parents=True, exist_ok=True)
    known = set(HASH.findall(lock.read_text("utf-8")))
    for path in target.iterdir():
        if sha256_of(path) not in known:
            path.unlink()
    return _complaint_of_pip(
        ["download", *BY_THE_LOCK, str(lock), f"--dest={target}", *for_platforms(platforms)]
    )


def for_platforms(tags: Sequence[str]) -> list[str]:
    """Return pip's options for another system, none for this one."""
    if not tags:
        return []
    options = [f"--python-version={python_version()}", "--implementation=cp", "--no-deps"]
    return [*options, *(f"--platform={tag}" for tag in tags)]


def why_not_installable(lock: Path, wheels: Path) -> str:
    """Let pip resolve a lock from these wheels alone, installing nothing; return its complaint, or ""."""
    alone = ["--dry-run", "--ignore-installed", "--no-index", f"--find-links={wheels}"]
    return _complaint_of_pip(["install", *alone, *BY_THE_LOCK, str(lock)])


def _complaint_of_pip(words: Sequence[str]) -> str:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip, as made above
    if done.returncode == 0:
        return ""
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in said if line.startswith("ERROR")]
    return " ".join((errors or said)[-LAST_LINES:]) or f"pip ended with {done.returncode}"
