"""The ways of paper-QA on the full texts of the sample: rows, accuracy, declined answers, and errors."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from eval.accepted import contains_accepted
from eval.errors import BadTopics
from eval.experiments.answering.question_materials import QuestionMaterials
from eval.experiments.commands import experiment
from eval.experiments.tables.paper_qa import EXPERIMENT, PUBLISHED, PaperQA, summary
from eval.query_lines import read_paper_questions
from generator.errors import UnknownWay
from generator.pipeline import Settings
from indexer.corpora.chunking import passages_of
from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.fixture_model import fixture_model
from tests.indexer.made_corpora import build

FULL_TEXTS = Path(__file__).resolve().parents[3] / "sample" / "full-texts"
QUESTIONS = FULL_TEXTS / "questions.jsonl"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    made = tmp_path_factory.mktemp("full-texts")
    build(made, FULL_TEXTS, name="full-texts")
    return made


@pytest.fixture
def call(home, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(home))

    def called(*arguments):
        return CliRunner().invoke(experiment, list(map(str, arguments)), catch_exceptions=False)

    return called


@pytest.fixture
def questions_file(tmp_path):
    def written(*query_ids, **changed):
        lines = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
        chosen = [line | changed for line in lines if line["query_id"] in query_ids]
        path = tmp_path / "questions.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in chosen))
        return path

    return written


def test_the_reference_answers_of_the_sample_are_correct_by_their_strings():
    questions = read_paper_questions(QUESTIONS).values()
    assert len(questions) == 24
    wrong = [each.query_id for each in questions if not contains_accepted(each.answers[0], each.strings)]
    assert wrong == []


def test_passages_of_the_sample_have_no_addresses_references_and_acknowledgements():
    papers = [each for each in read_corpus([FULL_TEXTS]) if isinstance(each, Paper)]
    texts = [passage.text for paper in papers for passage in passages_of(paper, "paper")]
    assert (len(papers), len(texts)) == (8, 111)
    assert sum("[URL]" in text for text in texts) == 8
    dropped = ("http", "www.", "Dahlqvist", "지역약학", "coast guard", "감사드린다", "Wells 12 and 31")
    assert [text for text in texts for part in dropped if part in text] == []


def topics_of(folder):
    lines = (folder / "topics.jsonl").read_text().splitlines()
    return {topic["query_id"]: topic["ways"] for topic in map(json.loads, lines)}


def answer(rouge_l, accepted, *, judged=None, declined=False, **changed):
    record = {
        "answer": "" if declined else "An answer.",
        "written_by": "extractive",
        "declined": declined,
        "evidence": 0 if declined else 5,
        "rouge_l": rouge_l,
        "accepted": accepted,
        "judged": judged,
        "why": "",
        "k": [10, 15, 5],
        "relevance": "words",
        "threshold": 0.6,
        "filled_in": 2,
        "fallbacks": [],
    }
    return record | changed


@pytest.fixture
def summarised(home):
    questions = read_paper_questions(QUESTIONS)
    with open_index(IndexerSettings(home=home), "full-texts") as index:
        materials = QuestionMaterials(index, {}, Settings.from_environment(), questions=questions)

        def outcome(*answers, **options):
            given = PaperQA(questions="", ways=("paper-qa-6",), **options)
            topics = [{"ways": {"paper-qa-6": each}, "seconds": {"paper-qa-6": 0.5}} for each in answers]
            return summary(given, materials, topics)

        yield outcome


def test_a_row_has_the_columns_of_the_report_and_the_counts_of_the_filter(summarised):
    answers = [answer(0.8, True), answer(0.4, False), answer(0, None), answer(0, False, declined=True)]
    outcome = summarised(*answers)
    row = dict(zip(outcome.tables[0].columns, outcome.tables[0].rows[0], strict=True))
    assert (row["K1"], row["K2"], row["K3"], row["threshold"]) == (10, 15, 5, 0.6)
    assert row["accuracy"] == pytest.approx(1 / 3)  # the third question has no accepted strings
    assert row["ROUGE-L"] == pytest.approx(0.3)
    assert [row[column] for column in ("> 0.7", "> 0.5", "> 0.3")] == [1, 1, 2]
    assert (row["filled in"], row["without evidence"], row["declined"]) == (8, 1, 1)
    assert outcome.main == pytest.approx({"paper-qa-6, ROUGE-L": 0.3, "paper-qa-6, accuracy": 1 / 3})
    assert outcome.tables[-1].timed


def test_failed_judgements_do_not_count(summarised):
    verdicts = ["correct", "correct", "incorrect", "not judged"]
    outcome = summarised(*(answer(0.5, True, judged=verdict) for verdict in verdicts), model=True)
    [judged] = [table for table in outcome.tables if table.judge]
    assert judged.rows == (("paper-qa-6", 2, 1, 1, pytest.approx(2 / 3), 0.34),)
    assert "accuracy.ko version 1" in judged.judge


def test_a_failed_model_is_noted(summarised):
    outcome = summarised(answer(0.5, True, fallbacks=["queries"]), answer(0.5, True))
    assert any("failed for 1 of 2" in note for note in outcome.notes)


def test_published_values_have_the_names_of_the_main_ones(summarised):
    assert summarised(answer(1, True)).main.keys() <= EXPERIMENT.published.keys()
    assert EXPERIMENT.published["paper-qa-8, ROUGE-L"] == 0.2809
    assert len(PUBLISHED) == 8


@pytest.mark.needs_libraries  # matplotlib
def test_each_way_answers_each_question(call, questions_file, tmp_path):
    # P03 has its topic by title, P18 has none, P20 asks about a paper of 10 passages.
    call("paper-qa", questions_file("P03", "P18", "P20"), "--out", tmp_path / "made")
    topics = topics_of(tmp_path / "made")
    assert list(topics) == ["P03", "P18", "P20"]
    assert list(topics["P03"]) == [f"paper-qa-{number}" for number in range(1, 9)]
    assert topics["P03"]["paper-qa-1"]["accepted"] is True
    assert [topics["P20"][f"paper-qa-{way}"]["filled_in"] for way in (1, 2)] == [0, 5]
    assert {ways["paper-qa-2"]["judged"] for ways in topics.values()} == {None}
    assert len((tmp_path / "made" / "runs" / "paper-qa-2.trec").read_text().splitlines()) == 15


@pytest.mark.needs_libraries
def test_a_way_over_papers_gets_no_topic(call, questions_file, tmp_path):
    call("paper-qa", questions_file("P03"), "--way", "shrag,paper-qa-1", "--out", tmp_path / "made")
    assert topics_of(tmp_path / "made")["P03"]["shrag"]["k"] == []


@pytest.mark.needs_libraries
def test_a_repetition_has_the_same_results(call, questions_file, tmp_path):
    questions = questions_file("P03", "P18")
    call("paper-qa", questions, "--way", "paper-qa-4", "--stem", "--out", tmp_path / "made")
    questions.unlink()
    repeated = call("repeat", tmp_path / "made")
    assert (repeated.exit_code, repeated.output) == (0, "no differences\n")


@pytest.mark.needs_libraries
def test_a_language_model_writes_and_judges_the_answers(call, questions_file, tmp_path, monkeypatch):
    with fixture_model() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        call("paper-qa", questions_file("P04"), "--way", "paper-qa-8", "--model", "--out", tmp_path / "made")
    found = topics_of(tmp_path / "made")["P04"]["paper-qa-8"]
    assert (found["written_by"], found["fallbacks"]) == ("fixture", [])
    assert (found["judged"], found["why"]) == ("correct", "Judged by shared words.")


@pytest.mark.needs_libraries
@pytest.mark.parametrize(
    ("error", "part", "changed", "arguments"),
    [
        (BadTopics, "P03: .*no-such-paper", {"topic": "no-such-paper"}, ()),
        (BadTopics, "questions.jsonl:1: answers", {"answers": []}, ()),
        (UnknownWay, "paper-qa-9", {}, ("--way", "paper-qa-9")),
    ],
)
def test_invalid_input_is_refused(call, questions_file, tmp_path, error, part, changed, arguments):
    with pytest.raises(error, match=part):
        call("paper-qa", questions_file("P03", **changed), *arguments, "--out", tmp_path / "made")
