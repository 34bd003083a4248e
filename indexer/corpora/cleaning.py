"""Cleaning of full text: removes reference lists, acknowledgements, appendices and URLs.

The rules follow paper-qa's preprocessing (section 1.I). They apply to `body`, never to an abstract.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from base.patterns import lazy_regex

Kind: TypeAlias = Literal["kept", "dropped", "to the end", "appendix"]

URL_MARK = "[URL]"
# Up to the last character that is not punctuation: a full stop after an address ends the sentence.
URL = lazy_regex(r"(?:https?://|ftp://|www\.)[!#-;=?-~]*[A-Za-z0-9/=&_~#%+-]", re.IGNORECASE)

HEADING_CHARACTERS = 100
HEADING_WORDS = 10
SENTENCE_ENDS = (".", "?", "!", "다")  # never ends of a heading, unless it is marked as one
NUMBER = r"(?:제?\s*\d{1,2}\s*[장절]\.?|\d{1,2}(?:\.\d{1,2})*[.)]?|[IVXivx]{1,5}[.)]?|[Ⅰ-Ⅻ][.)]?|[A-Z][.)])"
HEADING = lazy_regex(
    rf"\s*(?P<marks>#{{1,6}}(?=\s))?\s*(?P<bold>\*\*|__)?\s*(?P<number>{NUMBER}\s+)?"
    r"(?P<name>\S.*?)\s*(?:\*\*|__)?\s*[:：]?\s*#*\s*"
)

KEPT = lazy_regex(
    r"abstract|summary|introduction|background|motivation|(?:related|previous) works?|literature review"
    r"|(?:materials?|patients|subjects) and methods?|methods? and materials?|methods?|methodology|theory"
    r"|experiments?|experimental (?:setup|results|methods?)|evaluation|results?|results? and discussions?"
    r"|discussions?|discussions? and conclusions?|limitations?|future works?|conclusions?|concluding remarks"
    r"|conclusions? and future works?"
    r"|초록|요약|서론|머리말|들어가며|배경|이론적 ?배경|관련 ?연구|선행 ?연구|본론"
    r"|(?:연구 ?|실험 ?)?방법|재료 ?및 ?방법|실험|(?:연구 ?|실험 ?)?결과|결과 ?및 ?(?:고찰|논의)"
    r"|고찰|논의|논의 ?및 ?결론|결론|결론 ?및 ?제언|맺음말|나가며|제언"
)
DROPPED = lazy_regex(
    r"acknowledge?ments?|funding|funding (?:statement|information|sources?)|financial support"
    r"|(?:declarations? of )?(?:conflicts? of interests?|competing interests?)(?: statement| disclosure)?"
    r"|disclosures?"
    r"|authors?['’]? contributions?(?: statement)?|credit authors?(?:ship)? contribution statement"
    r"|data availability(?: statement)?|ethics (?:statement|approval)|about the authors?"
    r"|감사의 ?(?:글|말씀?)|사사|이해 ?(?:관계 ?)?상충(?: ?선언)?|저자 ?기여(?:도)?|연구비 ?지원|저자 ?소개"
)
TO_THE_END = lazy_regex(
    r"references?(?: cited| and notes)?|bibliography|literature cited|works cited"
    r"|참고 ?(?:문헌|자료)(?: ?[-–—/(:] ?references?\)?)?|references? ?[-–—/(:] ?참고 ?문헌\)?|인용 ?문헌"
)
APPENDIX_WORDS = (
    r"appendix|appendices|부\s*록|별\s*첨"
    r"|supplementary (?:materials?|information|data)|supporting information"
)
APPENDIX = lazy_regex(
    rf"(?:{APPENDIX_WORDS})"
    r"(?: [a-z0-9]{1,3})?(?: ?[.:：\-–—] ?.*[^.?!다])?"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading as written ('' before the first one), and the text below it."""

    heading: str
    text: str


def clean_body(text: str) -> str:
    """Drop sections that are not part of the argument, and replace every address by `[URL]`.

    A dropped section ends at the next heading of a kept one. References end only at a heading known by its
    words, as their entries are numbered like headings. An appendix extends to the end of the text.
    """
    kept: list[str] = []
    last: Kind = "kept"
    for section in split_sections(text):
        last = _kind_after(last, section.heading)
        if last == "kept":
            kept.append("\n".join(filter(None, (section.heading, section.text))))
    return URL.sub(URL_MARK, "\n\n".join(filter(None, kept)))


def split_sections(text: str) -> list[Section]:
    """Split the composed text at headings: separate lines with known words, a number, or a `#` mark."""
    sections: list[Section] = []
    heading = ""
    lines: list[str] = []
    for line in unicodedata.normalize("NFC", text).splitlines():
        if heading_kind(line) is None:
            lines.append(line)
            continue
        sections.append(Section(heading, "\n".join(lines).strip()))
        heading, lines = line.strip(), []
    sections.append(Section(heading, "\n".join(lines).strip()))
    return [section for section in sections if section.heading or section.text]


def reference_lines(sections: Iterable[Section]) -> list[str]:
    """Return the lines of all reference lists in the sections of a text, without headings."""
    lines: list[str] = []
    last: Kind = "kept"
    for section in sections:
        before, last = last, _kind_after(last, section.heading)
        if last == "to the end":
            # Apparent headings in a reference list are entries.
            lines += [section.heading] if before == last and not is_reference_heading(section.heading) else []
            lines += section.text.splitlines()
    return lines


def is_reference_heading(line: str) -> bool:
    """Check whether a line is the heading of a reference list."""
    found = HEADING.fullmatch(line) if len(line) <= HEADING_CHARACTERS else None
    return found is not None and kind_by_words(found["name"]) == "to the end"


def heading_kind(line: str) -> Kind | None:
    """Return the kind of section that a line introduces, None if it is not a heading."""
    if len(line) > HEADING_CHARACTERS or (
        line.rstrip().endswith(SENTENCE_ENDS) and not line.lstrip().startswith("#")
    ):
        return None
    found = HEADING.fullmatch(line)
    if not found:
        return None
    if (known := kind_by_words(found["name"])) is not None:
        return known
    marked = found["marks"] or (found["bold"] and line.rstrip(" \t:：").endswith(found["bold"]))
    # A letter or Roman numeral without a full stop may be a word: "I Robot".
    number = (found["number"] or "").strip()
    numbered = number and (number[-1] in ".)" or not number.isascii() or number[-1].isdecimal())
    numbered = numbered and _reads_like_heading(found["name"])
    return "kept" if marked or numbered else None


def kind_by_words(name: str) -> Kind | None:
    """Return the kind of section with a name, without number and marks; None if it is unknown."""
    words = " ".join(name.casefold().split())
    if TO_THE_END.fullmatch(words):
        return "to the end"
    if APPENDIX.fullmatch(words):
        return "appendix"
    if DROPPED.fullmatch(words):
        return "dropped"
    return "kept" if KEPT.fullmatch(words) else None


def _reads_like_heading(name: str) -> bool:
    """Check for a heading rather than a sentence or list entry: it has no stop or comma, and a word first."""
    return (
        name[0].isalpha()
        and not name[0].islower()
        and name[-1] not in ".,;?!다"
        and len(name.split()) <= HEADING_WORDS
    )


def _kind_after(last: Kind, heading: str) -> Kind:
    """Return the kind of the section under `heading`, given the kind of the previous one."""
    if not heading:
        return "kept"
    found = HEADING.fullmatch(heading)
    known = kind_by_words(found["name"]) if found else None
    if last == "appendix" or (last == "to the end" and known is None):
        return last
    return known or "kept"
