"""Values of bibliographic records, which the readers of all reference formats share.

Their ids: the id that SHRAG's export wrote; else the DOI; else the accession number of a database; else the
record's own key below the name of its file, as keys such as `kim2020` are unique only in one library.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.papers import (
    FIRST_YEAR,
    FORBIDDEN_IN_IDENTIFIERS,
    IDENTIFIER_CHARACTERS,
    LAST_YEAR,
    Language,
    language_of,
)
from indexer.corpora.readers.cells import language_named, year_in
from indexer.corpora.readers.documents import document_id
from indexer.corpora.readers.streams import Stream

HASH_DIGITS = 12
HANGUL_NAME = re.compile("[가-힣]{1,4}")
YEAR_INSIDE = re.compile(r"(?<!\d)(\d{4})(?!\d)")
# Names and codes (ISO 639) of frequent languages other than Korean and English.
OTHER_LANGUAGES = frozenset(
    "und mul ja jpn japanese 일본어 zh chi zho chinese 중국어 fr fre fra french de ger deu german es spa "
    "spanish ru rus russian it ita italian pt por portuguese vi vie vietnamese ar ara arabic latin".split()
)
BETWEEN_KEYWORDS = re.compile(r"\s*[;；]\s*")
BETWEEN_ONLY_KEYWORDS = re.compile(r"\s*[,，]\s*")

# Types of CSL 1.0.2, by the names of other formats in lower case, without spaces and hyphens.
TYPES = {
    "article-journal": "journalarticle article articlejournal jour ejour jfull review electronicarticle",
    "paper-conference": "proceedingsarticle conferencepaper conference conferenceproceedings inproceedings "
    "conf cpaper",
    "thesis": "dissertation phdthesis mastersthesis thesis thes",
    "book": "book monograph editedbook referencebook ebook electronicbook",
    "chapter": "bookchapter booksection incollection inbook chap echap",
    "report": "report techreport rprt",
    "dataset": "dataset data",
    "article": "postedcontent preprint unpb unpd",
    "article-newspaper": "news newspaperarticle",
    "article-magazine": "mgzn magazinearticle",
    "patent": "patent pat",
    "standard": "standard stand",
    "webpage": "webpage elec web electronic online",
    "document": "misc gen generic",
}
TYPE_OF_NAME = {name: type_ for type_, names in TYPES.items() for name in names.split()}


def type_named(name: str) -> str:
    """Return the CSL type of a name in another format; an unknown name in lower case."""
    named = name.strip().lower()
    return TYPE_OF_NAME.get(re.sub(r"[\s_-]", "", named), named.replace(" ", "-"))


def record_id(
    stream: Stream, *, doi: str = "", accession: str = "", key: str = "", content: Iterable[object] = ()
) -> str:
    """Return the DOI, else the accession number, else the key or a hash of the content below the file's name.

    Accession numbers of digits alone are not unique among databases, and count as keys.
    """
    if normal := whole_doi(doi):
        return _as_identifier(normal)
    if accession and not accession.isdigit():
        return _as_identifier(accession)
    key = key or accession
    if not key:
        digest = hashlib.sha256("\n".join(map(str, content)).encode("utf-8", "backslashreplace"))
        key = digest.hexdigest()[:HASH_DIGITS]
    return _as_identifier(f"{document_id(stream)}/{key}")


def _as_identifier(text: str) -> str:
    return FORBIDDEN_IN_IDENTIFIERS.sub("_", text)[-IDENTIFIER_CHARACTERS:]


def doi_among(values: Iterable[str]) -> str:
    """Return the first value that is a DOI, without resolver; "" if none is."""
    return next(filter(None, map(whole_doi, values)), "")


def year_within(text: str) -> int | None:
    """Return the year at the start of a date, else the first year in the text (May 2019, c2019)."""
    if year := year_in(text):
        return year
    years = (int(found[1]) for found in YEAR_INSIDE.finditer(text))
    return next((year for year in years if FIRST_YEAR <= year <= LAST_YEAR), None)


def language_of_code(text: str) -> Language | None:
    """Return the language of a name or code, also of other languages; None if it is unknown."""
    name = text.strip().lower()
    if named := language_named(name) or language_named(re.split(r"[-_;, ]", name)[0]):
        return named
    return "other" if re.split(r"[-_;, ]", name)[0] in OTHER_LANGUAGES else None


def languages(declared: str, *texts: str) -> dict[str, str]:
    """Return `lang` of a record's texts, and `declared_language` if it says anything else.

    Databases declare the language of the paper, also beside a translated title and abstract.
    """
    named = language_of_code(declared)
    by_script = language_of(" ".join(texts))
    matches = (by_script == "ko") == (named == "ko") or not any(texts)
    lang = named if named and matches else by_script
    return {"lang": lang} | ({"declared_language": declared} if declared and lang != _exact(named) else {})


def _exact(named: Language | None) -> Language | None:
    return None if named == "other" else named


def split_keywords(values: Iterable[str]) -> list[str]:
    """Split values at semicolons, a single value without semicolons at commas; drop repeated keywords."""
    given = [value for value in values if value.strip()]
    separator = BETWEEN_KEYWORDS
    if len(given) == 1 and not BETWEEN_KEYWORDS.search(given[0]):
        separator = BETWEEN_ONLY_KEYWORDS
    parts = (part.strip() for value in given for part in separator.split(value))
    return list(dict.fromkeys(filter(None, parts)))


def in_language(texts: Sequence[str], language: str) -> tuple[str, str]:
    """Return the text in a language, or the first, and the other texts joined."""
    first = next((text for text in texts if language_of(text) == language), texts[0] if texts else "")
    return first, " ".join(text for text in texts if text != first)


def person(family: str, given: str = "", suffix: str = "") -> str:
    """Return a name as "Family, Given, Suffix"; a Korean one as it is written, without a comma."""
    if HANGUL_NAME.fullmatch(family) and HANGUL_NAME.fullmatch(given):
        return family + given
    return ", ".join(filter(None, (family, given, suffix)))


def person_named(name: str) -> str:
    """Return a name of the form "Family, Given" as `person` does; other names unchanged."""
    family, _, given = (part.strip() for part in name.partition(","))
    return person(family, given) if HANGUL_NAME.fullmatch(family) and given else name


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are neither None nor empty."""
    return {key: value for key, value in values.items() if value not in (None, "", [], {})}
