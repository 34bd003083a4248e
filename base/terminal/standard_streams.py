"""Standard output and error: checked at the start, safe in any encoding, and flushed at the end."""

import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from base.errors import OutputNotWritten
from base.files.durable import cause_of
from base.terminal.output import echo

NAMES = ("stdout", "stderr")


@contextmanager
def standard_streams() -> Iterator[None]:
    """Prepare the standard streams; warnings of libraries are printed as escaped text too.

    A character missing in the encoding is printed as its escape sequence.

    Raises:
        OutputNotWritten: a stream is closed; the next opened file would get its descriptor.
    """
    closed = [name for name in NAMES if getattr(sys, name) is None]
    for name in closed:
        setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    for name in NAMES:
        setattr(sys, name, _complete(getattr(sys, name)))
    if closed:
        raise OutputNotWritten(
            f"{' and '.join(closed)} cannot be written: closed", remedy="open, or redirect it"
        )
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        yield


def _complete(stream: Any) -> Any:
    """Return a stream that escapes unencodable characters and completes partial writes.

    With PYTHONUNBUFFERED, Python treats a line as written even if the disk took only its beginning.
    """
    if isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        stream = io.TextIOWrapper(io.BufferedWriter(stream.buffer), stream.encoding, line_buffering=True)
    if reconfigure := getattr(stream, "reconfigure", None):
        reconfigure(errors="backslashreplace")
    return stream


def flush_standard_output(code: int) -> int:
    """Flush the buffered output; return the exit code, with 0 replaced by 1 if flushing fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if not code and error.errno != errno.EPIPE:  # EPIPE: the reader needs no more output
            echo(f"standard output was not written: {cause_of(error)}", err=True)
        with suppress(OSError):  # otherwise the interpreter reports it again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or 1
    return code


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    echo(f"{category.__name__}: {message}", err=True)
