"""Finding papers on a real cluster: what the embedded engine finds, with few requests."""

import asyncio
from dataclasses import replace

from benchmarks.corpora.citations import question_of, write_citing_papers
from generator.finding.agents import PURE
from generator.finding.calls import FindRequest
from generator.finding.finding import find_in_sources, open_places
from indexer.ingest import IngestRequest, build_index
from tests.generator.sample_index import settings_of
from tests.service.elasticsearch.own_prefix import own_prefix


def test_references_cost_a_cluster_two_requests_a_layer_and_lead_to_the_same_papers(elasticsearch, tmp_path):
    corpus = write_citing_papers(tmp_path / "papers.jsonl", 600)
    request = FindRequest(question_of(0), papers=100, layers=2, rounds=0, threshold=0.2, without=PURE)

    async def find(settings):
        async with open_places("generated", (), settings) as opened:
            return await find_in_sources(opened, request, settings)

    with own_prefix(elasticsearch) as settings_for:
        local = settings_of(tmp_path / "embedded")
        both = local, replace(local, indexer=settings_for(tmp_path / "cluster"))
        for settings in both:
            build_index(IngestRequest("generated", [str(corpus)]), settings.indexer)
        embedded, cluster = (asyncio.run(find(settings)) for settings in both)
    layers = [step.output for step in cluster.step.walk() if step.name == "refchain"]
    assert layers[0]["new"] > 20
    assert all(layer["requests"] <= 2 for layer in layers)
    assert {ranked.paper_id for ranked in cluster.papers} == {ranked.paper_id for ranked in embedded.papers}
    assert cluster.state.papers.keys() == embedded.state.papers.keys()
