"""Files of a data set on the Hugging Face hub, streamed: `hub:OWNER/NAME/FOLDER`. Requires the extra `hub`.

Such a path opens connections, through the library `huggingface_hub`, which is only imported here. Its
files of JSON lines or Parquet are read like those of a folder.
"""

import io
from typing import IO, Any

from base.errors import LibraryMissing, UnknownPath
from base.extras import extra_remedy

PREFIX = "hub:"
ADDRESS = "hf://datasets"
PARTS = 3
KINDS = (".jsonl", ".parquet")  # of a folder, the first kind with files is read
BUFFER_BYTES = 1 << 18


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
        found = next(filter(None, (system.glob(pattern, detail=True) for pattern in patterns)), {})
    except Exception as error:  # the client and its network layers have no common error
        raise UnknownPath(f"{path}: nothing to read at {place}: {_first_line(error)}") from error
    if not found:
        raise UnknownPath(f"{path}: nothing to read at {place}: there are no {' or '.join(KINDS)} files")
    return {
        f"{PREFIX}{name.removeprefix(f'{root}/')}": found[name].get("size") or 0 for name in sorted(found)
    }


def open_hub_file(name: str) -> io.BufferedReader:
    """Open a file by its name in `hub_files`; read errors are OSErrors."""
    system, root = _file_system(name)
    try:
        opened = system.open(f"{root}/{name.removeprefix(PREFIX)}", "rb")
    except Exception as error:
        raise OSError(_first_line(error)) from error
    return io.BufferedReader(_HubFile(opened), BUFFER_BYTES)


class _HubFile(io.RawIOBase):
    """An open file of the client, whose errors become OSErrors."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._opened.seek(offset, whence)

    def tell(self) -> int:
        return self._opened.tell()

    def readinto(self, buffer: Any, /) -> int:
        try:
            block = self._opened.read(len(buffer))
        except Exception as error:
            raise OSError(f"the stream broke off: {_first_line(error)}") from error
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._opened.close()
        super().close()


def _file_system(path: str) -> tuple[Any, str]:
    """Return the file system of the hub, and its folder of data sets."""
    try:
        import huggingface_hub  # noqa: F401
        from fsspec.core import url_to_fs
    except ImportError:
        raise LibraryMissing(
            f"{path}: reading from the hub needs the library `huggingface_hub`", remedy=extra_remedy("hub")
        ) from None
    system, root = url_to_fs(ADDRESS)
    return system, root


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
