"""Finding papers on a real cluster: what the embedded engine finds, with few requests."""

import asyncio
import random
from dataclasses import replace
from typing import Any

from generator.finding.agents import PURE
from generator.finding.calls import FindRequest
from generator.finding.finding import find_in_sources, open_places
from indexer.ingest import IngestRequest, build_index
from tests.generator.sample_index import settings_of
from tests.indexer.made_corpora import write_jsonl
from tests.service.elasticsearch.own_prefix import own_prefix


def words_of(topic, aspect):
    return [f"topic{topic}aspect{aspect}word{number}" for number in range(12)]


QUESTION = " ".join(words_of(0, 0)[:4])


def citing_papers(count):
    """Yield papers on one or two aspects of a topic that refer to older ones, by id, DOI or an entry."""
    draw = random.Random(14)
    papers: list[dict[str, Any]] = []
    for number in range(count):
        topic = draw.randrange(count // 100)
        words = [word for aspect in draw.sample(range(5), 2) for word in words_of(topic, aspect)]
        common = [f"common{draw.randrange(5_000)}" for _ in range(60)]
        own = [paper for paper in papers if paper["topic"] == topic] or papers
        cited = [draw.choice(own if draw.random() < 0.75 else papers) for _ in papers[:20]]
        entries = [{"text": paper["title"], "title": paper["title"], "year": 2000} for paper in cited[:2]]
        paper = {
            "id": f"G{number:06}",
            "title": " ".join(draw.sample(words, 4)).capitalize() + f" {number}",
            "abstract": " ".join(draw.sample(words, 12) + common) + ".",
            "year": 2000,
            "doi": f"10.5555/generated.{number}",
            "lang": "en",
            "references": [paper[draw.choice(["id", "doi"])] for paper in cited[2:]] + [f"absent-{number}"],
            "reference_list": entries,
        }
        papers.append(paper | {"topic": topic})
        yield paper


def test_references_cost_a_cluster_two_requests_a_layer_and_lead_to_the_same_papers(elasticsearch, tmp_path):
    corpus = write_jsonl(tmp_path / "papers.jsonl", [*citing_papers(600)])
    request = FindRequest(QUESTION, papers=100, layers=2, rounds=0, threshold=0.2, without=PURE)

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
