"""The command `init`: asks for the settings that a first installation needs, and writes a shrag.toml."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import click
from pydantic import ValidationError

from base.errors import InvalidCall, ShragError
from base.settings.fields import Place
from base.settings.file import CONFIG, NAME
from base.settings.sources import variables_source
from base.terminal.output import echo_lines, visible
from base.terminal.parameters import PathParameter
from generator.settings import GeneratorSettings, LanguageModelSettings
from indexer.settings import ElasticsearchSettings, default_home, folder_for_indexes, plain_address

EMBEDDED = "tantivy"
LONGEST_NAME = 500  # characters of a model's name
OWN_FILE = 0o600  # keys are often added later


# Option → text of the question.
QUESTIONS = {
    "home": "Folder of the indexes",
    "engine": f"Engine: {EMBEDDED}, or the address of an Elasticsearch server",
    "llm": "Address of a language model (OpenAI's API, empty for none)",
    "model": "Name of the model at that server",
    "public_url": "Address at which readers reach the server (empty: this machine only)",
}


def _settings_of(option: str, answer: str) -> dict[Place, Any]:
    """Return the settings of an answer; ValueError, whose message follows "the answer", if it is invalid."""
    match option, answer:
        case "home", _:
            return {("home",): str(Path(str(folder_for_indexes(answer))).absolute())}
        case "engine", "tantivy":
            return {("engine",): EMBEDDED}
        case "engine", _ if "://" in answer:
            url = ElasticsearchSettings(url=answer).url
            return {("engine",): "elasticsearch", ("elasticsearch", "url"): url}
        case "engine", _:
            raise ValueError(f"must be {EMBEDDED}, or the address of an Elasticsearch server")
        case "model", _:
            if not answer or len(answer) > LONGEST_NAME:
                raise ValueError(
                    "must be the name of the model at that server, like Qwen/Qwen3-4B-Instruct-2507"
                )
            checked = LanguageModelSettings(base_url="http://localhost/v1", model=answer)
            return {("llm", "model"): checked.model}
        case _:
            place = ("llm", "base_url") if option == "llm" else ("server", "public_url")
            return {place: plain_address(answer) if answer else None}


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

    A question whose option is given is not asked. Nothing is written before the last answer. A language model
    is then called once, as `shrag doctor` does.
    """
    from base.files.output_files import check_output, is_stream, write_output
    from stack.settings_listing import file_lines

    check_output(file)
    if str(file) == "-" or is_stream(file):
        raise InvalidCall(f"{file} is not a file", remedy="name a file")
    if file.exists() and not overwrite:
        if yes:
            raise InvalidCall(f"{file} exists already", remedy=("--overwrite", "name another file"))
        click.confirm(f"replace {visible(str(file))}?", abort=True, err=True)
    values: dict[Place, Any] = {}
    for option in QUESTIONS:
        if option == "model" and not values["llm", "base_url"]:
            if given[option]:
                raise click.UsageError("--model needs --llm")
            continue
        values |= _answered(option, given[option], yes=yes)
    write_output(file, "".join(f"{line}\n" for line in file_lines(values)).encode())
    file.chmod(OWN_FILE)
    echo_lines(next_steps(file, values))
    if values["llm", "base_url"]:
        _test_model({place[-1]: value for place, value in values.items() if place[0] == "llm"})


def _test_model(chosen: dict[str, Any]) -> None:
    """Call a model with the chosen values and the variables; print the findings on standard error."""
    from stack.doctor.findings import failed, show_findings
    from stack.doctor.models import findings_of_model

    try:
        given = variables_source(GeneratorSettings)().get("llm", {}) | chosen
        found = list(findings_of_model(LanguageModelSettings(**given)))
    except (ShragError, OSError, ValueError) as error:
        found = [failed("settings", error)]
    show_findings([replace(finding, check="language model") for finding in found], err=True)


def _answered(option: str, given: str | None, *, yes: bool) -> Mapping[Place, Any]:
    """Return the settings of the given answer, the default, or an answer at the terminal."""

    def settings(answer: str) -> Mapping[Place, Any]:
        try:
            return _settings_of(option, answer.strip())
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise click.UsageError(f"the answer {reason}") from None
        except ValueError as error:
            raise click.UsageError(f"the answer {error}") from None

    default = {"home": str(default_home()), "engine": EMBEDDED}.get(option, "")
    if given is None and not yes:
        answered: Mapping[Place, Any] = click.prompt(
            QUESTIONS[option], default=default, show_default=bool(default), value_proc=settings, err=True
        )
        return answered
    try:
        return settings(default if given is None else given)
    except click.UsageError as error:
        raise click.UsageError(f"--{option.replace('_', '-')}: {error.message}") from None


def next_steps(file: Path, values: Mapping[Place, Any]) -> list[str]:
    """Return the lines that follow: how the file is used, and the next commands."""
    where = "in its folder; for all folders:" if file.name == NAME else f"only if {CONFIG} names it:"
    steps = [
        f"{file} is written. shrag reads it {where}",
        "",
        f"    export {CONFIG}={quote(str(file.absolute()))}",
        "    shrag doctor                              # checks the settings",
        "    shrag demo                                # indexes the sample and asks two questions",
        "    shrag index papers.jsonl --name papers    # indexes your own papers",
    ]
    if values["server", "public_url"]:
        steps.append("    shrag keys create --label NAME            # a key for each reader")
    return [*steps, "    shrag serve                               # the page and the API"]
