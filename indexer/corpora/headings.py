"""Headings of papers in both languages, known by their words or by a number."""

import re
from typing import Literal, NamedTuple, TypeAlias

from base.patterns import lazy_regex

Kind: TypeAlias = Literal["abstract", "keywords", "contents", "kept", "dropped", "references", "appendix"]

NAMES: dict[Kind, str] = {
    "abstract": "abstract, summary",
    "keywords": "keywords, keywords and phrases, index terms, 주제어, 핵심어, 핵심단어, 중심어, 키워드, "
    "색인어, 주요어",
    "contents": "contents, table of contents, list of tables, list of figures, 목차, 표 목차, 그림 목차",
    "kept": "introduction, background, motivation, related work, previous work, literature review, materials "
    "and methods, material and methods, patients and methods, subjects and methods, methods and materials, "
    "methods, methodology, theory, experiments, experimental setup, experimental results, experimental "
    "methods, evaluation, results, results and discussion, discussion, discussion and conclusions, "
    "limitations, future work, conclusions, concluding remarks, conclusions and future work, 서론, 머리말, "
    "들어가며, 배경, 이론적 배경, 관련 연구, 선행 연구, 본론, 방법, 연구 방법, 실험 방법, 재료 및 방법, "
    "실험, 결과, 연구 결과, 실험 결과, 결과 및 고찰, 결과 및 논의, 고찰, 논의, 논의 및 결론, 결론, "
    "결론 및 제언, 맺음말, 나가며, 제언",
    "dropped": "acknowledgements, acknowledgments, funding, funding statement, funding information, funding "
    "sources, financial support, conflict of interest, conflict of interest statement, conflict of interest "
    "disclosure, competing interests, competing interests statement, declaration of competing interests, "
    "declaration of conflict of interest, disclosures, author contributions, author contributions statement, "
    "credit author contribution statement, credit authorship contribution statement, data availability, "
    "data availability statement, ethics statement, ethics approval, about the authors, 감사의 글, "
    "감사의 말, 감사의 말씀, 사사, 이해상충, 이해 관계 상충, 이해상충 선언, 저자 기여, 저자 기여도, "
    "연구비 지원, 저자 소개",
    "references": "references, references cited, references and notes, bibliography, literature cited, works "
    "cited, 참고문헌, 참고자료, 인용문헌, 참고문헌 references, references 참고문헌, 참고자료 references",
    "appendix": "supplementary materials, supplementary information, supplementary data, supporting "
    "information",
}
KOREAN_ABSTRACTS = tuple(
    f"{prefix}{name}{suffix}"
    for prefix in ("", "국문", "영문", "한글", "영어", "논문")
    for name in ("초록", "요약", "요약문", "요지", "개요")
    for suffix in ("", "abstract")
)
APPENDIX = lazy_regex(
    r"(?:appendix|appendices|부\s*록|별\s*첨)(?: [a-z0-9]{1,3})?(?: ?[.:：–—-] ?.*[^.?!다])?", re.IGNORECASE
)
WORD = lazy_regex(r"[^\W\d_]+['’]?")
NO_NAME = lazy_regex(r"\d|[.·…]{2}|[,;?!=\[{]|^\(")  # a line of a table of contents, a citation
LETTERS_APART = lazy_regex(
    r"((?:제?\s*[\dIVXⅠ-Ⅻ]{1,4}\s*[.)장절]\s*)?)((?:[가-힣]\s+){1,6}[가-힣]|(?:[A-Z]\s+){4,20}[A-Z])"
)
VALUE = r"(?:\d{1,2}|[IVX]{1,4}|[Ⅰ-Ⅻ])"
CHAPTER = lazy_regex(
    rf"(?:제\s*(?P<korean>{VALUE})\s*(?:[장편부]|(?P<below>절))|(?P<bare>{VALUE})\s*장(?=\s|$)"
    rf"|(?:chapter|part)\s+(?P<english>{VALUE})\b)\s*[.:]?\s*(?P<name>.*)",
    re.IGNORECASE,
)
NUMBERED = lazy_regex(
    r"(?:(?P<deep>(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+)|(?P<arabic>\d{1,2})|(?P<roman>[IVX]{1,4}|[Ⅰ-Ⅻ])"
    r"|(?P<letter>[A-Z](?=[.)])))(?:(?P<stop>\s?[.)])\s*|\s+)(?P<name>\S.*)"
)
ROMAN = {text: number for number, text in enumerate("I II III IV V VI VII VIII IX X XI XII".split(), 1)}
ROMAN |= {chr(0x215F + value): value for value in ROMAN.values()}
# An abstract or keywords behind their name: "Abstract—Methane fell", "[요약] 메탄이".
INLINE = lazy_regex(
    r"[\[<【〔(]?\s*(?P<name>[^\W\d_]+(?:\s+[^\W\d_]+){0,6}(?:\(abstract\))?)\s*"
    r"(?:[-–—:：.]+|[\]>】〕)]\s*[-–—:：.]*)\s*(?P<text>\S.*)",
    re.IGNORECASE,
)
LINE_CHARACTERS, NAME_WORDS = 100, 10
SENTENCE_ENDS = (".", "?", "!", "다")  # never ends of a heading, unless it is marked as one
MARKED = lazy_regex(
    r"\s*(?P<marks>#{1,6}(?=\s))?\s*(?P<bold>\*\*|__)?\s*(?P<text>\S.*?)\s*(?P<end>\*\*|__)?\s*[:：]?\s*#*\s*"
)


class Number(NamedTuple):
    """A heading's number: its kind ("" without one), its value (0 below the main parts), and the name."""

    kind: str
    value: int
    name: str
    is_sure: bool = True  # not a word, as "I" without a full stop, and not an initial


def together(text: str) -> str:
    """Join the letters of a letter-spaced heading: Ⅰ. 서 론, A B S T R A C T."""
    found = LETTERS_APART.fullmatch(text.strip())
    return found[1] + "".join(found[2].split()) if found else text.strip()


def number_of(text: str) -> Number:
    """Return the number and the name of a heading."""
    text = together(text)
    if found := CHAPTER.match(text):
        value = _value(found["korean"] or found["bare"] or found["english"])
        return Number("deep" if found["below"] else "chapter", 0 if found["below"] else value, found["name"])
    if not (found := NUMBERED.match(text)):
        return Number("", 0, text)
    kind = next(kind for kind in ("deep", "arabic", "roman", "letter") if found[kind])
    is_sure = bool(found["stop"]) or not found[kind].isascii() or found[kind][-1].isdecimal()
    return Number(kind, _value(found[kind]), found["name"], is_sure)


def _value(numeral: str) -> int:
    return ROMAN.get(numeral.upper()) or (int(numeral) if numeral.isdecimal() else 0)


def kind_of(heading: str) -> Kind | None:
    """Return the kind of section with a heading, by its words; None for other headings and lines."""
    if len(heading) > LINE_CHARACTERS:
        return None
    name = number_of(heading).name
    if APPENDIX.fullmatch(" ".join(name.split())):
        return "appendix"
    return None if NO_NAME.search(name) else KIND_OF_NAME.get(_key(name))


def inline_heading(line: str) -> tuple[str, str] | None:
    """Return the name of an abstract or of keywords at the start of a line, and the text behind it."""
    found = INLINE.fullmatch(line)
    if not found or kind_of(found["name"]) not in ("abstract", "keywords"):
        return None
    return together(found["name"]), found["text"]


def line_kind(line: str) -> Kind | None:
    """Return the kind of section that a line of a text introduces, None if it is not a heading.

    A heading is known by its words, or has a mark of Markdown or a number ("kept").
    """
    if len(line) > LINE_CHARACTERS or not (found := MARKED.fullmatch(line)):
        return None
    if not found["marks"] and line.rstrip().endswith(SENTENCE_ENDS):
        return None
    if known := kind_of(found["text"]):
        return known
    number = number_of(found["text"])
    is_numbered = number.kind and number.is_sure and _reads_like_heading(number.name)
    return "kept" if found["marks"] or (found["bold"] and found["end"]) or is_numbered else None


def heading_text(line: str) -> str:
    """Return a heading without its marks."""
    found = MARKED.fullmatch(line)
    return found["text"] if found else ""


def _reads_like_heading(name: str) -> bool:
    """Check for a heading rather than a sentence or list entry: it has no stop or comma, and a word first."""
    return (
        name[:1].isalpha()
        and not name[0].islower()
        and name[-1] not in ".,;?!다"
        and len(name.split()) <= NAME_WORDS
    )


def _key(name: str) -> str:
    """Return the letters of a name, without the plural."""
    words = WORD.findall(name.casefold())
    return "".join(word.rstrip("s'’") if len(word) > 3 else word for word in words).rstrip("s")  # noqa: PLR2004


KIND_OF_NAME: dict[str, Kind] = {
    **{_key(name): kind for kind, names in NAMES.items() for name in names.split(",")},
    **dict.fromkeys(KOREAN_ABSTRACTS, "abstract"),
}
