"""Wheels of lock files, by their hashes, for this Python."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from stack.bundle.manifest import SOURCE, Extra, sha256_of
from stack.bundle.tools import run_tool
from stack.errors import BundleIncomplete

HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})\b")
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"  # as in names of wheels
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
BY_THE_LOCK = ("--quiet", "--require-hashes", "--only-binary=:all:", "--requirement")


def lock_of(bundle: Path, extra: Extra) -> Path:
    """Return the lock file of an extra in a bundle."""
    return bundle / SOURCE / "requirements" / f"{extra}.txt"


def collect_wheels(locks: Sequence[Path], target: Path, platforms: Sequence[str]) -> None:
    """Download the missing wheels of lock files, and remove other wheels.

    Raises:
        BundleIncomplete: a lock file is missing in the source, or pip fails.
    """
    for lock in locks:
        if not lock.is_file():
            raise BundleIncomplete(f"wheels of {lock.name}: the source has no {lock.parent.name}/{lock.name}")
    target.mkdir(parents=True, exist_ok=True)
    known = {digest for lock in locks for digest in HASH.findall(lock.read_text("utf-8"))}
    for path in target.iterdir():
        if sha256_of(path) not in known:
            path.unlink()
    for lock in locks:
        words = ["download", *BY_THE_LOCK, str(lock), f"--dest={target}", *for_platforms(platforms)]
        run_tool([*PIP, *words], f"wheels of {lock.name}")


def for_platforms(tags: Sequence[str]) -> list[str]:
    """Return pip's options for another system, none for this one."""
    options = [f"--python-version={PYTHON}", "--implementation=cp", "--no-deps"]
    return [*options, *(f"--platform={tag}" for tag in tags)] if tags else []


def check_installable(lock: Path, wheels: Path) -> None:
    """Let pip resolve a lock from these wheels without installing; raise BundleIncomplete if it fails."""
    alone = ["install", "--dry-run", "--ignore-installed", "--no-index", f"--find-links={wheels}"]
    run_tool([*PIP, *alone, *BY_THE_LOCK, str(lock)], "wheels")
