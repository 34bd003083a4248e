"""Check of the fonts of a PDF for maps from codes to characters.

Without a map (ToUnicode, or an encoding with known glyph names) PDFium interprets codes as characters: the
title "Methane" becomes 䵥瑨慮.
"""

from contextlib import closing
from typing import Any

PAGES = 3  # examined pages
# In 40 papers, theses and scans the share was at most 0.031.
MOST_UNMAPPED = 0.3
BLANKS = frozenset((0x20, 0x0D, 0x0A))  # added by PDFium itself


def lacks_unicode_maps(document: Any) -> bool:
    """Check for a document (`pypdfium2.PdfDocument`) whose fonts mostly do not map codes to characters."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    characters = unmapped = 0
    for number in range(min(PAGES, len(document))):
        try:
            with closing(document[number]) as page, closing(page.get_textpage()) as text:
                for index in range(text.count_chars()):
                    if pdfium.FPDFText_GetUnicode(text, index) not in BLANKS:
                        characters += 1
                        unmapped += pdfium.FPDFText_HasUnicodeMapError(text, index) == 1
        except pypdfium2.PdfiumError:
            continue
    return unmapped > MOST_UNMAPPED * characters
