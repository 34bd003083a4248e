"""The `shrag` command: mounts the commands of the packages, and turns their errors into exit codes."""

import gc
import io
import os
import sys

import click

from base.errors import InvalidCall, RemediableError, ShragError
from base.files.durable import describe_error
from base.terminal.lazy_commands import LazyGroup
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import INDEX_CALLED_FOR
from base.terminal.standard_streams import flush_standard_output, standard_streams
from retriever.errors import BadExpression

# Garbage collector thresholds: start-up objects stay alive, and scanning them takes a tenth of the start.
COLLECTOR = (50_000, 20, 20)

# Commands that change indexes, with their subcommands that do.
CHANGES: dict[str, set[str]] = {
    "index": set(),
    "harvest": set(),
    "indexes": {"delete", "rollback", "remove"},
}

LONGEST_MESSAGE = 4_000  # characters; messages may quote input of any length

# Location and summary of each command; the module is imported when the command is called.
COMMANDS = {
    "analyze": ("indexer.commands:analyze", "Turn texts into tokens."),
    "ask": ("generator.commands:ask", "Answer a question from the five best papers, with citations."),
    "benchmark": ("eval.judging:command", "Make topics and qrels for your own corpus."),
    "bundle": ("stack.commands:bundle", "Collect the files for a machine without internet."),
    "citations": (
        "retriever.citation_commands:citations",
        "Show the references of papers, and the papers that cite them.",
    ),
    "demo": ("stack.demonstration:demo", "Index the sample papers, and ask two questions."),
    "doctor": ("stack.commands:doctor", "Check the configuration, and what is reachable."),
    "eval": ("eval.commands:evaluate", "Create, score and compare runs."),
    "experiment": (
        "eval.experiments.commands:experiment",
        "Make the tables and figures of the papers on your own index.",
    ),
    "explain": ("retriever.commands:explain", "Explain the score of a passage."),
    "find-papers": (
        "generator.finding.commands:find_papers",
        "Find all papers that match a question, with reasons.",
    ),
    "harvest": (
        "indexer.harvest_commands:harvest",
        "Update indexes from their OAI-PMH repositories.",
    ),
    "index": ("indexer.commands:index", "Index corpora and publish the result under a name."),
    "indexes": ("indexer.index_commands:indexes", "List, show, verify, delete and roll back indexes."),
    "init": ("stack.first_settings:init", "Write a first shrag.toml from five answers."),
    "keys": ("server.commands:keys", "Create, list and revoke keys for callers of the server."),
    "mcp": ("server.commands:mcp", "Serve clients of the Model Context Protocol (MCP)."),
    "rerun": ("retriever.rerun_command:rerun", "Run recorded searches again: differences, new papers."),
    "search": ("generator.search_command:search", "Find the papers that answer a question."),
    "serve": ("server.commands:serve", "Serve the web page, the API and other endpoints."),
    "sessions": ("server.commands:sessions", "List and end the sessions of persons who signed in."),
    "settings": ("stack.commands:settings", "List the settings, their values and sources."),
    "sources": ("retriever.source_commands:sources", "List and check external sources of papers."),
    "statistics": ("server.commands:statistics", "Show the searches of the server by day."),
    "trace": ("generator.commands:trace", "Show a saved trace."),
}


@click.group(
    cls=LazyGroup,
    locations=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Log JSON lines to standard error; -vv: with questions, inputs and outputs.",
)
@click.version_option(package_name="shrag")
def cli(verbose: int) -> None:
    """Search Korean and English scholarly text, and answer questions with cited evidence."""
    if verbose:
        from base.logs import log_to_standard_error

        log_to_standard_error(verbose)


def main() -> None:
    """Run the command line and exit; the exit code is 2 for a wrong call."""
    gc.set_threshold(*COLLECTOR)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # plugins of other packages are not loaded
    sys.exit(flush_standard_output(_run(debug="--debug" in sys.argv[1:])))


def _run(*, debug: bool) -> int:
    """Run the command line, print errors, and return the exit code."""
    called: dict[str, str] = {}
    try:
        with standard_streams():
            _check_arguments(sys.argv[1:])
            code = cli.main(standalone_mode=False, obj=called) or 0
            _note_change(sys.argv[1:], called.get(INDEX_CALLED_FOR, ""))
            return code
    except SystemExit as ended:
        return int(ended.code or 0)
    except click.Abort as ended:
        interrupted = isinstance(ended.__cause__, KeyboardInterrupt)  # otherwise a prompt was not answered
        echo("interrupted" if interrupted else "Aborted!", err=True)
        return 130 if interrupted else 1
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(file=shown)
        echo_lines(shown.getvalue().rstrip().split("\n"), err=True)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - no traceback without --debug
        if isinstance(error, RemediableError):
            error.index = error.index or called.get(INDEX_CALLED_FOR, "")
        code, lines = _outcome(error)
        if debug:
            from traceback import format_exception

            lines = "".join(format_exception(error)).rstrip().split("\n")
        echo_lines(map(_shortened, lines), err=True)
        return code


def _note_change(arguments: list[str], index: str) -> None:
    """Write a command that changes indexes to the audit log of the server, if there is one."""
    command, *rest = [each for each in arguments if not each.startswith("-")] or [""]
    if command not in CHANGES or (CHANGES[command] and not CHANGES[command] & set(rest[:1])):
        return
    from server.monitoring.audit import note_change

    changed = index or (rest[1] if command == "indexes" and rest[1:] else None)
    note_change("index changed", command=" ".join([command, *rest[: command == "indexes"]]), index=changed)


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]}…"


def _outcome(error: Exception) -> tuple[int, list[str]]:
    """Return the exit code and the message lines of an error."""
    if isinstance(error, ShragError):
        described = f"{type(error).__name__}: {describe_error(error)}"
        marks_a_place = isinstance(error, BadExpression)
        return error.exit_code, described.split("\n") if marks_a_place else [described]
    if isinstance(error, UnicodeEncodeError):
        return 2, ["an argument, or a path, is not valid UTF-8"]
    if isinstance(error, OSError):
        return 1, [describe_error(error)]
    if isinstance(error, MemoryError):
        return 1, ["not enough memory"]
    if isinstance(error, ValueError):
        from stack.invalid_settings import describe

        if reason := describe(error):
            return 2, reason.split("\n")
    return 1, [f"unexpected error: {error!r}; shrag --debug … shows the traceback"]


def _check_arguments(arguments: list[str]) -> None:
    """Raise InvalidCall for an argument that is not valid UTF-8, as it could neither be shown nor stored."""
    for number, argument in enumerate(arguments, 1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = argument[:100].encode("utf-8", "backslashreplace").decode()
            raise InvalidCall(f"argument {number} is not valid UTF-8: {shown}") from None


if __name__ == "__main__":
    main()
