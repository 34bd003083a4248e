"""What can go wrong between a question and its hits.

RetrieverError
├── BadQuestion     empty, or longer than the limit
├── BadExpression   the expert language: unbalanced quotes or brackets, an unknown field; marks the place
├── BadFilter       a year range, language or method that does not exist
├── UnknownPassage  no passage of that id in the index
├── UnknownPaper    no paper of that id in the index
├── UnknownSource   no source of papers is declared by that name
├── InvalidSource   what declares a source of papers cannot be used
└── SourceFailed    a source of papers does not answer, or not as agreed; the others go on
"""

import unicodedata

from base.errors import RemediableError
from base.terminal.columns import display_width

# Of a long expression only this much is shown before and behind the marked place.
SHOWN_BEFORE = 60
SHOWN_BEHIND = 40
CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})


class RetrieverError(RemediableError):
    """Base of all errors of the retriever."""


class BadQuestion(RetrieverError):
    """A question that cannot be searched for."""


class BadFilter(RetrieverError):
    """A filter or method that does not exist."""


class UnknownPassage(RetrieverError):
    """No passage of that id in the index."""


class UnknownPaper(RetrieverError):
    """No paper of that id in the index."""


class UnknownSource(RetrieverError):
    """No source of papers is declared by that name."""


class InvalidSource(RetrieverError):
    """What declares a source of papers cannot be used."""


class SourceFailed(RetrieverError):
    """A source of papers that does not answer, or not as agreed."""


class SourceSilent(SourceFailed):
    """A source did not answer in time; it is not waited for again."""


class BadExpression(RetrieverError):
    """An expression of the expert language that cannot be read; `position` counts characters from 0."""

    def __init__(self, reason: str, expression: str, position: int) -> None:
        """Say what is wrong and mark the place under the expression, as wide characters are drawn."""
        self.reason = reason
        self.expression = expression
        self.position = position
        first, last = max(0, position - SHOWN_BEFORE), position + SHOWN_BEHIND
        before = ("…" if first else "") + _on_one_line(expression[first:position])
        behind = _on_one_line(expression[position:last]) + ("…" if last < len(expression) else "")
        super().__init__(f"{reason}\n  {before}{behind}\n  {' ' * display_width(before)}^")


def _on_one_line(text: str) -> str:
    return "".join(" " if unicodedata.category(character) in CONTROL else character for character in text)
