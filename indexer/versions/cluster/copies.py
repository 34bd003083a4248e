"""Local copies of the companion files of versions in a cluster, read by searches."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from indexer.errors import IndexNotWritten
from indexer.files.sums import sum_file
from indexer.versions.cluster.companions import CompanionNote
from indexer.versions.store.build_folder import COMPANIONS, BuildFolder, is_version


def copy_path(folder: Path, name: str, note: CompanionNote) -> Path:
    """Return the path of a copy below the folder of its version."""
    return folder / f"{note['sha256'][:16]}-{name}"


def is_whole(path: Path, note: CompanionNote) -> bool:
    """Check whether a complete copy exists, by its checksum."""
    try:
        return sum_file(path).sha256 == note["sha256"]
    except OSError:
        return False


def remove_old_copies(local: BuildFolder, fetched: Path, there: Collection[int]) -> None:
    """Remove earlier copies of a file, and all copies of versions not in `there`; nothing else."""
    for folder in filter(is_version, local.versions.iterdir()):
        if folder == fetched.parent:
            remove_copies(folder, fetched, name=fetched.name.partition("-")[2])
        elif int(folder.name.removeprefix(".")) not in there:
            remove_copies(folder)


def remove_copies(folder: Path, kept: Path | None = None, *, name: str = "") -> None:
    """Remove copies of all files of a version or of one, and the folder if it is empty then."""
    with suppress(OSError):
        for copied in [name] if name else COMPANIONS:
            for copy in folder.glob(f"*-{copied}"):
                if copy != kept:
                    copy.unlink()
        folder.rmdir()


@contextmanager
def map_copy_errors(index: str, what: str, folder: Path) -> Iterator[None]:
    """Convert system errors while a file is downloaded to IndexNotWritten with the next step."""
    try:
        yield
    except OSError as error:
        raise IndexNotWritten(
            f"the {what} of index {index!r} cannot be copied to {folder} ({error.strerror or error}), and "
            "searching needs a copy",
            remedy=("free disk space", "set SHRAG_HOME to a writable folder"),
            index=index,
        ) from error
