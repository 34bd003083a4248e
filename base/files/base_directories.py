"""User folders according to the XDG base directory specification."""

import os
from pathlib import Path


def base_directory(variable: str, otherwise: str) -> Path:
    """Return an XDG base directory; a relative path in the variable is ignored, as specified.

    Raises:
        ValueError: the variable is not set, and there is no home folder.
    """
    base = Path(os.environ.get(variable, ""))
    return base if base.is_absolute() else in_home(Path(otherwise))


def in_home(path: Path) -> Path:
    """Return a path with `~` expanded; ValueError if there is no such home or the path is invalid."""
    if "\0" in str(path):
        raise ValueError("a path cannot contain a null character")
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"{path}: {error}") from None
