"""Paths as arguments and options of commands."""

import os
from pathlib import Path
from typing import Any

import click


class PathParameter(click.Path):
    """A non-empty path: `Path("")` would be the current folder."""

    def __init__(self, **options: Any) -> None:
        """Take the options of `click.Path`."""
        super().__init__(path_type=Path, **options)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path; fail with exit code 2 if it is empty."""
        if value == "":
            self.fail("the path is empty; the current folder is called .", param, ctx)
        return super().convert(value, param, ctx)
