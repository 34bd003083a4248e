"""Fragments of text on the pages of a PDF, read by PDFium (pypdfium2).

PDFium returns the characters of a page in drawing order, with a space or a line feed at gaps. Most of the time
of a call is spent in ctypes, so the text is fetched once for each page, and positions once for each word.
Scripts in a document are not executed (the library is built without them), and attachments are not opened.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from ctypes import byref, c_double, c_int, create_string_buffer
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, repeat
from typing import Any

MOST_PAGES = 2_000
PDF_HEAD_BYTES = 1024  # before the header, as tolerated by PDF readers
WORD = re.compile(r"[^\s\x00\x02\ufffe]+")
HYPHENS = "\x02\ufffe"  # PDFium's replacement of a hyphen at a line end
RAISED = "\x01"  # around a raised mark on a front page
FRONT_PAGES = 3  # pages on which raised marks are separated from words
BOLD_WEIGHT = 600
BOLD_FONT = re.compile(r"bold|black|heavy|demi|medi(?!um)|(?:cm|sf|cmss)bx|headline|견고|헤드라인", re.IGNORECASE)
KOREAN_SANS_SERIF = re.compile("gothic|dotum|gulim|h2gtr|고딕|돋움|굴림", re.IGNORECASE)
TEX_FONT = re.compile(r"(?:^|\+)(?:CM|SF|LM|EC)[A-Z]+\d")
FONT_NAME_BYTES = 128
DESCENT = 0.2  # share of the font size below the baseline
WIDE_GAP = 0.9  # between fragments, in heights
NO_SPACE = 0.1  # largest gap within a word, in heights
FEW_LETTERS = 20  # per page; with pictures and fewer letters, it is a scan
UNMAPPED_SHARE = 0.3
NO_CHARACTERS = "its fonts do not map to characters: run OCR first"
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
    weight: int = 0  # of its font: 1 for Korean sans serif, 2 for bold
    spaced: bool = False
    broken: bool = False

    @property
    def size(self) -> float:
        """The font height."""
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its fragments in drawing order, and the texts that are turned against them."""

    fragments: Sequence[Fragment]
    height: float
    width: float
    turned: Sequence[str] = ()


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
        pages: list[Page] = []
        unmapped: list[bool] = []
        for number in range(len(document)):
            try:
                with closing(document[number]) as page, closing(page.get_textpage()) as textpage:
                    words = _words(textpage.raw, page.get_bbox(), front=number < FRONT_PAGES)
                    if number < FRONT_PAGES:
                        unmapped += _unmapped(textpage.raw, words)
                    pages.append(_page(textpage.raw, words, page.get_bbox()))
            except pypdfium2.PdfiumError:
                continue  # read the other pages
        metadata = document.get_metadata_dict(skip_empty=True)
    _check_letters(pages, unmapped)
    return PdfText(pages, metadata)


def _check_letters(pages: Sequence[Page], unmapped: Sequence[bool]) -> None:
    text = "".join(fragment.text for page in pages for fragment in page.fragments)
    letters = sum(map(str.isalpha, text))
    if not pages:
        raise Unreadable("it has no pages that can be read")
    pictures = not all(page.fragments for page in pages)
    if sum(unmapped) > UNMAPPED_SHARE * len(unmapped):
        raise Unreadable(NO_CHARACTERS)
    if not letters or (pictures and letters < FEW_LETTERS * len(pages)):
        raise Unreadable("it has no text, its pages are images: run OCR first")
    odd = sum(len(run) for run in re.findall("[\ufffd\ue000-\uf8ff\x00-\x1e]+", text))
    if odd > UNMAPPED_SHARE * len(text):
        raise Unreadable(NO_CHARACTERS)


@dataclass(slots=True)
class _Word:
    """Characters without a space; positions are those of the upright page. `after`: the text behind it."""

    start: int
    text: str
    left: float
    right: float
    baseline: float
    size: float
    turn: int  # in quarters
    after: str

    @property
    def ends_line(self) -> bool:
        return "\n" in self.after or any(sign in self.after for sign in HYPHENS)


def _each(call: Callable[..., Any], textpage: Any, indices: Sequence[int], *kinds: Any) -> list[Any]:
    """Call a function of PDFium for many characters, each with new values of `kinds` to be filled."""
    filled = [[kind() for _ in indices] for kind in kinds]
    results = list(map(call, repeat(textpage), indices, *filled))
    return filled[-1] if kinds else results


def _text(textpage: Any) -> str:
    """Return one character for each index of PDFium."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(textpage)
    buffer = create_string_buffer(2 * (count + 1) * 2)
    pointer = pdfium.cast(buffer, pdfium.POINTER(pdfium.c_ushort))
    got = pdfium.FPDFText_GetText(textpage, 0, count, pointer)
    text = buffer.raw[: 2 * max(got - 1, 0)].decode("utf-16-le", "replace")
    if len(text) != count:  # characters without a code are missing
        codes = map(pdfium.FPDFText_GetUnicode, repeat(textpage, count), range(count))
        text = "".join(chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd" for code in codes)
    return text


def _words(textpage: Any, box: Sequence[float], *, front: bool) -> list[_Word]:
    """Return the words within the visible box of a page."""
    import pypdfium2.raw as pdfium

    text = _text(textpage)
    places = [found.span() for found in WORD.finditer(text)]
    if front:
        places = list(_split_at_raised(textpage, places))
    if not places:
        return []
    firsts, lasts = [start for start, _ in places], [end - 1 for _, end in places]
    begins = _each(pdfium.FPDFText_GetLooseCharBox, textpage, firsts, pdfium.FS_RECTF)
    ends = _each(pdfium.FPDFText_GetLooseCharBox, textpage, lasts, pdfium.FS_RECTF)
    matrices = _each(pdfium.FPDFText_GetMatrix, textpage, firsts, pdfium.FS_MATRIX)
    sizes = _each(pdfium.FPDFText_GetFontSize, textpage, firsts)
    across, along = [c_double() for _ in firsts], [c_double() for _ in firsts]
    list(map(pdfium.FPDFText_GetCharOrigin, repeat(textpage), firsts, across, along))
    words = []
    behind = [*firsts[1:], len(text)]
    for (start, end), first, last, matrix, size, x, y, following in zip(
        places, begins, ends, matrices, sizes, across, along, behind, strict=True
    ):
        middle = (first.left + last.right) / 2, (first.bottom + last.top) / 2
        if not (box[0] <= middle[0] <= box[2] and box[1] <= middle[1] <= box[3]):
            continue
        turn = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4 if matrix.b or matrix.a < 0 else 0
        corners = (
            _upright(min(first.left, last.left), min(first.bottom, last.bottom), turn, box),
            _upright(max(first.right, last.right), max(first.top, last.top), turn, box),
        )
        left, right = sorted((corners[0][0], corners[1][0]))
        height = size * math.hypot(matrix.c, matrix.d)
        baseline = _upright(x.value, y.value, turn, box)[1]
        words.append(
            _Word(start, text[start:end], left, right, baseline, height, turn, text[end:following])
        )
    return words


def _upright(x: float, y: float, turn: int, box: Sequence[float]) -> tuple[float, float]:
    """Return coordinates from the top left of the page in the reading orientation of turned text."""
    left, bottom, right, top = box
    return ((x - left, top - y), (y - bottom, x - left), (right - x, y - bottom), (top - y, right - x))[turn]


def _split_at_raised(textpage: Any, places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Split words where characters are raised or lowered: marks behind names."""
    import pypdfium2.raw as pdfium

    indices = [index for start, end in places for index in range(start, end)]
    heights = [c_double() for _ in indices]
    unused = [c_double() for _ in indices]
    list(map(pdfium.FPDFText_GetCharOrigin, repeat(textpage), indices, unused, heights))
    height = dict(zip(indices, (round(value.value) for value in heights), strict=True))
    for start, end in places:
        inner = [at for at in range(start + 1, end) if abs(height[at] - height[at - 1]) > 1]
        # Every character of sideways text is at another height.
        yield from pairwise([start, *(inner if len(inner) < max(2, (end - start) / 2) else ()), end])


def _unmapped(textpage: Any, words: Sequence[_Word]) -> list[bool]:
    """Return for each word whether its font has no map from codes to characters.

    Without a map (ToUnicode, or an encoding with known glyph names) PDFium interprets codes as characters: the
    title "Methane" becomes 䵥瑨慮.
    """
    import pypdfium2.raw as pdfium

    errors = _each(pdfium.FPDFText_HasUnicodeMapError, textpage, [word.start for word in words])
    return [error == 1 for error in errors]


def _page(textpage: Any, words: Sequence[_Word], box: Sequence[float]) -> Page:
    turns = Counter(word.turn for word in words)
    upright = max(turns, key=lambda turn: turns[turn], default=0)
    turned = " ".join(word.text for word in words if word.turn != upright)
    kept = _without_line_numbers([word for word in words if word.turn == upright])
    fragments = [_fragment(textpage, group) for group in _groups(kept)]
    width, height = box[2] - box[0], box[3] - box[1]
    if upright % 2:
        width, height = height, width
    return Page(fragments, height, width, [turned] if turned else [])


def _groups(words: Sequence[_Word]) -> list[list[_Word]]:
    """Group words that are drawn in succession on one baseline."""
    groups: list[list[_Word]] = []
    for word in words:
        last = groups[-1][-1] if groups else None
        if last is None or last.ends_line or not _is_adjacent(groups[-1][0], last, word):
            groups.append([])
        groups[-1].append(word)
    return groups


def _is_adjacent(first: _Word, last: _Word, word: _Word) -> bool:
    height = max(last.size, word.size)
    near = -height < word.left - last.right < WIDE_GAP * height
    return near and (abs(word.baseline - first.baseline) < 0.3 * height or _is_raised(word, first))


def _is_raised(word: _Word, first: _Word) -> bool:
    height = first.baseline - word.baseline
    return word.size <= first.size and 0.15 * first.size < height < first.size


def _fragment(textpage: Any, words: Sequence[_Word]) -> Fragment:
    import pypdfium2.raw as pdfium

    tallest = max(words, key=lambda word: word.size)
    threshold = _least_space(words)
    parts: list[str] = []
    for word, following in zip(words, [*words[1:], None], strict=True):
        raised = word is not tallest and _is_raised(word, tallest)
        parts.append(f"{RAISED}{word.text}{RAISED}" if raised else word.text)
        if following is None:
            parts.append("-" if any(sign in word.after for sign in HYPHENS) else "")
        elif word.after and (
            following.left - word.right > max(word.size, following.size) * (
                threshold if word.size == following.size else NO_SPACE
            )
            or not pdfium.FPDFText_IsGenerated(textpage, following.start - 1)
        ):
            parts.append(" ")
    last = words[-1]
    end = last.start + len(last.text)
    return Fragment(
        "".join(parts),
        left=min(word.left for word in words),
        right=max(word.right for word in words),
        top=tallest.baseline - (1 - DESCENT) * tallest.size,
        bottom=tallest.baseline + DESCENT * tallest.size,
        weight=min(_weight(textpage, word.start) for word in {words[0].start: words[0], last.start: last}.values()),
        spaced=last.after[:1] == " " and not pdfium.FPDFText_IsGenerated(textpage, end),
    )


def _weight(textpage: Any, index: int) -> int:
    import pypdfium2.raw as pdfium

    buffer, flags = create_string_buffer(FONT_NAME_BYTES), c_int()
    pdfium.FPDFText_GetFontInfo(textpage, index, buffer, FONT_NAME_BYTES, byref(flags))
    weight = _weight_of_font(buffer.value)
    return 2 if weight is None and pdfium.FPDFText_GetFontWeight(textpage, index) >= BOLD_WEIGHT else weight or 0


@cache
def _weight_of_font(font: bytes) -> int | None:
    """Return the weight that the name of a font gives, None if it is unknown."""
    name = font.decode("cp949", "replace")
    if BOLD_FONT.search(name):
        return 2
    if KOREAN_SANS_SERIF.search(name):
        return 1
    return 0 if TEX_FONT.search(name) else None  # PDFium's weight of these is wrong


def _least_space(words: Sequence[_Word]) -> float:
    """Return the least gap between words, in heights; it is larger in letter-spaced text.

    In letter-spaced text most "words" are single characters, and PDFium adds spaces between them.
    """
    gaps = [(b.left - a.right) / max(a.size, b.size, 1) for a, b in pairwise(words) if a.after]
    if len(gaps) < 3 or sum(len(word.text) == 1 for word in words) < len(words) * 0.6:
        return -1.0
    least, most = min(gaps), max(gaps)
    return (least + most) / 2 if most > 2 * least else most


def _without_line_numbers(words: list[_Word]) -> list[_Word]:
    """Drop the line numbers of a manuscript: numbers beside the text, at each or each fifth line."""
    numbers = [word for word in words if word.text.isdecimal() and len(word.text) < 5]
    others = [word for word in words if not word.text.isdecimal()]
    if len(numbers) < 3 or not others:
        return words
    lefts, rights = sorted(word.left for word in others), sorted(word.right for word in others)
    rows = len({round(word.baseline / 3) for word in others})
    few = len(others) // 50
    beside = (
        [word for word in numbers if word.right <= lefts[few] + 1],
        [word for word in numbers if word.left >= rights[-1 - few] - 1],
    )
    dropped: set[int] = set()
    for group in beside:
        values = [int(word.text) for word in sorted(group, key=lambda word: word.baseline)]
        steps = Counter(b - a for a, b in pairwise(values))
        step, count = steps.most_common(1)[0] if steps else (0, 0)
        if step in (1, 2, 5, 10) and count >= 0.8 * (len(values) - 1) and len(values) * step > 0.6 * rows:
            dropped |= {word.start for word in group}
    return [word for word in words if word.start not in dropped]
