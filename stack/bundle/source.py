"""The committed files of the checkout: code, locks, compose file, documentation and sample."""

import io
import shutil
import tarfile
from pathlib import Path

from stack.bundle.tools import run_tool
from stack.errors import BundleCallError

CHECKOUT = Path(__file__).parents[2]


def collect_source(target: Path, checkout: Path = CHECKOUT) -> str:
    """Write the files of the last commit to `target`, replacing its content, and return the commit's id.

    A plus sign after the id means that there are uncommitted changes, which are not included.

    Raises:
        BundleCallError: SHRAG does not run from a git clone.
    """
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        raise BundleCallError(
            f"{checkout} is not a git clone, or git is not installed: run shrag bundle in a clone"
        )
    run = [git, "-C", str(checkout)]
    purpose = f"the source in {checkout}"
    commit = run_tool([*run, "rev-parse", "HEAD"], purpose).decode().strip()
    content = run_tool([*run, "archive", "--format=tar", commit], purpose)
    shutil.rmtree(target, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        # Python 3.11.2 of Debian 12 has no filters yet; the archive is from this clone's own git.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
        archive.extractall(target)  # noqa: S202 - as above
    return commit + ("+" if run_tool([*run, "status", "--porcelain"], purpose) else "")
