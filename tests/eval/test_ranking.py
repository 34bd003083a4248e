"""Questions are ranked each by itself: what fails for one, and what ends a run."""

import asyncio

import pytest

from eval.kept import KeptTopics
from eval.progress import MOST_FAILURES, work_through
from eval.ranking import RankedTopic, rank_all
from retriever.errors import BadFilter, SourceFailed

TOPICS = {"q1": "first", "q2": "second", "q3": "third"}


def ranked(errors, topics=TOPICS, known=()):
    """Rank topics, of which some raise errors; return what became of each, and those that were kept."""
    kept = []

    async def rank_one(_, question):
        if question in errors:
            raise errors[question]
        return RankedTopic([(f"paper of {question}", 1.0)])

    keeping = KeptTopics(None, "", dict(known), lambda query_id, _: kept.append(query_id))
    return asyncio.run(rank_all(topics, rank_one, keeping)), kept


@pytest.mark.parametrize("error", [SourceFailed("no answer"), KeyError("no such key")])
def test_a_question_that_fails_costs_no_other(error):
    found, kept = ranked({"second": error})

    assert kept == ["q1", "q3"]
    assert [topic.ranking for topic in found.values()] == [
        [("paper of first", 1.0)],
        None,
        [("paper of third", 1.0)],
    ]
    assert found["q2"].failures == (f"{type(error).__name__}: {error}",)


def test_a_programming_error_is_no_failure_of_a_question_unless_tolerated():
    async def work(_, question):
        raise KeyError(question)

    with pytest.raises(KeyError):
        asyncio.run(work_through(TOPICS, work))


NO_ANSWER = SourceFailed("no answer")
FORTY = {f"q{number}": str(number) for number in range(40)}


@pytest.mark.parametrize(
    ("errors", "topics"),
    [
        ({"first": BadFilter("no such method")}, TOPICS),  # affects all questions
        (dict.fromkeys(TOPICS.values(), NO_ANSWER), TOPICS),
        ({str(number): NO_ANSWER for number in range(1, MOST_FAILURES + 1)}, FORTY),
    ],
)
def test_an_error_of_all_or_of_many_questions_in_a_row_ends_a_run(errors, topics):
    with pytest.raises(type(next(iter(errors.values())))):
        ranked(errors, topics)
    found, _ = ranked({str(number): NO_ANSWER for number in range(1, MOST_FAILURES)}, FORTY)
    assert sum(topic.ranking is None for topic in found.values()) == MOST_FAILURES - 1


def test_only_questions_for_which_something_failed_are_ranked_again():
    known = {
        "q1": RankedTopic([("kept", 1.0)]),
        "q2": RankedTopic([("without the model", 1.0)], failures=("it was silent",)),
        "q3": RankedTopic([("without the model", 1.0)], failures=("it was silent",)),
    }

    found, kept = ranked({"third": SourceFailed("no answer")}, known=known)

    assert kept == ["q2"]
    assert [topic.ranking[0][0] for topic in found.values()] == [
        "kept",
        "paper of second",
        "without the model",
    ]
