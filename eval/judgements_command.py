"""The command `eval judgements`."""

from pathlib import Path

import click

from base.amounts import counted
from base.terminal.output import echo, echo_json
from base.terminal.parameters import PathParameter
from indexer.options import json_option


@click.command("judgements")
@click.argument(
    "files", type=PathParameter(exists=True, dir_okay=False), metavar="FILE…", nargs=-1, required=True
)
@click.option(
    "--out",
    type=PathParameter(exists=True, file_okay=False),
    required=True,
    metavar="DIR",
    help="Existing folder for the three files.",
)
@click.option(
    "--place", metavar="NAME", help="Index of the judgements, or sources A,B; needed if FILE has several."
)
@json_option
def judgements_command(files: tuple[Path, ...], out: Path, place: str | None, as_json: bool) -> None:
    """Make topics and qrels of readers' judgements.

    FILE is the file of the server, HOME/.judgements/readers.jsonl. DIR gets topics.jsonl and qrels.txt, for
    `eval run` and `eval score`, and citations.jsonl with the judged sentences of answers. The last judgement
    of each reader counts, and the majority of several readers.
    """
    from eval.reader_judgements import CITATIONS, QRELS, TOPICS, read_judgements, write_judgements

    votes = read_judgements(files, place)
    lines = write_judgements(votes, out)
    checks = votes.agreement()
    if as_json:
        echo_json(
            {
                "judgements": votes.judgements,
                "questions": lines[TOPICS],
                "papers": lines[QRELS],
                "sentences": lines[CITATIONS],
                "answers": {name: [each.positive, each.negative] for name, each in votes.answers.items()},
                "checks": {"compared": checks.compared, "agreement": checks.share, "kappa": checks.kappa},
            }
        )
        return
    echo(
        f"{counted(votes.judgements, 'judgement')}: {counted(lines[QRELS], 'paper')} for "
        f"{counted(lines[TOPICS], 'question')}, {counted(lines[CITATIONS], 'sentence')}"
    )
    for name, each in votes.answers.items():
        helpful = f"{each.positive} of {each.positive + each.negative}"
        echo(f"answers by {name or 'an unknown writer'}: helpful in {helpful} judgements")
    if checks.share is not None:
        kappa = "" if checks.kappa is None else f", kappa {checks.kappa:.2f}"
        echo(f"checks agree with readers on {checks.share:.0%} of {checks.compared} sentences{kappa}")
