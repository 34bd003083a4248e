"""The `shrag` command: mounts the commands of the packages, and turns their errors into exit codes."""

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import NoReturn

import click

from eval import errors as eval_errors
from generator import errors as generator_errors
from indexer import errors as indexer_errors
from indexer.remedies import describe_error
from retriever import errors as retriever_errors
from stack import errors as stack_errors

# What a start loads stays, and to look through it at the default pace takes a tenth of the start.
COLLECTOR = (50_000, 20, 20)

# What was called wrongly exits with 2, what went wrong with 1.
CALL_ERRORS: tuple[type[Exception], ...] = (
    indexer_errors.UnknownPath,
    indexer_errors.UnknownFormat,
    indexer_errors.InvalidCall,
    indexer_errors.EncoderNotConfigured,
    indexer_errors.UnknownIndex,
    retriever_errors.RetrieverError,
    generator_errors.ModelNotConfigured,
    generator_errors.UnknownWay,
    eval_errors.BadMeasure,
    stack_errors.BundleCallError,
)
RUN_ERRORS: tuple[type[Exception], ...] = (
    indexer_errors.IndexerError,
    generator_errors.GeneratorError,
    eval_errors.EvalError,
    stack_errors.StackError,
)

LONGEST_MESSAGE = 4_000  # characters; some quote what was given, which may have no end

# Where each command is, and what it does; it is loaded when it is called.
COMMANDS = {
    "analyze": ("indexer.commands:analyze", "Turn texts into tokens."),
    "ask": ("generator.commands:ask", "Answer a question from the five best papers, with citations."),
    "bundle": ("stack.commands:bundle", "Collect what a machine without internet needs."),
    "doctor": ("stack.commands:doctor", "Tell what is configured, reachable and wrong."),
    "eval": ("eval.commands:evaluate", "Make runs of topics, score them, compare them."),
    "explain": ("retriever.commands:explain", "Say why a passage scores what it scores."),
    "index": ("indexer.commands:index", "Index corpora and publish the result under a name."),
    "indexes": ("indexer.index_commands:indexes", "List, show, delete, roll back and prune indexes."),
    "search": ("retriever.commands:search", "Find the papers that answer a question."),
    "trace": ("generator.commands:trace", "Show a saved trace, or compare two."),
}


class LazyCommands(Mapping[str, click.Command]):
    """The commands by name; one is loaded when it is looked up."""

    def __getitem__(self, name: str) -> click.Command:
        """Load a command."""
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(COMMANDS)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(COMMANDS)


class CommandLine(click.Group):
    """The group of all commands; its help loads none of them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(
    cls=CommandLine,
    commands=LazyCommands(),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Log to standard error, a line of JSON each; -vv: with questions, inputs and outputs.",
)
@click.version_option(package_name="shrag")
def cli(verbose: int) -> None:
    """Search Korean and English scholarly text, and answer questions with cited evidence."""
    if verbose:
        from indexer.logs import log_to_standard_error

        log_to_standard_error(verbose)


def main() -> None:
    """Run the command line; what click itself complains of, it tells and exits with 2."""
    debug = "--debug" in sys.argv[1:]
    gc.set_threshold(*COLLECTOR)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # whatever else is installed stays outside
    try:
        _check_arguments(sys.argv[1:])
        cli()
    except CALL_ERRORS as error:
        _fail(error, 2, debug=debug)
    except RUN_ERRORS as error:
        _fail(error, 1, debug=debug)
    except UnicodeEncodeError as error:
        _fail(error, 2, "an argument, or a path, is not valid UTF-8", debug=debug)
    except ValueError as error:
        from stack.invalid_settings import describe

        if not (reason := describe(error)):
            _fail_unexpectedly(error, debug=debug)
        _fail(error, 2, reason, debug=debug)
    except OSError as error:
        _fail(error, 1, debug=debug)
    except MemoryError as error:
        _fail(error, 1, "there is not enough memory for this", debug=debug)
    except Exception as error:  # noqa: BLE001 - never a traceback unless it is asked for
        _fail_unexpectedly(error, debug=debug)


def _check_arguments(arguments: list[str]) -> None:
    """Raise InvalidCall for an argument that is no text: nothing could show it, or write it down."""
    for number, argument in enumerate(arguments, 1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = argument[:100].encode("utf-8", "backslashreplace").decode()
            raise indexer_errors.InvalidCall(f"argument {number} is not valid UTF-8: {shown}") from None


def _fail(error: Exception, code: int, reason: str = "", *, debug: bool) -> NoReturn:
    """Say what went wrong, by the error's name where no other reason is given, and exit."""
    if debug:
        raise error
    message = reason or f"{type(error).__name__}: {describe_error(error)}"
    click.echo(message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…", err=True)
    sys.exit(code)


def _fail_unexpectedly(error: Exception, *, debug: bool) -> NoReturn:
    _fail(error, 1, f"unexpected: {error!r}; shrag --debug … shows where", debug=debug)


if __name__ == "__main__":
    main()
