"""Encodings and line ends of text files.

UTF-8, UTF-16 (Excel's Unicode text) with and without a byte order mark, CP949 (Excel's for Korean CSV), and
lines that end with a carriage return alone (Excel for Mac).
"""

import codecs
import io
import re

BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UTF16_SHARE = 0.2  # of NUL bytes in UTF-16 with ASCII letters, tabs and line feeds
MOST_OTHER = 4  # times as many zeros in one half of its bytes as in the other
LEAST_KOREAN = 10  # Korean characters, below which CP949 is not assumed
STANDARD_SHARE = 0.95  # of the characters beyond ASCII, in the national standard KS X 1001
# Frequent syllables, about half of Korean text, and their least share: other encodings give arbitrary ones.
FREQUENT = frozenset(
    "이다는의에을가고한를은로하기사지어도서자인대정그나시과해일있리수전제들보으조부동성구상생경학적용연화관"
)
FREQUENT_SHARE = 0.25
STANDARD_BYTES = 2  # of a character in EUC-KR; others are composed of several
LONGEST_CHARACTER = 4  # bytes of UTF-8
CARRIAGE_RETURN = re.compile(rb"\r(?!\n|$)")
BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
BINARY = (b"%PDF-", b"\0\0\0")
MAGIC_BYTES = 1024  # at the start of a PDF


def encoding_of(head: bytes) -> str:
    """Return the encoding of a file by its start: "utf-16", "cp949", …, or "" for UTF-8 and everything else.

    Bytes count as CP949 if they are no UTF-8, nearly all of their characters beyond ASCII are valid and in
    KS X 1001, and many are frequent.
    """
    if head.startswith(BYTE_ORDER_MARKS):
        return "utf-16"
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > UTF16_SHARE * len(head) / 2 and max(even, odd) > MOST_OTHER * min(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    if head.isascii() or _is_utf8(head):
        return ""
    text = head.decode("cp949", "surrogateescape")
    characters = [character for character in text if not character.isascii()]
    standard = sum(map(_is_standard, characters))
    frequent = sum(character in FREQUENT for character in characters)
    is_korean = standard >= max(LEAST_KOREAN, STANDARD_SHARE * len(characters))
    return "cp949" if is_korean and frequent >= FREQUENT_SHARE * len(characters) else ""


def conversion(line: bytes) -> str:
    """Return how to convert a file with a line that is no UTF-8.

    Characters of Korean, Chinese and Japanese encodings are pairs of bytes beyond ASCII, accented letters of
    Latin-1 are mostly single ones.
    """
    pairs = all(len(run) % 2 == 0 for run in BEYOND_ASCII.findall(line))
    return f"convert the file to UTF-8 (iconv -f {'CP949' if pairs else 'CP1252'} -t UTF-8)"


def _is_utf8(head: bytes) -> bool:
    """Check for UTF-8, whose last character may be incomplete."""
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(head) - LONGEST_CHARACTER and "unexpected end" in error.reason
    return True


def _is_standard(character: str) -> bool:
    try:
        return len(character.encode("euc_kr")) == STANDARD_BYTES
    except UnicodeEncodeError:
        return False


class Transcoder:
    """Converts the blocks of a file to UTF-8 with line feeds.

    Invalid bytes are unchanged, so readers report their lines.
    """

    def __init__(self, encoding: str) -> None:
        """Start at the beginning of a file; "" is UTF-8."""
        self.encoding = encoding
        errors = "replace" if encoding.startswith("utf-16") else "surrogateescape"
        decoder = codecs.getincrementaldecoder(encoding or "utf-8")(errors)
        self._decoder = io.IncrementalNewlineDecoder(decoder, translate=True)

    @classmethod
    def of(cls, head: bytes) -> "Transcoder | None":
        """Return the converter of a file by its start, None if it needs none."""
        encoding = encoding_of(head)
        is_binary = any(magic in head[:MAGIC_BYTES] for magic in BINARY)
        has_returns = not is_binary and CARRIAGE_RETURN.search(head)
        return cls(encoding) if encoding or has_returns else None

    def converted(self, block: bytes, *, final: bool = False) -> bytes:
        """Return the complete characters of a block, after incomplete ones of the last block."""
        return self._decoder.decode(block, final).encode("utf-8", "surrogateescape")
