"""The page of all commands: usage, help and options as click has them."""

from collections.abc import Iterator
from inspect import cleandoc

import click

from shrag import cli
from tests.reference.markdown import GENERATED, code, in_one_line, table

INTRODUCTION = f"""\
# Commands

    shrag COMMAND --help

{GENERATED} `--help` of a command prints the same text, and most commands
take `--json`. `shrag` is `.venv/bin/shrag`, unless the environment is activated.

- **Streams.** Results go to standard output, progress and messages to standard error.
- **Files.** A file that `--out` or `--trace` names is replaced as a whole or stays unchanged. A pipe is
  written through. A command never overwrites its own input.
- **Control characters** in papers and in answers of models and servers are shown as `\\x1b`, marks of
  direction as `\\u202e`.
- **Logs.** `shrag -v COMMAND …` logs one line of JSON per event to standard error.
- **Completion** of options, indexes and sources: `eval "$(_SHRAG_COMPLETE=bash_source shrag)"`.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | nothing could be done, or the engine failed |
| 2 | the call is wrong: an unknown option, path, index or setting |
| 130 | interrupted |
"""


def page() -> str:
    """Return the page."""
    return "\n".join([INTRODUCTION, *_command(cli, "shrag", None)]).rstrip() + "\n"


def _command(command: click.Command, name: str, above: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=above)
    yield f"## {name}"
    yield ""
    yield from ("    " + " ".join([name, *command.collect_usage_pieces(context)]), "")
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        yield from (in_one_line(_escaped(paragraph)), "")
    if options := [each for each in command.params if isinstance(each, click.Option) and not each.hidden]:
        yield from table(
            ["option", "default", "meaning"],
            [[_names(each), code(_default(each)), _meaning(each)] for each in options],
        )
        yield ""
    if isinstance(command, click.Group):
        for inner in sorted(command.commands):
            yield from _command(command.commands[inner], f"{name} {inner}", context)


def _names(option: click.Option) -> str:
    names = [*option.opts, *option.secondary_opts]
    value = "" if option.is_flag or option.count else f" {_value(option)}"
    return ", ".join(code(name + (value if name == names[-1] else "")) for name in names)


def _value(option: click.Option) -> str:
    """Return what stands for the value of an option: its choices, a range, or a name."""
    kind = option.type
    if isinstance(kind, click.Choice):
        return "|".join(map(str, kind.choices))
    if option.metavar:
        return option.metavar
    if isinstance(kind, click.IntRange | click.FloatRange):
        return "N"
    return kind.name.upper()


def _default(option: click.Option) -> str:
    shown = option.show_default
    default = option.to_info_dict()["default"]
    if not shown or option.is_flag or default is None:
        return ""
    return shown if isinstance(shown, str) else str(default)


def _meaning(option: click.Option) -> str:
    kind, meaning = option.type, _escaped(in_one_line(option.help or ""))
    if isinstance(kind, click.IntRange | click.FloatRange) and not option.count:
        bounds = [
            f"from {kind.min}" if kind.min is not None else "",
            f"to {kind.max}" if kind.max is not None else "",
        ]
        if limits := " ".join(filter(None, bounds)):
            meaning = f"{meaning} {limits.capitalize()}."
    return meaning


def _escaped(text: str) -> str:
    """Return a text whose signs mean nothing in Markdown."""
    return text.replace("\b", "").replace("*", r"\*").replace("<", r"\<").replace("[", r"\[")
