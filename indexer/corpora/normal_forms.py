"""Normal forms of titles and DOIs for comparison."""

import re
import unicodedata

NOT_A_LETTER = re.compile(r"[\W_]+")
ASCII_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())
ASCII_LOWERCASE = bytes(range(256)).lower()
SHORTEST_TITLE = 8  # letters; titles such as "Editorial" are shared by many papers
DOI = re.compile(r"10\.\d{4,9}(?:\.\d{1,9}){0,3}/\S{1,500}")
ARXIV_ID = re.compile(  # before 2007 the name of an archive and seven digits
    r"(?P<prefix>arxiv:\s*|https?://(?:www\.)?arxiv\.org/(?:abs|pdf)/)?"
    r"(?P<id>\d\d(?:0[1-9]|1[0-2])\.\d{4,5}|(?(prefix)[a-z-]+(?:\.[a-z]{2})?/\d{7}))(?:v\d+)?(?:\.pdf)?",
    re.IGNORECASE,
)
ARXIV_DOI = "10.48550/arXiv."  # prefix of the DOIs of arXiv's papers, registered with DataCite
DOI_PREFIX = re.compile(r"^(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def normal_title(title: str) -> str:
    """Return the letters and digits of a title in lower case."""
    if title.isascii():  # the same, several times faster
        return title.encode().translate(ASCII_LOWERCASE, ASCII_NO_LETTERS).decode()
    return NOT_A_LETTER.sub("", unicodedata.normalize("NFKC", title).casefold())


def normal_doi(doi: str) -> str:
    """Return a DOI in lower case, without resolver."""
    return DOI_PREFIX.sub("", doi.strip()).casefold()


def whole_doi(text: str) -> str:
    """Return the normalised DOI if the text is a single DOI, otherwise ""."""
    doi = text.strip().casefold() if text.startswith("10.") else normal_doi(text)
    return doi if DOI.fullmatch(doi) else ""


def identifier(text: str) -> str:
    """Return the normalised DOI of a text that is a DOI or an arXiv id, otherwise ""."""
    arxiv = ARXIV_ID.fullmatch(text.strip())
    return (ARXIV_DOI + arxiv["id"]).casefold() if arxiv and arxiv["id"] else whole_doi(text)
