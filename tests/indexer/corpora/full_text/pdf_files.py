"""PDFs written by hand: small, and wrong in one way each."""

import zlib
from collections.abc import Sequence

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
PAGES = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>"
SENTENCE = b"This paper measures how methane from rice paddies depends on water."


def stream(content: bytes, entries: bytes = b"") -> bytes:
    packed = zlib.compress(content, 9)
    return b"<</Length %d/Filter/FlateDecode%s>>\nstream\n%s\nendstream" % (len(packed), entries, packed)


def text(*lines: bytes) -> bytes:
    return b"BT /F1 11 Tf 14 TL 72 760 Td " + b" ".join(b"(%s) Tj T*" % line for line in lines) + b" ET"


def pdf(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    out = b"%PDF-1.7\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer.replace(b"TABLE", b"%d" % table),
        table,
    )


def page_of(content: bytes, **replaced: bytes) -> bytes:
    """A file of one page; `replaced` are other objects for catalog, pages, page or font."""
    return pdf(
        [
            replaced.get("catalog", CATALOG),
            replaced.get("pages", PAGES),
            replaced.get("page", PAGE),
            stream(content),
            replaced.get("font", FONT),
            *([replaced["more"]] if "more" in replaced else []),
        ],
        replaced.get("trailer", b""),
    )
