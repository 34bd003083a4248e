"""Fragments of text on the pages of a PDF, read by PDFium (pypdfium2).

PDFium returns the characters of a page in drawing order, with a space or a line feed at gaps. Calls through
ctypes are slow: the text is fetched once for each page, a position once for each word, and the font once for
each line. Scripts are not executed (the library is built without them), and attachments are not opened.
"""

import math
import re
import struct
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from ctypes import byref, c_double, c_int, c_ushort, create_string_buffer
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, repeat
from operator import attrgetter
from typing import Any, NamedTuple

MOST_PAGES = 2_000
FRONT_PAGES = 3  # pages on which raised marks are separated from words, and fonts are examined
RAISED = "\x01"  # around a raised mark on a front page
WORD = re.compile(r"[^\s\x00\x02\ufffe]+")
HYPHEN = re.compile("[\x02\ufffe]")  # PDFium's replacement of a hyphen at a line end
LINE_END = re.compile("[\n\x02\ufffe]")
UNMAPPED = re.compile("[\ufffd\ue000-\uf8ff\x02-\x1e]")
BOLD_FONT = re.compile(
    r"bold|black|heavy|demi|medi(?!um)|(?:cm|sf|cmss)bx|headline|견고|헤드라인", re.IGNORECASE
)
KOREAN_SANS_SERIF = re.compile("gothic|dotum|gulim|h2gtr|고딕|돋움|굴림", re.IGNORECASE)
TEX_FONT = re.compile(r"(?:^|\+)(?:CM|SF|LM|EC)[A-Z]+\d")
BOLD_WEIGHT = 600
FEWEST_LETTERS = 4  # of a letter-spaced line
FEWEST_NUMBERS, NUMBER_DIGITS = 3, 4  # line numbers of a page, and digits of one
DESCENT = 0.2  # share of the font size below the baseline
WIDE_GAP = 0.9  # between fragments, in heights
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

    `weight` of its font: 1 for Korean sans serif, 2 for bold. `spaced`: a space was drawn at its end.
    `broken`: it has a wide gap, as between table cells.
    """

    text: str
    left: float
    right: float
    top: float
    bottom: float
    weight: int = 0
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
    width: float
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
        unmapped: list[bool] = []
        for number in range(len(document)):
            try:
                with closing(document[number]) as page, closing(page.get_textpage()) as text:
                    words = _words(text.raw, page.get_bbox(), front=number < FRONT_PAGES)
                    unmapped += _unmapped(text.raw, words) if number < FRONT_PAGES else ()
                    pages.append(_page(text.raw, words, page.get_bbox()))
            except pypdfium2.PdfiumError:
                continue  # read the other pages
        metadata = document.get_metadata_dict(skip_empty=True)
    text = "".join(part.text for page in pages for part in page.fragments)
    letters, pictures = sum(map(str.isalpha, text)), not all(page.fragments for page in pages)
    if not pages:
        raise Unreadable("it has no pages that can be read")
    if (
        max(sum(unmapped) / max(len(unmapped), 1), len(UNMAPPED.findall(text)) / max(len(text), 1))
        > UNMAPPED_SHARE
    ):
        raise Unreadable(NO_CHARACTERS)
    if not letters or (pictures and letters < FEW_LETTERS * len(pages)):
        raise Unreadable("it has no text, its pages are images: run OCR first")
    return pages, metadata


def _unmapped(textpage: Any, words: Sequence[_Word]) -> list[bool]:
    """Return for each word whether its font has no map from codes to characters.

    Without a map (ToUnicode, or an encoding with known glyph names) PDFium interprets codes as characters:
    the title "Methane" becomes 䵥瑨慮.
    """
    import pypdfium2.raw as pdfium

    return [pdfium.FPDFText_HasUnicodeMapError(textpage, word.start) == 1 for word in words]


def _filled(call: Callable[..., Any], textpage: Any, indices: Sequence[int], *kinds: Any) -> list[Any]:
    """Return arrays that a function of PDFium fills for many characters."""
    arrays = [(kind * len(indices))() for kind in kinds]
    deque(map(call, repeat(textpage), indices, *arrays), maxlen=0)
    return arrays


def _origins(textpage: Any, indices: Sequence[int]) -> tuple[Sequence[float], Sequence[float]]:
    import pypdfium2.raw as pdfium

    across, along = _filled(pdfium.FPDFText_GetCharOrigin, textpage, indices, c_double * 1, c_double * 1)
    return array("d", bytes(across)), array("d", bytes(along))


def _text(textpage: Any) -> str:
    """Return one character for each index of PDFium."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(textpage)
    buffer = (c_ushort * (2 * count + 2))()
    got = pdfium.FPDFText_GetText(textpage, 0, count, buffer)
    text = bytes(buffer)[: 2 * max(got - 1, 0)].decode("utf-16-le", "replace")
    if len(text) == count:
        return text
    codes = list(
        map(pdfium.FPDFText_GetUnicode, repeat(textpage, count), range(count))
    )  # some lack a character
    return array("I", codes).tobytes().decode("utf-32-le", "replace")


def _words(textpage: Any, box: Sequence[float], *, front: bool) -> list[_Word]:
    """Return the words within the visible box of a page."""
    import pypdfium2.raw as pdfium

    text = _text(textpage)
    places = [found.span() for found in WORD.finditer(text)]
    if front:
        places = list(_split_at_raised(textpage, places))
    firsts = [start for start, _ in places]
    ends = [*firsts, *(end - 1 for _, end in places)]
    boxes = _filled(pdfium.FPDFText_GetLooseCharBox, textpage, ends, pdfium.FS_RECTF)[0]
    corners = list(struct.iter_unpack("4f", boxes))
    # Words of one font on one baseline have boxes of the same height and position.
    heights = [(first[1], first[3]) for first in corners[: len(places)]]
    changed = [number for number, height in enumerate(heights) if not number or height != heights[number - 1]]
    starts = [firsts[number] for number in changed]
    matrices = struct.iter_unpack(
        "6f", _filled(pdfium.FPDFText_GetMatrix, textpage, starts, pdfium.FS_MATRIX)[0]
    )
    sizes = map(pdfium.FPDFText_GetFontSize, repeat(textpage), starts)
    fonts = zip(changed, matrices, sizes, *_origins(textpage, starts), strict=True)
    changes = {number: font for number, *font in fonts}
    font: list[Any] = []
    words = []
    behind = [*firsts[1:], len(text)]
    for number, ((start, end), first, last) in enumerate(
        zip(places, corners, corners[len(places) :], strict=False)
    ):
        (a, b, c, d, _, _), size, x, y = font = changes.get(number) or font
        across, along = (first[0] + last[2]) / 2, (first[3] + last[1]) / 2
        if box[0] <= across <= box[2] and box[1] <= along <= box[3]:
            left, right, baseline, turn = first[0] - box[0], last[2] - box[0], box[3] - y, 0
            if b or a < 0:
                turn = round(math.atan2(b, a) / (math.pi / 2)) % 4
                sides = [
                    _upright(x, y, turn, box)[0] for box_ in (first, last) for x, y in (box_[:2], box_[2:])
                ]
                left, right, baseline = min(sides), max(sides), _upright(x, y, turn, box)[1]
            height = size * math.hypot(c, d)
            words.append(
                _Word(start, text[start:end], left, right, baseline, height, turn, text[end : behind[number]])
            )
    return words


def _upright(x: float, y: float, turn: int, box: Sequence[float]) -> tuple[float, float]:
    """Return coordinates from the top left of the page in the reading orientation of turned text."""
    left, bottom, right, top = box
    return ((x - left, top - y), (y - bottom, x - left), (right - x, y - bottom), (top - y, right - x))[turn]


def _split_at_raised(textpage: Any, places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Split words where characters are raised or lowered: marks behind names."""
    indices = [index for start, end in places for index in range(start, end)]
    height = dict(zip(indices, _origins(textpage, indices)[1], strict=True))
    for start, end in places:
        inner = [at for at in range(start + 1, end) if abs(height[at] - height[at - 1]) > 1]
        # Every character of sideways text is at another height.
        yield from pairwise([start, *(inner if len(inner) < max(2, (end - start) / 2) else ()), end])


def _page(textpage: Any, words: Sequence[_Word], box: Sequence[float]) -> Page:
    turns = Counter(word.turn for word in words)
    upright = max(turns, key=lambda turn: turns[turn], default=0)
    groups: list[list[_Word]] = []  # drawn in succession on one baseline
    last: _Word | None = None
    for word in _without_line_numbers([word for word in words if word.turn == upright]):
        if last is None or LINE_END.search(last.after) or not _is_adjacent(groups[-1][0], last, word):
            groups.append([])
        groups[-1].append(word)
        last = word
    width, height = box[2] - box[0], box[3] - box[1]
    return Page(
        [_fragment(textpage, group) for group in groups],
        *((width, height) if upright % 2 else (height, width)),
        turned=" ".join(word.text for word in words if word.turn != upright),
    )


def _is_adjacent(first: _Word, last: _Word, word: _Word) -> bool:
    height = max(word.size, last.size)
    level = abs(first.baseline - word.baseline) < 0.3 * height or _is_raised(word, first)
    spaced = "가" <= word.text[0] <= "힣" and len(last.text) == len(word.text) == 1  # letter-spaced Korean
    return level and -height < word.left - last.right < WIDE_GAP * height * (1 + spaced)


def _is_raised(word: _Word, first: _Word) -> bool:
    return word.size <= first.size and 0.15 * first.size < first.baseline - word.baseline < first.size


def _fragment(textpage: Any, words: Sequence[_Word]) -> Fragment:
    import pypdfium2.raw as pdfium

    first, last = words[0], words[-1]
    tallest = max(words, key=attrgetter("size"))
    weight = _weight(textpage, first.start)
    return Fragment(
        _joined(words, tallest),
        left=first.left,
        right=last.right,
        top=tallest.baseline - (1 - DESCENT) * tallest.size,
        bottom=tallest.baseline + DESCENT * tallest.size,
        weight=min(weight, _weight(textpage, last.start)) if weight and last is not first else weight,
        spaced=last.after[:1] == " "
        and not pdfium.FPDFText_IsGenerated(textpage, last.start + len(last.text)),
    )


def _joined(words: Sequence[_Word], tallest: _Word) -> str:
    """Join words with spaces, except parts of words and letter-spaced text, with marks around raised ones.

    In letter-spaced text most "words" are single characters, and PDFium adds spaces between them.
    """
    least = -1.0
    if len(words) >= FEWEST_LETTERS and sum(len(word.text) == 1 for word in words) > 0.6 * len(words):
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
            threshold = least if word.size == following.size else 0.1  # small capitals are drawn in two sizes
            parts.append(" " if following.left - word.right > threshold * tallest.size else "")
    return "".join(parts) + ("-" if HYPHEN.match(words[-1].after) else "")


def _weight(textpage: Any, index: int) -> int:
    import pypdfium2.raw as pdfium

    buffer, flags = create_string_buffer(128), c_int()
    pdfium.FPDFText_GetFontInfo(textpage, index, buffer, len(buffer), byref(flags))
    weight = _weight_of_font(buffer.value)
    return (
        2 if weight is None and pdfium.FPDFText_GetFontWeight(textpage, index) >= BOLD_WEIGHT else weight or 0
    )


@cache
def _weight_of_font(font: bytes) -> int | None:
    """Return the weight that the name of a font gives, None if it is unknown."""
    name = font.decode("cp949", "replace")
    if BOLD_FONT.search(name):
        return 2
    if KOREAN_SANS_SERIF.search(name):
        return 1
    return 0 if TEX_FONT.search(name) else None  # PDFium's weight of these is wrong


def _without_line_numbers(words: list[_Word]) -> list[_Word]:
    """Drop the line numbers of a manuscript: numbers beside the text, at each or each fifth line."""
    numbers = [word for word in words if word.text.isdecimal() and len(word.text) <= NUMBER_DIGITS]
    others = [word for word in words if not word.text.isdecimal()]
    if len(numbers) < FEWEST_NUMBERS or not others:
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
