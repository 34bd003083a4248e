"""Selection of questions by a person, one key for each."""

from collections.abc import Iterator

from base.journal import Append
from base.terminal.output import echo, styled
from eval.judging.folder import now
from eval.judging.keyboard import work_through
from eval.judging.records import Question, Selection
from eval.judging.state import Benchmark

CHOICES = {"y": "keep", "n": "drop"}


def questions_to_select(benchmark: Benchmark, *, seeds: bool) -> list[Question]:
    """Return the derived questions, and the seeds if they are to be selected too; each after its seed."""
    questions = list(benchmark.questions.values())
    places = {each.query_id: place for place, each in enumerate(questions)}
    ordered = sorted(questions, key=lambda each: (places.get(each.seed or each.query_id, 0), bool(each.seed)))
    return [each for each in ordered if seeds or each.origin == "extended"]


def select(
    benchmark: Benchmark,
    questions: list[Question],
    assessor: str,
    keys: Iterator[str],
    append: Append[Selection],
) -> None:
    """Show the questions without a decision, and append each decision."""
    decided = dict(benchmark.selections)

    def show(each: Question, number: int) -> None:
        echo()
        echo(styled(f"{number:,} of {len(questions):,}", dim=True))
        if each.seed in benchmark.questions:
            echo(f"seed {each.seed}: {benchmark.questions[each.seed].question}")
        echo(styled(f"{each.query_id}  {each.question}", bold=True))
        if each.query_id in decided:
            echo(f"your decision: {'keep' if decided[each.query_id].kept else 'drop'}")

    def choose(each: Question, key: str) -> None:
        made = Selection(each.query_id, key == "y", assessor, now())
        append(made)
        decided[each.query_id] = made

    work_through(questions, lambda each: each.query_id in decided, show, CHOICES, choose, keys)
