"""What each agent, and each addition to the paper's method, does; what goes on without it."""

from dataclasses import replace
from functools import cache

import pytest

from generator.agents import ADDITIONS, AGENTS, PURE
from generator.budgets import Spent
from generator.finding.request import FindRequest
from tests.generator.finding_model import (
    FindingModel,
    evolver,
    query_writing,
    reranking,
    understanding,
    value_of,
)
from tests.generator.test_finding import find, names_of_steps

pytest_plugins = ["tests.generator.sample_index"]

WIDE = "황산 없이 폐리튬이온전지의 코발트를 회수하는 연구 동향"
CERTAIN = "“Recovering cobalt from spent NCM cathodes” 문헌 고찰"
BOTH = ("with a model", "without one")


def model():
    """Return a model whose marks show: queries, judgements, reasons, and terms that match nothing."""
    return FindingModel(
        {
            "understanding": lambda prompt: (
                understanding(prompt)
                | {"intent": "specific" if "NCM" in prompt else "survey", "domain": "recycling"}
            ),
            "query-writing": lambda prompt: (
                {"sources": [{"source": "index", "terms": ["zqxjv"]}]}
                if value_of("question", prompt) == WIDE
                else query_writing(prompt)
            ),
            "evolver": lambda prompt: {key: f"{text} model" for key, text in evolver(prompt).items()},
            "reranking": reranking,
        }
    )


def of_first_round(found):
    """Return the papers that the first queries found."""
    return {paper for query in found.state.queries if not query.round for paper in query.found or ()}


def texts_of_first_round(found):
    """Return what was searched for before the papers gave further queries."""
    return {query.text for query in found.state.queries if not query.round}


def linked(found, kind):
    """Return what is linked to what the first queries found."""
    first = of_first_round(found)
    known = found.state.papers.items()
    return {
        (paper, by.of) for paper, each in known for by in each.found_by if by.kind == kind and by.of in first
    }


# What each part brings about, in the order in which it comes: none of it hangs on a part further down.
ASPECTS = {
    "understanding": lambda found: found.state.understanding.queries,
    "query-writing": lambda found: [
        step.output
        for step in found.step.walk()
        if step.name == "query-writing" and step.inputs["query"] in texts_of_first_round(found)
    ],
    "own-words": lambda found: [
        query.found
        for query in found.state.queries
        if query.kind == "question" and "own-words" in names_of_steps(found)
    ],
    "judgement": lambda found: {
        paper: found.state.papers[paper].judgement
        for paper in of_first_round(found)
        if found.state.papers[paper].judgement.by == "tiny-writer"
    },
    "refchain": lambda found: linked(found, "reference"),
    "cited-by": lambda found: linked(found, "citing"),
    "links": lambda found: {
        paper for paper, known in found.state.papers.items() if "links" in known.judgement.by
    },
    "evolver": lambda found: [query for query in found.state.queries if query.paper],
    "reranking": lambda found: [
        (ranked.paper_id, ranked.score, ranked.why)
        for ranked in found.papers
        if ranked.score != ranked.known.score
    ],
}
# What there is nothing of to switch off: a model judges without links, and the rest is a model's.
IDLE = {"with a model": {"links"}, "without one": {"query-writing", "own-words", "judgement"}}
NEEDING = {"query-writing": ("own-words",), "refchain": ("cited-by",)}
# Papers that each query brings: of fewer, one is found by its links alone.
PER_QUERY = {"links": 2}


@pytest.fixture(scope="module")
def found(sample_home):
    """Return what finds papers, the same search once."""

    @cache
    def find_without(question, way, *without, per_query=3):
        request = FindRequest(question, threshold=0.3, per_query=per_query, without=frozenset(without))
        return find(sample_home, request, model=model() if way == BOTH[0] else None)

    return find_without


def outcome(found):
    """Return all that came of a search, but for what it cost."""
    return replace(found.state, spent=Spent()), found.papers


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("part", [*AGENTS, *ADDITIONS])
def test_each_part_does_its_work_and_switching_it_off_changes_this_alone(found, part, way):
    per_query = PER_QUERY.get(part, 3)
    whole, without = (found(WIDE, way, *off, per_query=per_query) for off in ((), (part,)))
    shown, left = ({name: see(each) for name, see in ASPECTS.items()} for each in (whole, without))
    if part in IDLE[way] or part == "specific-intent":
        assert outcome(without) == outcome(whole)
        return
    order = list(ASPECTS)
    before = order[: order.index(part)]
    assert shown[part]
    assert {name: left[name] for name in before} == {name: shown[name] for name in before}
    gone = {name for name in order if shown[name] and not left[name]}
    assert gone == {part, *NEEDING.get(part, ())}


@pytest.mark.parametrize("way", BOTH)
def test_on_the_sample_every_agent_does_its_work(found, way):
    seen = {
        name
        for per_query in (2, 3)
        for name, see in ASPECTS.items()
        if see(found(WIDE, way, per_query=per_query))
    }
    assert seen == ASPECTS.keys() - IDLE[way]


@pytest.mark.parametrize("way", BOTH)
def test_a_question_for_one_certain_paper_is_widened_where_that_addition_is_off(found, way):
    whole, without = found(CERTAIN, way), found(CERTAIN, way, "specific-intent")
    assert whole.state.understanding.intent == "specific"
    assert not whole.state.understanding.queries
    assert without.state.understanding.intent != "specific"
    assert without.state.understanding.queries


@pytest.mark.parametrize("way", BOTH)
def test_the_pure_mode_is_all_additions_off(found, way):
    pure = found(WIDE, way, *sorted(PURE))
    seen = {name for name, aspect in ASPECTS.items() if aspect(pure)}
    assert seen == ASPECTS.keys() - IDLE[way] - PURE
    assert pure.papers
