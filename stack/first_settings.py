"""The command `init`: asks for the settings that a first installation needs, and writes a shrag.toml."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import click
from pydantic import ValidationError

from base.errors import InvalidCall
from base.settings.fields import Place
from base.terminal.output import echo_lines, visible
from base.terminal.parameters import PathParameter
from generator.settings import LanguageModelSettings
from indexer.settings import ElasticsearchSettings, default_home, folder_for_indexes, plain_address

EMBEDDED = "tantivy"
LONGEST_NAME = 500  # characters of a model's name
OWN_FILE = 0o600  # keys are often added later


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its option, text, default, and the function that returns the settings of an answer.

    The function raises ValueError, whose message follows "the answer".
    """

    option: str
    text: str
    default: Callable[[], str]
    settings: Callable[[str], Mapping[Place, Any]]
    needs: Place = ()  # the question is skipped if this setting has no value


def _home(answer: str) -> dict[Place, Any]:
    try:
        answer.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid UTF-8") from None
    path = folder_for_indexes(answer)
    return {("home",): str(Path(str(path)).absolute())}


def _engine(answer: str) -> dict[Place, Any]:
    if answer == EMBEDDED:
        return {("engine",): EMBEDDED}
    if "://" not in answer:
        raise ValueError(f"must be {EMBEDDED}, or the address of an Elasticsearch server")
    return {("engine",): "elasticsearch", ("elasticsearch", "url"): ElasticsearchSettings(url=answer).url}


def _language_model(answer: str) -> dict[Place, Any]:
    return {("llm", "base_url"): plain_address(answer) if answer else None}


def _model(answer: str) -> dict[Place, Any]:
    if not answer or len(answer) > LONGEST_NAME:
        raise ValueError("must be the name of the model at that server, like Qwen/Qwen3-4B-Instruct-2507")
    return {("llm", "model"): LanguageModelSettings(base_url="http://localhost/v1", model=answer).model}


def _public_address(answer: str) -> dict[Place, Any]:
    return {("server", "public_url"): plain_address(answer) if answer else None}


QUESTIONS = (
    Question("home", "Folder of the indexes", lambda: str(default_home()), _home),
    Question(
        "engine",
        f"Engine: {EMBEDDED}, or the address of an Elasticsearch server",
        lambda: EMBEDDED,
        _engine,
    ),
    Question(
        "llm", "Address of a language model (OpenAI's API, empty for none)", lambda: "", _language_model
    ),
    Question("model", "Name of the model at that server", lambda: "", _model, needs=("llm", "base_url")),
    Question(
        "public_url",
        "Address at which readers reach the server (empty: this machine only)",
        lambda: "",
        _public_address,
    ),
)


@click.command()
@click.argument("file", type=PathParameter(dir_okay=False), default=Path("shrag.toml"))
@click.option("--home", metavar="FOLDER", help="Folder of the indexes.")
@click.option("--engine", metavar="ENGINE", help="tantivy, or the address of an Elasticsearch server.")
@click.option("--llm", metavar="URL", help="Base URL of an OpenAI-compatible API; '' for no model.")
@click.option("--model", metavar="NAME", help="Name of the model at that server.")
@click.option("--public-url", metavar="URL", help="Address at which readers reach the server; '' for none.")
@click.option("--yes", is_flag=True, help="Take the defaults of the other questions.")
@click.option("--overwrite", is_flag=True, help="Replace an existing FILE without asking.")
def init(file: Path, *, yes: bool, overwrite: bool, **given: str | None) -> None:
    """Ask five questions, and write the answers as settings to FILE (default: shrag.toml).

    A question whose option is given is not asked. Nothing is written before the last answer.
    """
    from base.files.output_files import check_output, is_stream, write_output
    from stack.settings_listing import file_of

    check_output(file)
    if is_stream(file):
        raise InvalidCall(f"{file} is not a file", remedy="name a file")
    if file.exists() and not overwrite:
        if yes:
            raise InvalidCall(f"{file} exists already", remedy=("--overwrite", "name another file"))
        click.confirm(f"replace {visible(str(file))}?", abort=True, err=True)
    values: dict[Place, Any] = {}
    for question in QUESTIONS:
        if question.needs and not values[question.needs]:
            if given[question.option]:
                raise click.UsageError(f"--{question.option} needs --llm")
            continue
        values |= _answered(question, given[question.option], yes=yes)
    write_output(file, "".join(f"{line}\n" for line in file_of(values)).encode())
    file.chmod(OWN_FILE)
    echo_lines(next_steps(file, values))


def _answered(question: Question, given: str | None, *, yes: bool) -> Mapping[Place, Any]:
    """Return the settings of the given answer, the default, or an answer at the terminal."""

    def settings(answer: str) -> Mapping[Place, Any]:
        try:
            return question.settings(answer.strip())
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise click.UsageError(f"the answer {reason}") from None
        except ValueError as error:
            raise click.UsageError(f"the answer {error}") from None

    if given is None and not yes:
        default = question.default()
        answered: Mapping[Place, Any] = click.prompt(
            question.text, default=default, show_default=bool(default), value_proc=settings, err=True
        )
        return answered
    try:
        return settings(question.default() if given is None else given)
    except click.UsageError as error:
        option = f"--{question.option.replace('_', '-')}"
        raise click.UsageError(f"{option}: {error.message}") from None


def next_steps(file: Path, values: Mapping[Place, Any]) -> list[str]:
    """Return the lines that follow: where the file is read, and the next commands."""
    path = quote(str(file.absolute()))
    steps = [
        f"{file} is written; it is read in its folder, elsewhere with: export SHRAG_CONFIG={path}",
        "",
        "    shrag doctor                              # checks the settings",
        "    shrag demo                                # indexes the sample and asks two questions",
        "    shrag index papers.jsonl --name papers    # indexes your own papers",
    ]
    if values["server", "public_url"]:
        steps.append("    shrag keys create --label NAME            # a key for each reader")
    return [*steps, "    shrag serve                               # the page and the API"]
