"""Questions about papers with reference answers, as JSON lines.

{"query_id": "Q1", "question": "…", "topic": "PAPER-1", "answers": ["…"], "strings": ["12 months"]}

`topic` and `strings` are optional, other keys are ignored.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from eval.files import Digest
from eval.query_lines import QueryLine, Text, read_query_lines


class PaperQuestion(QueryLine):
    """A question with its reference texts.

    `topic` is the id or the exact title of the paper that the question is about; without it the answer may
    come from any paper. A correct answer contains one of `strings`.
    """

    question: Text
    topic: Text | None = None
    answers: Annotated[tuple[Text, ...], Field(min_length=1)]
    strings: tuple[Text, ...] = ()


def read_paper_questions(path: str | Path, digest: Digest | None = None) -> dict[str, PaperQuestion]:
    """Read questions by query_id, with the arguments and errors of `read_query_lines`."""
    return read_query_lines(path, PaperQuestion, "questions", digest)
