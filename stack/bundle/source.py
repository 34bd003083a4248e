"""The checkout itself, as it was committed: code, locks, compose file, documentation and sample."""

import io
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from stack.bundle.manifest import sha256_of, unfinished_of
from stack.errors import BundleCallError

CHECKOUT = Path(__file__).parents[2]


def collect_source(target: Path, checkout: Path = CHECKOUT) -> str:
    """Write the files of the last commit to `target`, in place of what is there, and return its id.

    Raises:
        BundleCallError: SHRAG does not run from a clone.
    """
    if shutil.which("git") is None or not (checkout / ".git").exists():
        raise BundleCallError(
            f"{checkout} is no git clone, or git is not installed: run shrag bundle in a clone"
        )
    commit = _git(checkout, "rev-parse", "HEAD").decode().strip()
    if target.exists():
        shutil.rmtree(target)
    with tarfile.open(fileobj=io.BytesIO(_git(checkout, "archive", "--format=tar", commit))) as archive:
        # Python 3.11.2 of Debian 12 has no filters yet; the archive is of this clone's own git.
        filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(target, **filtered)  # noqa: S202 - as above
    return commit


def has_changes(checkout: Path = CHECKOUT) -> bool:
    """Tell whether files differ from the last commit, or are not in it."""
    return bool(_git(checkout, "status", "--porcelain"))


def _git(checkout: Path, *words: str) -> bytes:
    command = ["git", "-C", str(checkout), *words]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - git with fixed words
    if done.returncode != 0:
        raise BundleCallError(f"git {words[0]} in {checkout}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def copy_whole(source: Path, target: Path) -> None:
    """Copy a file so that it is there as a whole or not at all; one that is there and the same is left."""
    if (
        target.is_file()
        and target.stat().st_size == source.stat().st_size
        and sha256_of(target) == sha256_of(source)
    ):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = unfinished_of(target)
    shutil.copyfile(source, unfinished)
    shutil.copymode(source, unfinished)
    unfinished.replace(target)
