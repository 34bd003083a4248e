"""The checkout itself: code, locks, compose file, documentation and sample, as git knows them."""

import shutil
import subprocess
from pathlib import Path

from stack.bundle.manifest import sha256_of, unfinished_of
from stack.errors import BundleCallError

CHECKOUT = Path(__file__).parents[2]
NEEDED = ("pyproject.toml", "requirements/base.txt", "docker-compose.yml", "docs/offline.md")


def collect_source(target: Path, checkout: Path = CHECKOUT) -> None:
    """Copy the files that git tracks, as they are now.

    Raises:
        BundleCallError: SHRAG does not run from a checkout.
    """
    missing = [name for name in NEEDED if not (checkout / name).is_file()]
    git = shutil.which("git")
    if missing or git is None or not (checkout / ".git").exists():
        raise BundleCallError(
            f"{checkout} is no checkout of SHRAG with its git folder, and git is needed to list its files: "
            "run shrag bundle from a clone"
        )
    listed = subprocess.run(  # noqa: S603 - git, by its path
        [git, "-C", str(checkout), "ls-files", "-z"], capture_output=True, check=True
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (checkout / name).is_file():
            copy_whole(checkout / name, target / name)


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
