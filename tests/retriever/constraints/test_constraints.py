"""A question with something to leave out, or with years, finds the papers that it asks for first."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.settings import IndexerSettings
from retriever.constraints.exclusions import Exclusion, Writing
from retriever.constraints.parsing import Constraints, chosen_constraints, find_constraints
from retriever.engines import EngineHit
from retriever.errors import BadFilter
from retriever.explaining.passages import explain
from retriever.index import open_index
from retriever.queries.filters import make_filters
from retriever.search import SearchRequest, open_search, run_stages, search
from retriever.searching.penalties import Penalty, excluded_share, keywords_naming, penalised
from retriever.settings import RetrieverSettings
from retriever.stages.stages import Ranking, computed
from tests.generator.sample_index import NAME as SAMPLE
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import build, write_jsonl

pytest_plugins = ["tests.generator.sample_index"]

NAME = "electrolytes"
SAMPLE_QUESTIONS = Path(__file__).parent / "constraint_questions" / "sample.tsv"
MOST_EXCLUDED_FOUND = 9  # of the sample's questions; the others need words that no glossary translates
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
    question = "In papers since 2015, which solid electrolytes conduct lithium best?"
    soft = found(index, question, k=20)

    assert set(ids(soft)) >= {"OLD", "UNDATED"}
    lost = asyncio.run(explain(index, SearchRequest(question), "OLD", SETTINGS)).features["constraints"]
    assert lost[0] > 0
    assert lost[1] == -1
    undated = asyncio.run(explain(index, SearchRequest(question), "UNDATED", SETTINGS))
    assert "constraints" not in undated.features


def test_strict_years_are_a_filter(index):
    question = "In papers of the last five years, which solid electrolytes conduct lithium best?"
    strict = chosen_constraints(question, SETTINGS, strict_time=True)

    result = found(index, question, k=20, constraints=strict)

    assert {hit.passage.year for hit in result.hits} == {2021, 2023}
    assert "years 2021– only, papers without a year left out" in result.notes


def test_strict_years_without_any_are_told(index):
    strict = chosen_constraints("lithium", SETTINGS, strict_time=True)

    assert "the question has no years" in found(index, "lithium", constraints=strict).notes


@pytest.mark.parametrize("strict_time", [False, True])
def test_years_that_contradict_each_other_are_told_and_left_out(index, strict_time):
    question = "In papers since 2022 and before 2015, which solid electrolytes conduct lithium best?"
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
    assert not any("ranked lower" in note for note in result.notes)


def test_strict_years_narrow_the_filter_of_the_request(index):
    question = "In papers since 2015, which solid electrolytes conduct lithium best?"
    strict = chosen_constraints(question, SETTINGS, strict_time=True)

    result = found(index, question, k=20, constraints=strict, filters=make_filters("..2021", None, None))

    assert "OXIDE" not in ids(result)
    with pytest.raises(BadFilter, match="no year"):
        found(index, question, constraints=strict, filters=make_filters("..2010", None, None))


def test_the_last_years_count_from_the_year_of_the_settings(index):
    result = found(
        index, "papers of the last five years on lithium electrolytes", RetrieverSettings(this_year=2012)
    )

    assert [(years.first, years.last) for years in result.constraints.years] == [(2007, None)]
    assert result.applied.this_year == 2012


def test_a_question_of_constraints_alone_is_searched_as_it_stands(index):
    assert ids(found(index, "except sulfides"))[0] in {"SULFIDE", "KO-0", "KO-1", "KO-2"}


@pytest.mark.parametrize("method", ["or", "paper", "boolean"])
def test_methods_that_take_the_question_as_it_stands_refuse_constraints(index, method):
    result = found(index, "electrolytes excluding sulfides", method=method)

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


NO_SULFIDES = Exclusion("sulfides", tokens=("sulfid",), names=("sulfid", "황화 물"))


def penalised_ids(scores, penalties, keywords=(), k=10):
    ranking = Ranking(tuple((EngineHit(name, name, score), score) for name, score in scores.items()))
    found = penalised(
        ranking,
        lambda hit: penalties.get(hit.doc_id, Penalty((0.0,), None, is_outside=False)),
        lambda hit: hit.doc_id in keywords,
        k,
    )
    return {hit.doc_id: round(score, 4) for hit, score in found.hits}, found


def test_a_score_falls_by_mentions_and_by_a_year_outside():
    mentioning, outside = Penalty((0.5,), 2020, is_outside=False), Penalty((0.0,), 2014, is_outside=True)

    scores, _ = penalised_ids(
        {"MENTIONS": 1.0, "NONE": 1.0, "OLD": 1.0}, {"MENTIONS": mentioning, "OLD": outside}
    )

    assert scores == {"NONE": 1.0, "MENTIONS": 0.6, "OLD": 0.5}


@pytest.mark.parametrize("lowest", [0.01, 0.0, -2.0])
def test_papers_about_an_excluded_thing_come_last(lowest):
    about = Penalty((1.0,), None, is_outside=False)

    scores, found = penalised_ids(
        {"FIRST": 5.0, "SECOND": 4.0, "GOOD": 1.0, "LAST": lowest}, {"FIRST": about, "SECOND": about}
    )

    assert list(scores) == ["GOOD", "LAST", "FIRST", "SECOND"]
    assert sorted(scores.values(), reverse=True) == list(scores.values())
    assert found.about == {"FIRST", "SECOND"}


def test_keywords_are_read_until_enough_hits_are_about_nothing_excluded():
    scores, found = penalised_ids({"A": 3.0, "B": 2.0, "C": 1.0}, {}, keywords={"A", "C"}, k=1)

    assert list(scores) == ["B", "C", "A"]
    assert found.about == {"A"}


@pytest.mark.parametrize(
    ("title", "text", "share"),
    [
        ("solid sulfid glass", "", 1.0),
        ("고체 황화 물 전해 질", "", 1.0),
        ("황화 수소 물", "", 0.0),
        ("sulfid free electrolyt", "", 0.0),
        ("electrolyt beyond sulfid", "", 0.0),
        ("garnet", "sulfid than sulfid", 0.5),
        ("garnet", "garnet", 0.0),
    ],
)
def test_a_title_names_an_excluded_thing_and_a_text_mentions_it(title, text, share):
    words = (Writing.of(title.split()), Writing.of(text.split()))

    assert excluded_share(NO_SULFIDES, words[:1], words[1]) == share


def test_a_name_of_several_tokens_is_held_in_a_row_only():
    lead_acid = Exclusion("lead acid", tokens=("lead", "acid"), names=("lead acid",))

    assert lead_acid.is_subject(Writing.of("recycl of lead acid batteri".split()))
    assert not lead_acid.is_subject(Writing.of("acid leach of lead".split()))


def test_a_name_of_one_syllable_is_a_word_and_no_part_of_one():
    water = Exclusion("물", tokens=("물",), written=("물",))

    assert water.is_subject(Writing.of(("물", "관리"), "물의 관리"))
    assert not water.is_subject(Writing.of(("물", "고기"), "물고기의 성장"))


@pytest.mark.parametrize(
    ("keywords", "named"),
    [(["sulfide glass"], True), (["황화물"], True), (["sulfur", "garnet"], False), ([], False)],
)
def test_keywords_name_an_excluded_thing(index, keywords, named):
    exclusion = Exclusion("sulfides", names=("sulfid", "황화 물"))

    assert keywords_naming(exclusion, keywords, index.analyzer) is named


@pytest.mark.parametrize(
    ("text", "names"),
    {
        "sulfide": ("sulfid", "황화 물"),
        "황화물": ("황화 물", "sulfid"),
        "lead-acid and nickel batteries": ("lead acid", "nickel batteri"),
        "납과 카드뮴": ("납", "카드뮴"),
    }.items(),
)
def test_an_excluded_thing_has_its_words_and_its_counterparts_for_names(index, text, names):
    question = Constraints().excluding(text)

    found = found_constraints(index, "Which solid electrolytes conduct best?", question)

    (exclusion,) = found.exclusions
    assert set(names) <= {*exclusion.names, *exclusion.written}


def found_constraints(index, question, constraints):
    context = open_search(index, SearchRequest(question, constraints=constraints), SETTINGS)
    return computed(asyncio.run(run_stages(context, upto="question")).question).constraints


def test_a_word_may_come_before_the_word_that_the_question_asks_for(index):
    question = "Which electrolytes conduct best, excluding sulfide electrolytes?"

    (exclusion,) = found_constraints(index, question, find_constraints(question, 2026)).exclusions

    assert exclusion.is_subject(Writing.of("sulfid solid electrolyt".split()))
    assert not exclusion.is_subject(Writing.of("garnet solid electrolyt".split()))


def test_a_note_says_how_many_hits_are_about_what_is_excluded():
    constraints = Constraints((NO_SULFIDES,))

    assert constraints.outcome(10, 0, 0) == (
        "papers about sulfides are ranked lower; none of the 10 hits is about sulfides",
    )
    assert constraints.outcome(10, 2, 1) == (
        "papers about sulfides are ranked lower; 2 of 10 hits are still about sulfides",
        "1 of 10 hits mentions sulfides",
    )


def test_the_notes_count_the_hits_that_are_shown(index):
    few, all_ = found(index, QUESTION, k=2), found(index, QUESTION, k=20)

    assert "papers about sulfides are ranked lower; none of the 2 hits is about sulfides" in few.notes
    assert [note for note in all_.notes if "still" in note] == [
        f"papers about sulfides are ranked lower; 4 of {len(all_.hits)} hits are still about sulfides"
    ]


def test_excluded_papers_of_the_sample_are_not_among_the_first_five(sample_home):
    lines = SAMPLE_QUESTIONS.read_text(encoding="utf-8").splitlines()
    with open_index(IndexerSettings(home=sample_home), SAMPLE) as sample:
        results = {
            question: ({*excluded.split()} & {*ids(found(sample, question, k=5))})
            for question, _, excluded in (line.partition("\t") for line in lines)
        }

    assert sum(map(bool, results.values())) <= MOST_EXCLUDED_FOUND


def test_the_command_says_what_took_effect(home):
    done = shrag("search", f"Since 2015, which papers say: {QUESTION}", "--name", NAME, home=home)
    record = json.loads(shrag("search", QUESTION, "--name", NAME, "--json", home=home).stdout)
    dropped = shrag("search", QUESTION, "--name", NAME, "--json", "--no-constraints", home=home)

    assert "note: years 2015– preferred" in done.stderr
    assert "note: papers about sulfides are ranked lower; " in done.stderr
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
    question = "In papers since 2015, which solid electrolytes conduct lithium best?"
    given = shrag(
        "search", question, "--name", NAME, "--json", "--exclude", "sulfides", "--strict-time", home=home
    )

    record = json.loads(given.stdout)

    assert record["constraints"]["strict_time"]
    assert [exclusion["text"] for exclusion in record["constraints"]["exclusions"]] == ["sulfides"]
    assert {"OLD", "UNDATED"}.isdisjoint(hit["doc_id"] for hit in record["hits"])
    assert record["hits"][0]["doc_id"] == "OXIDE"
