"""The `shrag` command: mounts the commands of the packages, and turns their errors into exit codes."""

import sys
from typing import NoReturn

import click
from pydantic import ValidationError
from pydantic_settings import SettingsError

from eval import commands as eval_commands
from eval import errors as eval_errors
from generator import commands as generator_commands
from generator import errors as generator_errors
from indexer import commands as indexer_commands
from indexer import errors as indexer_errors
from retriever import commands as retriever_commands
from retriever import errors as retriever_errors

# What was called wrongly exits with 2, what went wrong with 1.
CALL_ERRORS: tuple[type[Exception], ...] = (
    indexer_errors.UnknownPath,
    indexer_errors.UnknownFormat,
    indexer_errors.InvalidCall,
    indexer_errors.UnknownIndex,
    retriever_errors.RetrieverError,
    eval_errors.BadMeasure,
)
RUN_ERRORS: tuple[type[Exception], ...] = (
    indexer_errors.IndexerError,
    generator_errors.GeneratorError,
    eval_errors.EvalError,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="shrag")
def cli(debug: bool) -> None:
    """Search Korean and English scholarly text, and answer questions with cited evidence."""


COMMANDS = (
    indexer_commands.index,
    indexer_commands.indexes,
    retriever_commands.search,
    generator_commands.ask,
    retriever_commands.explain,
    eval_commands.evaluate,
    generator_commands.trace,
    indexer_commands.analyze,
)
for command in COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Run the command line; what click itself complains of, it tells and exits with 2."""
    debug = "--debug" in sys.argv[1:]
    try:
        cli()
    except CALL_ERRORS as error:
        _fail(error, 2, debug=debug)
    except RUN_ERRORS as error:
        _fail(error, 1, debug=debug)
    except SettingsError as error:
        reason = "SHRAG_LLM must hold JSON; or set SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL instead"
        _fail(error, 2, reason, debug=debug)
    except ValidationError as error:
        _fail(error, 2, _invalid_setting(error), debug=debug)
    except UnicodeEncodeError as error:
        _fail(error, 2, "an argument, or a path, is not valid UTF-8", debug=debug)
    except OSError as error:
        _fail(error, 1, debug=debug)
    except Exception as error:  # noqa: BLE001 - never a traceback unless it is asked for
        _fail(error, 1, f"unexpected: {error!r}; shrag --debug … shows where", debug=debug)


def _invalid_setting(error: ValidationError) -> str:
    """Say what is wrong with the first setting, without its value: it may be a key."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name = "__".join(map(str, first["loc"])).upper()
    return f"SHRAG_{name}: {first['msg'].removeprefix('Value error, ')}"


def _fail(error: Exception, code: int, reason: str = "", *, debug: bool) -> NoReturn:
    if debug:
        raise error
    click.echo(f"{type(error).__name__}: {reason or error}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
