"""Versions of installed distributions and of the checkout, recorded with results."""

import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
NOT_INSTALLED = "not installed"
GIT_S = 10.0  # seconds for a call of git


def installed_version(distribution: str) -> str:
    """Return the version of a distribution; NOT_INSTALLED if there is none, as in a bare checkout."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return NOT_INSTALLED


def checkout_commit() -> str | None:
    """Return the commit of the checkout, with `-dirty` after local changes; None if there is no checkout."""
    git = shutil.which("git")
    if git is None or not (CHECKOUT / ".git").exists():
        return None
    command = [git, "-C", str(CHECKOUT), "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=GIT_S, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None
