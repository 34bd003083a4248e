"""The `shrag` command: mounts the commands of the packages, and turns their errors into exit codes."""

import sys
from typing import NoReturn

import click
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from eval import commands as eval_commands
from eval import errors as eval_errors
from generator import commands as generator_commands
from generator import errors as generator_errors
from indexer import commands as indexer_commands
from indexer import errors as indexer_errors
from indexer import keeping as indexer_keeping
from retriever import commands as retriever_commands
from retriever import errors as retriever_errors
from stack import commands as stack_commands
from stack import errors as stack_errors

# What was called wrongly exits with 2, what went wrong with 1.
CALL_ERRORS: tuple[type[Exception], ...] = (
    indexer_errors.UnknownPath,
    indexer_errors.UnknownFormat,
    indexer_errors.InvalidCall,
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


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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


COMMANDS = (
    indexer_commands.index,
    indexer_keeping.indexes,
    retriever_commands.search,
    generator_commands.ask,
    retriever_commands.explain,
    eval_commands.evaluate,
    generator_commands.trace,
    indexer_commands.analyze,
    stack_commands.doctor,
    stack_commands.bundle,
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
        _fail(error, 2, _no_json(error), debug=debug)
    except ValidationError as error:
        _fail(error, 2, "\n".join(map(_invalid_setting, error.errors())), debug=debug)
    except UnicodeEncodeError as error:
        _fail(error, 2, "an argument, or a path, is not valid UTF-8", debug=debug)
    except OSError as error:
        _fail(error, 1, debug=debug)
    except Exception as error:  # noqa: BLE001 - never a traceback unless it is asked for
        _fail(error, 1, f"unexpected: {error!r}; shrag --debug … shows where", debug=debug)


def _settings_below(name: str) -> list[str]:
    """Return the variables of a group of settings."""
    from generator.settings import CacheSettings, LanguageModelSettings
    from indexer.settings import ElasticsearchSettings, EncoderSettings, RerankerSettings

    groups: dict[str, type[BaseModel]] = {
        "llm": LanguageModelSettings,
        "cache": CacheSettings,
        "elasticsearch": ElasticsearchSettings,
        "encoder": EncoderSettings,
        "reranker": RerankerSettings,
    }
    fields = groups[name].model_fields if name in groups else ()
    return [f"SHRAG_{name.upper()}__{field.upper()}" for field in fields]


def _no_json(error: SettingsError) -> str:
    """Name the variable of a group that does not hold JSON; the library names the field in its message."""
    name = str(error).partition('field "')[2].partition('"')[0]
    instead = _settings_below(name)[:2]
    return f"SHRAG_{name.upper()} must hold JSON" + (
        f"; or set {', '.join(instead)} … instead" if instead else ""
    )


def _invalid_setting(fault: ErrorDetails) -> str:
    """Name the variable and what is wrong with it, without its value: it may be a key."""
    variable = "SHRAG_" + "__".join(map(str, fault["loc"])).upper()
    if fault["type"] == "extra_forbidden":
        there_are = ", ".join(_settings_below(str(fault["loc"][0])))
        return f"{variable}: there is no such setting; there are {there_are}"
    return f"{variable}: {fault['msg'].removeprefix('Value error, ')}"


def _fail(error: Exception, code: int, reason: str = "", *, debug: bool) -> NoReturn:
    """Say what went wrong, by the error's name where no other reason is given, and exit."""
    if debug:
        raise error
    click.echo(reason or f"{type(error).__name__}: {error}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
