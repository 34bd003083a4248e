"""Answers: a model's text with title and three sections, quoted passages, or an abstention.

Every sentence has citations and the result of its check.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field, computed_field

from base.records import IF_ANY, IF_KNOWN, INTERNAL, Recordable
from base.terminal.output import visible
from generator.checking import Check, Hint
from indexer.corpora.papers import Language
from indexer.files.schema import StoredPassage
from retriever.stages.hits import SearchResult, unknown_words_note

# Check words after a sentence; supported sentences have none.
CHECK_WORDS: dict[str, dict[Check, str]] = {
    "ko": {
        "unsupported": "근거 없음",
        "not checked": "확인 안 함",
        "excluded": "제외 대상",
        "quoted": "인용",
    },
    "en": {
        "unsupported": "unsupported",
        "not checked": "not checked",
        "excluded": "excluded",
        "quoted": "quoted",
    },
}
BRACKETS = {**dict.fromkeys("[［⁅〔【⟦", "("), **dict.fromkeys("]］⁆〕】⟧", ")")}
CHECKS = dict.fromkeys("√✓✔✗✘⊘☑☒✅❌❎🗸🗴🗵🗶🗹", "*")
UNMARKED = str.maketrans(BRACKETS | CHECKS)
CHECK_WORD = re.compile(
    r"(?:[(（]\s*)+(supported|{})(?:\s*[)）])+".format(
        "|".join(word for words in CHECK_WORDS.values() for word in words.values())
    ),
    re.IGNORECASE,
)
# Start of a list item; a dash before a number is a minus sign.
LIST_SIGN = r"(?:[-–](?!\s*\d)|[—*•·▪◦‣●○□■◇◆▶▷※])"
BULLET = re.compile(rf"\A(?:(?:{LIST_SIGN}|#{{1,6}})\s+)+(?=\S)")
# A pair of marks around words; asterisks in names and formulas (A*, C*-algebra, 3 * 4) do not match.
EMPHASIS = re.compile(
    r"(?<![^\s(\[\"'“‘「『])(\*{1,3}|_{2,3})(?=[^\s*_])([^*]{1,300}?)(?<=[^\s*_])\1(?![A-Za-z0-9*_])"
)

Section = Literal["introduction", "body", "conclusion", "passages"]
SECTIONS: tuple[Section, ...] = ("introduction", "body", "conclusion")  # of a model's answer
EXTRACTIVE = "extractive"

HEADINGS: dict[str, dict[str, str]] = {
    "ko": {
        "introduction": "서론",
        "body": "본론",
        "conclusion": "결론",
        "passages": "도움이 될 만한 구절",
        "nearest": "가장 가까운 논문",
    },
    "en": {
        "introduction": "Introduction",
        "body": "Main body",
        "conclusion": "Conclusion",
        "passages": "Passages that may help",
        "nearest": "Nearest papers",
    },
}
NO_ANSWER: dict[str, tuple[str, str]] = {
    "ko": ("답이 없는 듯함", "찾은 문헌에는 이 질문에 대한 답이 없는 것으로 보입니다."),
    "en": ("Probably no answer", "The passages found probably do not answer this question."),
}
NOT_CHECKED = {
    "ko": "모델 없이 논문에서 인용한 문장이며, 확인하지 않았습니다",
    "en": "quoted from the papers, without a model; nothing was checked",
}
SEARCHED = {"ko": "검색한 질문: {}", "en": "searched for: {}"}
LIKELIHOOD = {
    "ko": "이 논문들에 답이 있을 가능성: {}%",
    "en": "Likelihood that these papers answer: {} %",
}


@dataclass(frozen=True, slots=True)
class Sentence(Recordable):
    """A sentence of an answer, the passages that it cites, and the result of its check."""

    text: str
    section: Annotated[
        Section, Field(description="passages: quoted sentences, the only section of their answer")
    ]
    citations: Annotated[tuple[str, ...], Field(description="passage_ids of the evidence")]
    check: Check
    hints: Annotated[tuple[Hint, ...], Field(description="what speaks against the sentence")] = ()


@dataclass(frozen=True, slots=True)
class Answer(Recordable):
    """A cited answer; if it `abstained`, the evidence is the papers nearest to the question."""

    title: str
    sentences: tuple[Sentence, ...]
    language: Language
    written_by: Annotated[str, Field(description='the model\'s name, or "extractive"')]
    abstained: bool
    statement: Annotated[str, INTERNAL] = ""  # of an abstention
    checked_by: Annotated[str, IF_ANY, Field(description="the model that checked the sentences, if any")] = ""
    title_check: Annotated[Check | None, IF_KNOWN, Field(description="for a title written by a model")] = None
    title_hints: Annotated[tuple[Hint, ...], IF_ANY] = ()

    @computed_field
    @property
    def introduction(self) -> str:
        """An abstaining answer starts with the statement."""
        return self.section("introduction")

    @computed_field
    @property
    def body(self) -> str:
        """Empty, like the other two, if sentences are quoted."""
        return self.section("body")

    @computed_field
    @property
    def conclusion(self) -> str:
        """The last section."""
        return self.section("conclusion")

    def section(self, name: Section) -> str:
        """Return the text of a section."""
        text = " ".join(sentence.text for sentence in self.sentences if sentence.section == name)
        if name == "introduction" and self.statement:
            return f"{self.statement} {text}".strip()
        return text

    def as_text(self) -> str:
        """Format the answer: citations in square brackets, checks in round ones, quotations as a list."""
        headings = HEADINGS[_of(self.language)]
        lines = [quoted(self.title) + self._check_word(self.title_check)]
        if self.statement:
            lines += ["", self.statement]
        if passages := self._written("passages"):
            lines += ["", *(f"- {passage}" for passage in passages)]
        for name in SECTIONS:
            if sentences := self._written(name):
                lines += ["", headings[name], *sentences]
        return "\n".join(lines)

    def _written(self, section: Section) -> list[str]:
        return [
            cited(sentence.text, ", ".join(sentence.citations)) + self._check_word(sentence.check)
            for sentence in self.sentences
            if sentence.section == section
        ]

    def _check_word(self, check: Check | None) -> str:
        words = CHECK_WORDS[_of(self.language)]
        return f" ({words[check]})" if check in words else ""


def quoting_answer(language: Language, sentences: Sequence[Sentence]) -> Answer:
    """Return an answer that lists quoted sentences."""
    title = HEADINGS[_of(language)]["passages"]
    return Answer(title, tuple(sentences), language, EXTRACTIVE, abstained=False)


def no_answer(language: Language, written_by: str, sentences: Sequence[Sentence] = ()) -> Answer:
    """Return an abstention."""
    title, statement = NO_ANSWER[_of(language)]
    return Answer(title, tuple(sentences), language, written_by, abstained=True, statement=statement)


def with_unknown_words(answer: Answer, words: Sequence[str]) -> Answer:
    """Add the question's words that no paper contains to an abstention; other answers are unchanged."""
    return replace(answer, statement=abstention(answer.language, words)) if answer.abstained else answer


def abstention(language: Language, unknown_words: Sequence[str]) -> str:
    """Return the statement of an abstention, with the words that no paper contains."""
    statement = NO_ANSWER[_of(language)][1]
    note = unknown_words_note(language, unknown_words)
    return f"{statement} {note[0].upper()}{note[1:]}." if note else statement


def likelihood_line(language: Language, likelihood: float | None) -> str:
    """Format the likelihood in percent; "" without a likelihood."""
    return "" if likelihood is None else LIKELIHOOD[_of(language)].format(round(100 * likelihood))


def searched_line(language: Language, question: str) -> str:
    """Return the line that shows the question that was searched for instead of the reader's."""
    return SEARCHED[_of(language)].format(visible(question))


def not_checked_line(language: Language) -> str:
    """Return the closing line of a quoted answer."""
    return NOT_CHECKED[_of(language)]


def cited_passages(passage_ids: Iterable[str], evidence: Sequence[StoredPassage]) -> list[StoredPassage]:
    """Return the cited passages of the evidence."""
    wanted = set(passage_ids)
    return [passage for passage in evidence if passage.passage_id in wanted]


def _of(language: Language) -> str:
    return "ko" if language == "ko" else "en"


@dataclass(frozen=True, slots=True)
class WayResult:
    """An answer, and the search whose hits are its evidence."""

    answer: Answer
    search: SearchResult


def quoted(text: str) -> str:
    """Return a text on one line without anything that looks like a citation or a check."""
    return CHECK_WORD.sub(r"\1", visible(text.translate(UNMARKED)))


def cited(text: str, citations: str) -> str:
    """Return a quoted text, followed by its citations in square brackets if any."""
    return f"{quoted(text)} [{quoted(citations)}]" if citations else quoted(text)


def without_markup(text: str) -> str:
    """Return a sentence or a title without Markdown, which models write although the prompt forbids it.

    Bullets, heading marks and emphasis are removed (SHRAG, appendix A.2); hyphens stay.
    """
    return EMPHASIS.sub(r"\2", BULLET.sub("", text))
