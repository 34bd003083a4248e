"""Cost of the citation graph: indexing time, disk space and lookups.

    python -m benchmarks.citations [--papers 20000] [--lookups 50] [--corpus FILE] [--json] [--strict]

Without `--corpus`, the generated corpus is indexed. Collecting references, matching them and writing the
graph are timed again on the stored records of the new index; a build does this in the writing thread. Shares
refer to processor time, which other work on the machine hardly affects.
"""

import asyncio
import os
import random
import tempfile
import time
from pathlib import Path
from statistics import median

import click

from base.terminal.progress_bar import progress_bar
from benchmarks.corpora.citations import PAPERS, SEED, CitationCorpus, write_corpus
from benchmarks.figures import Figure, machine, report, strict_option
from indexer.citation_graph.gathering import Gathered
from indexer.citation_graph.writing import write_citations
from indexer.ingest import build_index
from indexer.options import json_option
from indexer.requests import IngestRequest
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import CITATIONS
from indexer.versions.store.engines import open_store
from retriever.index import SearchIndex, open_index
from retriever.papers.citations import citation_counts, cited_by, references

NAME, LAYER = "citations", 100
SHARE_BAR = 0.05  # share of indexing


@click.command()
@click.option("--papers", type=click.IntRange(1), default=PAPERS, show_default=True)
@click.option("--lookups", type=click.IntRange(1), default=50, show_default=True)
@click.option(
    "--corpus",
    type=click.Path(path_type=Path, exists=True),
    help="Corpus to use instead of the generated one.",
)
@strict_option
@json_option
def main(papers: int, lookups: int, corpus: Path | None, *, strict: bool, as_json: bool) -> None:
    """Measure the citation graph of a generated or given corpus."""
    facts = machine()
    with tempfile.TemporaryDirectory(prefix="shrag-bench-") as folder:
        path = corpus or write_corpus(Path(folder) / "corpus", CitationCorpus(papers, SEED))
        settings = IndexerSettings(home=Path(folder) / "home", workers=2)
        before = _processor_seconds()
        with progress_bar() as progress:
            built = build_index(IngestRequest(NAME, [str(path)]), settings, progress)
        processor = _processor_seconds() - before
        counts, sizes = built.manifest.citations, built.manifest.files
        figures = [
            Figure("indexing", f"{built.manifest.papers:,} papers", built.seconds, "s"),
            Figure("indexing", "processor time, that of the workers included", processor, "s"),
            *_building(settings, processor),
            Figure("size", "whole index", sum(file.bytes for file in sizes.values()) / 1e6, "MB"),
            Figure("size", "citation graph", sizes[CITATIONS].bytes / 1e6, "MB"),
            *(Figure("references", name, count) for name, count in counts.items()),
        ]
        with open_index(settings, NAME) as index:
            figures += asyncio.run(_lookups(index, _ids(settings), lookups))
    report(figures, facts, as_json=as_json, strict=strict)


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def _building(settings: IndexerSettings, processor: float) -> list[Figure]:
    """Time the work of a build for the graph, relative to the processor time of the whole build."""
    gathered, spent = Gathered(), 0.0
    with open_store(settings, NAME) as store, tempfile.TemporaryDirectory() as folder:
        for passage in store.stored_passages(store.manifest()):
            record = passage.paper  # also decoded for the glossary
            started = time.process_time()
            gathered.add(passage, record)
            spent += time.process_time() - started
        started = time.process_time()
        write_citations(Path(folder) / CITATIONS, gathered)
        written = time.process_time() - started
    return [
        Figure("indexing", "references gathered", spent, "s"),
        Figure("indexing", "references matched, graph written", written, "s"),
        Figure("indexing", "the graph's share", (spent + written) / processor, "×", SHARE_BAR),
    ]


def _ids(settings: IndexerSettings) -> list[str]:
    with open_store(settings, NAME) as store:
        return sorted({passage.doc_id for passage in store.stored_passages(store.manifest())})


async def _lookups(index: SearchIndex, ids: list[str], lookups: int) -> list[Figure]:
    """Time lookups of random layers of papers, with separate layers for each kind."""
    draw, figures = random.Random(SEED), []  # noqa: S311 - the same layers each time
    for name, look_up in (
        ("references", references),
        ("counts", citation_counts),
        ("cited-by", cited_by),
    ):
        layers = [draw.sample(ids, min(LAYER, len(ids))) for _ in range(lookups)]
        times = []
        for layer in layers:
            started = time.perf_counter()
            await look_up(index, layer)
            times.append((time.perf_counter() - started) * 1_000)
        figures.append(Figure(f"{LAYER} papers", f"{name}, median", median(times), "ms"))
    return figures


if __name__ == "__main__":
    main()
