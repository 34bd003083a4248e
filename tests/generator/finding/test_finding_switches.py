"""What each agent, and each addition to the paper's method, does; what goes on without it."""

from dataclasses import replace
from functools import cache

import pytest

from generator.budgets import Spent
from generator.finding.agents import ADDITIONS, AGENTS, PURE
from generator.finding.request import FindRequest
from tests.generator.finding.test_finding import find, names_of_steps
from tests.generator.finding_model import (
    FindingModel,
    evolver,
    query_writing,
    reranking,
    understanding,
    value_of,
)
from tests.indexer.made_corpora import build, write_jsonl

pytest_plugins = ["tests.generator.sample_index"]

WIDE = "황산 없이 폐배터리의 코발트를 회수하는 연구 동향"
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
# Nothing to switch off: a model judges without links, and the rest is a model's.
MODELS = {"understanding", "query-writing", "own-words", "judgement", "evolver"}
IDLE = {"with a model": {"links"}, "without one": MODELS}
NEEDING = {"query-writing": ("own-words",), "refchain": ("cited-by", "links"), "cited-by": ("links",)}
THRESHOLDS = {"with a model": 0.3, "without one": 0.01}


@pytest.fixture(scope="module")
def found(sample_home):
    """Return what finds papers, the same search once."""

    @cache
    def find_without(question, way, *without):
        request = FindRequest(question, threshold=THRESHOLDS[way], per_query=3, without=frozenset(without))
        return find(sample_home, request, model=model() if way == BOTH[0] else None)

    return find_without


def outcome(found):
    """Return all that came of a search, but for what it cost."""
    return replace(found.state, spent=Spent()), found.papers


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("part", [*AGENTS, *ADDITIONS])
def test_each_part_does_its_work_and_switching_it_off_changes_this_alone(found, part, way):
    whole, without = (found(WIDE, way, *off) for off in ((), (part,)))
    shown, left = ({name: see(each) for name, see in ASPECTS.items()} for each in (whole, without))
    if part in IDLE[way] or part == "specific-intent":
        assert outcome(without) == outcome(whole)
        return
    order = list(ASPECTS)
    before = order[: order.index(part)]
    assert shown[part]
    assert {name: left[name] for name in before} == {name: shown[name] for name in before}
    gone = {name for name in order if shown[name] and not left[name]}
    assert gone == {part, *NEEDING.get(part, ())} - IDLE[way]


def test_a_question_for_one_certain_paper_is_widened_where_that_addition_is_off(found):
    whole, without = found(CERTAIN, BOTH[0]), found(CERTAIN, BOTH[0], "specific-intent")
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
