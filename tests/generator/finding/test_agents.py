"""The agents and additions: requests and use of replies of a model, and their absence when switched off."""

import asyncio
from dataclasses import replace

import pytest

from generator.budgets import Allowance, Budget, Spent
from generator.finding.agents import ADDITIONS, AGENTS, PURE
from generator.finding.agents.retrieval import write_queries
from generator.finding.calls import FindRequest
from generator.finding.finding import OpenedSources, find_in_sources, index_as_source
from generator.finding.state import FindResources, SearchQuery
from generator.prompts import load_prompt
from generator.tracing import Step
from retriever.conditions import Conditions
from retriever.index import open_index
from retriever.queries.boolean import Range
from retriever.relevance.paper_ranking import QuestionRanking
from retriever.relevance.papers import PaperRelevance
from retriever.request import SearchRequest
from tests.generator.finding.test_finding import find, names_of_steps
from tests.generator.finding_model import FindingModel, query_writing, understanding, value_of
from tests.generator.language_model import settings as model_settings
from tests.generator.sample_index import ENGLISH, NAME, settings_of
from tests.indexer.made_corpora import build, write_jsonl

QUICK = FindRequest(ENGLISH, rounds=0, without=frozenset({"refchain", "query-writing"}))
HOLDS = {"ours": "Theses of our institute"}


def prompts_of(model, name):
    """Return the prompts that begin as the one of that name does."""
    beginning = load_prompt(name, "en").text.partition("$")[0]
    return [prompt for prompt in model.prompts if prompt.startswith(beginning)]


@pytest.mark.parametrize(
    ("question", "answer", "years"),
    [
        (ENGLISH, {"first_year": 2022, "last_year": None}, Range(2022, None)),
        (f"{ENGLISH} Papers since 2023.", {"first_year": 2001, "last_year": 2005}, Range(2023, None)),
        (ENGLISH, {"first_year": 2024, "last_year": 2019}, None),
    ],
)
def test_the_years_that_a_model_reads_bound_the_papers(sample_home, question, answer, years):
    request = QUICK.changed(question=question)
    model = FindingModel({"understanding": lambda prompt: understanding(prompt) | answer})
    found = find(sample_home, request, model=model)
    assert found.state.understanding.years == years
    known = [each.paper.year for each in found.state.papers.values()]
    assert min(known) < 2022 if years is None else all(year >= years.low for year in known)
    assert any("contradict" in note for note in found.notes) is (years is None)


def test_a_model_chooses_among_sources_and_writes_for_each_kind_its_own_terms(sample_home):
    terms = [{"source": "index", "terms": ["thermal runaway"]}, {"source": "pubmed", "terms": ["cobalt"]}]
    answer = {"sources": ["medicine (pubmed)", "unheard-of"], "sources_reason": "It fits.", "queries": []}
    model = FindingModel(
        {
            "understanding": lambda prompt: understanding(prompt) | answer,
            "query-writing": lambda _: {"sources": terms},
        }
    )
    given = settings_of(sample_home, llm=model_settings())

    async def run():
        with open_index(given.indexer, NAME) as index:
            sources = [
                replace(source, kind=kind, description=HOLDS.get(name, ""))
                for name, kind in {"ours": "index", "medicine": "pubmed"}.items()
                for source in index_as_source(name, index).sources
            ]
            async with given.language_model(model.transport) as asked:
                request = QUICK.changed(without=frozenset({"refchain"}))
                return await find_in_sources(OpenedSources(sources), request, given, model=asked)

    found = asyncio.run(run())
    (described,) = (value_of("sources", prompt) for prompt in prompts_of(model, "understanding"))
    assert "ours (index): Theses of our institute" in described
    (written_for,) = (value_of("sources", prompt) for prompt in prompts_of(model, "query_writing"))
    assert "pubmed: " in written_for
    assert "index: " not in written_for
    assert found.state.sources == {"medicine"}
    relevant = [known.paper.title for known in found.state.papers.values() if known.judgement.score > 0.5]
    assert relevant
    assert all("cobalt" in title.lower() for title in relevant)
    assert found.as_record()["understanding"]["sources_reason"] == "It fits."


@pytest.mark.parametrize(
    "written", ["Methane[mh]", "Methane [MeSH Terms]", "Methane/metabolism[MeSH]", "Methane [mh:noexp]"]
)
def test_a_mesh_heading_that_a_model_names_is_one_for_pubmed_and_a_word_elsewhere(sample_home, written):
    answer = {"sources": [{"source": kind, "terms": ["paddy", written]} for kind in ("pubmed", "arxiv")]}
    model = FindingModel({"query-writing": lambda _: answer})

    asked = written_for(sample_home, model, "pubmed", "arxiv")

    fields = {kind: [(word.text, word.field) for word in query.clauses] for kind, query in asked.items()}
    assert fields == {
        "pubmed": [("paddy", "text"), ("Methane", "heading")],
        "arxiv": [("paddy", "text"), ("Methane", "text")],
    }


def written_for(sample_home, model, *kinds):
    """Return what each kind of source is asked for a query by what the model writes."""
    given = settings_of(sample_home, llm=model_settings())
    request = FindRequest(ENGLISH)
    step = Step("find-papers", {}, None)

    async def run():
        with PaperRelevance(given.indexer) as relevance, step.running():
            async with given.language_model(model.transport) as asked:
                ranking = QuestionRanking(SearchRequest(ENGLISH), [], relevance.models, given.retriever)
                budget = Allowance(Budget(), Spent())
                resources = FindResources(request, [], relevance, ranking, asked, budget, Conditions(ENGLISH))
                (written,) = await write_queries([SearchQuery(ENGLISH, "question")], kinds, resources, step)
                return written.by_kind

    return asyncio.run(run())


def test_evolved_queries_that_were_sent_or_hold_the_same_words_are_left_out(sample_home):
    def evolved(prompt):
        title = value_of("title", prompt)
        return {"method": ENGLISH, "application": " ".join(reversed(ENGLISH.split())), "limitation": title}

    model = FindingModel({"evolver": evolved})
    found = find(sample_home, QUICK.changed(rounds=1, evolved=100), model=model)
    texts = [query.text for query in found.state.queries if query.paper]
    assert texts
    assert not {ENGLISH, " ".join(reversed(ENGLISH.split()))} & set(texts)
    assert {query.kind for query in found.state.queries if query.paper} == {"limitation"}


WIDE = "황산 없이 폐배터리의 코발트를 회수하는 연구 동향"
CERTAIN = "“Recovering cobalt from spent NCM cathodes” 문헌 고찰"


def found(home, question, *without):
    """Search with a model whose terms for the question itself match nothing."""

    def terms(prompt):
        none = {"sources": [{"source": "index", "terms": ["zqxjv"]}]}
        return none if value_of("question", prompt) == WIDE else query_writing(prompt)

    def understood(prompt):
        return understanding(prompt) | {"intent": "specific" if "NCM" in prompt else "survey"}

    model = FindingModel({"understanding": understood, "query-writing": terms})
    request = FindRequest(question, threshold=0.3, per_query=3, without=frozenset(without))
    return find(home, request, model=model)


def found_by(kind):
    return lambda found: [
        by for known in found.state.papers.values() for by in known.found_by if by.kind == kind
    ]


SHOWN = {
    "understanding": lambda found: found.state.understanding.queries,
    "query-writing": lambda found: "query-writing" in names_of_steps(found),
    "own-words": lambda found: "own-words" in names_of_steps(found),
    "judgement": lambda found: {k.judgement.by for k in found.state.papers.values()} == {"tiny-writer"},
    "refchain": found_by("reference"),
    "cited-by": found_by("citing"),
    "evolver": lambda found: [query for query in found.state.queries if query.paper],
    "reranking": lambda found: any(ranked.why.startswith("It was ") for ranked in found.papers),
}


@pytest.mark.parametrize("part", SHOWN)
def test_each_part_does_its_work_unless_it_is_switched_off(sample_home, part):
    assert SHOWN[part](found(sample_home, WIDE))
    assert not SHOWN[part](found(sample_home, WIDE, part))


def test_a_question_for_one_certain_paper_is_widened_where_that_addition_is_off(sample_home):
    whole, without = found(sample_home, CERTAIN), found(sample_home, CERTAIN, "specific-intent")
    assert (whole.state.understanding.intent, whole.state.understanding.queries) == ("specific", ())
    assert without.state.understanding.intent != "specific"
    assert without.state.understanding.queries


def test_the_pure_mode_is_all_additions_off(sample_home):
    pure = found(sample_home, WIDE, *sorted(PURE))
    assert {name for name, shows in SHOWN.items() if shows(pure)} == {*AGENTS}
    assert {*ADDITIONS} == PURE


def test_a_paper_without_a_word_of_the_question_is_relevant_by_links_from_several_relevant_papers(tmp_path):
    papers = [
        {"id": "A", "title": "Methane of rice paddies", "references": ["LINKED", "ALONE"]},
        {"id": "B", "title": "Methane of rice paddies in spring", "references": ["LINKED"]},
        {"id": "LINKED", "title": "Soil microbes"},
        {"id": "ALONE", "title": "Neutron stars"},
    ]
    build(tmp_path, write_jsonl(tmp_path / "papers.jsonl", papers), name="linked")
    request = FindRequest("methane of rice paddies", threshold=0.1)
    whole = find(tmp_path, request, name="linked")
    without = find(tmp_path, request.changed(without=frozenset({"links"})), name="linked")
    assert {ranked.paper_id for ranked in whole.papers} == {"A", "B", "LINKED"}
    assert {ranked.paper_id for ranked in without.papers} == {"A", "B"}
    assert "2 relevant papers are linked to it" in whole.state.papers["LINKED"].judgement.reason
