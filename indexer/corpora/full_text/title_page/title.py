"""The title of a paper: the largest text on its title page, or the lines matching the metadata."""

import re
from collections.abc import Sequence
from itertools import takewhile

from base.patterns import lazy_regex
from indexer.corpora.cleaning import heading_kind
from indexer.corpora.full_text.headings import LARGER, is_known
from indexer.corpora.full_text.lines.joining import Usage, join_lines, letters_of, readable
from indexer.corpora.full_text.lines.layout import Line
from indexer.corpora.full_text.lines.margins import Page
from indexer.corpora.full_text.lines.placed import rounded, same_size, together
from indexer.corpora.full_text.title_page.authors import names_in
from indexer.corpora.papers import language_of

TITLE_LETTERS = 5
TITLE_LINES = 6
TITLE_CHARACTERS = 400
MOST_COVERS = 4  # maximal pages before the title page
PAGE_LETTERS = 15
SAME_SIZE = 0.06
RIGHT = 0.6  # share of the page's width; text starting to the right of it is not a name below a title
NEXT_LINE = 2.6  # maximal distance of a title's lines in heights
# Cover pages of libraries or publishers: two of these phrases identify one.
COVER = lazy_regex(
    r"저작자표시|이용허락규약|저작권법에 따른|creativecommons\.org/licenses/\S+/\d"
    r"|not-for-profit service that helps scholars|terms & conditions of use|stable url:"
    r"|see discussions, stats, and author profiles|author profiles for this publication"
    r"|multi-disciplinary open access|archive ouverte pluridisciplinaire"
    r"|please scroll down for article"
    r"|full terms & conditions of access|view the article online for updates"
    r"|citation for published version",
    re.IGNORECASE,
)
NO_TITLE = lazy_regex(
    r"(?:[가-힣·]+\s*)?(?:학\s*사|석\s*사|박\s*사)\s*학\s*위\s*(?:청\s*구\s*)?논\s*문|졸\s*업\s*논\s*문"
    r"|(?:master|doctor|bachelor)['’]?s?\s.*thesis|.*\bthesis for\b.*|technical report.*"
    r"|(?:original |review |research )?(?:article|paper)s?(?:\s+open(?: access)?)?|open access"
    r"|(?:[A-Z]{2,6}\s+)?(?:the\s+)?(?:journal|proceedings|transactions|annals) (?:of|on) .*"
    r"|.*\b(?:vol\.|no\.\s*\d|(?:doi|issn)(?![a-z])).*|.*학회논문지.*|\d+호?",
    re.IGNORECASE,
)


def title_page(pages: Sequence[Page]) -> int:
    """Return the number of the title page, after covers and blank pages."""
    for number, page in enumerate(pages[: MOST_COVERS + 1]):
        text = " ".join(line.text for line in page.fragments)
        if sum(map(str.isalpha, text)) >= PAGE_LETTERS and len(set(COVER.findall(text))) < 2:  # noqa: PLR2004
            return number
    return 0


def title_lines(lines: Sequence[Line], usual: float, metadata: str) -> list[Line]:
    """Return the lines of the title, and of the title in another language below it."""
    told = _matching_metadata(lines, metadata)
    if told:
        last = lines.index(told[-1])
        return told + _in_other_language(told, lines[last + 1 : last + 1 + TITLE_LINES], usual)
    large = [line for line in lines if rounded(line.size) > LARGER * usual and _may_be_title(line)]
    if not large:
        return _above_names(lines)
    first = max(large, key=lambda line: rounded(line.size))
    begin = lines.index(first)
    title = [first]
    for line in lines[begin + 1 : begin + TITLE_LINES]:
        if not _is_continued(title[-1], line):
            break
        title.append(line)
    return title + _in_other_language(
        title, lines[begin + len(title) : begin + len(title) + TITLE_LINES], usual
    )


def _is_continued(last: Line, line: Line) -> bool:
    near = line.top - last.top < NEXT_LINE * last.size
    return near and same_size(line.size, last.size, SAME_SIZE) and not is_known(together(line.text))


def title_in_other_language(title: Sequence[Line], lines: Sequence[Line], usual: float) -> list[Line]:
    """Return the first large lines in another language than the title; names may precede them."""
    language = language_of(" ".join(line.text for line in title))
    other = {"ko": "en", "en": "ko"}.get(language)
    found: list[Line] = []
    for line in lines:
        if found and not _is_continued(found[-1], line):
            break
        large = rounded(line.size) > LARGER * usual and language_of(line.text) == other
        if found or (large and _may_be_title(line) and not names_in(line.text)):
            found.append(line)
    return found[:TITLE_LINES]


def _in_other_language(title: Sequence[Line], following: Sequence[Line], usual: float) -> list[Line]:
    language = language_of(" ".join(line.text for line in title))
    return list(
        takewhile(
            lambda line: (
                rounded(line.size) > LARGER * usual
                and language_of(line.text) not in (language, "other")
                and not is_known(together(line.text))
            ),
            following,
        )
    )


def _may_be_title(line: Line) -> bool:
    text = together(line.text[:TITLE_CHARACTERS])
    return (
        "@" not in text
        and sum(map(str.isalpha, text)) >= TITLE_LETTERS
        and heading_kind(text) is None
        and not NO_TITLE.fullmatch(text)
    )


def _above_names(lines: Sequence[Line]) -> list[Line]:
    """Return the lines above the author names, if all text has one size (OCR)."""
    right = max((line.right for line in lines), default=0.0)
    half = max((line.bottom for line in lines), default=0.0) / 2
    for number, line in enumerate(lines):
        if number and line.left < RIGHT * right and line.top < half and names_in(line.text):
            title = [lines[number - 1]]
            for above in reversed(lines[: number - 1]):
                middle = abs(above.left + above.right - title[0].left - title[0].right) / 2
                if (
                    len(title) == TITLE_LINES
                    or title[0].top - above.top > NEXT_LINE * above.size
                    or middle > above.size * 2
                ):
                    break
                title.insert(0, above)
            letters = sum(map(str.isalpha, "".join(part.text for part in title)))
            return title if letters >= TITLE_LETTERS else []
    return []


def _matching_metadata(lines: Sequence[Line], metadata: str) -> list[Line]:
    """Return the lines matching the title in a document's metadata, [] if there are none."""
    told = letters_of(readable(metadata)[:TITLE_CHARACTERS])
    if len(told) < TITLE_LETTERS:
        return []
    for begin in range(len(lines)):
        text = ""
        for end, line in enumerate(lines[begin : begin + TITLE_LINES], begin + 1):
            text += letters_of(line.text)
            if text == told:
                return list(lines[begin:end])
            if not told.startswith(text):
                break
    return []


def titles(lines: Sequence[Line], usage: Usage) -> tuple[str, str]:
    """Return the title, and the title in the other language below it."""
    korean = [language_of(line.text) == "ko" for line in lines]
    # Lines of a Korean title may be in Latin letters, but no line of an English title is in Hangul.
    if any(korean):
        end = len(korean) - korean[::-1].index(True) if korean[0] else korean.index(True)
    else:
        end = len(korean)
    if sum(map(str.isalpha, "".join(line.text for line in lines[end:]))) < TITLE_LETTERS:
        end = len(lines)
    return _once(join_lines(lines[:end], usage)), _once(join_lines(lines[end:], usage))


def _once(title: str) -> str:
    """Remove the repetition of a title that is drawn twice, one over the other."""
    middle = len(title) // 2
    for place in (middle, middle + 1):
        if len(title) > 2 * TITLE_LETTERS and letters_of(title[:place]) == letters_of(title[place:]):
            return title[:place].strip()
    return title.strip(" *†‡∗")
