"""An answer as text with numbered citations, written in pieces as its sentences arrive.

A chat shows sentences followed by `[1]`, one paragraph per section, a word in round brackets after a sentence
that its check does not support, and the references at the end. Quoted passages are a list under a heading.
An abstaining answer lists the nearest papers. The text is the same whether its pieces are sent one by one or
together.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from base.notes import Note, with_codes
from generator.answers.answer import CHECK_WORDS, EXTRACTIVE, HEADINGS, abstention, likelihood_line, quoted
from generator.tracing import StreamEvent
from indexer.corpora.papers import Language, language_of_question
from retriever.reference import reference_line

# Markdown reads these as a tag or a link, a model as a special token (`<|im_start|>`); `p < .05` stays.
TAG = re.compile(r"<(?=[A-Za-z/!?|｜])")
ENTITY = re.compile(r"&(?=#?\w+;)")  # an entity can stand for a bracket or an address
# Bare addresses, hosts and mail that chats turn into links. Some programs look for links after they
# removed backslashes, so escaping does not help; a code span does. A backslash before a span would escape it.
# A name with a path, port or query is an address; a bare one only with an ending that texts rarely have.
ENDINGS = (
    "com|net|org|edu|gov|mil|int|info|biz|pro|name|io|ai|app|dev|shop|site|xyz|test|"
    "kr|jp|cn|tw|hk|uk|de|fr|eu|ru|nl|ch|br|au|ca|tv|tk|co|한국|中国|中國|рф|xn--[\\w-]{1,59}"
)
ADDRESS = re.compile(
    r"(?<!\\)\\*(?:(?:(?:[a-z][a-z0-9+.-]{0,31}:)?//\w|www\.|(?:mailto|xmpp|tel):)\S+"
    r"|[\w.+-]{1,64}@[\w-]{1,63}\.\S+"
    rf"|\b(?:[\w-]{{1,63}}\.){{1,8}}(?:(?:{ENDINGS})\b|[^\W\d_][\w-]{{1,62}}\.?(?:/|:\d|\?\w))\S*)",
    re.IGNORECASE,
)
WORDS = {
    "en": {
        "references": "References",
        "note": "Note",
        "asked": "the question that was searched for",
        "checked": "Checked",
        "unchecked": "No model has checked the sentences.",
        "sentence": "sentence {}",
    },
    "ko": {
        "references": "참고 문헌",
        "note": "알림",
        "asked": "검색한 질문",
        "checked": "확인 결과",
        "unchecked": "문장을 확인한 모델이 없습니다.",
        "sentence": "{}번째 문장",
    },
}
SUPPORTED = {"en": "supported", "ko": "근거 있음"}
UNMARKED = {"not checked": "supported"}  # what a sentence without a mark may become


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited passage, its number in the text, and the address of its paper."""

    number: int
    passage_id: str
    doc_id: str
    title: str
    described: str  # authors, year, title, journal
    url: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark `[n]`: `text[start:end]`, in code points of the whole text."""

    start: int
    end: int
    reference: Reference


def harmless(text: str) -> str:
    """Return a text on one line that a chat shows unchanged: no citation, image, link or tag in it is active.

    The renderers are CommonMark and GitHub's Markdown, which links bare addresses.
    """
    text = ENTITY.sub("& ", TAG.sub("< ", quoted(text).replace("`", "'")))
    return ADDRESS.sub(lambda found: f"`{found[0]}`", text)


class CitedText:
    """Write the text of one answer; each method returns the text that it adds."""

    def __init__(
        self, question: str, address: Callable[[Mapping[str, Any]], str], *, streams: bool = True
    ) -> None:
        """Write in the language of the question; `address` returns the address of a hit, or "".

        `streams`: the text is sent as it grows, so that withdrawn sentences stay in it.
        """
        self._question, self._streams = question, streams
        self._language: Language = "ko" if language_of_question(question) == "ko" else "en"
        self._words = WORDS[self._language]
        self._address = address
        self._papers: dict[str, Mapping[str, Any]] = {}
        self._nearest: dict[str, Mapping[str, Any]] = {}  # of the last search
        self._checks: list[str] = []  # of the sentences, when they were written
        self._section = ""
        self._likelihood: float | None = None
        self._length = 0
        self.references: dict[str, Reference] = {}
        self.citations: list[Citation] = []

    def take(self, event: StreamEvent) -> str:
        """Return the text of an event."""
        data = event.data
        if event.kind == "evidence":
            self.evidence(data["hits"], data["likelihood"])
        elif event.kind == "sentence" and self._streams:
            return self.sentence(data)
        elif event.kind == "restart" and self._streams:
            return self.restart(data["message"])
        elif event.kind == "done":
            written = [] if self._streams else map(self.sentence, data["answer"]["sentences"])
            notes = with_codes(data["notes"], data["note_codes"])
            if self._language == "ko":
                notes = [note.in_language("ko") if isinstance(note, Note) else note for note in notes]
            if data["question"].strip() != self._question.strip():
                notes.insert(0, f"{self._words['asked']}: {data['question']}")
            return "".join(written) + self.end(data["answer"], notes, data["unknown_words"])
        return ""

    def evidence(self, hits: Iterable[Mapping[str, Any]], likelihood: float | None = None) -> None:
        """Remember the hits that sentences cite, each with `passage_id`, `doc_id`, `title` and `paper`."""
        self._nearest = {hit["passage_id"]: hit for hit in hits}
        self._papers |= self._nearest
        self._likelihood = likelihood

    def sentence(self, record: Mapping[str, Any]) -> str:
        """Write a sentence."""
        self._checks.append(record["check"])
        added = f"{self._lead(record['section'])}{harmless(record['text'])}"
        self._section = record["section"]
        marks = [self._reference(passage_id) for passage_id in record["citations"]]
        if marks:
            added += " "
        for reference in marks:
            mark = f"[{reference.number}]"
            start = self._length + len(added)
            self.citations.append(Citation(start, start + len(mark), reference))
            added += mark
        word = CHECK_WORDS[self._language].get(record["check"])
        if word and record["check"] != "not checked":  # a model may still check it
            added += f" ({word})"
        return self._add(added)

    def _lead(self, section: str) -> str:
        """Return the text before a sentence: a space, a new paragraph, or the start of a list item."""
        begins = section != self._section
        paragraph = "\n\n" if self._length else ""
        if section != "passages":
            return paragraph if begins else " "
        if not begins:
            return "\n- "
        heading = f"**{HEADINGS[self._language]['passages']}**"
        lines = filter(None, (likelihood_line(self._language, self._likelihood), heading, "- "))
        return paragraph + "\n\n".join(lines)

    def restart(self, message: str) -> str:
        """Report that the answer starts again; text that was sent cannot be taken back."""
        self._checks, self._section = [], ""
        return self._add(f"\n\n({harmless(message)})") if self._length else ""

    def end(self, answer: Mapping[str, Any], notes: Sequence[str], unknown_words: Sequence[str] = ()) -> str:
        """Write the parts that need the whole answer: an abstention, changed checks, notes, references.

        An abstaining answer without references lists the papers found as the nearest ones.
        """
        paragraphs = []
        if answer["abstained"]:
            if answer["written_by"] == EXTRACTIVE:
                paragraphs.append(likelihood_line(self._language, self._likelihood))
            paragraphs.append(harmless(abstention(self._language, unknown_words)))
        paragraphs.append(self._checked(answer["sentences"], checked=bool(answer.get("checked_by"))))
        paragraphs += [f"{self._words['note']}: {harmless(note)}" for note in notes]
        if self.references:
            listed = [f"[{each.number}] {each.described} {each.url}" for each in self.references.values()]
            paragraphs.append(_listed(self._words["references"], listed))
        elif answer["abstained"] and self._nearest:
            nearest = [f"{_described(hit)} {self._address(hit)}" for hit in self._nearest.values()]
            paragraphs.append(_listed(HEADINGS[self._language]["nearest"], nearest))
        text = "\n\n".join(filter(None, paragraphs))
        return self._add(f"\n\n{text}" if self._length and text else text)

    def _checked(self, sentences: Sequence[Mapping[str, Any]], *, checked: bool) -> str:
        """List the sentences whose final check is not written after them; supported ones need no mark."""
        checks = [record["check"] for record in sentences]
        if "not checked" in checks and not checked:
            return self._words["unchecked"]
        words = CHECK_WORDS[self._language] | {"supported": SUPPORTED[self._language]}
        listed = [
            f"{self._words['sentence'].format(number)}: {words.get(check, check)}"
            for number, (before, check) in enumerate(zip(self._checks, checks, strict=False), 1)
            if check == "not checked" or check not in {before, UNMARKED.get(before)}
        ]
        return f"{self._words['checked']}: {'; '.join(listed)}" if listed else ""

    def _reference(self, passage_id: str) -> Reference:
        if passage_id not in self.references:
            hit = self._papers.get(passage_id, {"doc_id": passage_id, "passage_id": passage_id})
            self.references[passage_id] = Reference(
                number=len(self.references) + 1,
                passage_id=passage_id,
                doc_id=str(hit["doc_id"]),
                title=str(hit.get("title", "")),
                described=_described(hit),
                url=self._address(hit),
            )
        return self.references[passage_id]

    def _add(self, text: str) -> str:
        self._length += len(text)
        return text


def _described(hit: Mapping[str, Any]) -> str:
    """Return authors, year, title and journal of a hit's paper."""
    title = str(hit.get("title", ""))
    return harmless(reference_line({"year": hit.get("year"), **(hit.get("paper") or {}), "title": title}))


def _listed(heading: str, items: Sequence[str]) -> str:
    """Format a list under a heading."""
    lines = [f"- {item}".replace("  ", " ").rstrip() for item in items]
    return "\n".join([f"**{heading}**", "", *lines])
