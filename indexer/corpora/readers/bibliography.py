"""Bibliographic records, which the readers of all reference formats and tables share.

A reader maps the names of its format to the keys of `reference_record`, which cleans and converts the values.
Their ids: the id that SHRAG's export wrote; else the DOI; else the accession number of a database; else the
record's own key below the name of its file, as keys such as `kim2020` are unique only in one library. The
DOI of a chapter may be that of its book, which several records share; it is kept, but is no id.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from operator import not_
from typing import Any

from indexer.corpora.names import is_family_name, names_in
from indexer.corpora.normal_forms import DOI_PREFIX, whole_doi
from indexer.corpora.papers import (
    FIRST_YEAR,
    FORBIDDEN_IN_IDENTIFIERS,
    IDENTIFIER_CHARACTERS,
    LAST_YEAR,
    Language,
    language_named,
    language_of,
)
from indexer.corpora.readers.documents import document_id
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream

HASH_DIGITS = 12
HANGUL_NAME = re.compile("[가-힣\u1100-\u11ff]{1,12}")
YEAR_FIRST, YEAR_INSIDE = re.compile(r"\s*(\d{4})(?:\d{2}){0,2}(?!\d)"), re.compile(r"(?<!\d)(\d{4})(?!\d)")
# Names and codes (ISO 639) of frequent languages other than Korean and English.
OTHER_LANGUAGES = frozenset(
    "und mul ja jpn japanese 일본어 zh chi zho chinese 중국어 fr fre fra french de ger deu german es spa "
    "spanish ru rus russian it ita italian pt por portuguese vi vie vietnamese ar ara arabic latin".split()
)
BETWEEN_KEYWORDS = re.compile(r"\s*[;；]\s*")
BETWEEN_ONLY_KEYWORDS = re.compile(r"\s*[,，]\s*")
RANGE = re.compile(r"\s*[-–—]+\s*")  # of pages
COUNT = re.compile(r"(?:[0-9]{1,12}|[0-9]{1,3}(?:,[0-9]{3}){1,3})(?:\.0)?")
YEAR_DIGITS = 4
# Keys of `reference_record` with one value, which is kept as text.
TEXTS = (
    *("publisher", "volume", "issue", "host", "issn", "isbn", "edition", "place", "source", "subjects"),
    *("affiliation", "thesis", "pmid", "pmcid", "journal_abbreviation"),
)
WITHOUT_JOURNAL = frozenset({"book", "thesis", "report", "edited-book"})  # their container is a series

# Types of CSL 1.0.2, by the names of other formats in lower case, without spaces and hyphens.
TYPES = {
    "article-journal": "journalarticle article articlejournal jour ejour jfull review electronicarticle",
    "paper-conference": "proceedingsarticle conferencepaper conference conferenceproceedings inproceedings "
    "conf cpaper",
    "thesis": "dissertation thesisdissertation phdthesis mastersthesis thesis thes",
    "book": "book monograph bookwhole bookedited editedbook referencebook ebook electronicbook",
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
    return TYPE_OF_NAME.get(re.sub(r"[\s_,/-]", "", named), named.replace(" ", "-"))


def columns_of(table: str) -> dict[str, dict[str, str]]:
    """Return the columns of a table by their names: the names of each key, - for none."""
    header, *rows = map(str.split, table.strip().splitlines())
    return {
        name: {row[0]: row[column].replace(",", " ") for row in rows if row[column] != "-"}
        for column, name in enumerate(header[1:], 1)
    }


def values_by_key(
    keys: Mapping[str, str], values: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], set[str]]:
    """Return the values of each key of `reference_record`, and the names that are read.

    `keys` are the names in a format: of alternatives, separated by |, the first with a value counts; values
    of several names, separated by spaces, are joined. Values that may be a DOI stay under their names too.
    """
    found: dict[str, list[str]] = {}
    read: set[str] = set()
    for key, alternatives in keys.items():
        for names in map(str.split, alternatives.split("|")):
            if texts := [text for name in names for text in values.get(name, ())]:
                found[key] = texts
                read.update(names if key != "other_dois" else ())
                break
    return found, read


def reference_record(
    found: Mapping[str, Sequence[str]], stream: Stream, further: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a record in Paper's keys from the values of each key as they are in the file.

    Further keys: `dates`, `other_dois` (texts that may be one), `first_page` and `last_page`, `names` (of
    authors that are split already), `language`, `accession`, `citation_key`, `note`, `type`, and `TEXTS`.
    `further` values are kept under their own names.
    """
    values = {key: [text for raw in given if (text := without_markup(raw))] for key, given in found.items()}

    def first(*keys: str) -> str:
        return next((text for key in keys for text in values.get(key, ())), "")

    kind = "thesis" if first("thesis") else type_named(first("type"))
    titles = [*values.get("title", ()), *values.get("title2", ())]
    title, title2 = first("title", "title2"), first("title2") if first("title") else ""
    abstracts = list(dict.fromkeys(values.get("abstract", ())))
    spoken = languages(first("language"), title, *([] if title else abstracts))
    abstract, abstract2 = in_language(abstracts, spoken["lang"])
    abstract2 = abstract2 or first("abstract2")
    authors = [*map(person_named, values.get("names", ()))]
    authors += [person_named(name) for text in values.get("authors", ()) for name in names_in(text)]
    dates = [*values.get("year", ()), *values.get("dates", ())]
    date = max(dates, key=len, default="")
    urls = values.get("url", [])
    doi = doi_among(values.get("doi", ())) or first("doi") or doi_among(values.get("other_dois", ()))
    doi = doi or doi_among(urls)
    key, accession = first("citation_key"), first("accession")
    content = (*titles[:1], *authors, *dates)
    container, is_series = first("journal"), kind in WITHOUT_JOURNAL
    own_doi = "" if kind == "chapter" else doi
    record = {
        "id": first("id") or record_id(stream, doi=own_doi, accession=accession, key=key, content=content),
        "title": title,
        "title2": title2,
        "abstract": abstract,
        "abstract2": abstract2,
        "authors": authors,
        "editors": [person_named(name) for text in values.get("editors", ()) for name in names_in(text)],
        "year": next(filter(None, map(year_within, dates)), None),
        "date": date if len(date) > YEAR_DIGITS else "",
        "journal": "" if is_series else container,
        "series": first("series") or (container if is_series and container != title else ""),
        "keywords": split_keywords(values.get("keywords", ())),
        "doi": doi,
        "url": first("url"),
        "urls": urls[1:],
        "pages": _pages(first("pages"), first("first_page"), first("last_page")),
        "note": " ".join(values.get("note", ())),
        "cited_by_count": count_in(first("cited_by_count")),
        "accession_number": accession,
        "citation_key": key,
        "type": kind,
        **{key: first(key) for key in TEXTS},
    }
    return drop_empty({**(further or {}), **drop_empty(record)}) | spoken


def _pages(pages: str, first: str, last: str) -> str:
    """Return a range with a hyphen; the first page may be a range already."""
    ends = [pages] if pages else [first] if RANGE.search(first) else dict.fromkeys((first, last))
    return RANGE.sub("-", "-".join(filter(None, ends)))


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
    """Return the first value that is a DOI, as it is written, without resolver; "" if none is."""
    texts = (value.removesuffix(" [doi]").strip() for value in values)
    return next((DOI_PREFIX.sub("", text) for text in texts if whole_doi(text)), "")


def year_within(text: str) -> int | None:
    """Return the year at the start of a date, else the first year in the text (May 2019, c2019)."""
    found = (YEAR_FIRST.match(text), *YEAR_INSIDE.finditer(text))
    years = (int(each[1]) for each in found if each)
    return next((year for year in years if FIRST_YEAR <= year <= LAST_YEAR), None)


def count_in(text: str) -> int | None:
    """Return a number of citations (1234, 1,234, 1234.0), None for another text."""
    return int(text.replace(",", "").removesuffix(".0")) if COUNT.fullmatch(text) else None


def language_of_code(text: str) -> Language | None:
    """Return the language of a name or code, also of other languages; None if it is unknown."""
    name = unicodedata.normalize("NFC", text).strip().lower()
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
    return parts_of(given, separator)


def parts_of(texts: Iterable[str], separator: re.Pattern[str]) -> list[str]:
    """Split lists in texts, without empty and repeated parts."""
    parts = (part.strip() for text in texts for part in separator.split(text))
    return list(dict.fromkeys(filter(None, parts)))


def in_language(texts: Sequence[str], language: str) -> tuple[str, str]:
    """Return the texts in a language, or in that of the first one, and the other texts, each joined."""
    spoken = list(map(language_of, texts))
    chosen = language if language in spoken else next(iter(spoken), "")
    is_own = [each == chosen for each in spoken]
    return " ".join(compress(texts, is_own)), " ".join(compress(texts, map(not_, is_own)))


def person(family: str, given: str = "", suffix: str = "") -> str:
    """Return a name as "Family, Given, Suffix"; a Korean one as it is written, without a comma."""
    if HANGUL_NAME.fullmatch(family) and HANGUL_NAME.fullmatch(given):
        return family + given
    return ", ".join(filter(None, (family, given, suffix)))


def person_named(name: str) -> str:
    """Return a Korean name with a comma or space after the family name without it; other names unchanged."""
    family, comma, given = (part.strip() for part in name.partition("," if "," in name else " "))
    if not (HANGUL_NAME.fullmatch(family) and HANGUL_NAME.fullmatch(given)):
        return name
    return family + given if comma or is_family_name(unicodedata.normalize("NFC", family)) else name


def drop_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are neither None nor empty."""
    return {key: value for key, value in values.items() if value not in (None, "", [], {})}
