"""BibTeX and BibLaTeX, as exported by Zotero, Mendeley, JabRef, publishers and Google Scholar.

Values are read as the text that TeX prints. Fields without a counterpart among Paper's are kept under their
own names.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from indexer.corpora.own_exports import BIBTEX_ID
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibliography import exported_record, person, reference_record
from indexer.corpora.readers.bibtex_entries import Entry, entries, inherit_fields
from indexer.corpora.readers.items import DeadLetter, Item, make_item
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.tex import text_of

# Fields by the keys of `reference_record`; the first with a value counts.
FIELDS = {
    "title": "title",
    "journal": "journal journaltitle booktitle",
    "dates": "year date",
    "doi": "doi",
    "publisher": "publisher school institution organization",
    "abstract": "abstract",
    "url": "url",
    "volume": "volume",
    "issue": "number issue",
    "pages": "pages",
    "issn": "issn",
    "isbn": "isbn",
    "edition": "edition",
    "place": "address location",
    "note": "note annote annotation",
    "language": "langid language hyphenation",
}
OWN_FIELDS = {"title2": "title2", "abstract2": "abstract2", "source": "source", "id": BIBTEX_ID}
NAMES = {"names": "author", "editors": "editor"}
KEYWORDS = ("keywords", "keyword", "author_keywords")
READ = frozenset((*NAMES.values(), *KEYWORDS, "subtitle", "year"))
RESERVED = frozenset((*Paper.model_fields, "_id", "docid", "text", "contents", "language"))
VERBATIM = frozenset({"doi", "url"})
OWN_KINDS = frozenset({"article", "misc"})

AND = re.compile(r"\s+and\s+", re.IGNORECASE)
COMMA = re.compile(r"\s*,\s*")
SEMICOLON = re.compile(r"\s*;\s*")
SPACE = re.compile(r"\s+")
BRACES = re.compile(r"[{}]")
ESCAPED = re.compile(r"\\([_%&#${}~^ ])|\\(?:url|href|path)(?![A-Za-z])|\\textasciitilde\s*|[{}]")
NAME_PART = re.compile(r"(family|given|prefix|suffix|useprefix|juniorcomma)(?:-i)?\s*=\s*(.*)", re.DOTALL)
NAME_WITH_PARTS = 3  # family, suffix, given


def read_bibtex(stream: Stream) -> Iterator[Item]:
    """Read entries; an invalid one is a dead letter."""
    for entry in inherit_fields(entries(stream)):
        if isinstance(entry, DeadLetter):
            yield entry
        else:
            yield make_item(_record_of(entry, stream), stream.name, entry.line, entry.head)


def _record_of(entry: Entry, stream: Stream) -> dict[str, Any]:
    fields = entry.fields
    own = BIBTEX_ID in fields
    texts = {
        name: _verbatim(tex) if name in VERBATIM and not own else text_of(tex, ligatures=not own)
        for name, tex in fields.items()
    }
    found: dict[str, list[str]] = {"citation_key": [text_of(entry.key)], "type": [entry.kind]}
    used = set(READ)
    for key, names in (FIELDS | (OWN_FIELDS if own else {})).items():
        given = [name for name in names.split() if texts.get(name)]
        read = given if key == "dates" else given[:1]
        found[key] = [texts[name] for name in read]
        used.update(read)
    for key, name in NAMES.items():
        found[key] = [person for tex in _split(fields.get(name, ""), AND) if (person := _name(tex, own=own))]
    keywords = [text_of(part, ligatures=not own) for part in _keywords(fields, own=own)]
    if own:
        found |= {"doi": [unquote(fields.get("doi", ""))], "url": [fields.get("url", "")]}
        found |= {"authors": found["names"], "keywords": keywords}
        found["references"] = texts.get("references", "").split()
        return exported_record(found, "" if entry.kind in OWN_KINDS else entry.kind)
    found["title"] = [": ".join(filter(None, (texts.get("title"), texts.get("subtitle"))))]
    found["other_dois"] = found["url"]
    if "\\url" in fields.get("howpublished", "") and not found["url"]:
        found["url"] = [_verbatim(fields["howpublished"])]
    further: dict[str, Any] = {_key(name): text for name, text in texts.items() if name not in used}
    if texts.get("archiveprefix", texts.get("eprinttype", "")).lower() == "arxiv" and texts.get("eprint"):
        further["arxiv"] = texts["eprint"]
    if keywords:
        further["keywords"] = list(dict.fromkeys(filter(None, map(without_markup, keywords))))
    record = reference_record(found, stream, further)
    return {key: value for key, value in record.items() if (key, value) != ("citation_key", record["id"])}


def _key(name: str) -> str:
    """Return the key of a further field; names of Paper's fields have another meaning in BibTeX."""
    return f"bibtex:{name}" if name in RESERVED else name


def _split(tex: str, separator: re.Pattern[str]) -> list[str]:
    """Split a value at separators outside of braces."""
    parts, start, depth, place = [], 0, 0, 0
    for end in separator.finditer(tex):
        for brace in BRACES.finditer(tex, place, end.start()):
            depth += 1 if brace[0] == "{" else -1
        place = end.start()
        if depth <= 0:
            parts.append(tex[start : end.start()])
            start = place = end.end()
    return [part for part in (*parts, tex[start:]) if part.strip()]


def _name(tex: str, *, own: bool) -> str:
    """Return "Family, Given", "Family, Given, Suffix", or a name as it is; "" for further authors.

    Names are those of BibTeX, or BibLaTeX's `family=…, given=…` ("extended name format", section 3.4).
    """
    if tex.strip() == "others":
        return ""
    raw = _split(tex.strip().strip('"'), COMMA)
    parts = [text_of(part, ligatures=not own) for part in raw]
    named = [NAME_PART.match(part) for part in parts]
    if named and all(named):
        values = {part[1]: part[2].strip() for part in named if part}
        family = f"{values.get('prefix', '')} {values.get('family', '')}".strip()
        return person(family, values.get("given", ""), values.get("suffix", ""))
    if len(parts) == NAME_WITH_PARTS:
        parts = [parts[0], parts[2], parts[1]]
    words = _split(tex, SPACE) if len(parts) == 1 else []
    if len(words) > 1 and words[-1].startswith("{"):  # the braces hold a family name of several words
        begin = next((place for place, word in enumerate(words) if word[0].islower()), len(words) - 1)
        parts = [text_of(" ".join(words[begin:])), text_of(" ".join(words[:begin]))]
    return ", ".join(filter(None, parts))


def _keywords(fields: dict[str, str], *, own: bool) -> list[str]:
    given = [fields[name] if own else without_markup(fields[name]) for name in KEYWORDS if name in fields]
    return [part for tex in given for part in _split(tex, SEMICOLON if ";" in tex and not own else COMMA)]


def _verbatim(tex: str) -> str:
    """Return a DOI or an address, in which only escaped signs and braces have a meaning."""
    return ESCAPED.sub(lambda found: found[1] or ("~" if "tilde" in found[0] else ""), tex).strip()
