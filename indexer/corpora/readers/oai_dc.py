"""Dublin Core: simple (oai_dc) and qualified (dcterms) elements of one record as a record with Paper's keys.

The elements of DCMI Metadata Terms (https://www.dublincore.org/specifications/dublin-core/dcmi-terms/) are
recognised by their local names, so that all containers (oai_dc, qualifieddc) are read. An element may be
repeated, also once per language.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Language, language_of
from indexer.corpora.readers.bibliography import person_named, type_named
from indexer.corpora.readers.cells import language_named, parts_of
from indexer.corpora.readers.markup import without_markup

NAMESPACES = ("http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/")
IN_FILES = ""  # the readers of files drop namespaces
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
BETWEEN_KEYWORDS = re.compile(r"\s*[;|]\s*")
PARALLEL_TITLE = re.compile(r"\s+=\s+")  # between a title and its translation (ISBD)
ANY_YEAR = re.compile(r"(?<!\d)(1[0-9]|20)\d\d(?!\d)")
WEB_ADDRESS = re.compile(r"https?://[^\s\"'<>]+")
DOI_IN_TEXT = re.compile(r"(?:doi:\s*|doi\.org/)(10\.\S+)", re.IGNORECASE)
STANDARD_NUMBER = re.compile(r"(?:(?:e|p)?issn|isbn|urn|uci)?[:\s]*[\dxX-]{8,17}", re.IGNORECASE)
AFTER_JOURNAL = re.compile(
    r"\s*(?:;|,\s*(?:v|vol|no|pp?|제)\.?\s*\d|\s\d+\s*\(|,\s*\d|\s제\d).*", re.IGNORECASE
)
ABSTRACT_CHARACTERS = 200  # shorter descriptions beside a longer one are notes ("Thesis (Ph.D.)")
OTHERS = {"type": "type", "rights": "rights", "relation": "relation", "contributor": "contributors"}


class Value(NamedTuple):
    """A value of an element, and its language by `xml:lang`, otherwise by its script."""

    text: str
    lang: Language


def elements_of(record: Element) -> dict[str, list[Value]]:
    """Return the values of the Dublin Core elements below a record by local name, in document order."""
    found = defaultdict[str, list[Value]](list)
    for element in record.iter():
        namespace, _, name = str(element.tag).removeprefix("{").rpartition("}")
        if namespace in {*NAMESPACES, IN_FILES} and (text := without_markup("".join(element.itertext()))):
            named = (
                language_named((element.get(XML_LANG) or element.get("lang") or "").replace("_", "-"))
                if name != "language"
                else None
            )
            value = Value(text, named or language_of(text))
            if value not in found[name]:
                found[name].append(value)
    return dict(found)


def has_elements(record: Element) -> bool:
    """Check whether a record has at least one Dublin Core element."""
    return any(
        str(element.tag).startswith(tuple(f"{{{name}}}" for name in NAMESPACES)) for element in record.iter()
    )


def paper_record(record: Element, *, identifier: str) -> dict[str, Any]:
    """Return a record with Paper's keys; elements without such a key keep their names.

    Titles and descriptions in two languages become title and title2, abstract and abstract2; the language of
    the paper, by `language` or by its title, comes first. Descriptions of one language are joined. Beside one
    of at least 200 characters, shorter ones are notes. The year is the earliest of the dates, because
    repositories also list the days of submission and release.
    """
    values = elements_of(record)
    titles = [*_parallel(values.get("title", ())), *values.get("alternative", ())]
    abstracts = [*values.get("abstract", ())] or list(values.get("description", ()))
    lang = _language(values.get("language", ())) or (titles or abstracts or [Value("", "other")])[0].lang
    title, title2, other_titles = _by_language(titles, lang)
    abstract, abstract2, notes = _abstracts(abstracts, lang, translated=bool(title2))
    if values.get("abstract"):
        notes += [value.text for value in values.get("description", ())]
    identifiers = [value.text for value in values.get("identifier", ())]
    dates = [value.text for name in ("issued", "date", "created") for value in values.get(name, ())]
    found: dict[str, Any] = {
        "id": identifier,
        "title": title,
        "title2": title2,
        "abstract": abstract,
        "abstract2": abstract2,
        "lang": lang,
        "authors": list(map(person_named, _texts(values.get("creator", ())))),
        "keywords": parts_of(";".join(_texts(values.get("subject", ()))), BETWEEN_KEYWORDS),
        "year": earliest_year(dates),
        "journal": _journal([*values.get("isPartOf", ()), *values.get("source", ())], lang),
        "publisher": next(iter(_texts(values.get("publisher", ()))), ""),
        "doi": doi_among(identifiers),
        "url": address_among(identifiers),
        "other_titles": other_titles,
        "notes": notes,
        "identifiers": [text for text in identifiers if not WEB_ADDRESS.fullmatch(text)],
    }
    found |= {key: _texts(values.get(name, ())) for name, key in OTHERS.items()}
    found["type"] = type_named(next(iter(found["type"]), "").rpartition("/")[2])
    return {key: value for key, value in found.items() if value not in ("", None, [])}


def earliest_year(dates: Iterable[str]) -> int | None:
    """Return the earliest year among dates (2019, 2019-03, c2019, 2019년), None without one."""
    years = [int(found[0]) for date in dates if (found := ANY_YEAR.search(date))]
    return min((year for year in years if FIRST_YEAR <= year <= LAST_YEAR), default=None)


def doi_among(identifiers: Iterable[str]) -> str:
    """Return the first DOI among identifiers, normalised; "" without one."""
    for text in identifiers:
        found = DOI_IN_TEXT.search(text)
        if doi := whole_doi(text) or (whole_doi(found[1].rstrip(".,;)")) if found else ""):
            return doi
    return ""


def address_among(identifiers: Iterable[str]) -> str:
    """Return the first web address among identifiers, preferably not a DOI's; "" without one."""
    addresses = [text for text in identifiers if WEB_ADDRESS.fullmatch(text)]
    return min(addresses, key=lambda text: "doi.org/" in text, default="")


def _texts(values: Iterable[Value]) -> list[str]:
    return list(dict.fromkeys(value.text for value in values))


def _language(values: Iterable[Value]) -> Language | None:
    """Return the language of the first `language`, "other" if it is neither Korean nor English."""
    return next((language_named(value.text.replace("_", "-")) or "other" for value in values), None)


def _parallel(titles: Iterable[Value]) -> list[Value]:
    """Split a title "우리말 = English" at the sign if its sides are in different languages."""
    found: list[Value] = []
    for title in titles:
        sides = [Value(side, language_of(side)) for side in PARALLEL_TITLE.split(title.text)]
        differ = {side.lang for side in sides} == {"ko", "en"} and len(sides) == 2  # noqa: PLR2004
        found += sides if differ else [title]
    return found


def _by_language(titles: Sequence[Value], lang: Language) -> tuple[str, str, list[str]]:
    """Return the first title in the paper's language, the first in another one, and the rest."""
    own = next((title for title in titles if title.lang == lang), None) or next(iter(titles), None)
    if own is None:
        return "", "", []
    other = next((title for title in titles if title.lang != own.lang), None)
    rest = [title.text for title in titles if title not in (own, other)]
    return own.text, other.text if other else "", rest


def _abstracts(values: Sequence[Value], lang: Language, *, translated: bool) -> tuple[str, str, list[str]]:
    """Return the abstract in the paper's language, the one in another language, and the notes.

    An abstract in another language alone is the paper's, unless a title in that language belongs to it.
    """
    long = [value for value in values if len(value.text) >= ABSTRACT_CHARACTERS]
    joined = defaultdict[Language, list[str]](list)
    for value in long or values:
        joined[value.lang].append(value.text)
    texts = {each: "\n".join(parts) for each, parts in joined.items()}
    notes = [value.text for value in values if long and value not in long]
    own, other = texts.pop(lang, ""), next(iter(texts.values()), "")
    return (own, other, notes) if own or translated else (other, "", notes)


def _journal(values: Iterable[Value], lang: Language) -> str:
    """Return the journal of a citation such as "Journal of Rice; Vol. 3 No. 2 (2014); 12-20"."""
    named = [
        value for value in values if not STANDARD_NUMBER.fullmatch(value.text) and "://" not in value.text
    ]
    chosen = next((value for value in named if value.lang == lang), None) or next(iter(named), None)
    return AFTER_JOURNAL.sub("", chosen.text) if chosen else ""
