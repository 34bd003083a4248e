"""Groups of commands whose modules are imported when a command is called, and whose help imports none."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import click

Locations = Mapping[str, tuple[str, str]]  # name → MODULE:ATTRIBUTE, summary


class LazyCommands(Mapping[str, click.Command]):
    """The commands by name; each is imported when it is looked up."""

    def __init__(self, locations: Locations) -> None:
        """`locations` has for each name the place of the command and its summary."""
        self._locations = locations

    def __getitem__(self, name: str) -> click.Command:
        """Import a command."""
        module, _, attribute = self._locations[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the commands."""
        return iter(self._locations)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(self._locations)


class LazyGroup(click.Group):
    """A group of commands that are imported when they are called."""

    def __init__(self, name: str | None = None, *, locations: Locations, **options: Any) -> None:
        """`locations` has for each name the place of the command and its summary."""
        super().__init__(name, LazyCommands(locations), **options)  # type: ignore[arg-type]
        self._summaries = [(name, summary) for name, (_, summary) in locations.items()]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(self._summaries)
