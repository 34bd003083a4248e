"""A corpus of a few papers for tests of searching, indexed once a session."""

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.query_plan import BRIDGES, FEEDBACK, QueryPlan
from retriever.search import SearchRequest, open_ranking, rank, run_stages, search
from retriever.settings import RetrieverSettings
from tests.indexer.made_corpora import build, write_jsonl

NAME = "papers"
LINES = Path(__file__).with_name("made_papers.jsonl").read_text(encoding="utf-8").splitlines()
TIES = {"title": "Quokka populations on islands", "abstract": "Quokka counts."}
PAPERS: list[dict[str, Any]] = [
    *map(json.loads, LINES),
    *({"id": f"TIE-{n}"} | TIES for n in range(12)),
    *(
        {"id": f"FILL-{n}", "title": f"Filling {n}", "abstract": f"Plain words about topic {n}."}
        for n in range(12)
    ),
]


@cache
def _built(folder: Path) -> Path:
    home = folder / "searching"
    home.mkdir()
    build(home, write_jsonl(home / "papers.jsonl", PAPERS), NAME)
    return home


def built(factory) -> Path:
    """Return the home of the index, the same for the whole session; a test must not change it."""
    return _built(factory.getbasetemp())


def opened(factory) -> SearchIndex:
    return open_index(IndexerSettings(home=built(factory)), NAME)


def index_of(folder, *papers, **options) -> SearchIndex:
    """Index some papers on their own, and open that."""
    folder.mkdir(exist_ok=True)
    build(folder, write_jsonl(folder / "own.jsonl", papers), "own", **options)
    return open_index(IndexerSettings(home=folder), "own")


def index_fixture(*papers, **options):
    """Return a fixture of a module: an index of some papers on their own."""

    @pytest.fixture(scope="module")
    def index(tmp_path_factory):
        with index_of(tmp_path_factory.mktemp("own"), *papers, **options) as opened:
            yield opened

    return index


def contract_fixture(papers, name=NAME):
    """Return a fixture of a module: an index of some papers with the engine of `settings_for`."""

    @pytest.fixture(scope="module")
    def index(tmp_path_factory, settings_for):
        with indexed(settings_for(tmp_path_factory.mktemp(name)), papers, name) as opened:
            yield opened

    return index


def indexed(settings, papers, name=NAME, **options) -> SearchIndex:
    """Index some papers where the settings say, with whatever engine, and open that."""
    settings.home.mkdir(parents=True, exist_ok=True)
    corpus = write_jsonl(settings.home / f"{name}.jsonl", papers)
    build_index(IngestRequest(name, [str(corpus)], **options), settings)
    return open_index(settings, name)


def found(index, question, method="shrag", settings=None, **request):
    asked = SearchRequest(question, method, **request)
    return asyncio.run(search(index, asked, settings or RetrieverSettings()))


def planned(index, question, method="shrag", settings=None, **request) -> QueryPlan:
    context = open_ranking(index, SearchRequest(question, method, **request), settings or RetrieverSettings())
    stages = run_stages(context, upto="plan")
    assert stages.plan is not None
    return stages.plan


def queries_of_plan(result):
    """Return the queries of a result without those of the terms and names of its first hits."""
    return [query for query in result.queries if query.name not in {FEEDBACK, BRIDGES}]


def ids(index, question, method="shrag", settings=None, **request):
    return [hit.passage_id for hit in found(index, question, method, settings, **request).hits]


def run_of(index, question, method="or", settings=None, **request):
    """Return the run for a question, as `eval run` writes it."""
    asked = SearchRequest(question, method, **request)
    return list(asyncio.run(rank(index, asked, settings or RetrieverSettings())).hits)
