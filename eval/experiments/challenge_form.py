"""The form of an answer in the ScienceON AI challenge: a title, three sections, no markup (SHRAG, A.2).

    ##제목##               ##Title of the answer##
    답의 제목
    ##서론##               ##Introduction##
    ##본론##               ##Main Body##
    ##결론##               ##Conclusion##

The paper forbids the signs * and -. Here no asterisk remains, and no hyphen that is a sign of layout. A
hyphen within a word (two-stage), in a range (10-20) or before a number (-5) is text and stays.

| text | becomes |
|---|---|
| `**word**`, `*word*`, `* item` | `word`, `word`, `item` |
| `3 * 4`, `3*4` | `3 × 4`, `3×4` |
| `A*`, `p = .03*` | `A∗`, `p = .03∗` (U+2217), because the sign has a meaning |
| `- item`; a line `---` | `item`; nothing |
| `word - word`, `word--word` | `word – word`, `word–word` |
"""

import re
from dataclasses import dataclass

from generator.answers.answer import EMPHASIS, SECTIONS, Answer, not_checked_line

PARTS = ("title", *SECTIONS)
HEADINGS: dict[str, dict[str, str]] = {
    "ko": {"title": "제목", "introduction": "서론", "body": "본론", "conclusion": "결론"},
    "en": {"introduction": "Introduction", "body": "Main Body", "conclusion": "Conclusion"},
}
# By lower-case text, in either language.
PART_OF_HEADING = {
    heading.lower(): part for headings in HEADINGS.values() for part, heading in headings.items()
} | {"title": "title", "body": "body"}

HEADING = re.compile(r"##(?P<text>[^#\n]+)##")
MARKED_HEADING = re.compile(r"\s*#{1,6}\s*(?P<text>.*?)\s*#*\s*")
DECORATION = re.compile(r"^[\s:_]+|[\s:_]+$")
RULE = re.compile(r"\s*([-*])\s*(?:\1\s*){2,}")
LIST_SIGN = re.compile(r"\A(?:[-–—*•·▪◦‣]\s+)+(?=\S)")
TIMES = re.compile(r"(?<=\d)( ?)\*( ?)(?=\d)|(?<=\w)( )\*( )(?=\w)")
SIGN_OF_TEXT = re.compile(r"(?<=\d)\*+|(?<=[\w.)\]])\*(?!\*)")
RUN_OF_DASHES = re.compile(r"-{2,}")
# Between blanks, unless both neighbours are numbers.
LONE_DASH = re.compile(r"(?<!\S)(?<!\d )-(?!\S)|(?<!\S)-(?!\S)(?! \d)")


@dataclass(frozen=True, slots=True)
class ChallengeAnswer:
    """The parts of an answer, as plain text."""

    title: str
    introduction: str = ""
    body: str = ""
    conclusion: str = ""

    @classmethod
    def of(cls, answer: Answer, question: str) -> "ChallengeAnswer":
        """Return the parts of an answer.

        Quoted sentences are the body; the question is their title, and two fixed sentences are around them.
        """
        quoted = answer.section("passages")
        if quoted and not answer.abstained:
            return cls(question, answer.title, quoted, not_checked_line(answer.language))
        return cls(answer.title, answer.introduction, answer.body or quoted, answer.conclusion)


def laid_out(answer: ChallengeAnswer, language: str) -> str:
    """Return an answer under the headings of the challenge; its parts are not changed.

    Args:
        answer: the parts.
        language: ko for the Korean form; any other for the English one.
    """
    headings = HEADINGS["ko" if language == "ko" else "en"]
    title = f"##{headings['title']}##\n{answer.title}" if "title" in headings else f"##{answer.title}##"
    sections = (f"##{headings[part]}##\n{getattr(answer, part)}".rstrip() for part in SECTIONS)
    return "\n\n".join([title, *sections]) + "\n"


def repaired(text: str, language: str) -> str:
    """Return a text in the form of the challenge: headings complete and in order, no forbidden signs.

    A missing section stays empty, text under a repeated heading is joined. A text in the form is unchanged.
    """
    return laid_out(parsed(text), language)


def parsed(text: str) -> ChallengeAnswer:
    """Return the parts of a text, without forbidden signs.

    Headings are recognised in both languages and with other marks. Text before the first heading is the title
    if it is a single line and no other is given, otherwise part of the introduction.
    """
    found: dict[str, list[str]] = {part: [] for part in PARTS}
    before: list[str] = []
    lines = before
    for line in text.splitlines():
        if part := _part_of(line):
            lines = found[part]
        elif not found["title"] and _is_title(line, first=lines is before and not before):
            found["title"].append(line)
        elif line.strip() or lines:
            lines.append(line)
    preamble = "\n".join(before).strip()
    if preamble and not any(map(str.strip, found["title"])) and "\n" not in preamble:
        found["title"] = [preamble]
    elif preamble:
        found["introduction"].insert(0, preamble)
    title = without_signs(" ".join(" ".join(found.pop("title")).split())).replace("#", "♯")
    sections = {part: without_signs("\n".join(lines)) for part, lines in found.items()}
    return ChallengeAnswer(title, **sections)


def _part_of(line: str) -> str:
    """Return the part that a line is the heading of; "" for any other line."""
    name = DECORATION.sub("", _without_signs(line))
    return PART_OF_HEADING.get(" ".join(name.lower().split()), "")


def _is_title(line: str, *, first: bool) -> bool:
    """Check whether a line is `##Title##`, or the first line with any other mark of a heading."""
    if HEADING.fullmatch(line.strip()):
        return True
    return first and bool(line.strip("# \t")) and MARKED_HEADING.fullmatch(line) is not None


def without_signs(text: str) -> str:
    """Return a text without asterisks, and without hyphens and number signs that are signs of layout."""
    lines = [_without_signs(line) for line in text.splitlines() if not RULE.fullmatch(line)]
    return "\n".join(lines).strip()


def _without_signs(line: str) -> str:
    """Remove the signs of a line; removed ones may reveal others, as in `**- item**`."""
    while (plain := _one_layer_removed(line)) != line:
        line = plain
    return line


def _one_layer_removed(line: str) -> str:
    line = " ".join(line.split())
    if marked := MARKED_HEADING.fullmatch(line):
        line = marked["text"]
    line = LIST_SIGN.sub("", line)
    line = EMPHASIS.sub(r"\2", line)
    if EMPHASIS.search(line):
        return line
    line = TIMES.sub(lambda found: found[0].replace("*", "×"), line)
    line = SIGN_OF_TEXT.sub(lambda found: "∗" * len(found[0]), line).replace("*", "")
    return LONE_DASH.sub("–", RUN_OF_DASHES.sub("–", line))
