"""Fragments of text on the pages of a PDF, read by PDFium (pypdfium2).

PDFium returns the characters of a page in drawing order, with a space or a line feed at gaps. Calls through
ctypes are slow: positions are read once for each word, the font once for each line. Scripts are not executed
(the library is built without them), and attachments are not opened.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from ctypes import c_double, c_int, create_string_buffer
from dataclasses import dataclass
from itertools import pairwise, repeat
from operator import attrgetter
from typing import Any, NamedTuple

MOST_PAGES = 2_000
FRONT_PAGES = 3  # pages on which fonts are examined
RAISED = "\x01"  # around a raised mark
WORD = re.compile(r"[^\s\x00\x02\ufffe]+")
HYPHENS = "\x02", "\ufffe"  # PDFium's replacements of a hyphen at a line end
UNMAPPED = re.compile("[\ufffd\ue000-\uf8ff\x02-\x1e]")
BOLD_FONT = re.compile(
    r"bold|black|heavy|demi|medi(?!um)|(?:cm|sf|cmss)bx|headline|견고|헤드라인", re.IGNORECASE
)
DESCENT = 0.2  # share of the font size below the baseline
WIDE_GAP = 0.9  # between fragments, in heights
FEW_LETTERS = 20  # per page; with pictures and fewer letters, it is a scan
UNMAPPED_SHARE = 0.3
PROBLEMS = {
    3: "not a PDF, or a damaged one",
    4: "encrypted: it needs a password",
    5: "encrypted in an unknown way",
}


class Unreadable(Exception):
    """A document without readable text; the message is the reason."""


@dataclass(slots=True)
class Fragment:
    """Words on one baseline, with their position in points from the left and top of the upright page.

    `spaced`: a space was drawn at its end. `broken`: it has a wide gap, as between table cells.
    """

    text: str
    left: float
    right: float
    top: float
    bottom: float
    bold: bool = False
    spaced: bool = False
    broken: bool = False

    @property
    def size(self) -> float:
        """The font height."""
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its fragments in drawing order, and the text that is turned against them."""

    fragments: Sequence[Fragment]
    height: float
    turned: str = ""


class _Word(NamedTuple):
    """Characters without a space; positions are those of the upright page. `after`: the text behind it."""

    start: int
    text: str
    left: float
    right: float
    baseline: float
    size: float
    turn: int  # in quarters
    after: str


def read_pdf(data: bytes) -> tuple[list[Page], dict[str, str]]:
    """Return the pages and the metadata. Raises `Unreadable`."""
    import pypdfium2
    from pypdfium2.raw import FPDFText_HasUnicodeMapError

    if not data:
        raise Unreadable("the file is empty")
    if b"%PDF-" not in data[:1024]:
        raise Unreadable("not a PDF: it has no PDF header")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise Unreadable(PROBLEMS.get(error.err_code or 3, str(error))) from None
    with document:
        if len(document) > MOST_PAGES:
            raise Unreadable(f"it has {len(document):,} pages, at most {MOST_PAGES:,} are allowed")
        pages: list[Page] = []
        unmapped: list[bool] = []  # without a map from codes to characters "Methane" becomes 䵥瑨慮
        for number in range(len(document)):
            try:
                with closing(document[number]) as page, closing(page.get_textpage()) as text:
                    words = list(_words(text.raw, page.get_bbox()))
                    front = words if number < FRONT_PAGES else ()
                    unmapped += [FPDFText_HasUnicodeMapError(text.raw, word.start) == 1 for word in front]
                    pages.append(_page(text.raw, words, page.get_bbox()))
            except pypdfium2.PdfiumError:
                continue  # read the other pages
        metadata = document.get_metadata_dict(skip_empty=True)
    _check_text(pages, unmapped)
    return pages, metadata


def _check_text(pages: Sequence[Page], unmapped: Sequence[bool]) -> None:
    """Raise `Unreadable` for scans, and for fonts whose characters are unknown."""
    if not pages:
        raise Unreadable("it has no pages that can be read")
    text = "".join(part.text for page in pages for part in page.fragments)
    shares = sum(unmapped) / max(len(unmapped), 1), len(UNMAPPED.findall(text)) / max(len(text), 1)
    if max(shares) > UNMAPPED_SHARE:
        raise Unreadable("its fonts do not map to characters: run OCR first")
    letters, pictures = sum(map(str.isalpha, text)), not all(page.fragments for page in pages)
    if not letters or (pictures and letters < FEW_LETTERS * len(pages)):
        raise Unreadable("it has no text, its pages are images: run OCR first")


def _words(textpage: Any, box: Sequence[float]) -> Iterator[_Word]:
    """Yield the words within the visible box of a page."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(textpage)
    codes = map(pdfium.FPDFText_GetUnicode, repeat(textpage, count), range(count))
    text = array("I", codes).tobytes().decode("utf-32-le", "replace")
    places = [found.span() for found in WORD.finditer(text)]
    matrix, corners, x, y = pdfium.FS_MATRIX(), pdfium.FS_RECTF(), c_double(), c_double()
    level: tuple[float, float] | None = None  # words of one font on one baseline have boxes of one height
    for (start, end), (following, _) in zip(places, [*places[1:], (count, count)], strict=False):
        points = []
        for index in (start, end - 1):
            pdfium.FPDFText_GetLooseCharBox(textpage, index, corners)
            points += [(corners.left, corners.bottom), (corners.right, corners.top)]
        (left, bottom), (right, top) = points[0], points[-1]
        if not (box[0] <= (left + right) / 2 <= box[2] and box[1] <= (bottom + top) / 2 <= box[3]):
            continue
        if level != (level := (bottom, points[1][1])):
            pdfium.FPDFText_GetMatrix(textpage, start, matrix)
            pdfium.FPDFText_GetCharOrigin(textpage, start, x, y)
            turn = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
            size = pdfium.FPDFText_GetFontSize(textpage, start) * math.hypot(matrix.c, matrix.d)
        sides = [_upright(point, turn, box)[0] for point in points]
        baseline = _upright((x.value, y.value), turn, box)[1]
        yield _Word(start, text[start:end], min(sides), max(sides), baseline, size, turn, text[end:following])


def _upright(point: tuple[float, float], turn: int, box: Sequence[float]) -> tuple[float, float]:
    """Return coordinates from the top left of the page in the reading orientation of turned text."""
    (x, y), (left, bottom, right, top) = point, box
    return ((x - left, top - y), (y - bottom, x - left), (right - x, y - bottom), (top - y, right - x))[turn]


def _page(textpage: Any, words: Sequence[_Word], box: Sequence[float]) -> Page:
    turns = Counter(word.turn for word in words)
    upright = max(turns, key=lambda turn: turns[turn], default=0)
    groups: list[list[_Word]] = []  # drawn in succession on one baseline
    for word in _without_line_numbers([word for word in words if word.turn == upright]):
        if not groups or not _is_adjacent(groups[-1][0], groups[-1][-1], word):
            groups.append([])
        groups[-1].append(word)
    turned = " ".join(word.text for word in words if word.turn != upright)
    height = box[2] - box[0] if upright % 2 else box[3] - box[1]
    return Page([_fragment(textpage, group) for group in groups], height, turned)


def _is_adjacent(first: _Word, last: _Word, word: _Word) -> bool:
    height = max(word.size, last.size)
    level = abs(first.baseline - word.baseline) < 0.3 * height or _is_raised(word, first)
    spaced = "가" <= word.text[0] <= "힣" and len(last.text) == len(word.text) == 1  # letter-spaced Korean
    ends = any(sign in last.after for sign in ("\n", *HYPHENS))
    return not ends and level and -height < word.left - last.right < WIDE_GAP * height * (1 + spaced)


def _is_raised(word: _Word, first: _Word) -> bool:
    return word.size <= first.size and 0.15 * first.size < first.baseline - word.baseline < first.size


def _fragment(textpage: Any, words: Sequence[_Word]) -> Fragment:
    import pypdfium2.raw as pdfium

    first, last = words[0], words[-1]
    tallest = max(words, key=attrgetter("size"))
    return Fragment(
        _joined(words, tallest),
        left=first.left,
        right=last.right,
        top=tallest.baseline - (1 - DESCENT) * tallest.size,
        bottom=tallest.baseline + DESCENT * tallest.size,
        bold=all(_is_bold(textpage, word.start) for word in {first, last}),
        spaced=last.after[:1] == " "
        and not pdfium.FPDFText_IsGenerated(textpage, last.start + len(last.text)),
    )


def _joined(words: Sequence[_Word], tallest: _Word) -> str:
    """Join words with spaces, except parts of words and letter-spaced text, with marks around raised ones.

    In letter-spaced text most "words" are single characters, and PDFium adds spaces between them.
    """
    least = -1.0  # width of a space, in heights
    if len(words) > 3 and sum(len(word.text) == 1 for word in words) > 0.6 * len(words):  # noqa: PLR2004
        gaps = [
            (after.left - word.right) / (tallest.size or 1) for word, after in pairwise(words) if word.after
        ]
        narrow, wide = min(gaps, default=0.0), max(gaps, default=0.0)
        least = (narrow + wide) / 2 if wide > 2 * narrow else wide
    parts: list[str] = []
    for word, following in zip(words, [*words[1:], None], strict=True):
        raised = word is not tallest and _is_raised(word, tallest)
        parts.append(f"{RAISED}{word.text}{RAISED}" if raised else word.text)
        if following is not None and word.after:
            small = abs(word.size - following.size) > 0.05 * tallest.size  # capitals, drawn in two sizes
            threshold = 0.1 if small else least
            parts.append(" " if following.left - word.right > threshold * tallest.size else "")
    return "".join(parts) + ("-" if words[-1].after.startswith(HYPHENS) else "")


def _is_bold(textpage: Any, index: int) -> bool:
    from pypdfium2.raw import FPDFText_GetFontInfo

    buffer = create_string_buffer(128)
    FPDFText_GetFontInfo(textpage, index, buffer, len(buffer), c_int())
    return BOLD_FONT.search(buffer.value.decode("cp949", "replace")) is not None


def _without_line_numbers(words: list[_Word]) -> list[_Word]:
    """Drop the line numbers of a manuscript: numbers beside the text, at each or each fifth line."""
    numbers = [word for word in words if word.text.isdecimal() and len(word.text) <= 4]  # noqa: PLR2004
    others = [word for word in words if not word.text.isdecimal()]
    if len(numbers) < 3 or not others:  # noqa: PLR2004
        return words
    left = sorted(word.left for word in others)[len(others) // 50]
    right = sorted(word.right for word in others)[-1 - len(others) // 50]
    rows = len({round(word.baseline / 3) for word in others})
    dropped: set[int] = set()
    for beside in (lambda word: word.right <= left + 1), (lambda word: word.left >= right - 1):
        group = sorted(filter(beside, numbers), key=attrgetter("baseline"))
        steps = Counter(int(after.text) - int(word.text) for word, after in pairwise(group))
        step, count = steps.most_common(1)[0] if steps else (0, 0)
        if step in (1, 2, 5, 10) and count >= 0.8 * (len(group) - 1) and len(group) * step > 0.6 * rows:
            dropped |= {word.start for word in group}
    return [word for word in words if word.start not in dropped]
