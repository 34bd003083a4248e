"""What each agent, and each addition to the paper's method, does; it is missing where it is switched off."""

import json

import pytest

from generator.finding.agents import ADDITIONS, AGENTS, PURE
from generator.finding.calls import FindRequest
from tests.generator.finding.test_finding import find, names_of_steps
from tests.generator.finding_model import FindingModel, query_writing, understanding, value_of
from tests.indexer.made_corpora import build, write_jsonl

pytest_plugins = ["tests.generator.sample_index"]

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


def test_the_tree_begins_with_native_queries_and_has_evolved_ones_below_their_papers(sample_home):
    tree = found(sample_home, WIDE).as_tree_record()["tree"]
    assert {query["kind"] for query in tree} == {"question", "expanded"}
    assert '"evolved"' in json.dumps(tree)


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
