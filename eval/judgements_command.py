"""The command `eval judgements`: topics, qrels and judged citations of readers' judgements on the page.

| file | content |
|---|---|
| topics.jsonl | questions with judged papers; the query_id is a hash of the question |
| qrels.txt | TREC's four columns: 1 if most readers found the paper helpful, 0 if most did not |
| citations.jsonl | judged sentences, with their citations, their check, and the numbers of both verdicts |

Equal numbers of both verdicts decide nothing, and are left out of the qrels and the agreement.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from base.amounts import counted
from base.errors import DamagedFile, InvalidCall
from base.files.output_files import write_output
from base.journal import read_records
from base.records import adapter
from base.terminal.output import echo, echo_json, json_text
from base.terminal.parameters import PathParameter
from eval.statistics import agreement
from generator.reader_judgements import JudgedSentence, ReaderJudgement, last_judgements
from indexer.backups import SERVER_STORE, open_server_store
from indexer.options import json_option

TOPICS, QRELS, CITATIONS = "topics.jsonl", "qrels.txt", "citations.jsonl"
POSITIVE = {"helpful", "supported"}


class Votes(Counter[bool]):
    """Numbers of readers with a positive and a negative verdict."""

    @property
    def majority(self) -> bool | None:
        """The verdict of the majority; None if both numbers are equal."""
        return None if self[True] == self[False] else self[True] > self[False]


def read_judgements(paths: Sequence[Path], place: str | None = None) -> list[ReaderJudgement]:
    """Return the last judgements of each reader in one index or one selection of sources.

    Args:
        paths: the server's store, or files of JSON lines.
        place: the index, or the sources joined by a comma; by default the only one.

    Raises:
        DamagedFile: the store or a line is damaged; names the file and the line.
        InvalidCall: no judgements, or several places and none was chosen.
    """
    everything = [each for path in paths for each in _read(path)]
    places = sorted({each.place for each in everything})
    if place is None and len(places) > 1:
        raise InvalidCall(f"judgements of {', '.join(places[:10])}", remedy="choose one of them (--place)")
    chosen = [each for each in everything if place in {None, each.place}]
    if not chosen:
        raise InvalidCall(f"no judgements{f' of {place}' if place else ''} in {', '.join(map(str, paths))}")
    return list(last_judgements(chosen))


def _read(path: Path) -> Iterable[ReaderJudgement]:
    if path.name != SERVER_STORE:
        return read_records(path, ReaderJudgement)
    try:
        with open_server_store(path) as database:
            rows = database.execute("SELECT record FROM judgements ORDER BY id").fetchall()
            return [adapter(ReaderJudgement).validate_json(record) for (record,) in rows]
    except (sqlite3.Error, ValidationError) as error:
        raise DamagedFile(f"{path} cannot be read ({error})") from error


def write_judgements(judgements: Sequence[ReaderJudgement], folder: Path) -> dict[str, Any]:
    """Write the files of judgements; return the numbers of judgements by kind, and the agreement.

    It is that of the checks of sentences with the majority of the readers; other checks are left out.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing.
    """
    papers: dict[str, dict[str, Votes]] = defaultdict(lambda: defaultdict(Votes))
    sentences: dict[tuple[str, JudgedSentence, str], Votes] = defaultdict(Votes)
    answers: dict[str, Votes] = defaultdict(Votes)
    for each in judgements:
        if each.sentence:
            of = sentences[each.question, each.sentence, each.written_by]
        else:
            of = papers[each.question][each.paper] if each.paper else answers[each.written_by]
        of[each.verdict in POSITIVE] += 1
    files: dict[str, list[str]] = {TOPICS: [], QRELS: [], CITATIONS: []}
    for question, judged in papers.items():
        query_id = f"r{blake2b(question.encode(), digest_size=6).hexdigest()}"
        decided = {paper: of.majority for paper, of in judged.items() if of.majority is not None}
        if decided:
            files[TOPICS].append(json_text({"query_id": query_id, "question": question}))
        files[QRELS] += [f"{query_id} 0 {paper} {int(relevant)}" for paper, relevant in decided.items()]
    for (question, sentence, written_by), of in sentences.items():
        record = {"question": question, "sentence": sentence.text, "citations": sentence.citations}
        record |= {"check": sentence.check, "written_by": written_by}
        files[CITATIONS].append(json_text(record | {"supported": of[True], "not_supported": of[False]}))
    for name, lines in files.items():
        write_output(folder / name, "".join(f"{line}\n" for line in lines).encode())
    checks = agreement(
        [
            (sentence.check == "supported", of.majority)
            for (_, sentence, _), of in sentences.items()
            if sentence.check in {"supported", "unsupported"} and of.majority is not None
        ]
    )
    return {
        "judgements": len(judgements),
        "questions": len(files[TOPICS]),
        "papers": len(files[QRELS]),
        "sentences": len(files[CITATIONS]),
        "answers": {name: [each[True], each[False]] for name, each in answers.items()},
        "checks": {"compared": checks.compared, "agreement": checks.share, "kappa": checks.kappa},
    }


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

    FILE is the store of the server, HOME/.server.sqlite, or a saved answer of GET /api/v1/judgements. DIR
    gets topics.jsonl and qrels.txt, for `eval run` and `eval score`, and citations.jsonl with the judged
    sentences of answers. The last judgement of each reader counts, and the majority of several readers.
    """
    record = write_judgements(read_judgements(files, place), out)
    if as_json:
        echo_json(record)
        return
    counts = {
        name: counted(record[f"{name}s"], name) for name in ("judgement", "paper", "question", "sentence")
    }
    echo("{judgement}: {paper} for {question}, {sentence}".format(**counts))
    for name, (helpful, others) in record["answers"].items():
        echo(
            f"answers by {name or 'an unknown writer'}: helpful in {helpful} of {helpful + others} judgements"
        )
    checks = record["checks"]
    if checks["compared"]:
        kappa = "" if checks["kappa"] is None else f", kappa {checks['kappa']:.2f}"
        echo(
            f"checks agree with readers on {checks['agreement']:.0%} of {checks['compared']} sentences{kappa}"
        )
