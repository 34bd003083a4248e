"""What several sources found, as one list of papers, each paper once."""

import asyncio
from typing import Any

import pytest

from indexer.corpora.papers import Paper
from retriever.errors import SourceFailed
from retriever.queries.boolean import Term
from retriever.queries.filters import Filters
from retriever.sources import SourceAnswer
from retriever.sources.merging import LimitedSource, merge, search_sources
from tests.virtual_clock import run

QUERY = (Term("methane", ()), 10)


def found(*lists):
    papers = (map(Paper.model_validate, records) for records in lists)
    return SourceAnswer(tuple(map(tuple, papers)))


def rice(paper_id, **more):
    return {"id": paper_id, "title": "Methane emission of rice paddies"} | more


def test_several_sources_are_fused_by_rank_and_their_ids_told_apart():
    answers = {
        "a": found([{"id": "1", "title": "one of many"}, {"id": "2", "doi": "10.1/X"}]),
        "b": found([{"id": "1", "doi": "https://doi.org/10.1/x"}]),
    }
    merged = merge(answers, {}, several=True)
    [[first, second]] = merged.found
    assert (first, second) == ("a:2", "a:1")
    assert merged.papers["a:2"].ids == (("a", "2"), ("b", "1"))


def test_what_the_first_record_lacks_is_taken_from_the_others():
    answers = {
        "a": found([rice("1", year=2019, cited_by_count=3)]),
        "b": found([rice("9", year=2019, abstract="Much less.", journal="Soil", cited_by_count=5)]),
    }
    [merged] = merge(answers, {}, several=True).papers.values()
    record = merged.record().record()
    assert record == {
        "id": "a:1",
        "lang": "en",
        "title": "Methane emission of rice paddies",
        "year": 2019,
        "cited_by_count": 5,
        "abstract": "Much less.",
        "journal": "Soil",
        "found_in": [{"source": "a", "id": "1"}, {"source": "b", "id": "9"}],
    }


KOREAN_ABSTRACT = "세 해 여름 동안 24개 논에서 중간에 물을 떼었더니 메탄 배출량이 37% 줄었다."
ENGLISH_ABSTRACT = "We drained 24 plots in midseason for three summers, and methane emission fell by 37%."
KOREAN = {
    "id": "1",
    "title": "중간 물떼기에 따른 논의 메탄 배출",
    "title2": "Methane emission of rice paddies",
    "abstract": KOREAN_ABSTRACT,
    "doi": "10.1/x",
}
ENGLISH = rice("9", abstract=ENGLISH_ABSTRACT, doi="10.1/X")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (KOREAN, ENGLISH),
        (ENGLISH, KOREAN),
        (rice("1", abstract=KOREAN_ABSTRACT, year=2020), rice("9", abstract=ENGLISH_ABSTRACT, year=2020)),
    ],
    ids=["Korean first", "English first", "title and year"],
)
def test_abstracts_in_two_languages_are_one_paper_if_titles_in_one_language_agree(one, other):
    merged = merge({"a": found([one]), "b": found([other])}, {}, several=True)

    [paper] = [each.paper for each in merged.papers.values()]
    assert (paper.id, paper.title) == (f"a:{one['id']}", one["title"])
    assert (paper.abstract, paper.abstract2) == (one["abstract"], other["abstract"])


class OneOf:
    def __init__(self, name, behaviour):
        self.name, self.behaviour = name, behaviour
        self.questions = 0

    async def search(self, queries, *, filters):
        self.questions += 1
        if isinstance(self.behaviour, Exception):
            raise self.behaviour
        if self.behaviour is None:
            await asyncio.sleep(3600)
        return self.behaviour


def test_a_source_that_fails_or_is_silent_costs_the_others_nothing():
    answer = SourceAnswer(found([rice("1")]).found, notes=("a query was shortened",))
    failing: Any = OneOf("failing", SourceFailed("source 'failing': status 500\nand more"))
    broken: Any = OneOf("broken", KeyError("results"))
    slow: Any = OneOf("slow", None)
    good: Any = OneOf("good", answer)
    limited = [LimitedSource(each, 0.2) for each in (slow, failing, good, broken)]
    for _ in range(2):
        merged, notes = run(search_sources(limited, [QUERY], Filters()))
    assert slow.questions == 1  # a silent source is waited for once
    assert list(merged.papers) == ["good:1"]
    assert notes == (
        "source 'slow' did not answer within 0.2 s",
        "source 'failing': status 500 and more",
        "source 'broken' failed (KeyError)",
        "source 'good': a query was shortened",
    )
    with pytest.raises(SourceFailed, match=r"source 'slow' did not answer within .* s; source 'failing'"):
        run(search_sources(limited[:2], [QUERY], Filters()))
