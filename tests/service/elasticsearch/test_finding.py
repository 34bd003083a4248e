"""Finding papers and questions of several steps on a real cluster: what the embedded engine gives."""

import asyncio
from dataclasses import replace

import pytest

from benchmarks.corpora.citations import question_of, write_citing_papers
from generator.finding.agents import PURE
from generator.finding.finding import find_in_sources, open_index_as_source
from generator.finding.request import FindRequest
from indexer.ingest import IngestRequest, build_index
from tests.generator.sample_index import KOREAN, settings_of
from tests.indexer.made_corpora import ROOT
from tests.service.elasticsearch.own_prefix import own_prefix


@pytest.fixture(scope="module")
def engines(elasticsearch, tmp_path_factory):
    """Build the sample, and generated papers that refer to each other, on both engines."""
    folder = tmp_path_factory.mktemp("finding")
    corpora = {
        "sample": ROOT / "sample" / "papers.jsonl",
        "generated": write_citing_papers(folder / "papers.jsonl", 600),
    }
    with own_prefix(elasticsearch) as settings_for:
        embedded = settings_of(folder / "embedded")
        both = embedded, replace(embedded, indexer=settings_for(folder / "cluster"))
        for settings in both:
            for name, path in corpora.items():
                build_index(IngestRequest(name, [str(path)]), settings.indexer)
        yield both


def find(settings, name, request):
    async def run():
        async with open_index_as_source(name, settings) as opened:
            return await find_in_sources(opened, request, settings)

    return asyncio.run(run())


def test_both_engines_find_the_same_papers(engines):
    embedded, cluster = (find(settings, "sample", FindRequest(KOREAN, layers=2)) for settings in engines)
    assert embedded.papers
    assert [(ranked.paper_id, ranked.score) for ranked in cluster.papers] == [
        (ranked.paper_id, ranked.score) for ranked in embedded.papers
    ]
    assert [query.text for query in cluster.state.queries] == [query.text for query in embedded.state.queries]


def test_references_cost_a_cluster_two_requests_a_layer_and_lead_to_the_same_papers(engines):
    request = FindRequest(question_of(0), papers=100, layers=2, rounds=0, threshold=0.2, without=PURE)
    embedded, cluster = (find(settings, "generated", request) for settings in engines)
    layers = [step.output for step in cluster.step.walk() if step.name == "refchain"]
    assert layers[0]["new"] > 20
    assert all(layer["requests"] <= 2 for layer in layers)
    assert cluster.state.papers.keys() == embedded.state.papers.keys()
