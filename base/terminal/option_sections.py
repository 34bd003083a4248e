"""Command options listed under headings in the help."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

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
