"""Options that a command's help lists under headings."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
OTHERS = "Options"  # the heading of those before the first section


def option_section(heading: str, *options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command these options, below a heading of its help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
            vars(command)["__click_params__"][-1].heading = heading
        return command

    return decorate


class SectionedCommand(click.Command):
    """A command whose options stand in sections; one that is in none follows those before it."""

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
