"""The structured answer: title, introduction, main body, conclusion, every sentence with its citations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from generator.citations import Check, Reason
from generator.quoting import DOUBTS, cited, quoted
from indexer.papers import Language

Section = Literal["introduction", "body", "conclusion"]
SECTIONS: tuple[Section, ...] = ("introduction", "body", "conclusion")
EXTRACTIVE = "extractive"
RULES = "rules"

HEADINGS: dict[str, dict[str, str]] = {
    "ko": {"introduction": "서론", "body": "본론", "conclusion": "결론"},
    "en": {"introduction": "Introduction", "body": "Main body", "conclusion": "Conclusion"},
}
NO_ANSWER: dict[str, tuple[str, str]] = {
    "ko": ("답을 찾지 못함", "찾은 문헌에는 이 질문에 대한 답이 없습니다."),
    "en": ("No answer found", "The passages found do not answer this question."),
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer, the passages it rests on, and what their check says."""

    text: str
    section: Section
    citations: tuple[str, ...]
    check: Check
    reasons: tuple[Reason, ...] = ()  # what speaks against it

    def as_record(self) -> dict[str, Any]:
        """Return the sentence as the contract's JSON; `reasons` where something speaks against it."""
        record: dict[str, Any] = {
            "text": self.text,
            "section": self.section,
            "citations": list(self.citations),
            "check": self.check,
        }
        reasons = [{"sign": reason.sign, "words": reason.words} for reason in self.reasons]
        return record | {"reasons": reasons} if reasons else record


@dataclass(frozen=True, slots=True)
class SentencesSoFar:
    """The first sentences of an answer that is being written, or all of it before a judge has read it."""

    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the question's language; with `abstained` it says that the evidence holds none."""

    title: str
    sentences: tuple[Sentence, ...]
    language: Language
    written_by: str  # the model's name, or "extractive"
    abstained: bool
    statement: str = ""  # what an abstaining answer says
    checked_by: str = RULES  # the model and its revision, or "rules"

    def section(self, name: Section) -> str:
        """Return the text of a section."""
        text = " ".join(sentence.text for sentence in self.sentences if sentence.section == name)
        if name == "introduction" and self.statement:
            return f"{self.statement} {text}".strip()
        return text

    def as_record(self) -> dict[str, Any]:
        """Return the answer as the contract's JSON; `checked_by` where a model judged."""
        record: dict[str, Any] = {
            "title": self.title,
            **{name: self.section(name) for name in SECTIONS},
            "language": self.language,
            "written_by": self.written_by,
            "abstained": self.abstained,
            "sentences": [sentence.as_record() for sentence in self.sentences],
        }
        return record if self.checked_by == RULES else record | {"checked_by": self.checked_by}

    def as_text(self) -> str:
        """Write the answer: headings in its language, citations in square brackets, doubts in round ones."""
        headings = HEADINGS["ko" if self.language == "ko" else "en"]
        lines = [quoted(self.title)]
        for name in SECTIONS:
            written = [self._with_citations(each) for each in self.sentences if each.section == name]
            if name == "introduction" and self.statement:
                written.insert(0, self.statement)
            if written:
                lines += ["", headings[name], *written]
        return "\n".join(lines)

    def _with_citations(self, sentence: Sentence) -> str:
        doubt = DOUBTS["ko" if self.language == "ko" else "en"].get(sentence.check)
        return cited(sentence.text, ", ".join(sentence.citations)) + (f" ({doubt})" if doubt else "")


def no_answer(language: Language, written_by: str, sentences: Sequence[Sentence] = ()) -> Answer:
    """Make the answer that says that the evidence holds none."""
    title, statement = NO_ANSWER["ko" if language == "ko" else "en"]
    return Answer(title, tuple(sentences), language, written_by, abstained=True, statement=statement)
