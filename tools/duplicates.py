"""Papers of a collection that are folded as duplicates.

    python -m tools.duplicates [--data DIR] [--collection NAME] [--list] [--json]

Compares all papers of the sample and of each training collection, as search does with hits. Reported: papers,
papers folded into another one, and folded papers whose text is not identical. `--list` prints the pairs for
manual review: a pair of two different papers is an error.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from base.sample import SAMPLE
from base.terminal.output import echo, shortened
from indexer.files.schema import StoredPassage
from indexer.options import json_option
from retriever.duplicates import without_duplicates
from retriever.stages.hits import Hit
from tools.bench import echo_rows, names_option, optional_data_option
from tools.collections import TRAINING, present, read_lines, records

NAME = "sample"


def folded_pairs(papers: Iterable[dict[str, Any]]) -> list[tuple[Hit, Hit]]:
    """Return each folded paper after the paper that represents it, as hits in the order of the papers."""
    hits = []
    for rank, paper in enumerate(papers, 1):
        paper_id, text = str(paper["id"]), paper.get("abstract") or paper.get("text") or ""
        title, year = paper.get("title") or "", paper.get("year")
        passage = StoredPassage(paper_id, paper_id, title, text, "other", "abstract", year)
        hits.append(Hit(rank, passage, 0.0, paper=paper))
    by_id = {hit.doc_id: hit for hit in hits}
    return [(kept, by_id[other]) for kept in without_duplicates(hits) for other in kept.folded]


@click.command()
@optional_data_option
@names_option([NAME, *(collection.name for collection in TRAINING)])
@click.option("--list", "listing", is_flag=True, help="List the pairs.")
@json_option
def main(data: Path, names: tuple[str, ...], listing: bool, as_json: bool) -> None:
    """Count the papers that are folded."""
    corpora = {NAME: read_lines(SAMPLE / "papers.jsonl")} if not names or NAME in names else {}
    wanted = [collection for collection in TRAINING if not names or collection.name in names]
    corpora |= {each.name: list(records(data / each.corpus)) for each in present(data, wanted)}
    rows = []
    for name, papers in corpora.items():
        pairs = folded_pairs(papers)
        different = sum(kept.passage.text != other.passage.text for kept, other in pairs)
        figures = {"papers": len(papers), "folded": len(pairs), "of another text": different}
        rows.append({"collection": name, **figures})
        for pair in pairs if listing else ():
            echo(" | ".join(f"{hit.doc_id} {shortened(hit.passage.title)}" for hit in pair), err=True)
    echo_rows(rows, as_json=as_json)


if __name__ == "__main__":
    main()
