"""Line fragments on the pages of a PDF, read by PDFium (pypdfium2).

PDFium returns characters in drawing order, with a line feed or space at gaps. Scripts in a document are not
executed (the library is built without them), and attachments are not opened.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from ctypes import byref, c_double, c_int, create_string_buffer
from dataclasses import dataclass, field, replace
from itertools import pairwise, repeat
from typing import Any

from indexer.corpora.full_text.lines.layout import WIDE_GAP, Line
from indexer.corpora.full_text.lines.margins import Page
from indexer.corpora.full_text.lines.unicode_maps import lacks_unicode_maps

MOST_PAGES = 2_000
PDF_HEAD_BYTES = 1024  # before the header, as tolerated by PDF readers
LINE_ENDS = frozenset((0x0D, 0x0A))
SPACES = frozenset((0x20, 0x09, 0xA0, 0x3000, 0x00))
HYPHEN_AT_LINE_END = frozenset((0x02, 0xFFFE))  # PDFium's replacement of a hyphen there, without a line feed
BOLD_WEIGHT = 600
FONT_NAME_BYTES = 128
DESCENT = 0.2  # share of the font size below the baseline
QUARTER = math.pi / 2
FEW_LETTERS = 20  # per page; with pictures and fewer letters, it is a scan
# Pages on which superscript marks are separated from words, such as affiliation marks of author names.
FRONT_PAGES = 3
RAISED = 0.15  # share of the font size
LEAST_RAISED = 1.0  # points
RAISED_SIZE = 0.85  # maximal size relative to the preceding text
DRAWN_LATER = 3  # fragments; symbols within a line may be drawn after it
UNMAPPED_SHARE = 0.3
NO_CHARACTERS = "its fonts do not map to characters: run OCR first"
PROBLEMS = {
    3: "not a PDF, or a damaged one",
    4: "encrypted: it needs a password",
    5: "encrypted in an unknown way",
}


class Unreadable(Exception):
    """A document without readable text; the message is the reason."""


@dataclass(frozen=True, slots=True)
class PdfText:
    """Metadata and pages of a PDF."""

    pages: list[Page]
    metadata: dict[str, str] = field(default_factory=dict)


def read_pdf(data: bytes) -> PdfText:
    """Read all pages. Raises `Unreadable`."""
    import pypdfium2

    if not data:
        raise Unreadable("the file is empty")
    if b"%PDF-" not in data[:PDF_HEAD_BYTES]:
        raise Unreadable("not a PDF: it has no PDF header")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise Unreadable(PROBLEMS.get(error.err_code or 3, str(error))) from None
    with document:
        if len(document) > MOST_PAGES:
            raise Unreadable(f"it has {len(document):,} pages, at most {MOST_PAGES:,} are allowed")
        pages, pictures = [], False
        for number in range(len(document)):
            try:
                with closing(document[number]) as page:
                    pages.append(_page(page, front=number < FRONT_PAGES))
            except pypdfium2.PdfiumError:
                continue  # read the other pages
            pictures = pictures or not pages[-1].fragments
        metadata = document.get_metadata_dict(skip_empty=True)
        if lacks_unicode_maps(document):
            raise Unreadable(NO_CHARACTERS)
    _check_letters(pages, pictures=pictures)
    return PdfText(pages, metadata)


def _check_letters(pages: list[Page], *, pictures: bool) -> None:
    text = "".join(line.text for page in pages for line in page.fragments)
    letters = sum(map(str.isalpha, text))
    if not pages:
        raise Unreadable("it has no pages that can be read")
    if not letters or (pictures and letters < FEW_LETTERS * len(pages)):
        raise Unreadable("it has no text, its pages are images: run OCR first")
    if sum(map(_is_unmapped, text)) > UNMAPPED_SHARE * len(text):
        raise Unreadable(NO_CHARACTERS)


def _is_unmapped(character: str) -> bool:
    return character == "\ufffd" or "\ue000" <= character <= "\uf8ff" or character < " "


def _page(page: Any, *, front: bool) -> Page:
    with closing(page.get_textpage()) as textpage:
        fragments = list(_fragments(textpage.raw, front=front))
    angles = [angle for angle, _ in fragments]
    upright = max(set(angles), key=angles.count) if angles else 0
    left, bottom, right, top = page.get_mediabox()
    lines = [
        _upright(line, upright, (left, bottom, right, top)) for angle, line in fragments if angle == upright
    ]
    turned = [line.text for angle, line in fragments if angle != upright]
    width, height = (top - bottom, right - left) if upright % 2 else (right - left, top - bottom)
    return Page(lines, height, width, turned)


def _upright(line: Line, quarters: int, box: tuple[float, float, float, float]) -> Line:
    """Return a line with coordinates from the top left of the page in reading orientation."""
    left, bottom, right, top = box
    # PDF coordinates start at the bottom; here the line's `top` is still the larger number.
    sides = {
        0: (line.left - left, line.right - left, top - line.top, top - line.bottom),
        1: (line.bottom - bottom, line.top - bottom, line.left - left, line.right - left),
        2: (right - line.right, right - line.left, line.bottom - bottom, line.top - bottom),
        3: (top - line.top, top - line.bottom, right - line.right, right - line.left),
    }[quarters]
    return replace(line, left=sides[0], right=sides[1], top=sides[2], bottom=sides[3])


@dataclass(slots=True)
class _Word:
    start: int
    text: str
    box: tuple[float, float, float, float]  # left, bottom, right, top, in PDF coordinates
    angle: int  # in quarter turns
    hyphen: bool = False
    spaced: bool = False
    ends_line: bool = False
    glued: bool = False  # to the next one, which has another size or height


def _fragments(textpage: Any, *, front: bool) -> Iterator[tuple[int, Line]]:
    """Yield (quarter turns, fragment), in PDF coordinates: `top` is the larger number."""
    groups: list[list[_Word]] = []
    for word in _words(textpage, front=front):
        last = groups[-1][-1] if groups else None
        if last is None or last.ends_line or last.glued or not _adjacent(last, word):
            groups.append([])
        groups[-1].append(word)
    for number, group in enumerate(groups):
        near = groups[max(0, number - DRAWN_LATER) : number + DRAWN_LATER + 1]
        whole = len(group) == 1 or not any(_is_between(other, group) for other in near if other is not group)
        for words in [group] if whole else [[word] for word in group]:
            yield _fragment(textpage, words)


def _is_between(other: Sequence[_Word], group: Sequence[_Word]) -> bool:
    """Check whether a word is within a group of words: symbols of another font are drawn separately."""
    first, last, word = group[0].box, group[-1].box, other[0].box
    return first[0] < word[0] < last[0] and first[1] < (word[1] + word[3]) / 2 < first[3]


def _adjacent(word: _Word, following: _Word) -> bool:
    if word.angle != following.angle:
        return False
    if word.angle:
        return True
    heights = word.box[3] - word.box[1], following.box[3] - following.box[1]
    height = max(heights)
    raised = abs(word.box[1] + DESCENT * heights[0] - following.box[1] - DESCENT * heights[1])
    if min(heights) < RAISED_SIZE * height and raised > RAISED * height:
        return False
    gap = following.box[0] - word.box[2]
    shared = min(word.box[3], following.box[3]) - max(word.box[1], following.box[1])
    return -height < gap < WIDE_GAP * height and shared > 0


def _fragment(textpage: Any, words: list[_Word]) -> tuple[int, Line]:
    boxes = [word.box for word in words]
    last = words[-1]
    tallest = max(boxes, key=lambda box: box[3] - box[1])
    turned = last.angle % 2
    line = Line(
        " ".join(word.text for word in words) + ("-" if last.hyphen else ""),
        left=min(box[0] for box in boxes),
        right=max(box[2] for box in boxes),
        top=max(box[3] for box in boxes) if turned else tallest[3],
        bottom=min(box[1] for box in boxes) if turned else tallest[1],
        bold=_is_bold(textpage, words[0].start),
        spaced=last.spaced,
        glued=last.glued,
    )
    return last.angle, line


def _words(textpage: Any, *, front: bool) -> Iterator[_Word]:
    """Yield runs of characters without a space or line feed, each with the following character."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(textpage)
    codes = list(map(pdfium.FPDFText_GetUnicode, repeat(textpage, count), range(count)))
    word: _Word | None = None
    start = -1
    for index, code in enumerate([*codes, 0x0A]):
        blank = code in SPACES or code in LINE_ENDS or code in HYPHEN_AT_LINE_END
        if not blank:
            if start < 0:
                if word:
                    yield word
                    word = None
                start = index
            continue
        if start >= 0:
            *parts, word = _parts(textpage, codes, start, index, front=front)
            yield from parts
            start = -1
        if word is None:
            continue
        if code in HYPHEN_AT_LINE_END:
            word.hyphen = word.ends_line = True
        elif code in LINE_ENDS:
            word.ends_line = True
        elif not word.ends_line:
            word.spaced = not pdfium.FPDFText_IsGenerated(textpage, index)
    if word:
        yield word


def _parts(textpage: Any, codes: list[int], start: int, end: int, *, front: bool) -> list[_Word]:
    """Return a word, on front pages split into parts of one size and height."""
    places = [start, *(_changes(textpage, start, end) if front else ()), end]
    parts = [_word(textpage, codes, *place) for place in pairwise(places)]
    for part in parts[:-1]:
        part.glued = True
    return parts


def _changes(textpage: Any, start: int, end: int) -> Iterator[int]:
    """Yield the places where characters of a word are raised or lowered: marks at its ends."""
    import pypdfium2.raw as pdfium

    across, baseline, matrix = c_double(), c_double(), pdfium.FS_MATRIX()

    def height(index: int) -> float:
        pdfium.FPDFText_GetCharOrigin(textpage, index, byref(across), byref(baseline))
        return baseline.value

    last = height(start)
    if abs(height(end - 1) - last) < LEAST_RAISED:
        return
    pdfium.FPDFText_GetMatrix(textpage, start, byref(matrix))
    if abs(matrix.b) > abs(matrix.a):
        return  # rotated text
    for index in range(start + 1, end):
        here = height(index)
        if abs(here - last) >= LEAST_RAISED:
            yield index
        last = here


def _word(textpage: Any, codes: list[int], start: int, end: int) -> _Word:
    import pypdfium2.raw as pdfium

    text = "".join(map(chr, codes[start:end]))
    if not text.isascii():  # supplementary characters may be surrogate pairs
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    first, last, matrix = pdfium.FS_RECTF(), pdfium.FS_RECTF(), pdfium.FS_MATRIX()
    pdfium.FPDFText_GetLooseCharBox(textpage, start, byref(first))
    pdfium.FPDFText_GetLooseCharBox(textpage, end - 1, byref(last))
    pdfium.FPDFText_GetMatrix(textpage, start, byref(matrix))
    angle = round(math.atan2(matrix.b, matrix.a) / QUARTER) % 4
    left, right = min(first.left, last.left), max(first.right, last.right)
    bottom, top = min(first.bottom, last.bottom), max(first.top, last.top)
    if angle == 0:
        # From baseline and font size, as the height of a box depends on its character.
        across, baseline = c_double(), c_double()
        pdfium.FPDFText_GetCharOrigin(textpage, start, byref(across), byref(baseline))
        size = pdfium.FPDFText_GetFontSize(textpage, start) * math.hypot(matrix.c, matrix.d)
        bottom, top = baseline.value - DESCENT * size, baseline.value + (1 - DESCENT) * size
    return _Word(start, text, (left, bottom, right, top), angle)


def _is_bold(textpage: Any, index: int) -> bool:
    import pypdfium2.raw as pdfium

    name, flags = create_string_buffer(FONT_NAME_BYTES), c_int()
    pdfium.FPDFText_GetFontInfo(textpage, index, name, FONT_NAME_BYTES, byref(flags))
    return b"bold" in name.value.lower() or pdfium.FPDFText_GetFontWeight(textpage, index) >= BOLD_WEIGHT
