"""What every engine promises, whoever holds it: tests for whatever `settings_for` of a module sets.

A module of tests imports all of this beside a fixture `settings_for`, which makes settings for a home.
"""

from contextlib import ExitStack

import pytest

from indexer.analysis import DECOMPOUND_MODES, make_analyzer
from indexer.analysis.packing import PassageTokens
from retriever.queries.boolean import And, Exact, Not, Or, Range, Term
from retriever.queries.filters import Filters
from tests.retriever.made_papers import PAPERS, indexed

QUOKKA = Term("quokka", ("quokka",))
PANGOLIN = Term("pangolin", ("pangolin",))
AXOLOTL = Term("axolotl", ("axolotl",))
BOTH_LANGUAGES = Term("회귀", ("회귀", "regress"))
TRADE = Term("trade", ("trade",))
TIES = sorted(paper["id"] for paper in PAPERS if paper["id"].startswith("TIE-"))


@pytest.fixture(scope="module")
def engine(tmp_path_factory, settings_for):
    with indexed(settings_for(tmp_path_factory.mktemp("papers")), PAPERS) as index:
        yield index.engine


@pytest.fixture
def own(tmp_path, settings_for):
    """Return a function that indexes a test's own records, and opens that."""
    with ExitStack() as opened:
        yield (
            lambda papers, **options: (
                opened.enter_context(
                    indexed(settings_for(tmp_path), papers, "own", rebuild=True, **options)
                ).engine
            )
        )


def hits(engine, query, k=10, *, collapse=False, **filters):
    [found] = engine.search([(query, k)], filters=Filters(**filters), collapse=collapse)
    return found


def ids(engine, query, k=10, **options):
    return [hit.passage_id for hit in hits(engine, query, k, **options)]


def test_each_query_of_a_call_has_its_own_hits_and_k(engine):
    queries = [(QUOKKA, 3), (PANGOLIN, 1), (Term("zzz", ("zzz",)), 5), (PANGOLIN, 5)]

    found = engine.search(queries, filters=Filters(), collapse=True)

    assert [[hit.passage_id for hit in one] for one in found] == [
        ["TIE-0", "TIE-1", "TIE-10"],
        ["TEXTUAL"],
        [],
        ["TEXTUAL", "TITLED"],
    ]


@pytest.mark.parametrize("k", range(1, 13))
def test_ties_are_cut_in_the_order_of_their_ids(engine, k):
    assert len(TIES) == 12
    assert ids(engine, QUOKKA, k) == TIES[:k]


def test_hits_come_by_score_then_id(engine):
    found = hits(engine, Or((QUOKKA, PANGOLIN, AXOLOTL)), 30)

    assert found == sorted(found, key=lambda hit: (-hit.score, hit.passage_id))
    assert len(found) == 12 + 2 + 3


def test_a_paper_stands_once_by_its_best_passage_where_papers_are_asked_for(engine):
    passages = hits(engine, BOTH_LANGUAGES)
    papers = hits(engine, BOTH_LANGUAGES, collapse=True)

    assert {hit.passage_id for hit in passages} == {"BOTH", "BOTH@en"}
    assert papers == passages[:1]
    assert papers[0].doc_id == "BOTH"


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"lang": "ko"}, {"BOTH"}),
        ({"lang": "en"}, {"BOTH@en"}),
        ({"lang": "other"}, set()),
        ({"journal": "통계연구"}, {"BOTH", "BOTH@en"}),
        ({"journal": "통계"}, set()),
        ({"years": Range(2019, 2019)}, {"BOTH", "BOTH@en"}),
        ({"years": Range(None, 2018)}, set()),
        ({"without": ("BOTH",)}, {"BOTH@en"}),
        ({"doc_ids": ("BOTH", "BARE")}, {"BOTH", "BOTH@en"}),
        ({"doc_ids": ("BARE",)}, set()),
        ({"parts": ("abstract",)}, {"BOTH"}),
        ({"parts": ("abstract2", "body")}, {"BOTH@en"}),
        ({"doc_ids": ("BOTH",), "parts": ("abstract",), "lang": "en"}, set()),
    ],
)
def test_a_filter_keeps_what_satisfies_it(engine, filters, found):
    assert set(ids(engine, BOTH_LANGUAGES, **filters)) == found


def test_passages_and_papers_come_in_one_call(engine):
    passages, papers = engine.records(["BOTH@en", "BARE", "none"], ["BOTH", "BARE", "none"])

    assert set(passages) == {"BOTH@en", "BARE"}
    assert {doc_id: paper.passage_id for doc_id, paper in papers.items()} == {"BOTH": "BOTH", "BARE": "BARE"}
    assert passages["BOTH@en"].paper is None
    assert papers["BOTH"].title2 == "Estimating nonlinear regression"


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
def test_tokens_come_back_however_compounds_are_taken_apart(own, mode):
    texts = [
        {
            "title": "공기업경영평가와 비선형 모형",
            "abstract": "메탄의 배출량은 늘었다.",
            "title2": "Of public firms",
        },
        {"title": "Of naïve scenes", "abstract": "The emission of methane (CH4) from 논 rose!"},
        {"title": "…"},
    ]
    engine = own([{"id": f"P{number}", **text} for number, text in enumerate(texts)], decompound=mode)
    analyze = make_analyzer("bilingual", mode).analyze

    found = engine.passages(["P0", "P0@en", "P1", "P2"])

    assert len(found) == 4
    for passage in found.values():
        assert passage.tokens == PassageTokens.of(passage.title, passage.text, passage.title2, analyze)


def test_document_frequencies_count_passages(engine):
    found = engine.document_frequencies(["quokka", "pangolin", "회귀", "none"])

    assert found == {"quokka": 12, "pangolin": 2, "회귀": 1, "none": 0}


def test_what_queries_match_under_filters_is_counted_in_one_call(engine):
    asked = [
        (BOTH_LANGUAGES, Filters()),
        (BOTH_LANGUAGES, Filters(lang="ko")),
        (Or((QUOKKA, AXOLOTL)), Filters()),
        (AXOLOTL, Filters(complete=True)),
        (Not(Term("zzz", ("zzz",))), Filters()),
        (Or(()), Filters()),
    ]

    assert engine.counts(asked) == [2, 1, 15, 2, len(PAPERS) + 1, 0]
    assert engine.counts([]) == []


def rows(engine, *ids):
    return engine.rows(ids)


def test_a_row_holds_the_tokens_of_its_passage(engine):
    [stored] = engine.passages(["BOTH"]).values()
    read = rows(engine, "BOTH")

    body = read.lexicon.terms(read.rows.body[read.rows.in_text].tolist())
    title = read.lexicon.terms(read.rows.title.tolist())

    assert body == stored.tokens.text.words()
    assert title == [term for term, _ in stored.tokens.title.unpack()] == ["비", "선형", "회귀", "추정"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (And((PANGOLIN, AXOLOTL)), set()),
        (Or((PANGOLIN, Not(Term("wildlife", ("wildlif",))))), {"TITLED"}),
        (Or((PANGOLIN, AXOLOTL, Not(Or((TRADE, Term("gill", ("gill",))))))), {"DOI-1", "DOI-2"}),
        (And((Or((PANGOLIN, AXOLOTL)), Not(And((PANGOLIN, TRADE))))), {"DOI-1", "DOI-2", "BARE"}),
        (
            Or((And((PANGOLIN, Not(Term("wildlife", ("wildlif",))))), AXOLOTL)),
            {"TITLED", "DOI-1", "DOI-2", "BARE"},
        ),
        (And((Not(Not(PANGOLIN)),)), {"TITLED", "TEXTUAL"}),
        (Or((Term("none", ()), PANGOLIN)), {"TITLED", "TEXTUAL"}),
        (Or((Range(2022, 2022), PANGOLIN)), {"TITLED", "TEXTUAL", "BARE"}),
        (And((Range(2022, None),)), {"KG-KO", "BARE"}),
        (Exact("passage_id", ("BOTH@en", "BARE", "none")), {"BOTH@en", "BARE"}),
        (Or((Or(()), Exact("doc_id", ("BARE",)))), {"BARE"}),
        (And((Exact("doc_id", ("BOTH",)), Not(Exact("part", ("abstract2",))))), {"BOTH"}),
        (Or(()), set()),
        (Term("none", ()), set()),
    ],
)
def test_clauses_are_put_together_as_written(engine, query, found):
    assert set(ids(engine, query, 50)) == found


def test_what_only_filters_scores_nothing_and_comes_by_id(engine):
    everything = hits(engine, Not(Term("zzz", ("zzz",))), 100)

    assert [hit.passage_id for hit in everything] == sorted([paper["id"] for paper in PAPERS] + ["BOTH@en"])
    assert {hit.score for hit in everything} == {0.0}
    assert hits(engine, Not(Term("zzz", ("zzz",))), 7) == everything[:7]
