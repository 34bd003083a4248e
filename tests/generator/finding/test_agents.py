"""What each agent asks a model for, and what becomes of the answer, apart from the others."""

import asyncio
from dataclasses import replace

import pytest

from generator.budgets import Allowance, Budget, Spent
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
from tests.generator.finding.test_finding import find
from tests.generator.finding_model import FindingModel, understanding, value_of
from tests.generator.language_model import settings as model_settings
from tests.generator.sample_index import ENGLISH, NAME, settings_of

pytest_plugins = ["tests.generator.sample_index"]

QUICK = FindRequest(ENGLISH, rounds=0, without=frozenset({"refchain", "query-writing"}))


HOLDS = {"ours": "Theses of our institute"}


def prompts_of(model, name):
    """Return the prompts that begin as the one of that name does."""
    beginning = load_prompt(name, "en").text.partition("$")[0]
    return [prompt for prompt in model.prompts if prompt.startswith(beginning)]


def understood(**changed):
    """Make a model that understands a question so."""
    return FindingModel({"understanding": lambda prompt: understanding(prompt) | changed})


@pytest.mark.parametrize(
    ("question", "answer", "years"),
    [
        (ENGLISH, {"first_year": 2022, "last_year": None}, Range(2022, None)),
        (f"{ENGLISH} Papers since 2023.", {"first_year": 2001, "last_year": 2005}, Range(2023, None)),
        (ENGLISH, {"first_year": 2024, "last_year": 2019}, None),
    ],
    ids=["of the model", "of the question first", "the model's contradict"],
)
def test_the_years_that_a_model_reads_bound_the_papers(sample_home, question, answer, years):
    request = QUICK.changed(question=question)
    found = find(sample_home, request, model=understood(**answer))
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


@pytest.mark.parametrize(
    ("question", "wording", "other"),
    [
        (ENGLISH, "reranking", "reranking_time"),
        ("Thermal runaway in battery packs, papers since 2015", "reranking_time", "reranking"),
    ],
)
def test_re_ranking_has_a_wording_for_questions_that_ask_for_a_time(sample_home, question, wording, other):
    model = FindingModel({"understanding": lambda _: "no JSON"})  # so the rules read the question
    find(sample_home, QUICK.changed(question=question), model=model)
    assert len(prompts_of(model, wording)) == 1
    assert not prompts_of(model, other)


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
