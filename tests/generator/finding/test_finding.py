"""Finding papers: the loop over a real index, without a model and with one that answers by rules."""

import asyncio
import csv
import json
from dataclasses import replace

import pytest

from base.errors import InvalidCall
from base.notes import Note
from generator.budgets import Budget
from generator.finding.agents.judgement import ComplexJudgement, complex_score
from generator.finding.calls import FindRequest
from generator.finding.finding import find_in_sources, open_places
from generator.finding.result import tree
from generator.finding.state import FindingState
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from tests.generator.finding_model import FindingModel, judgement, value_of
from tests.generator.language_model import settings as model_settings
from tests.generator.sample_index import ENGLISH, NAME, settings_of, shrag
from tests.indexer.made_corpora import build, write_jsonl

RUNAWAY = "SAMPLE-BAT-011"


def find(home, request, *, model=None, state=None, name=NAME, listener=None):
    """Find papers in an index."""
    given = settings_of(home, **({"llm": model_settings()} if model else {}))

    async def run():
        async with open_places(name, (), given) as opened:
            if model is None:
                return await find_in_sources(opened, request, given, state=state, listener=listener)
            async with given.language_model(model.transport) as asked:
                return await find_in_sources(
                    opened, request, given, state=state, model=asked, listener=listener
                )

    return asyncio.run(run())


def ids(found):
    return [ranked.paper_id for ranked in found.papers]


def names_of_steps(found):
    return {step.name for step in found.step.walk()}


def test_the_command_lists_papers_with_scores_reasons_and_how_each_was_found(sample_home):
    done = shrag("find-papers", ENGLISH, "--name", NAME, "--threshold", "0.99", "--json", home=sample_home)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert [paper["id"] for paper in record["papers"]] == [RUNAWAY]
    [paper] = record["papers"]
    assert 0 <= paper["score"] <= 1
    assert paper["relevance"] >= 0.5
    assert paper["judged_by"].startswith("words")
    assert paper["why"] and paper["found_by"]  # noqa: PT018
    near = [paper["relevance"] for paper in record["near"]]
    assert "SAMPLE-BAT-009" in [paper["id"] for paper in record["near"]]
    assert near == sorted(near, reverse=True)
    assert max(near) < record["papers"][0]["relevance"]
    shown = shrag("find-papers", ENGLISH, "--name", NAME, "--threshold", "0.99", home=sample_home).stdout
    assert "next below these:" in shown
    assert RUNAWAY in shown


def test_a_saved_search_is_exported_in_its_order_with_scores_and_reasons(sample_home, tmp_path):
    state, file = tmp_path / "state.json", tmp_path / "found.csv"
    asked = ("find-papers", ENGLISH, "--name", NAME, "--threshold", "0", "--json", "--save", state)
    papers = json.loads(shrag(*asked, home=sample_home).stdout)["papers"]
    assert len(papers) > 1
    exported = ("--resume", state, "--export", "csv", "--out", file)
    done = shrag("find-papers", ENGLISH, "--name", NAME, *exported, home=sample_home)
    assert (done.returncode, done.stdout) == (0, "")
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [(row["id"], row["title"], float(row["score"]), row["why"]) for row in csv.DictReader(lines)]
    assert rows == [(each["id"], each["title"], each["score"], each["why"]) for each in papers]


def by(state):
    return {known.judgement and known.judgement.by.partition(" ")[0] for known in state.papers.values()}


def test_papers_on_which_a_model_fails_are_not_judged_by_rules(sample_home):
    request = FindRequest(ENGLISH, papers=100)

    def fails_on_some(prompt):
        return "garbage" if len(value_of("title", prompt)) % 3 == 0 else judgement(prompt)

    found = find(sample_home, request, model=FindingModel({"judgement": fails_on_some}))
    assert by(found.state) == {"tiny-writer", None}
    assert "not_judged_yet" in {note.code for note in found.notes if isinstance(note, Note)}
    again = find(sample_home, request, model=FindingModel(), state=found.state)
    assert by(again.state) == {"tiny-writer"}


def test_rules_judge_for_a_model_that_fails_also_within_a_budget_of_papers(sample_home):
    request = FindRequest(ENGLISH, budget=Budget(papers=3), without={"understanding"})
    found = find(sample_home, request, model=FindingModel({"judgement": lambda _: "garbage"}))
    assert by(found.state) == {"words", None}
    assert found.state.spent.papers == 3


@pytest.mark.parametrize(("answers", "judge"), [(1_000, "tiny-writer"), (3, "words"), (0, "words")])
def test_papers_judged_by_rules_are_judged_again_by_a_model_all_or_none(sample_home, answers, judge):
    """A model that stops answering costs no paper its judgement."""
    request = FindRequest(ENGLISH, papers=100)
    state = find(sample_home, request).state
    waiting = list(state.papers)[:2]
    state = state.with_papers((each, replace(state.papers[each], judgement=None)) for each in waiting)
    left = iter(range(answers))
    model = FindingModel(
        {"judgement": lambda prompt: "garbage" if next(left, None) is None else judgement(prompt)}
    )
    found = find(sample_home, request, model=model, state=state)
    assert by(found.state) == {judge}
    assert any("not judged by the model" in note for note in found.notes) is (judge == "words")


@pytest.mark.parametrize("model", [None, FindingModel], ids=["rules", "model"])
def test_fields_in_the_question_are_filters_and_no_words_of_a_prompt(sample_home, model):
    asked = model and model()
    found = find(sample_home, FindRequest(f"{ENGLISH} author:Quintela year:2020.."), model=asked)
    assert RUNAWAY in found.state.papers
    assert all("Marta Quintela" in known.paper.authors for known in found.state.papers.values())
    assert 'only papers with author:"Quintela", year:"2020.." are listed' in found.notes
    assert not (asked and any("author:" in prompt for prompt in asked.prompts))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, 0.85),
        ({"shares_subject": False, "shares_domain": False, "shares_intent": False}, 0.0),
        ({"stuffed_with_keywords": True}, 0.55),
        ({"misleading": True}, 0.65),
        ({"stuffed_with_keywords": True, "misleading": True}, 0.3),
        ({"depth": 0.0}, 0.69),
        ({"topic": 0.2, "context": 0.1, "depth": 0.05}, 0.3),
        ({"topic": 0.3, "context": 0.1, "depth": 0.0}, 0.4),
        ({"topic": 0.1, "context": 0.0, "depth": 0.0, "stuffed_with_keywords": True}, 0.0),
    ],
)
def test_a_complex_score_is_made_by_the_rules(changed, expected):
    """Of .55 + .2 + .1: the gate, the deductions, three criteria from .7 on, whole tenths below .4."""
    gates = dict.fromkeys(("shares_subject", "shares_domain", "shares_intent"), True)
    criteria = {"reason": "", "topic": 0.55, "context": 0.2, "depth": 0.1}
    deductions = {"stuffed_with_keywords": False, "misleading": False}
    judged = ComplexJudgement.model_validate(gates | criteria | deductions | changed)
    assert complex_score(judged) == pytest.approx(expected)


def test_a_budget_of_papers_is_kept_told_and_gone_on_from(sample_home, tmp_path):
    small = find(sample_home, FindRequest(ENGLISH, budget=Budget(papers=5)))
    assert small.state.spent.papers == 5
    assert not small.complete
    assert any("5 papers" in note for note in small.notes)
    small.state.save(tmp_path / "state.json")
    state = FindingState.load(tmp_path / "state.json")
    assert state == small.state
    resumed = find(sample_home, FindRequest(ENGLISH), state=state)
    whole = find(sample_home, FindRequest(ENGLISH))
    assert resumed.complete
    assert set(ids(small)) <= set(ids(resumed))
    assert set(ids(resumed)) == set(ids(whole))


@pytest.mark.parametrize(
    "part", ['"request": {"question": ""}', '"request": {"question": "x", "papers": 0}', '"papers": []']
)
def test_a_state_with_an_invalid_part_is_refused_with_its_file(tmp_path, part):
    path = tmp_path / "state.json"
    path.write_text(f'{{"question": "x", "version": 1, {part}}}')
    with pytest.raises(InvalidCall, match=r"state\.json is not a saved search"):
        FindingState.load(path)
    with pytest.raises(ValueError, match="FindingState"):  # as the server reads it
        FindingState.of_json(path.read_bytes())


def test_years_of_the_call_go_before_those_of_the_question_with_a_note(sample_home):
    question = "thermal runaway in battery packs, papers since 2024"
    found = find(sample_home, FindRequest(question, threshold=0.1, filters=Filters(years=Range(2019, 2023))))
    assert found.papers
    assert all(2019 <= known.paper.year <= 2023 for known in found.state.papers.values())
    assert found.notes == ("the call's years replace the question's years 2024–",)


WORDS = "quorvex blandim trosset"


@pytest.fixture(scope="module")
def odd_home(tmp_path_factory):
    """Index papers that refer to each other in a circle, to themselves, to thousands, and to absent ones."""
    home = tmp_path_factory.mktemp("odd")

    def paper(number, references=(), title=f"{WORDS} study", abstract=WORDS):
        named = {"id": f"P{number}", "title": f"{title} {number}", "abstract": abstract}
        return named | {"references": list(references), "year": 2000 + number % 20}

    others = [paper(number, title="Mirzol", abstract="mirzol " * 5) for number in range(100, 500)]
    crowd = [f"P{number}" for number in range(100, 500)] + [f"absent-{number}" for number in range(4_600)]
    papers = [
        paper(1, ["P2"]),
        paper(2, ["P3", "P2"]),
        paper(3, ["P1", "absent"]),
        paper(4, crowd),
        paper(5, ["P6"]),
        paper(6, title=f"{WORDS} known by reference alone"),
        *others,
    ]
    build(home, write_jsonl(home / "odd.jsonl", papers), name="odd")
    return home


@pytest.mark.parametrize("layers", [1, 3])
def test_circles_self_references_crowds_and_absent_papers_end(odd_home, layers):
    found = find(odd_home, FindRequest(WORDS, layers=layers, per_query=2, papers=50, rounds=0), name="odd")
    assert {"P1", "P2", "P3"} & set(ids(found))
    assert len(found.state.papers) <= 310
    for paper_id, known in found.state.papers.items():
        assert not any(by.of == paper_id for by in known.found_by)
    json.dumps(tree(found.state, 0.5))


def test_papers_of_two_sources_are_one_list_and_a_source_that_fails_costs_a_note(sample_home):
    gone = {"kind": "elasticsearch", "url": "http://127.0.0.1:9", "index": "x", "fields__title": "title"}
    sources = {name: {"kind": "index", "index": NAME} for name in ("first", "second")} | {"gone": gone}
    declared = {f"sources__{name}__{key}": of[key] for name, of in sources.items() for key in of}
    names = "first,second,gone"
    done = shrag("find-papers", ENGLISH, "--source", names, "--json", home=sample_home, **declared)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    [runaway] = [paper for paper in record["papers"] if "aerogel" in paper["title"]]
    assert runaway["sources"] == [{"source": name, "id": RUNAWAY} for name in ("first", "second")]
    assert any("gone" in note for note in record["notes"])
    only = shrag("find-papers", ENGLISH, "--source", "gone", home=sample_home, **declared)
    assert only.returncode == 1
    assert len(only.stderr.splitlines()) == 1
