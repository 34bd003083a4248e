"""A corpus of a few papers for tests of searching, indexed once a session."""

import asyncio
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.query_plan import BRIDGES, FEEDBACK, QueryPlan
from retriever.search import SearchRequest, open_ranking, rank, run_stages, search
from retriever.settings import RetrieverSettings
from tests.indexer.made_corpora import build, write_jsonl

NAME = "papers"
SAME_TEXT = "Quokka populations on islands"

PAPERS: list[dict[str, Any]] = [
    {
        "id": "KG-KO",
        "title": "지식 그래프(knowledge graph)를 이용한 학술 검색",
        "abstract": "지식 그래프는 개체와 관계를 담는다. 학술 검색에서 환각(hallucination)을 줄인다.",
        "keywords": ["지식 그래프", "knowledge graph", "환각", "hallucination"],
        "authors": ["곽소율"],
        "year": 2023,
        "journal": "정보과학회논문지",
    },
    {
        "id": "KG-EN",
        "title": "Grounded answers",
        "abstract": "Language models state what no source holds; such hallucination falls with evidence.",
        "authors": ["Ada Kim"],
        "year": 2020,
        "journal": "Annals of Retrieval",
    },
    {
        "id": "BOTH",
        "title": "비선형 회귀의 추정",
        "abstract": "비선형 회귀 모형의 모수를 추정하는 방법을 만든다.",
        "title2": "Estimating nonlinear regression",
        "abstract2": "We estimate the parameters of nonlinear regression models.",
        "lang": "ko",
        "year": 2019,
        "journal": "통계연구",
    },
    {
        "id": "ALGORITHM",
        "title": "정렬 알고리즘의 비교",
        "abstract": "여러 알고리즘의 정렬 속도를 비교하였다. 알고리즘마다 메모리 사용량이 달랐다.",
        "year": 2018,
    },
    {
        "id": "SEGMENT",
        "title": "Segmentation of naïve scenes",
        "abstract": "Image segmentation with a naïve baseline in 2017 and 2018.",
        "year": 2018,
    },
    {
        "id": "DECOMPOSED",
        "title": unicodedata.normalize("NFD", "해파리 군집의 이동"),
        "abstract": unicodedata.normalize("NFD", "해파리 군집은 해류를 따라 남하한다."),
        "year": 2021,
    },
    {
        "id": "TITLED",
        "title": "Pangolin trade",
        "abstract": "A survey of markets and of routes.",
        "year": 2015,
    },
    {
        "id": "TEXTUAL",
        "title": "Wildlife trade",
        "abstract": "Markets for pangolin and others.",
        "year": 2015,
    },
    {"id": "DOI-1", "title": "Axolotl limbs", "abstract": "Axolotl limbs regrow.", "doi": "10.5555/AXO.1"},
    {
        "id": "DOI-2",
        "title": "Limb regrowth, a preprint",
        "abstract": "Axolotl limbs regrow, says this preprint of the article.",
        "doi": "https://doi.org/10.5555/axo.1",
    },
    {"id": "BARE", "title": "Axolotl gills", "year": 2022},
    *({"id": f"TIE-{number}", "title": SAME_TEXT, "abstract": "Quokka counts."} for number in range(12)),
    *(
        {
            "id": f"FILL-{number}",
            "title": f"Filling {number}",
            "abstract": f"Plain words about topic {number}.",
        }
        for number in range(12)
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
    """Open the index of all papers."""
    return open_index(IndexerSettings(home=built(factory)), NAME)


def index_of(folder, *papers, **options) -> SearchIndex:
    """Index some papers on their own, and open that."""
    folder.mkdir(exist_ok=True)
    build(folder, write_jsonl(folder / "own.jsonl", papers), "own", **options)
    return open_index(IndexerSettings(home=folder), "own")


def indexed(settings, papers, name=NAME, **options) -> SearchIndex:
    """Index some papers where the settings say, with whatever engine, and open that."""
    settings.home.mkdir(parents=True, exist_ok=True)
    corpus = write_jsonl(settings.home / f"{name}.jsonl", papers)
    build_index(IngestRequest(name, [str(corpus)], **options), settings)
    return open_index(settings, name)


def found(index, question, method="shrag", settings=None, **request):
    """Search, and return the whole result."""
    asked = SearchRequest(question, method, **request)
    return asyncio.run(search(index, asked, settings or RetrieverSettings()))


def planned(index, question, method="shrag", settings=None, **request) -> QueryPlan:
    """Return the query plan of a question."""
    context = open_ranking(index, SearchRequest(question, method, **request), settings or RetrieverSettings())
    stages = run_stages(context, upto="plan")
    assert stages.plan is not None
    return stages.plan


def queries_of_plan(result):
    """Return the queries of a result without those of the terms and names of its first hits."""
    return [query for query in result.queries if query.name not in {FEEDBACK, BRIDGES}]


def ids(index, question, method="shrag", settings=None, **request):
    """Search, and return the passage_ids in order."""
    return [hit.passage_id for hit in found(index, question, method, settings, **request).hits]


def run_of(index, question, method="or", settings=None, **request):
    """Return the run for a question, as `eval run` writes it."""
    asked = SearchRequest(question, method, **request)
    return list(asyncio.run(rank(index, asked, settings or RetrieverSettings())).hits)
