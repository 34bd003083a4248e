"""The command `demo`: indexes the sample papers and asks a question in Korean and one in English."""

from pathlib import Path
from shlex import join

import click

from base.errors import InvalidCall, Remedy
from base.sample import SAMPLE_PAPERS
from base.terminal.output import echo
from indexer.errors import UnknownIndex
from indexer.settings import IndexerSettings

NAME, PAPERS = "sample", 120
QUESTIONS = (
    "논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄고, 그때 쌀 수확량도 함께 떨어지는가?",
    "Can feedback from generative AI improve student essays as much as comments from a teacher?",
)


@click.command()
@click.option("--name", default=NAME, show_default=True, metavar="NAME", help="The index of the sample.")
def demo(name: str) -> None:
    """Index the 120 sample papers, and ask a question in Korean and one in English.

    The index is rebuilt by each call. Without a language model, the answers are quoted from the papers.
    """
    from generator.commands import ask
    from indexer.commands import index

    check_replaceable(name, IndexerSettings())
    _run(index, "index", [str(SAMPLE_PAPERS), "--name", name, "--rebuild"])
    for question in QUESTIONS:
        _run(ask, "ask", [question, "--name", name])
    echo()
    echo("the same in a browser: shrag serve")


def check_replaceable(name: str, settings: IndexerSettings) -> None:
    """Raise InvalidCall if an index of this name holds other papers than the sample."""
    from indexer.versions.store.engines import open_store

    with open_store(settings, name) as store:
        try:
            manifest = store.manifest()
        except UnknownIndex:
            return
    sources = [Path(path).name for path in manifest.source.get("paths", ())]
    if sources != [SAMPLE_PAPERS.name] or manifest.papers > PAPERS:
        raise InvalidCall(
            f"index {name!r} has other papers than the sample, and the demonstration would replace it",
            remedy=(Remedy.RENAME, Remedy.DELETE),
            index=name,
        )


def _run(command: click.Command, name: str, arguments: list[str]) -> None:
    """Print a command of `shrag`, and run it."""
    echo(f"$ shrag {join((name, *arguments))}")
    command.main(arguments, prog_name=f"shrag {name}", standalone_mode=False)
