"""References of papers that the source which found them does not know, looked up by DOI in other sources."""

import asyncio
from typing import Any

from generator.finding.agents.refchain import doi_of
from generator.finding.calls import FindRequest
from generator.finding.finding import OpenedSources, find_in_sources
from generator.finding.state import FoundBy, KnownPaper
from indexer.corpora.papers import Paper
from retriever.index import open_index
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource, MergedPaper
from tests.generator.finding_model import FindingModel, value_of
from tests.generator.language_model import settings as model_settings
from tests.generator.sample_index import settings_of
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.sources.exchanges import as_json
from tests.retriever.sources.services import Reply, open_kind, service

QUESTION = "methane from rice paddies"
PADDY = {"id": "OURS-1", "title": "Methane of paddies", "abstract": "Rice paddies emit methane."}
WORKS: list[dict[str, Any]] = [
    {
        "id": "https://openalex.org/W101",
        "doi": "https://doi.org/10.5555/paddy.1",
        "title": "Methane of paddies",
        "referenced_works": ["https://openalex.org/W102"],
    },
    {"id": "https://openalex.org/W102", "title": "Drained paddies", "publication_year": 2011},
]


def openalex(asked):
    """Answer nothing to a search; find works by the filters `doi` and `ids.openalex`."""
    name, _, values = asked.one("filter").partition(":")
    wanted = [value.lower() for value in values.split("|")]
    of = {"doi": "doi", "ids.openalex": "id"}.get(name, "")
    works = [work for work in WORKS if str(work.get(of, "")).lower().endswith(tuple(wanted) if of else "\0")]
    return Reply(as_json({"results": works}))


def judgement(prompt):
    return {"reason": "By its title.", "score": 0.9 if "paddies" in value_of("title", prompt) else 0.1}


def test_references_that_the_finding_source_does_not_know_are_looked_up_by_doi(tmp_path):
    # Papers without references: one with a DOI, one without.
    papers = [PADDY | {"doi": "10.5555/PADDY.1"}, PADDY | {"id": "OURS-2", "title": "Other paddies"}]
    build(tmp_path, write_jsonl(tmp_path / "ours.jsonl", papers), name="ours")
    given = settings_of(tmp_path, llm=model_settings())
    request = FindRequest(QUESTION, rounds=0, without=frozenset({"understanding", "query-writing"}))

    async def run(address):
        service = open_kind("openalex", address)
        try:
            with open_index(given.indexer, "ours") as index:
                ours = LimitedSource(IndexSource("ours", index), 60)
                opened = OpenedSources([ours, LimitedSource(service, 120, "openalex")])
                async with given.language_model(FindingModel({"judgement": judgement}).transport) as model:
                    return await find_in_sources(opened, request, given, model=model)
        finally:
            await service.close()

    with service(openalex) as (address, asked):
        found = asyncio.run(run(address))
    titles = {ranked.known.title for ranked in found.papers}
    assert titles == {"Methane of paddies", "Other paddies", "Drained paddies"}
    drained = found.state.papers["my-openalex:W102"]
    assert drained.found_by == (FoundBy("reference", "ours:OURS-1", 1),)
    assert drained.layer == 1
    filters = [request.one("filter") for request in asked if request.one("filter")]
    assert filters == ["doi:10.5555/paddy.1", "ids.openalex:W101", "ids.openalex:W102"]


def test_a_preprint_without_another_doi_has_that_of_arxiv():
    paper = Paper.model_validate({"id": "2101.00001", "title": "Paddies"})
    known = KnownPaper(MergedPaper(paper, (("preprints", "2101.00001"),)), (FoundBy("query", "paddies", 1),))

    assert doi_of(known, {"preprints"}) == "10.48550/arxiv.2101.00001"
    assert doi_of(known, {"others"}) == ""
