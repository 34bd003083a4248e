"""Standard output and error: open from the start, in any encoding, and whole at the end."""

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
    """Prepare what is printed to; libraries' warnings are text there, too.

    A character that an encoding lacks is printed as its escape.

    Raises:
        OutputNotWritten: one of them is closed: what is opened next would get its descriptor.
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
    """Return a stream that loses no character for its encoding, and no part of a line that was cut off.

    Unbuffered (PYTHONUNBUFFERED), Python takes a line for written of which the disk held the beginning.
    """
    if isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        stream = io.TextIOWrapper(io.BufferedWriter(stream.buffer), stream.encoding, line_buffering=True)
    if reconfigure := getattr(stream, "reconfigure", None):
        reconfigure(errors="backslashreplace")
    return stream


def flush_standard_output(code: int) -> int:
    """Deliver what is still held back; return the exit code, 1 in place of 0 where that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if not code and error.errno != errno.EPIPE:  # a reader that has gone away wants no more
            echo(f"standard output was not written: {cause_of(error)}", err=True)
        with suppress(OSError):  # else the interpreter complains again when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or 1
    return code


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    echo(f"{category.__name__}: {message}", err=True)
