"""Halves of the plain questions in `sample/plain/` are balanced, and their judgements fit the papers."""

import json
import re
from collections import Counter

import pytest

from eval.qrels import read_qrels
from tests.indexer.made_corpora import ROOT

SAMPLE = ROOT / "sample"
PAPERS = {"sample": SAMPLE / "papers.jsonl", "held-out": SAMPLE / "held-out" / "papers.jsonl"}
COPIES = {"SAMPLE-BAT-012": "SAMPLE-BAT-002", "SAMPLE-NLP-012": "SAMPLE-NLP-005"}
LONGEST = {"ko": 30, "en": 60}  # characters
HANGUL = re.compile("[가-힣]")
# Questions of each half by corpus, scope, language, and whether only the other language has an answer.
COMPOSITION = {
    ("sample", "in", "ko", False): 10,
    ("sample", "in", "ko", True): 5,
    ("sample", "in", "en", False): 10,
    ("sample", "in", "en", True): 5,
    ("sample", "near", "ko", False): 7,
    ("sample", "near", "en", False): 8,
    ("sample", "far", "ko", False): 8,
    ("sample", "far", "en", False): 7,
    ("held-out", "in", "ko", False): 6,
    ("held-out", "in", "ko", True): 4,
    ("held-out", "in", "en", False): 7,
    ("held-out", "in", "en", True): 3,
    ("held-out", "near", "ko", False): 5,
    ("held-out", "near", "en", False): 5,
    ("held-out", "far", "ko", False): 5,
    ("held-out", "far", "en", False): 5,
}


def records(path):
    """Read the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


TOPICS = records(SAMPLE / "plain" / "topics.jsonl")
QRELS = read_qrels(SAMPLE / "plain" / "qrels.txt")
CORPORA = {name: {paper["id"]: paper for paper in records(path)} for name, path in PAPERS.items()}


def languages(paper):
    """Return the languages in which a paper has a title or an abstract."""
    return {"ko", "en"} if {"title2", "abstract2"} & paper.keys() else {paper["lang"]}


def papers_of(topic, *, grade):
    """Return the papers that have a grade for a question."""
    judged = QRELS.get(topic["query_id"], {})
    return [CORPORA[topic["corpus"]][doc_id] for doc_id, given in judged.items() if given == grade]


def of_scope(scope):
    return [topic for topic in TOPICS if topic["scope"] == scope]


def test_ids_are_numbered_by_corpus():
    sample = [f"P{number:03}" for number in range(1, 121)]
    held_out = [f"Q{number:03}" for number in range(1, 81)]

    assert [topic["query_id"] for topic in TOPICS if topic["corpus"] == "sample"] == sample
    assert [topic["query_id"] for topic in TOPICS if topic["corpus"] == "held-out"] == held_out
    assert len(TOPICS) == 200


def test_no_question_is_asked_twice():
    assert len({topic["question"].casefold() for topic in TOPICS}) == len(TOPICS)


@pytest.mark.parametrize("half", ["tune", "test"])
def test_each_half_has_the_same_composition(half):
    counted = Counter(
        (topic["corpus"], topic["scope"], topic["language"], topic["cross_lingual"])
        for topic in TOPICS
        if topic["half"] == half
    )

    assert counted == COMPOSITION


def test_no_paper_is_relevant_in_both_halves():
    relevant: dict[str, set[str]] = {"tune": set(), "test": set()}
    for topic in TOPICS:
        judged = QRELS.get(topic["query_id"], {})
        relevant[topic["half"]].update(doc_id for doc_id, grade in judged.items() if grade > 0)

    assert relevant["tune"].isdisjoint(relevant["test"])


def test_questions_are_short_and_in_their_language():
    for topic in TOPICS:
        assert len(topic["question"]) <= LONGEST[topic["language"]], topic
        assert bool(HANGUL.search(topic["question"])) == (topic["language"] == "ko"), topic


def test_judgements_belong_to_a_question_and_a_paper_of_its_corpus():
    corpus = {topic["query_id"]: topic["corpus"] for topic in TOPICS}
    for query_id, judged in QRELS.items():
        assert judged.keys() <= CORPORA[corpus[query_id]].keys(), query_id
        assert set(judged.values()) <= {0, 1, 2}, query_id


def test_a_copy_of_a_paper_has_its_grade():
    for judged in QRELS.values():
        for copy, original in COPIES.items():
            assert judged.get(copy) == judged.get(original)


def test_a_question_in_scope_has_a_paper_that_answers_it():
    for topic in of_scope("in"):
        assert papers_of(topic, grade=2), topic


def test_a_cross_lingual_question_is_answered_in_the_other_language_only():
    for topic in of_scope("in"):
        answering = papers_of(topic, grade=2)
        in_its_language = any(topic["language"] in languages(paper) for paper in answering)
        assert topic["cross_lingual"] is not in_its_language, topic


def test_a_question_near_the_scope_has_near_misses_only():
    for topic in of_scope("near"):
        assert set(QRELS[topic["query_id"]].values()) == {0}, topic


def test_a_question_far_from_the_scope_has_no_judgements():
    for topic in of_scope("far"):
        assert topic["query_id"] not in QRELS, topic


def test_marked_findings_stand_in_papers_that_answer():
    topics = {topic["query_id"]: topic for topic in TOPICS}
    for record in records(SAMPLE / "plain" / "answers.jsonl"):
        topic = topics[record["query_id"]]
        texts = [
            text
            for paper in papers_of(topic, grade=2)
            for text in (paper.get("abstract", ""), paper.get("abstract2", ""))
        ]
        assert topic["half"] == "tune"
        assert all(any(begin in text for text in texts) for begin in record["answers"])
