"""BibTeX and BibLaTeX, as exported by Zotero, Mendeley, JabRef, publishers and Google Scholar.

Values are read as the text that TeX prints. Fields without a counterpart among Paper's are kept under their
own names.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from indexer.corpora.normal_forms import DOI_PREFIX, whole_doi
from indexer.corpora.own_exports import BIBTEX_ID
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibliography import (
    language_of_code,
    languages,
    person_named,
    present,
    record_id,
    split_keywords,
    type_named,
    year_within,
)
from indexer.corpora.readers.bibtex_entries import Entry, entries
from indexer.corpora.readers.items import DeadLetter, Item, admitted
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.tex import text_of

# Fields in the order of preference.
TEXTS = {
    "journal": ("journal", "journaltitle", "booktitle"),
    "publisher": ("publisher", "school", "institution", "organization"),
    "abstract": ("abstract",),
    "volume": ("volume",),
    "issue": ("number", "issue"),
    "pages": ("pages",),
    "issn": ("issn",),
    "isbn": ("isbn",),
    "edition": ("edition",),
    "place": ("address", "location"),
    "note": ("note", "annote", "annotation"),
}
NAMES = {"authors": "author", "editors": "editor"}
KEYWORDS = ("keywords", "keyword", "author_keywords")
LANGUAGES = ("langid", "language", "hyphenation")
READ = frozenset((*NAMES.values(), *KEYWORDS, "title", "subtitle", "year", "doi", "url", BIBTEX_ID))
RESERVED = frozenset((*Paper.model_fields, "_id", "docid", "text", "contents", "language"))
OWN_TEXTS = ("title2", "abstract2", "source")
OWN_TYPES = frozenset({"article", "misc"})

AND = re.compile(r"\s+and\s+", re.IGNORECASE)
COMMA = re.compile(r"\s*,\s*")
SEMICOLON = re.compile(r"\s*;\s*")
BRACES = re.compile(r"[{}]")
ESCAPED = re.compile(r"\\([_%&#${}~^ ])|\\(?:url|href|path)(?![A-Za-z])|\\textasciitilde\s*|[{}]")
RANGE = re.compile(r"\s*[-–—]+\s*")
NAME_WITH_PARTS = 3  # family, suffix, given


def read_bibtex(stream: Stream) -> Iterator[Item]:
    """Read entries; an invalid one is a dead letter."""
    for entry in entries(stream):
        if isinstance(entry, DeadLetter):
            yield entry
        else:
            yield admitted(_record_of(entry, stream), stream.name, entry.line, entry.head)


def _record_of(entry: Entry, stream: Stream) -> dict[str, Any]:
    fields = entry.fields
    own = BIBTEX_ID in fields
    texts = {name: text_of(value, ligatures=not own) for name, value in fields.items()}
    read: dict[str, Any] = {}
    used = set(READ)
    for key, names in TEXTS.items():
        if name := next((name for name in names if texts.get(name)), ""):
            read[key] = texts[name]
            used.add(name)
    for key, name in NAMES.items():
        read[key] = [person for tex in _split(fields.get(name, ""), AND) if (person := _name(tex, own=own))]
    language = next((name for name in LANGUAGES if texts.get(name)), "")
    used.add(language)
    read["title"] = ": ".join(filter(None, (texts.get("title"), texts.get("subtitle"))))
    read["year"] = year_within(texts.get("year", "")) or year_within(texts.get("date", ""))
    read["keywords"] = _keywords(fields, own=own)
    read["pages"] = RANGE.sub("-", read.get("pages", ""))
    read["doi"] = unquote(fields.get("doi", "")) if own else _verbatim(fields.get("doi", ""))
    read["url"] = fields.get("url", "") if own else _verbatim(fields.get("url", ""))
    if own:
        used |= {*OWN_TEXTS, "references"}
    further = {_key(name): texts[name] for name in texts if name not in used}
    if own:
        read |= {name: texts.get(name, "") for name in OWN_TEXTS}
        read["lang"] = language_of_code(texts.get(language, ""))
        read |= {"id": texts[BIBTEX_ID], "references": texts.get("references", "").split()}
        return present(further | read | _type(entry.kind if entry.kind not in OWN_TYPES else ""))
    read |= languages(texts.get(language, ""), read["title"] or read.get("abstract", ""))
    read |= _derived(entry, texts, read)
    doi = read["doi"]
    content = (read["title"], *read["authors"], texts.get("year", ""))
    read["id"] = record_id(stream, doi=doi, key=entry.key, content=content)
    if read["id"] != entry.key:
        read["citation_key"] = entry.key
    return present(further | read | _type(entry.kind))


def _type(kind: str) -> dict[str, str]:
    return {"type": type_named(kind)} if kind else {}


def _key(name: str) -> str:
    """Return the key of a further field; names of Paper's fields have another meaning in BibTeX."""
    return f"bibtex:{name}" if name in RESERVED else name


def _derived(entry: Entry, texts: dict[str, str], read: dict[str, Any]) -> dict[str, Any]:
    """Return values that some programs write into other fields."""
    derived: dict[str, Any] = {}
    doi = DOI_PREFIX.sub("", read["doi"])
    derived["doi"] = doi or whole_doi(read["url"])
    if not read["url"] and "\\url" in entry.fields.get("howpublished", ""):
        derived["url"] = _verbatim(entry.fields["howpublished"])
    if texts.get("archiveprefix", texts.get("eprinttype", "")).lower() == "arxiv" and texts.get("eprint"):
        derived["arxiv"] = texts["eprint"]
    return derived


def _split(tex: str, separator: re.Pattern[str]) -> list[str]:
    """Split a value at separators outside of braces."""
    parts, start, depth, place = [], 0, 0, 0
    ends = iter(separator.finditer(tex))
    end = next(ends, None)
    while end is not None:
        for brace in BRACES.finditer(tex, place, end.start()):
            depth += 1 if brace[0] == "{" else -1
        place = end.start()
        if depth <= 0:
            parts.append(tex[start : end.start()])
            start = place = end.end()
        end = next(ends, None)
    return [part for part in (*parts, tex[start:]) if part.strip()]


def _name(tex: str, *, own: bool) -> str:
    """Return "Family, Given", "Family, Given, Suffix", or a name as it is; "" for further authors."""
    if tex.strip() == "others":
        return ""
    parts = [text_of(part, ligatures=not own) for part in _split(tex, COMMA)]
    if len(parts) == NAME_WITH_PARTS:
        parts = [parts[0], parts[2], parts[1]]
    return person_named(", ".join(filter(None, parts)))


def _keywords(fields: dict[str, str], *, own: bool) -> list[str]:
    given = [fields[name] for name in KEYWORDS if name in fields]
    if own:
        return [text_of(part, ligatures=False) for tex in given for part in _split(tex, COMMA)]
    parts = [part for tex in given for part in _split(tex, SEMICOLON if ";" in tex else COMMA)]
    return split_keywords(text_of(part) for part in parts)


def _verbatim(tex: str) -> str:
    """Return a DOI or an address, in which only escaped signs and braces have a meaning."""
    return ESCAPED.sub(lambda found: found[1] or ("~" if "tilde" in found[0] else ""), tex).strip()
