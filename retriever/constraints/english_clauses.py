"""The clause of an English question in which an operator occurs, and what kind of question it asks."""

import re
from dataclasses import dataclass

from retriever.constraints.english_spans import ASIDE, REQUESTS
from retriever.constraints.publication_words import ENGLISH_PAPERS

BEFORE = 1_000  # characters before an operator that are read
SENTENCE_END = re.compile(r"(?<!\b[A-Z])\.(?=\s|$)|[!?;:]")
WANTED = r"(?:(?:I|we) (?:want|need|would like|am looking for|are looking for)|I['’]m looking for)\b"
REQUEST = re.compile(
    rf"\s*(?:(?:(?:can|could|would|will) you\s+|please,?\s+)*(?:{REQUESTS})\b|{WANTED})", re.IGNORECASE
)
WHY = re.compile(r"\bwhy\b", re.IGNORECASE)
POLAR = re.compile(
    r"\s*(?:and |but |so )?(?:is|are|was|were|am|do|does|did|can|could|has|have|had|will|would|should|may"
    r"|might|must)(?:n['’]t)?\b",
    re.IGNORECASE,
)
# Words that open a clause whose verbs are no instructions: "explain how birds find and avoid roads".
SUBORDINATE = re.compile(r"\b(?:how|to|that|which|who|what|why|whether|where|when)\b", re.IGNORECASE)
PAPERS = re.compile(rf"\b{ENGLISH_PAPERS}\b", re.IGNORECASE)
RELATIVE = re.compile(
    r"\b(?:that|which|who|whose|where|how|why|what|showing|reporting|finding|is|are|was|were|do|does|did|has|have"
    r"|can)\b",
    re.IGNORECASE,
)
# Properties that a contrast may belong to: "active in mice but not in rats".
PROPERTIES = (
    r"\w{3,}ed|\w{3,}[ai]ble|found|seen|known|grown|made|shown|active|present|common|toxic|effective|necessary"
    r"|sufficient|safe|specific|sensitive"
)
PROPERTY = re.compile(rf"\b(?:{PROPERTIES})\b", re.IGNORECASE)
PREDICATE = re.compile(
    r"\b(?:am|is|are|was|were|be|been|do|does|did|has|have|had|can|could|will|would|should|may|might|must"
    rf"|that|which|who|whose|what|how|why|where|when|it|there|we|they|he|she|I|{PROPERTIES})\b",
    re.IGNORECASE,
)
MARK = re.compile(r"[^.!;]*\?")


@dataclass(frozen=True, slots=True)
class Clause:
    """The text around an operator within its sentence."""

    before: str
    behind: str
    is_aside: bool  # a comma or a bracket separates the operator from the text before it

    @classmethod
    def around(cls, text: str, operator: re.Match[str]) -> "Clause":
        """Return the clause around an operator."""
        before = text[max(0, operator.start() - BEFORE) : operator.start()].rstrip()
        return cls(SENTENCE_END.split(before)[-1].strip(), text[operator.end() :], before.endswith(ASIDE))

    @property
    def main(self) -> str:
        """The clause that asks: the text before the operator, or after the comma of an opening phrase."""
        return self.before or self.behind.partition(",")[2]

    @property
    def is_request(self) -> bool:
        """Whether the clause tells the reader to do something."""
        return bool(REQUEST.match(self.main))

    @property
    def asks_why(self) -> bool:
        """Whether the clause asks for a reason."""
        return not self.is_request and bool(WHY.search(self.main))

    @property
    def is_polar(self) -> bool:
        """Whether yes or no would be an answer."""
        return not self.is_request and bool(POLAR.match(self.main))

    @property
    def is_plain_request(self) -> bool:
        """Whether a request has no subordinate clause that the operator could belong to."""
        return self.is_request and not SUBORDINATE.search(self.before)

    @property
    def names_papers(self) -> bool:
        """Whether papers are the subject, with no clause after them that the operator could belong to."""
        found = PAPERS.search(self.before)
        return bool(found) and not RELATIVE.search(self.before, found.end() if found else 0)

    @property
    def is_fragment(self) -> bool:
        """Whether the clause is a noun phrase, as typed into a search box."""
        return bool(self.before) and not PREDICATE.search(self.before) and not MARK.match(self.behind)
