"""What every engine promises, whoever holds it; the embedded one on a real index."""

import asyncio
import json

import pytest

from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from retriever.errors import UnknownPassage
from retriever.index import open_index
from retriever.queries import Filters, Or, Range, Term, or_query
from tests.retriever.papers import PAPERS, opened

QUOKKA = Term("quokka", ("quokka",))
PANGOLIN = Term("pangolin", ("pangolin",))
AXOLOTL = Term("axolotl", ("axolotl",))
REGRESSION = Term("회귀", ("회귀",))
BOTH_LANGUAGES = Term("회귀", ("회귀", "regress"))
TRADE = Term("trade", ("trade",))
TIES = sorted(paper["id"] for paper in PAPERS if paper["id"].startswith("TIE-"))


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index.engine


def hits(engine, query, k=10, *, collapse=False, **filters):
    [found] = asyncio.run(engine.search([(query, k)], filters=Filters(**filters), collapse=collapse))
    return found


def ids(engine, query, k=10, **options):
    return [hit.passage_id for hit in hits(engine, query, k, **options)]


def test_each_query_of_a_call_has_its_own_hits_and_k(engine):
    queries = [(QUOKKA, 3), (PANGOLIN, 1), (Term("zzz", ("zzz",)), 5), (PANGOLIN, 5)]

    found = asyncio.run(engine.search(queries, filters=Filters(), collapse=True))

    assert [[hit.passage_id for hit in one] for one in found] == [
        ["TIE-0", "TIE-1", "TIE-10"],
        ["TEXTUAL"],
        [],
        ["TEXTUAL", "TITLED"],
    ]


def test_no_queries_have_no_hits(engine):
    assert asyncio.run(engine.search([], filters=Filters(), collapse=True)) == []


@pytest.mark.parametrize("k", [0, -1])
def test_no_hits_are_asked_for_and_none_come(engine, k):
    assert hits(engine, QUOKKA, k) == []


@pytest.mark.parametrize("k", range(1, 13))
def test_ties_are_cut_in_the_order_of_their_ids(engine, k):
    assert len(TIES) == 12
    assert ids(engine, QUOKKA, k) == TIES[:k]


def test_hits_come_by_score_then_id(engine):
    found = hits(engine, Or((QUOKKA, PANGOLIN, AXOLOTL)), 30)

    assert found == sorted(found, key=lambda hit: (-hit.score, hit.passage_id))
    assert len(found) == 12 + 2 + 3


def test_fewer_hits_are_the_beginning_of_more(engine):
    query = Or((QUOKKA, PANGOLIN, AXOLOTL, TRADE))

    assert [hits(engine, query, k) for k in range(1, 18)] == [
        hits(engine, query, 17)[:k] for k in range(1, 18)
    ]


def test_a_paper_stands_once_by_its_best_passage_where_papers_are_asked_for(engine):
    passages = hits(engine, BOTH_LANGUAGES)
    papers = hits(engine, BOTH_LANGUAGES, collapse=True)

    assert {hit.passage_id for hit in passages} == {"BOTH", "BOTH@en"}
    assert papers == passages[:1]
    assert papers[0].doc_id == "BOTH"


def test_a_title_clause_adds_to_papers_titled_so(engine):
    plain = {hit.passage_id: hit.score for hit in hits(engine, or_query([PANGOLIN]))}
    titled = {hit.passage_id: hit.score for hit in hits(engine, or_query([PANGOLIN], title_weight=0.35))}

    assert titled["TEXTUAL"] == plain["TEXTUAL"]
    assert titled["TITLED"] > plain["TITLED"]


def test_a_weight_multiplies_the_score(engine):
    once = hits(engine, PANGOLIN)[0].score
    twice = hits(engine, Term("pangolin", ("pangolin",), weight=2.0))[0].score

    assert twice == pytest.approx(2 * once, abs=2e-4)


def test_a_word_of_several_tokens_is_the_or_of_them(engine):
    assert set(ids(engine, Term("x", ("pangolin", "axolotl")))) == {
        "TITLED",
        "TEXTUAL",
        "DOI-1",
        "DOI-2",
        "BARE",
    }


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"lang": "ko"}, {"BOTH"}),
        ({"lang": "en"}, {"BOTH@en"}),
        ({"lang": "other"}, set()),
        ({"journal": "통계연구"}, {"BOTH", "BOTH@en"}),
        ({"journal": "통계"}, set()),
        ({"years": Range(2019, 2019)}, {"BOTH", "BOTH@en"}),
        ({"years": Range(2019, None)}, {"BOTH", "BOTH@en"}),
        ({"years": Range(None, 2018)}, set()),
        ({"without": ("BOTH",)}, {"BOTH@en"}),
        ({"without": ("BOTH", "BOTH@en", "none")}, set()),
    ],
)
def test_a_filter_keeps_what_satisfies_it(engine, filters, found):
    assert set(ids(engine, BOTH_LANGUAGES, **filters)) == found


def test_a_filter_leaves_the_scores_as_they_are(engine):
    everything = {hit.passage_id: hit.score for hit in hits(engine, BOTH_LANGUAGES)}
    [korean] = hits(engine, BOTH_LANGUAGES, lang="ko")

    assert korean.score == everything["BOTH"]


def test_papers_without_a_text_can_be_left_out(engine):
    assert "BARE" in ids(engine, AXOLOTL)
    assert "BARE" not in ids(engine, AXOLOTL, complete_only=True)


def test_stored_passages_come_back_by_id(engine):
    found = asyncio.run(engine.passages(["BOTH@en", "none", "BOTH"]))

    assert set(found) == {"BOTH", "BOTH@en"}
    english = found["BOTH@en"]
    assert (english.doc_id, english.title, english.lang) == ("BOTH", "Estimating nonlinear regression", "en")
    assert english.text == "We estimate the parameters of nonlinear regression models."


def test_a_papers_record_comes_with_its_first_passage(engine):
    found = asyncio.run(engine.papers(["BOTH", "none"]))

    assert set(found) == {"BOTH"}
    assert found["BOTH"].passage_id == "BOTH"
    assert found["BOTH"].paper["journal"] == "통계연구"


def test_nothing_asked_for_is_nothing_stored(engine):
    assert asyncio.run(engine.passages([])) == {}
    assert asyncio.run(engine.papers([])) == {}


def test_document_frequencies_count_passages(engine):
    found = asyncio.run(engine.document_frequencies(["quokka", "pangolin", "회귀", "none"]))

    assert found == {"quokka": 12, "pangolin": 2, "회귀": 1, "none": 0}


def test_the_index_counts_its_passages(engine):
    assert engine.passage_count == len(PAPERS) + 1  # the second language of BOTH


def test_terms_of_the_text_are_found_by_their_beginning(engine):
    assert ("pangolin", 2) in asyncio.run(engine.terms_near("pangolim", 100))
    assert len(asyncio.run(engine.terms_near("p", 2))) <= 2


def test_term_frequencies_tell_how_often_a_token_stands_in_each_passage(engine):
    assert asyncio.run(engine.term_frequencies("알고리즘", 10)) == [3]
    assert asyncio.run(engine.term_frequencies("quokka", 5)) == [2] * 5
    assert asyncio.run(engine.term_frequencies("none", 5)) == []


def test_an_explanation_sums_to_the_score(engine):
    query = or_query([PANGOLIN, TRADE], title_weight=0.35)
    scores = {hit.passage_id: hit.score for hit in hits(engine, query)}

    explanation = asyncio.run(engine.explain(query, "TITLED"))

    assert {(term.token, term.field) for term in explanation.terms} == {
        ("pangolin", "text"),
        ("pangolin", "title"),
        ("trade", "text"),
        ("trade", "title"),
    }
    assert explanation.score == scores["TITLED"]
    assert sum(term.score for term in explanation.terms) == pytest.approx(scores["TITLED"], abs=1e-3)


def test_a_passage_that_is_not_there_cannot_be_explained(engine):
    with pytest.raises(UnknownPassage, match="no passage 'none'"):
        asyncio.run(engine.explain(PANGOLIN, "none"))


def test_a_papers_first_passage_carries_its_record_where_records_are_passages(tmp_path):
    lines = [{"docid": f"A#{number}", "title": "t", "text": f"word {number}"} for number in range(3)]
    corpus = tmp_path / "docs-0.jsonl"
    corpus.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    build_index(
        IngestRequest("miracl", [str(corpus)], format="miracl"), IndexerSettings(home=tmp_path, workers=1)
    )

    with open_index(IndexerSettings(home=tmp_path), "miracl") as index:
        found = asyncio.run(index.engine.papers(["A"]))

    assert found["A"].passage_id == "A#0"
