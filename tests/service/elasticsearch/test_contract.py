"""A cluster keeps what every engine promises, and scores as the embedded engine does."""

import pytest

import retriever.engines.elasticsearch
from indexer.analysis import make_analyzer
from indexer.settings import IndexerSettings
from retriever.queries.boolean import And, Exact, Not, Or, Range, Term, or_query
from retriever.queries.expert import parse_expression
from retriever.queries.filters import Filters
from tests.retriever.made_papers import PAPERS, indexed
from tests.service.elasticsearch.cluster import client_of

pytest.register_assert_rewrite(
    *(f"tests.retriever.{name}_contract" for name in ("engine", "phrase", "reader"))
)

from tests.retriever.engine_contract import *  # noqa: E402, F403 - its tests and fixtures
from tests.retriever.phrase_contract import *  # noqa: E402, F403
from tests.retriever.reader_contract import *  # noqa: E402, F403


@pytest.fixture(scope="module")
def both(tmp_path_factory, settings_for):
    """Index the papers in the embedded engine and in the cluster, and open both."""
    home = tmp_path_factory.mktemp("both")
    with (
        indexed(IndexerSettings(home=home / "embedded", workers=1), PAPERS) as embedded,
        indexed(settings_for(home / "cluster"), PAPERS, "both") as cluster,
    ):
        yield embedded, cluster


def scored(index, query, k=60, *, collapse=False, **filters):
    [hits] = index.engine.search([(query, k)], filters=Filters(**filters), collapse=collapse)
    return [(hit.passage_id, hit.score) for hit in hits]


PANGOLIN, AXOLOTL, TRADE = (Term(word, (word,)) for word in ("pangolin", "axolotl", "trade"))
QUERIES = {
    "a word": PANGOLIN,
    "a word of the title": Term("trade", ("trade",), "title", 0.35),
    "a word of several tokens": Term("회귀", ("회귀", "regress")),
    "any, with the title clause": or_query([PANGOLIN, AXOLOTL, TRADE], title_weight=0.35),
    "a repeated word": Or((TRADE, TRADE, PANGOLIN)),
    "all of any": And((Or((PANGOLIN, AXOLOTL)), Or((TRADE, AXOLOTL)))),
    "a negation beside OR": Or((PANGOLIN, AXOLOTL, Not(Term("gill", ("gill",))))),
    "filters beside words": And((Or((PANGOLIN, AXOLOTL)), Range(2015, 2022), Not(Exact("lang", ("ko",))))),
    "many words": Or((*(Term(f"w{n}", (f"w{n}",)) for n in range(2_000)), PANGOLIN)),
}
EXPRESSIONS = (
    '"지식 그래프" 검색^2',
    "+trade pangolin^3 -wildlife",
    '"states what no source" OR hallucination',
    "(지식 AND 검색) OR quokka OR title:trade",
    '"limbs regrow"^0.5 article year:..2022 OR axolotl',
    "정렬 알고리즘 비교",
)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("collapse", [False, True])
def test_scores_are_those_of_the_embedded_engine(both, name, collapse):
    embedded, cluster = (scored(index, QUERIES[name], collapse=collapse) for index in both)

    assert embedded
    assert [one for one, _ in cluster] == [one for one, _ in embedded]
    assert [score for _, score in cluster] == pytest.approx([score for _, score in embedded], abs=1.01e-4)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_score_as_in_the_embedded_engine(both, expression):
    query = parse_expression(expression, make_analyzer("bilingual"))
    assert query is not None
    embedded, cluster = (scored(index, query) for index in both)

    assert embedded
    assert dict(cluster) == pytest.approx(dict(embedded), abs=1.01e-4)


def test_a_small_window_gives_the_same_hits(both, monkeypatch):
    _, cluster = both
    query = Or((PANGOLIN, AXOLOTL, TRADE, Term("quokka", ("quokka",)), Term("plain", ("plain",))))
    whole = scored(cluster, query)

    monkeypatch.setattr(retriever.engines.elasticsearch, "WINDOW", 4)

    assert len(whole) == 29
    assert scored(cluster, query) == whole
    assert [scored(cluster, query, k) for k in (3, 4, 5, 17)] == [whole[:k] for k in (3, 4, 5, 17)]
    assert scored(cluster, Not(TRADE), 9) == scored(cluster, Not(TRADE))[:9]
    assert len(cluster.engine.passages([hit for hit, _ in whole])) == 29


def test_a_match_of_another_tool_is_analysed_as_the_text_was(settings_for, tmp_path):
    papers = [{"id": "A", "title": "논의 메탄"}, {"id": "B", "title": "", "abstract": "논에서 배출된 메탄"}]
    settings = settings_for(tmp_path)
    with indexed(settings, papers, "matched"), client_of(settings.elasticsearch) as client:
        found = client.search(
            index=f"{settings.elasticsearch.prefix}-matched",
            query={"match_phrase": {"text": "논에서 배출되는 메탄을"}},
        )
    assert [hit["_id"] for hit in found["hits"]["hits"]] == ["B"]
