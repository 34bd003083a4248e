"""Encodings of text files: UTF-8, UTF-16 with a byte order mark, and CP949, Excel's for Korean CSV."""

import codecs

BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LEAST_KOREAN = 10  # Korean characters, below which CP949 is not assumed
STANDARD_SHARE = 0.95  # of the characters beyond ASCII, in the national standard KS X 1001
# Frequent syllables, about half of Korean text, and their least share: other encodings give arbitrary ones.
FREQUENT = frozenset(
    "이다는의에을가고한를은로하기사지어도서자인대정그나시과해일있리수전제들보으조부동성구상생경학적용연화관"
)
FREQUENT_SHARE = 0.25
STANDARD_BYTES = 2  # of a character in EUC-KR; others are composed of several
LONGEST_CHARACTER = 4  # bytes of UTF-8


def encoding_of(head: bytes) -> str:
    """Return the encoding of a file by its start: "utf-16", "cp949", or "" for UTF-8 and everything else.

    Bytes count as CP949 if they are no UTF-8, nearly all of their characters beyond ASCII are valid and in
    KS X 1001, and many are frequent.
    """
    if head.startswith(BYTE_ORDER_MARKS):
        return "utf-16"
    if head.isascii() or _is_utf8(head):
        return ""
    text = head.decode("cp949", "surrogateescape")
    characters = [character for character in text if not character.isascii()]
    standard = sum(map(_is_standard, characters))
    frequent = sum(character in FREQUENT for character in characters)
    is_korean = standard >= max(LEAST_KOREAN, STANDARD_SHARE * len(characters))
    return "cp949" if is_korean and frequent >= FREQUENT_SHARE * len(characters) else ""


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
    """Converts the blocks of a file to UTF-8. Invalid bytes are unchanged, so readers report their lines."""

    def __init__(self, encoding: str) -> None:
        """Start at the beginning of a file."""
        errors = "replace" if encoding == "utf-16" else "surrogateescape"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)

    def converted(self, block: bytes, *, final: bool = False) -> bytes:
        """Return the complete characters of a block, after incomplete ones of the last block."""
        return self._decoder.decode(block, final).encode("utf-8", "surrogateescape")
