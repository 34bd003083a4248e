"""The checkout itself, as it was committed: code, locks, compose file, documentation and sample."""

import io
import shutil
import tarfile
from pathlib import Path

from stack.bundle.tools import run_tool
from stack.errors import BundleCallError

CHECKOUT = Path(__file__).parents[2]


def collect_source(target: Path, checkout: Path = CHECKOUT) -> str:
    """Write the files of the last commit to `target`, in place of what is there, and return its id.

    Raises:
        BundleCallError: SHRAG does not run from a clone.
    """
    commit = _git(checkout, "rev-parse", "HEAD").decode().strip()
    shutil.rmtree(target, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(_git(checkout, "archive", "--format=tar", commit))) as archive:
        # Python 3.11.2 of Debian 12 has no filters yet; the archive is of this clone's own git.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
        archive.extractall(target)  # noqa: S202 - as above
    return commit


def has_changes(checkout: Path = CHECKOUT) -> bool:
    """Tell whether files differ from the last commit, or are not in it."""
    return bool(_git(checkout, "status", "--porcelain"))


def _git(checkout: Path, *words: str) -> bytes:
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        raise BundleCallError(
            f"{checkout} is no git clone, or git is not installed: run shrag bundle in a clone"
        )
    return run_tool([git, "-C", str(checkout), *words], f"git {words[0]} in {checkout}")
