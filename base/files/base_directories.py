"""Folders of the user after the XDG base directory rules."""

import os
from pathlib import Path


def base_directory(variable: str, otherwise: str) -> Path:
    """Return a folder after the XDG base directory rules, which take no relative path.

    Raises:
        ValueError: the variable names none, and there is no home.
    """
    base = Path(os.environ.get(variable, ""))
    return base if base.is_absolute() else in_home(Path(otherwise))


def in_home(path: Path) -> Path:
    """Return a path with `~` expanded; ValueError where there is no such home, or it is no path."""
    if "\0" in str(path):
        raise ValueError("a path holds no null character")
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"{path}: {error}") from None
