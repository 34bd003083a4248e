"""A question with something to leave out, or with years, finds the papers that it asks for first."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from indexer.settings import IndexerSettings
from retriever.constraints import Constraints, chosen_constraints, find_constraints
from retriever.engines import EngineHit
from retriever.errors import BadFilter
from retriever.exclusions import Exclusion
from retriever.explaining import explain
from retriever.filters import make_filters
from retriever.index import open_index
from retriever.keywords import Keyword, Translation
from retriever.penalties import penalised, prominence
from retriever.search import SearchRequest, open_search, run_stages, search
from retriever.settings import RetrieverSettings
from retriever.years import YearRange
from tests.generator.sample_index import shrag
from tests.indexer.corpora import build, write_jsonl

NAME = "electrolytes"
SETTINGS = RetrieverSettings(this_year=2026)
QUESTION = "Which solid electrolytes conduct lithium best, excluding sulfides?"
PAPERS: list[dict[str, Any]] = [
    {"id": "SULFIDE", "year": 2021, "title": "Sulfides as solid electrolytes that conduct lithium best"},
    {"id": "OXIDE", "year": 2023, "title": "Garnets as solid electrolytes that conduct lithium well"},
    {"id": "OLD", "year": 2009, "title": "Polymers as solid electrolytes that conduct lithium best"},
    {"id": "UNDATED", "title": "Borates as solid electrolytes that conduct lithium slowly"},
    *(
        {"id": f"KO-{number}", "year": 2020, "title": f"황화물(sulfide) 고체 전해질의 성질 {number}"}
        for number in range(3)
    ),
    *(
        {"id": f"FILL-{number}", "year": 2020, "title": f"Rice paddies of village {number}"}
        for number in range(20)
    ),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("constraints")
    papers = [paper | {"abstract": f"{paper['title']} are described."} for paper in PAPERS]
    build(home, write_jsonl(home / "papers.jsonl", papers), NAME)
    return home


@pytest.fixture(scope="module")
def index(home):
    with open_index(IndexerSettings(home=home), NAME) as index:
        yield index


def found(index, question, settings=SETTINGS, **request):
    return asyncio.run(search(index, SearchRequest(question, **request), settings))


def ids(result):
    return [hit.doc_id for hit in result.hits]


def test_what_a_question_excludes_is_not_searched_for_and_ranked_lower(index):
    result = found(index, QUESTION)

    assert ids(result)[0] != "SULFIDE"
    assert ids(result).index("OXIDE") < ids(result).index("SULFIDE")
    assert not any("sulfid" in query.query.lower() for query in result.queries)
    assert not any("sulfid" in keyword.text.lower() for keyword in result.keywords)
    assert [exclusion.tokens for exclusion in result.constraints.exclusions] == [("sulfid",)]
    assert "excluded, and ranked lower: sulfides" in result.notes


def test_constraints_can_be_dropped(index):
    assert ids(found(index, QUESTION, constraints=Constraints()))[0] == "SULFIDE"
    assert ids(found(index, QUESTION, RetrieverSettings(constraints=False)))[0] == "SULFIDE"


def test_a_caller_may_exclude_what_the_question_does_not(index):
    question = "Which solid electrolytes conduct lithium best?"
    given = chosen_constraints(question, SETTINGS, exclude=["sulfides"])

    result = found(index, question, constraints=given)

    assert ids(found(index, question))[0] == "SULFIDE"
    assert ids(result).index("OXIDE") < ids(result).index("SULFIDE")
    assert result.applied.constraints == "given"


def test_a_text_that_was_edited_is_the_one_that_is_excluded(index):
    asked = find_constraints(QUESTION, 2026)
    edited = replace(asked, exclusions=(replace(asked.exclusions[0], text="garnets"),))

    result = found(index, QUESTION, constraints=edited)

    assert [exclusion.tokens for exclusion in result.constraints.exclusions] == [("garnet",)]


@pytest.mark.parametrize(("texts", "said"), [(["zinc"] * 21, "21 constraints"), (["z" * 201], "201 char")])
def test_constraints_are_limited_in_number_and_length(index, texts, said):
    with pytest.raises(BadFilter, match=said):
        found(index, QUESTION, constraints=Constraints().excluding(*texts))


def test_excluded_years_are_no_filter(index):
    question = "Which solid electrolytes conduct lithium best, excluding papers since 2015?"
    strict = chosen_constraints(question, SETTINGS, strict_time=True)

    result = found(index, question, k=20, constraints=strict)

    assert {hit.passage.year for hit in result.hits} == {2009}


def test_an_excluded_word_that_is_asked_for_too_costs_nothing(index):
    question = "Which sulfides conduct lithium best, excluding old sulfides?"

    assert ids(found(index, question))[0] == "SULFIDE"


def test_papers_of_other_years_are_ranked_lower_and_those_without_a_year_are_not(index):
    question = "Which solid electrolytes conduct lithium best since 2015?"
    soft = found(index, question, k=20)

    assert set(ids(soft)) >= {"OLD", "UNDATED"}
    lost = asyncio.run(explain(index, SearchRequest(question), "OLD", SETTINGS)).features["constraints"]
    assert lost[0] > 0
    assert lost[1] == -1
    undated = asyncio.run(explain(index, SearchRequest(question), "UNDATED", SETTINGS))
    assert "constraints" not in undated.features


def test_strict_years_are_a_filter(index):
    question = "Which solid electrolytes conduct lithium best in the last five years?"
    strict = chosen_constraints(question, SETTINGS, strict_time=True)

    result = found(index, question, k=20, constraints=strict)

    assert {hit.passage.year for hit in result.hits} == {2021, 2023}
    assert "years 2021– only, papers without a year left out" in result.notes


def test_strict_years_without_any_are_told(index):
    strict = chosen_constraints("lithium", SETTINGS, strict_time=True)

    assert "no years are asked for" in found(index, "lithium", constraints=strict).notes


@pytest.mark.parametrize("strict_time", [False, True])
def test_years_that_contradict_each_other_are_told_and_left_out(index, strict_time):
    question = "Which solid electrolytes conduct lithium best since 2022 and before 2015?"
    given = chosen_constraints(question, SETTINGS, strict_time=strict_time)

    result = found(index, question, k=20, constraints=given)

    assert "years that contradict each other were left out: since 2022, before 2015" in result.notes
    assert set(ids(result)) >= {"OLD", "UNDATED", "OXIDE"}


@pytest.mark.parametrize("text", ["electrolytes", "...", "-", "the"])
def test_an_exclusion_without_effect_is_told(index, text):
    question = "Which solid electrolytes conduct lithium best?"

    result = found(index, question, constraints=Constraints().excluding(text))

    (note,) = [note for note in result.notes if "excluded" in note]
    assert note.startswith(f"nothing is excluded by {text}:")


def test_strict_years_narrow_the_filter_of_the_request(index):
    question = "Which solid electrolytes conduct lithium best since 2015?"
    strict = chosen_constraints(question, SETTINGS, strict_time=True)

    result = found(index, question, k=20, constraints=strict, filters=make_filters("..2021", None, None))

    assert "OXIDE" not in ids(result)
    with pytest.raises(BadFilter, match="no year"):
        found(index, question, constraints=strict, filters=make_filters("..2010", None, None))


def test_the_last_years_count_from_the_year_of_the_settings(index):
    result = found(index, "lithium electrolytes of the last five years", RetrieverSettings(this_year=2012))

    assert [(years.first, years.last) for years in result.constraints.years] == [(2007, None)]
    assert result.applied.this_year == 2012


def test_a_question_of_constraints_alone_is_searched_as_it_stands(index):
    assert ids(found(index, "except sulfides"))[0] in {"SULFIDE", "KO-0", "KO-1", "KO-2"}


@pytest.mark.parametrize("method", ["or", "paper", "boolean"])
def test_methods_that_take_the_question_as_it_stands_refuse_constraints(index, method):
    result = found(index, "electrolytes besides sulfides", method=method)

    assert not result.constraints
    assert any("sulfid" in query.query.lower() for query in result.queries)
    with pytest.raises(BadFilter, match="takes no constraints"):
        found(index, "electrolytes", method=method, constraints=find_constraints(QUESTION, 2026))


def test_the_tokens_of_a_constraint_are_not_among_the_questions(index):
    context = open_search(index, SearchRequest("황화물을 제외한 고체 전해질은?"), SETTINGS)

    question = asyncio.run(run_stages(context, upto="question")).question
    assert question is not None

    assert "황화" not in {token[0][:2] for token in question.tokens}
    assert question.constraints.exclusions[0].tokens
    assert question.constraints.remaining(question.text) == "고체 전해질은?"


def test_a_score_falls_by_how_much_a_passage_is_about_what_is_excluded_and_by_a_year_outside():
    hits = [(EngineHit(name, name, 1.0), 1.0) for name in ("ALL", "HALF", "NONE", "EARLY", "TRANSLATED")]
    words = {"ALL": {"lead": 1.0, "acid": 1.0}, "HALF": {"acid": 1.0}, "TRANSLATED": {"납": 1.0, "산": 0.5}}
    translation = Translation(frozenset({"lead", "acid"}), (Keyword("납산", "ko", ("납", "산")),))
    exclusion = Exclusion("lead acid", tokens=("lead", "acid"), translations=(translation,))
    constraints = Constraints((exclusion,), (YearRange(2015, None),))
    years = {"ALL": 2020, "HALF": None, "EARLY": 2014}

    ranked = penalised(hits, words, years, constraints, {"lead": 2.0, "acid": 2.0, "납": 3.0, "산": 1.0})

    assert [(hit.passage_id, round(score, 4)) for hit, score in ranked] == [
        ("NONE", 1.0),
        ("HALF", 0.6),
        ("TRANSLATED", 0.6),
        ("EARLY", 0.5),
        ("ALL", 0.2),
    ]


def test_a_word_counts_in_the_title_and_the_more_the_more_often_a_text_names_it():
    found = prominence({"lead": 1, "acid": 2, "cells": 1}, {"lead"}, {"lead", "acid", "zinc"})

    assert found == {"lead": 1.0, "acid": 0.5}


def test_the_command_says_what_took_effect(home):
    done = shrag("search", QUESTION + " since 2015", "--name", NAME, home=home)
    record = json.loads(shrag("search", QUESTION, "--name", NAME, "--json", home=home).stdout)
    dropped = shrag("search", QUESTION, "--name", NAME, "--json", "--no-constraints", home=home)

    assert "note: excluded, and ranked lower: sulfides; years 2015– preferred" in done.stderr
    assert record["constraints"] == {
        "exclusions": [
            {"text": "sulfides", "operator": "excluding", "start": 47, "end": 65, "tokens": ["sulfid"]}
        ],
        "years": [],
        "strict_time": False,
    }
    assert json.loads(dropped.stdout)["constraints"]["exclusions"] == []


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_setting_against_the_constraints_of_questions_holds_beside_given_ones(home, monkeypatch, command):
    monkeypatch.setenv("SHRAG_CONSTRAINTS", "false")

    done = shrag(command, QUESTION, "--name", NAME, "--json", "--exclude", "garnets", home=home)

    exclusions = json.loads(done.stdout)["constraints"]["exclusions"]
    assert [exclusion["text"] for exclusion in exclusions] == ["garnets"]


def test_the_account_of_a_passage_takes_the_constraints_of_a_search(home):
    def features(*options):
        question = "Which solid electrolytes conduct lithium best?"
        done = shrag("explain", question, "SULFIDE", "--name", NAME, "--json", *options, home=home)
        return json.loads(done.stdout)["features"]

    assert "constraints" not in features()
    assert "constraints" in features("--exclude", "sulfides")
    assert "constraints" not in features("--exclude", "zinc")


def test_the_command_takes_terms_to_exclude_and_makes_years_a_filter(home):
    question = "Which solid electrolytes conduct lithium best since 2015?"
    given = shrag(
        "search", question, "--name", NAME, "--json", "--exclude", "sulfides", "--strict-time", home=home
    )

    record = json.loads(given.stdout)

    assert record["constraints"]["strict_time"]
    assert [exclusion["text"] for exclusion in record["constraints"]["exclusions"]] == ["sulfides"]
    assert {"OLD", "UNDATED"}.isdisjoint(hit["doc_id"] for hit in record["hits"])
    assert record["hits"][0]["doc_id"] == "OXIDE"
