"""Papers of a collection that are folded as duplicates.

    python -m tools.duplicates [--data DIR] [--collection NAME] [--list] [--json]

Compares all papers of the sample and of each training collection, as search does with hits. Reported: papers,
papers folded into another one, and folded papers whose text is not identical. `--list` prints the pairs for
manual review: a pair of two different papers is an error.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from base.terminal.output import echo, shortened
from indexer.files.schema import StoredPassage
from retriever.duplicates import without_duplicates
from retriever.stages.hits import Hit
from tools.bench import Row, names_option, optional_data_option, table_command
from tools.collections import OF_SAMPLE, TRAINING, present, read_lines

COLLECTIONS = (OF_SAMPLE, *TRAINING)


@table_command
@optional_data_option
@names_option(collection.name for collection in COLLECTIONS)
@click.option("--list", "listing", is_flag=True, help="List the pairs.")
def main(data: Path, names: tuple[str, ...], listing: bool) -> Iterator[Row]:
    """Count the papers that are folded."""
    for collection in present(data, [each for each in COLLECTIONS if not names or each.name in names]):
        hits = []
        for rank, paper in enumerate(read_lines(data / collection.corpus), 1):
            paper_id, text = str(paper["id"]), paper.get("abstract") or ""
            title, year = paper.get("title") or "", paper.get("year")
            passage = StoredPassage(paper_id, paper_id, title, text, "other", "abstract", year)
            hits.append(Hit(rank, passage, 0.0, paper=paper))
        by_id = {hit.doc_id: hit for hit in hits}
        pairs = [(kept, by_id[other]) for kept in without_duplicates(hits) for other in kept.folded]
        different = sum(kept.passage.text != other.passage.text for kept, other in pairs)
        figures = {"papers": len(hits), "folded": len(pairs), "of another text": different}
        yield {"collection": collection.name, **figures}
        for pair in pairs if listing else ():
            echo(" | ".join(f"{hit.doc_id} {shortened(hit.passage.title)}" for hit in pair), err=True)


if __name__ == "__main__":
    main()
