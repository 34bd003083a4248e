"""Errors between a question and its hits.

RetrieverError
├── BadQuestion     empty, or longer than the limit
├── BadExpression   the expert language: unbalanced quotes or brackets, an unknown field; marks the place
├── BadFilter       a year range, language or method that does not exist
├── UnknownPassage  no passage of that id in the index
├── UnknownPaper    no paper of that id in the index
├── UnknownSource   no source of papers is declared by that name
├── InvalidSource   invalid settings of a source of papers
└── SourceFailed    a source of papers does not answer, or sends an invalid answer; other sources continue
"""

import unicodedata

from base.errors import RemediableError
from base.terminal.columns import display_width

# Characters of a long expression shown before and after the marked place.
SHOWN_BEFORE = 60
SHOWN_BEHIND = 40
CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})


class RetrieverError(RemediableError, exit_code=2):
    """Base of all errors of the retriever."""


class BadQuestion(RetrieverError, http_status=422, code="bad-question"):
    """A question that cannot be searched for."""


class BadFilter(RetrieverError, http_status=422, code="bad-filter"):
    """A filter or method that does not exist."""


class UnknownPassage(RetrieverError, http_status=404, code="unknown-passage"):
    """No passage of that id in the index."""


class UnknownPaper(RetrieverError, http_status=404, code="unknown-paper"):
    """No paper of that id in the index."""


class UnknownSource(RetrieverError, http_status=404, code="unknown-source"):
    """No source of papers is declared by that name."""


class InvalidSource(
    RetrieverError,
    http_status=503,
    code="invalid-source",
    public="the declaration of a source is invalid; details are in the server's log",
):
    """Invalid settings of a source of papers."""


class SourceFailed(RetrieverError, http_status=502, code="source-failed", exit_code=1):
    """A source of papers does not answer, or sends an invalid answer."""


class BadExpression(RetrieverError, http_status=422, code="bad-expression"):
    """An expression of the expert language that cannot be parsed; `position` counts characters from 0."""

    def __init__(self, reason: str, expression: str, position: int) -> None:
        """Show the reason, the expression, and a mark under the place of the error.

        Wide characters count as two columns.
        """
        self.reason = reason
        self.expression = expression
        self.position = position
        first, last = max(0, position - SHOWN_BEFORE), position + SHOWN_BEHIND
        before = ("…" if first else "") + _on_one_line(expression[first:position])
        behind = _on_one_line(expression[position:last]) + ("…" if last < len(expression) else "")
        super().__init__(f"{reason}\n  {before}{behind}\n  {' ' * display_width(before)}^")


def _on_one_line(text: str) -> str:
    return "".join(" " if unicodedata.category(character) in CONTROL else character for character in text)
