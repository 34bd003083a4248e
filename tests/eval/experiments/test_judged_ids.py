"""Judgements that do not fit the index or the topics of an experiment."""

import click
import pytest

from base.errors import InvalidCall
from eval.errors import NothingJudged
from eval.experiments.experiment import JudgedCall
from eval.experiments.materials import opened_materials

pytest_plugins = ["tests.generator.sample_index"]


@pytest.fixture
def notes(sample_home, monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))

    def opened(topics, *judgements):
        (tmp_path / "topics").write_text("".join(f"{query_id}\tbattery\n" for query_id in topics))
        (tmp_path / "qrels").write_text("".join(f"{line}\n" for line in judgements))
        call = JudgedCall.of(index="sample", topics=str(tmp_path / "topics"), qrels=str(tmp_path / "qrels"))
        with click.Context(click.Command("experiment")), opened_materials(call) as materials:
            return materials.notes()

    return opened


def test_all_ids_and_topics_known_need_no_note(notes):
    assert notes(["q1"], "q1 0 SAMPLE-BAT-001 1", "q1 0 NOWHERE 0") == ()


def test_ids_that_the_index_lacks_are_counted(notes):
    [note] = notes(["q1"], "q1 0 SAMPLE-BAT-001 1", "q1 0 NOWHERE 1")
    assert note.startswith("1 relevant id of 2 ")
    assert "NOWHERE" in note


def test_judgements_without_a_topic_and_topics_without_judgement_are_counted(notes):
    left_out, unasked = notes(["q1", "q2"], "q1 0 SAMPLE-BAT-001 1", "q3 0 SAMPLE-BAT-001 1")
    assert left_out.startswith("1 topic")
    assert unasked.startswith("1 judged question ")
    assert "q3" in unasked


def test_judgements_of_another_corpus_are_refused_with_an_id_of_both(notes):
    with pytest.raises(NothingJudged, match=r"qrels: no relevant id \(1234, …\).* such as SAMPLE-"):
        notes(["q1"], "q1 0 1234 1")


def test_judgements_of_passages_become_judgements_of_their_papers(notes):
    [note] = notes(["q1"], "q1 0 SAMPLE-BAT-001@en 1", "q1 0 SAMPLE-BAT-001#2 2")
    assert "passages" in note


def test_topics_and_judgements_without_a_common_question_are_refused_with_an_id_of_both(notes):
    with pytest.raises(InvalidCall, match=r"\(q1, …\).*\(7, …\)"):
        notes(["q1"], "7 0 SAMPLE-BAT-001 1")
