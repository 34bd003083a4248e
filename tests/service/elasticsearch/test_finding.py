"""Finding papers and questions of several steps on a real cluster: what the embedded engine gives."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from generator.finding.agents import PURE
from generator.finding.calls import FindRequest
from generator.finding.finding import find_in_sources, open_places
from indexer.ingest import IngestRequest, build_index
from tests.generator.sample_index import ENGLISH, KOREAN, settings_of
from tests.indexer.made_corpora import ROOT, write_jsonl
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


@pytest.fixture(scope="module")
def engines(elasticsearch, tmp_path_factory):
    """Build the sample, and generated papers that refer to each other, on both engines."""
    folder = tmp_path_factory.mktemp("finding")
    corpora = {
        "sample": ROOT / "sample" / "papers.jsonl",
        "generated": write_jsonl(folder / "papers.jsonl", [*citing_papers(600)]),
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
        async with open_places(name, (), settings) as opened:
            return await find_in_sources(opened, request, settings)

    return asyncio.run(run())


def outcome(found):
    """Return the papers with their scores, and the queries that led to them."""
    papers = [(ranked.paper_id, ranked.score) for ranked in found.papers]
    return papers, [(query.text, set(query.found or ())) for query in found.state.queries]


@pytest.mark.parametrize("question", [KOREAN, ENGLISH])
def test_both_engines_find_the_same_papers(engines, question):
    embedded, cluster = (find(settings, "sample", FindRequest(question, layers=2)) for settings in engines)
    assert embedded.papers
    assert outcome(cluster) == outcome(embedded)


def test_references_cost_a_cluster_two_requests_a_layer_and_lead_to_the_same_papers(engines):
    request = FindRequest(QUESTION, papers=100, layers=2, rounds=0, threshold=0.2, without=PURE)
    embedded, cluster = (find(settings, "generated", request) for settings in engines)
    layers = [step.output for step in cluster.step.walk() if step.name == "refchain"]
    assert layers[0]["new"] > 20
    assert all(layer["requests"] <= 2 for layer in layers)
    assert {ranked.paper_id for ranked in cluster.papers} == {ranked.paper_id for ranked in embedded.papers}
    assert cluster.state.papers.keys() == embedded.state.papers.keys()
