"""Files of a data set on the Hugging Face hub, through the library `huggingface_hub` (extra `hub`).

A path `hub:OWNER/NAME/FOLDER` opens connections: its files of JSON lines or Parquet are streamed, and read
like those of a folder. An interrupted stream ends a file early. A download is complete or fails, the next one
resumes it, and the files stay in the client's cache (`HF_HOME`), from which they are read without internet
(`HF_HUB_OFFLINE=1`). `HF_ENDPOINT` names another hub, `HF_TOKEN` a token.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from base.errors import LibraryMissing, UnknownPath
from base.extras import extra_remedy

PREFIX = "hub:"
ADDRESS = "hf://datasets"
PARTS = 3
KINDS = (".jsonl", ".parquet")  # of a folder, the first kind with files is read


def on_hub(path: str) -> bool:
    """Check whether a path names files of the hub."""
    return path.startswith(PREFIX)


def hub_files(path: str) -> dict[str, int]:
    """Return the files at a path `hub:OWNER/NAME/FOLDER`, or of a pattern in a folder, with their sizes.

    Raises:
        UnknownPath: the path has another form, or there is no file, or the hub does not answer.
        LibraryMissing: the client of the hub is not installed.
    """
    parts = path.removeprefix(PREFIX).strip("/").split("/")
    if len(parts) < PARTS or not all(parts):
        raise UnknownPath(
            f"{path}: a corpus on the hub is named hub:OWNER/NAME/FOLDER, "
            "for example hub:miracl/miracl-corpus/miracl-corpus-v1.0-ko"
        )
    system, root = _file_system(path)
    place = "/".join((root, *parts))
    is_file = any(kind in parts[-1] for kind in KINDS)
    patterns = [place] if is_file else [f"{place}/*{kind}*" for kind in KINDS]
    try:
        found: dict[str, Any] = next(
            filter(None, (system.glob(pattern, detail=True) for pattern in patterns)), {}
        )
    except Exception as error:  # the client and its network layers have no common error
        raise UnknownPath(f"{path}: nothing to read at {place}: {_first_line(error)}") from error
    if not found:
        raise UnknownPath(f"{path}: nothing to read at {place}: there are no {' or '.join(KINDS)} files")
    return {
        f"{PREFIX}{name.removeprefix(f'{root}/')}": found[name].get("size") or 0 for name in sorted(found)
    }


def open_hub_file(name: str) -> io.BufferedReader:
    """Open a file by its name in `hub_files`."""
    system, root = _file_system(name)
    return io.BufferedReader(system.open(f"{root}/{name.removeprefix(PREFIX)}", "rb"))


def _file_system(path: str) -> tuple[Any, str]:
    """Return the file system of the hub, and its folder of data sets."""
    try:
        import huggingface_hub  # noqa: F401
        from fsspec.core import url_to_fs
    except ImportError:
        raise _library_missing(f"reading {path}") from None
    system, root = url_to_fs(ADDRESS)
    return system, root


def download(repository: str, patterns: Sequence[str], *, remedy: str) -> Path:
    """Download the files of a data set that match a pattern (`*` is any text); return their folder.

    The files of the folder may be links into the cache.

    Raises:
        LibraryMissing: the client of the hub is not installed.
        UnknownPath: the hub does not answer or refuses, and the files are not in the cache; or no file
            matches. `remedy` is the next step.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise _library_missing(f"downloading {repository}") from None
    try:
        folder = Path(snapshot_download(repository, repo_type="dataset", allow_patterns=list(patterns)))
    except Exception as error:  # as above
        raise UnknownPath(
            f"hub:{repository} cannot be downloaded: {_first_line(error)}", remedy=remedy
        ) from error
    if not any(path for pattern in patterns for path in folder.glob(pattern)):
        raise UnknownPath(f"hub:{repository} has no file {' or '.join(patterns)}", remedy=remedy)
    return folder


def _library_missing(what: str) -> LibraryMissing:
    return LibraryMissing(f"{what} needs the library `huggingface_hub`", remedy=extra_remedy("hub"))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
