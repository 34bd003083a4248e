"""Parameters of commands: paths, names that the shell completes, and options under headings of the help."""

import math
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

INDEX_CALLED_FOR = "shrag.index"  # key of the named index in click's shared context
Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def completing(names: Callable[[], Iterable[str]], *, files: bool = False) -> Completion:
    """Return click's `shell_complete` for names, also after a comma; `files` adds file names as fallback.

    If the names cannot be read, nothing is completed, and no error is printed into the shell's prompt.
    """

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        with suppress(Exception):
            if fitting := [name for name in names() if name.startswith(begun)]:
                return [CompletionItem(before + comma + name) for name in fitting]
        return [CompletionItem(incomplete, type="file")] if files else []

    return complete


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


class FiniteRange(click.FloatRange):
    """A range of numbers without nan, which `click.FloatRange` accepts."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fail with exit code 2 for nan."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail("must be a finite number", param, ctx)
        return number


Command = TypeVar("Command", bound=Callable[..., Any])
OTHERS = "Options"  # heading of the options before the first section


def option_section(heading: str, *options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds these options to a command, under a heading of its help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
            vars(command)["__click_params__"][-1].heading = heading
        return command

    return decorate


class SectionedCommand(click.Command):
    """A command with options in sections; an option without a section is listed after the previous one."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        heading = OTHERS
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                heading = getattr(parameter, "heading", heading)
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)
