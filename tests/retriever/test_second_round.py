"""Two rounds of searches: the second follows what the best passages of the first lead on to."""

import asyncio

import pytest

from retriever.constraints.exclusions import Exclusion
from retriever.constraints.parsing import Constraints
from retriever.engines import EngineHit
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, open_search, present, run_stages
from retriever.second_round import in_turn, interleaved, with_second_round
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import index_of

ENGLISH = "What was the profession of the founder of the Silberberg Observatory?"
KOREAN = "한라 천문대 설립자의 직업은 무엇인가?"
TERMS = "어떤 소재가 전지의 열폭주를 늦추는가?"
CORPORA = {
    ENGLISH: [
        ("NAMED", "Silberberg Observatory", "It stands on a hill and was founded in 1893 by Marta Quillon."),
        ("ANSWER", "Marta Quillon", "Marta Quillon came from Valparaiso and drew maps of comets."),
    ],
    KOREAN: [
        ("NAMED", "한라 천문대", "한라 천문대는 언덕 위에 있다. 1893년에 박지원이 설립하였다."),
        ("ANSWER", "박지원", "박지원은 혜성의 지도를 그렸다."),
    ],
    TERMS: [
        ("NAMED", "전지의 열폭주", "열폭주를 늦추는 데에는 분리막이 중요하다."),
        ("ANSWER", "분리막", "분리막은 세라믹을 입히면 오래 견딘다."),
    ],
}


def papers(question):
    fillers = [(f"F{number}", f"Study {number}", f"Plain words, 연습 {number}.") for number in range(12)]
    return [
        {"id": paper, "title": title, "abstract": text, "year": 1999 if paper == "ANSWER" else 2000}
        for paper, title, text in (*CORPORA[question], *fillers)
    ]


@pytest.fixture(scope="module", params=CORPORA, ids=["English", "Korean", "nouns"])
def corpus(request, tmp_path_factory):
    with index_of(tmp_path_factory.mktemp("rounds"), *papers(request.param)) as index:
        yield index, request.param


def two_rounds(index, question, method="or", **request):
    settings = RetrieverSettings(without=frozenset({"second-search", "feedback"}))
    context = open_search(index, SearchRequest(question, method=method, **request), settings)

    async def search():
        stages = await run_stages(context)
        first = await present(context, stages)
        return first, await present(context, await with_second_round(context, stages))

    return asyncio.run(search())


def ids(result):
    return [hit.passage_id for hit in result.hits]


def test_the_second_round_finds_what_the_first_leads_on_to(corpus):
    first, both = two_rounds(*corpus)
    assert "ANSWER" not in ids(first)
    assert ids(both)[:2] == ["NAMED", "ANSWER"]
    assert both.hits[1].found_by == ("second round 1",)
    assert any("from NAMED" in note for note in both.notes)


def test_what_a_filter_leaves_out_is_not_found_by_the_second_round(corpus):
    _, both = two_rounds(*corpus, filters=Filters(without=("ANSWER",)))
    assert "ANSWER" not in ids(both)


def test_what_is_excluded_stands_lower_in_the_second_round_too(tmp_path):
    twin = {"id": "TWIN", "title": "Marta Quillon", "abstract": "Marta Quillon drew maps of canals."}
    canals = Constraints(exclusions=(Exclusion("canals"),))
    with index_of(tmp_path, *papers(ENGLISH), twin) as index:
        first, plain = two_rounds(index, ENGLISH, method="shrag")
        _, without = two_rounds(index, ENGLISH, method="shrag", constraints=canals)
    assert not {"ANSWER", "TWIN"} & set(ids(first))
    assert ids(plain).index("TWIN") < ids(plain).index("ANSWER")
    assert ids(without).index("ANSWER") < ids(without).index("TWIN")


def test_nothing_found_leads_nowhere(corpus):
    first, both = two_rounds(corpus[0], "xylophone")
    assert ids(first) == ids(both) == []


def test_an_expression_has_no_second_round(corpus):
    index, _ = corpus
    context = open_search(index, SearchRequest('"hill" OR "언덕"', method="boolean"), RetrieverSettings())
    stages = asyncio.run(run_stages(context))
    assert asyncio.run(with_second_round(context, stages)) is stages


def hit(paper, passage=""):
    return EngineHit(passage or paper, paper, 1.0)


def scores(*rounds, share=0.55, collapse=True):
    first, second = [[hit(*name.split("/")) for name in found] for found in rounds]
    return [
        (found.passage_id, score) for found, score in interleaved(first, second, share, collapse=collapse)
    ]


def test_a_hit_scores_by_its_better_rank():
    assert scores(["A", "B", "C"], ["C", "D"]) == [("A", 1.0), ("C", 0.55), ("B", 0.5), ("D", 0.55 / 2)]


def test_a_paper_stands_once_by_the_passage_of_the_first_round():
    assert scores(["A/A#1"], ["A/A#7", "B"]) == [("A#1", 1.0), ("B", 0.55 / 2)]
    assert scores(["A/A#1"], ["A/A#7"], collapse=False) == [("A#1", 1.0), ("A#7", 0.55)]


def test_several_lists_are_taken_in_turn():
    found = in_turn([[hit("A"), hit("B")], [hit("C"), hit("A"), hit("D")]])
    assert [one.doc_id for one in found] == ["A", "C", "B", "D"]
