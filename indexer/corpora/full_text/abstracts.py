"""Abstracts of a paper: below a heading, or a block of running text above the first heading."""

import re
from collections.abc import Sequence

from indexer.corpora.full_text.heading_words import KEYWORD_HEADINGS
from indexer.corpora.full_text.headings import PAGE_NUMBER_BEHIND
from indexer.corpora.full_text.lines.layout import Line
from indexer.corpora.full_text.lines.placed import WIDE_PITCH, PlacedLine, same_size, together

SAME_SIZE = 0.12  # tolerance relative to the text's size: OCR lines vary slightly
RUNNING_LINES = 2  # minimal lines of a block of running text
RUNNING_LETTERS = 120
UNHEADED_LETTERS = {"ko": 120, "en": 240}
FULL = 0.6  # share of a block's width
LAST_CHARACTERS = 20
FAR, VERY_FAR = 1.7, 3.0  # line distances in heights
MOST_PAGES = 2  # pages searched for an abstract without a heading
END = re.compile(
    rf"(?:{KEYWORD_HEADINGS})(?:\s*[-–—:：.]|\s*$|\s+(?-i:[A-Z가-힣]))|(?-i:K)ey\s?words\s"
    r"|categories and subject descriptors|general terms|c\.?r\.? categor(?:y|ies)|paper type"
    r"|ccs concepts|acm (?:reference|classification)|jel (?:classification|codes?)"
    r"|(?:\d{4} )?(?:ams|mathematics) subject classification"
    r"|msc\s?\d{4}|received\b|manuscript received|article history|©|copyright|permission to"
    r"|(?:\*\s*)?corresponding author|학\s*번|student (?:number|id)|.*\bdoi\.org/|.*\(\d{4}\)\s*\d+\s*:\s*\d",
    re.IGNORECASE,
)
LINE_END = re.compile(r"[.?!다]['\"”’)\]]*\s*\d*$")


def abstract_lines(lines: Sequence[PlacedLine]) -> int | None:
    """Return the number of abstract lines below a heading, None if there is no abstract.

    Entries of a table of contents are not an abstract.
    """
    end = next(
        (number for number, item in enumerate(lines) if END.match(together(item.line.text))), len(lines)
    )
    text = [item.line for item in lines[:end]]
    numbered = sum(PAGE_NUMBER_BEHIND.search(line.text[-LAST_CHARACTERS:]) is not None for line in text)
    if not text or 2 * numbered > len(text):
        return None
    size = _usual(text)
    for number, item in enumerate(lines[:end]):
        if (
            number
            and item.above is not None
            and item.gap > 2 * WIDE_PITCH
            and not same_size(item.line.size, size, SAME_SIZE)
        ):
            return number
    return end


def keyword_lines(lines: Sequence[PlacedLine]) -> int:
    """Return the number of keyword lines below a heading: the first block of one font size."""
    ends = [end for _, end in _blocks(lines, weights=False)]
    return next((end for end in ends if not lines[end - 1].line.text.endswith((",", ";", "-"))), len(lines))


def text_begins(lines: Sequence[PlacedLine]) -> int:
    """Return the number of lines between the heading of an abstract and its text, such as a title or name."""
    for begin, end in _blocks(lines, weights=False):
        if _is_running([item.line for item in lines[begin:end]], RUNNING_LETTERS):
            return begin
    return 0


def headless_abstract(lines: Sequence[PlacedLine], language: str) -> tuple[int, int] | None:
    """Return the span of the first block of running text on the title page."""
    letters = UNHEADED_LETTERS.get(language, UNHEADED_LETTERS["en"])
    pages = [item.page for item in lines]
    for begin, end in _blocks(lines, weights=True):
        block = [item.line for item in lines[begin:end]]
        if pages[begin] >= pages[0] + MOST_PAGES:
            return None
        if _is_running(block, letters) and not END.match(together(block[0].text)):
            return (begin, end) if LINE_END.search(block[-1].text) else None
    return None


def _blocks(lines: Sequence[PlacedLine], *, weights: bool) -> list[tuple[int, int]]:
    """Split lines into blocks at gaps, changes of size and, if `weights`, changes of font weight."""
    begins = [0] if lines else []
    begins += [
        number
        for number in range(1, len(lines))
        if _begins_block(lines[number - 1].line, lines[number])
        or (weights and _changes_weight([item.line for item in lines[max(0, number - 2) : number + 2]]))
    ]
    return list(zip(begins, [*begins[1:], len(lines)], strict=False))


def _changes_weight(lines: Sequence[Line]) -> bool:
    """Check for a weight change between two pairs of lines; the weight of a single line may be misread."""
    return len(lines) > 3 and lines[0].bold == lines[1].bold != lines[2].bold == lines[3].bold  # noqa: PLR2004


def _begins_block(last: Line, item: PlacedLine) -> bool:
    line = item.line
    if not same_size(line.size, last.size, SAME_SIZE) or END.match(together(line.text)):
        return True
    if item.above is not last:  # in the next column, on the next page
        return False
    heights = FAR if item.gap > WIDE_PITCH else VERY_FAR
    return line.top - last.top > heights * max(line.size, last.size)


def _is_running(lines: Sequence[Line], letters: int) -> bool:
    width = max(line.right for line in lines) - min(line.left for line in lines)
    full = sum(line.right - line.left > FULL * width for line in lines)
    return (
        len(lines) >= RUNNING_LINES
        and full >= len(lines) / 2
        and sum(sum(map(str.isalpha, line.text)) for line in lines) >= letters
    )


def _usual(lines: Sequence[Line]) -> float:
    return sorted(line.size for line in lines)[len(lines) // 2]
