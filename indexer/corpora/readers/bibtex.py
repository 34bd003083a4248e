"""BibTeX and BibLaTeX, as exported by Zotero, Mendeley, JabRef, publishers and Google Scholar.

The grammar is that of BibTeX 0.99d (`btxdoc`): braces balance, text outside of entries is a comment, values
are joined with #, and names without quotes are numbers or abbreviations of @string. On reported files,
bibtexparser 2.1 and pybtex 0.26 lose five of eleven entries with odd keys. Values are read as the text that
TeX prints. Fields without a counterpart among Paper's are kept under their own names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import regex

from indexer.corpora.own_exports import BIBTEX_ID
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibliography import person, reference_record, values_by_key
from indexer.corpora.readers.items import Found
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.references import RecordLines, decode_line
from indexer.corpora.readers.streams import LINE_BYTES, Stream
from indexer.corpora.readers.tex import text_of

# Fields by the keys of `reference_record` (see `values_by_key`).
FIELDS = {
    "title": "title",
    "journal": "journal|journaltitle|booktitle",
    "dates": "year date",
    "doi": "doi",
    "publisher": "publisher|school|institution|organization",
    "abstract": "abstract",
    "url": "url",
    "volume": "volume",
    "issue": "number|issue",
    "pages": "pages",
    "issn": "issn",
    "isbn": "isbn",
    "edition": "edition",
    "place": "address|location",
    "note": "note|annote|annotation",
    "language": "langid|language|hyphenation",
    "id": BIBTEX_ID,
    "title2": "title2",
    "abstract2": "abstract2",
    "source": "source",  # of exports
}
NAMES = {"names": "author", "editors": "editor"}
KEYWORDS = ("keywords", "keyword", "author_keywords")
READ = frozenset((*NAMES.values(), *KEYWORDS, "subtitle", "year"))
RESERVED = frozenset((*Paper.model_fields, "_id", "docid", "text", "contents", "language"))
VERBATIM = frozenset({"doi", "url"})

AND, COMMA, SEMICOLON = (re.compile(sign, re.IGNORECASE) for sign in (r"\s+and\s+", r"\s*,\s*", r"\s*;\s*"))
ESCAPED = re.compile(r"\\([_%&#${}~^ ])|\\(?:url|href|path)(?![A-Za-z])|\\textasciitilde\s*|[{}]")
NAME_PART = re.compile(r"(family|given|prefix|suffix|useprefix|juniorcomma)(?:-i)?\s*=\s*(.*)", re.DOTALL)
NAME_WITH_PARTS = 3  # family, suffix, given

BEGINS = re.compile(r"(?<![\w.])@\s*([A-Za-z][\w-]*)\s*([{(])")
BEGINS_LINE = re.compile(r"@[A-Za-z]+\s*[{(]\s*[^\s,{}=\"]*,")  # an entry, not a line of a value
NO_ENTRIES = frozenset({"comment", "preamble"})
ESCAPED_BRACE = re.compile(r"(?<!\\)\\([{}])")
COMMANDS = {"{": "{\\textbraceleft}", "}": "{\\textbraceright}"}
# A key may have spaces, TeX and equals signs, but has no value (an entry without a key or a comma after it).
KEY = re.compile(r"\s*+(?![A-Za-z][\w-]*\s*=)((?:(?!=\s*\{)[^,{}\"]|\{[^{}]*\}){0,300}?)\s{0,80}(?=[,}])")
# A part of a value: balanced braces, a text in quotes with such braces, or a number or abbreviation.
BRACES = r"\{(?:[^{}]++|(?&braces))*+\}"
PART = rf'(?:(?P<braces>{BRACES})|"(?:[^{{}}"]++|(?&braces))*+"|[^\s,#{{}}()"=]++)'
FIELD = regex.compile(rf"[\s,]*(?P<name>[^\s=,{{}}\"]+)\s*=\s*(?:(?P<parts>{PART})\s*(?:#\s*|(?=[,}})]|$)))+")
BRACED = regex.compile(rf"(?P<braces>{BRACES})")
END = re.compile(r"[\s,]*[})]")
MONTHS = {name: name.capitalize() for name in "jan feb mar apr may jun jul aug sep oct nov dec".split()}
MOST_STRINGS, LONGEST_STRING = 100_000, 10_000  # characters
MOST_PARENTS, MOST_LEVELS = 10, 3  # of an entry; levels of inheritance
WHITE_SPACE = re.compile(r"\s+")
CHILDREN = frozenset({"article", "inproceedings", "misc", "phdthesis", "mastersthesis", "online"})
# Fields of the parent itself (BibLaTeX manual, appendix B).
NOT_INHERITED = frozenset(
    "title subtitle author abstract annotation keywords doi url urldate pages note crossref xdata ids file "
    "shorttitle sortkey".split()
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: its line from 1, kind and field names in lower case, values as TeX; or a problem."""

    line: int
    head: bytes
    kind: str = ""
    key: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    problem: str = ""


class _Malformed(ValueError):
    """An entry cannot be parsed; the message is the reason."""


def read_bibtex(stream: Stream) -> Iterator[Found]:
    """Read the entries of a file, with the fields that they inherit."""
    for entry in _with_inherited_fields(_entries(stream)):
        yield entry.line, entry.head, entry.problem or _record_of(entry, stream)


def _record_of(entry: Entry, stream: Stream) -> dict[str, Any]:
    fields = entry.fields
    texts = {name: _verbatim(tex) if name in VERBATIM else text_of(tex) for name, tex in fields.items()}
    found, used = values_by_key(FIELDS, {name: [text] for name, text in texts.items() if text})
    found |= {"citation_key": [text_of(entry.key)], "type": [entry.kind]}
    for key, name in NAMES.items():
        found[key] = [person for tex in _split(fields.get(name, ""), AND) if (person := _name(tex))]
    given = [without_markup(fields[name]) for name in KEYWORDS if name in fields]
    parts = [part for tex in given for part in _split(tex, SEMICOLON if ";" in tex else COMMA)]
    keywords = dict.fromkeys(filter(None, (without_markup(text_of(part)) for part in parts)))
    found["title"] = [": ".join(filter(None, (texts.get("title"), texts.get("subtitle"))))]
    found["other_dois"] = found.get("url", [])
    if "\\url" in fields.get("howpublished", "") and "url" not in found:
        found["url"] = [_verbatim(fields["howpublished"])]
    # Names of Paper's fields have another meaning in BibTeX.
    rest = {name: text for name, text in texts.items() if name not in used | READ}
    further: dict[str, Any] = {f"bibtex:{name}" if name in RESERVED else name: rest[name] for name in rest}
    if texts.get("archiveprefix", texts.get("eprinttype", "")).lower() == "arxiv" and texts.get("eprint"):
        further["arxiv"] = texts["eprint"]
    if keywords:
        further["keywords"] = list(keywords)
    if BIBTEX_ID in fields:
        further["references"] = further.pop("bibtex:references", "").split()
    record = reference_record(found, stream, further)
    return {key: value for key, value in record.items() if (key, value) != ("citation_key", record["id"])}


def _split(tex: str, separator: re.Pattern[str]) -> list[str]:
    """Split a value at separators outside of braces."""
    parts, start, depth, place = [], 0, 0, 0
    for end in separator.finditer(tex):
        between = tex[place : end.start()]
        depth += between.count("{") - between.count("}")
        place = end.start()
        if depth <= 0:
            parts.append(tex[start : end.start()])
            start = place = end.end()
    return [part for part in (*parts, tex[start:]) if part.strip()]


def _name(tex: str) -> str:
    """Return "Family, Given", "Family, Given, Suffix", or a name as it is; "" for further authors.

    Names are those of BibTeX, or BibLaTeX's `family=…, given=…` ("extended name format", section 3.4).
    """
    if tex.strip() == "others":
        return ""
    parts = [text_of(part) for part in _split(tex.strip().strip('"'), COMMA)]
    named = [NAME_PART.match(part) for part in parts]
    if named and all(named):
        values = {part[1]: part[2].strip() for part in named if part}
        family = f"{values.get('prefix', '')} {values.get('family', '')}".strip()
        return person(family, values.get("given", ""), values.get("suffix", ""))
    if len(parts) == NAME_WITH_PARTS:
        parts = [parts[0], parts[2], parts[1]]
    words = _split(tex, WHITE_SPACE) if len(parts) == 1 else []
    if len(words) > 1 and words[-1].startswith("{"):  # the braces hold a family name of several words
        begin = next((place for place, word in enumerate(words) if word[0].islower()), len(words) - 1)
        parts = [text_of(" ".join(words[begin:])), text_of(" ".join(words[:begin]))]
    return ", ".join(filter(None, parts))


def _verbatim(tex: str) -> str:
    """Return a DOI or an address, in which only escaped signs and braces have a meaning."""
    text = ESCAPED.sub(lambda found: found[1] or ("~" if "tilde" in found[0] else ""), tex).strip()
    return text if "://" in text else unquote(text)


def _with_inherited_fields(found: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries with the fields that they inherit by `crossref` and `xdata`, in any case of the key.

    An entry that refers to a later one is yielded after all others. Entries of xdata are left out.
    """
    parents: dict[str, Entry] = {}
    waiting: list[Entry] = []
    for entry in found:
        if not entry.problem and entry.kind not in CHILDREN:
            parents[entry.key.lower()] = entry
        if any(name not in parents for name in _referred(entry)):
            waiting.append(entry)
        elif entry.kind != "xdata":
            yield _inherited(entry, parents)
    yield from (_inherited(entry, parents) for entry in waiting if entry.kind != "xdata")


def _referred(entry: Entry) -> list[str]:
    names = f"{entry.fields.get('xdata', '')},{entry.fields.get('crossref', '')}".split(",")
    return [name for each in names if (name := each.strip().lower())][:MOST_PARENTS]


def _inherited(entry: Entry, parents: Mapping[str, Entry], level: int = 0) -> Entry:
    """Return an entry with the fields of its parents, whose title is the title of its book."""
    fields = entry.fields
    for name in _referred(entry) if level < MOST_LEVELS else ():
        if name not in parents:
            continue
        own = _inherited(parents[name], parents, level + 1).fields
        if parents[name].kind != "xdata":
            book = own.get("booktitle") or own.get("title", "")
            own = {key: value for key, value in own.items() if key not in NOT_INHERITED} | {"booktitle": book}
        fields = own | fields
    return replace(entry, fields=fields)


@dataclass(slots=True)
class _Chunk(RecordLines):
    """Lines with whole entries; `depth` is the number of open braces at their end."""

    texts: list[str] = field(default_factory=list)
    depth: int = 0


def _entries(stream: Stream) -> Iterator[Entry]:
    """Yield the entries of a file, with the abbreviations of @string replaced."""
    strings = dict(MONTHS)
    for chunk in _chunks(stream):
        try:
            if chunk.problem:
                raise _Malformed(chunk.problem)  # noqa: TRY301
            text = "\n".join(chunk.texts)
            text = ESCAPED_BRACE.sub(lambda found: COMMANDS[found[1]], text) if chunk.depth else text
            for kind, key, fields in _parsed(text, strings):
                yield Entry(chunk.line, chunk.head, kind, key, fields)
        except _Malformed as error:
            yield Entry(chunk.line, chunk.head, problem=str(error))


def _chunks(stream: Stream) -> Iterator[_Chunk]:
    """Yield the lines with whole entries.

    An entry without an end goes on to the next one. Unless the braces are balanced, escaped ones become
    commands.
    """
    chunk: _Chunk | None = None
    is_open = False  # an entry in parentheses, which no line has ended
    for number, line, unread in stream.lines():
        text, problem = decode_line(line, number, unread)
        if chunk and (BEGINS_LINE.match(text) or (chunk.depth <= 0 and not is_open)):
            yield chunk
            chunk = None
        if chunk is None:
            begin = BEGINS.search(text)
            if begin is None:
                if problem:
                    yield _Chunk(number, line, problem)
                continue
            chunk, is_open = _Chunk(number), begin[2] == "("
        chunk.add(line, problem)
        chunk.depth += text.count("{") - text.count("}")
        chunk.texts.append("" if chunk.problem else text)
        is_open = is_open and not text.rstrip().endswith(")")
    if chunk:
        yield chunk


def _parsed(text: str, strings: dict[str, str]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the kind, key and fields of the entries of a chunk; add abbreviations to `strings`."""
    place = 0
    while begin := BEGINS.search(text, place):
        kind, place = begin[1].lower(), begin.end()
        if kind in NO_ENTRIES:
            braced = BRACED.match(text, place - 1)
            place = braced.end() if braced else len(text)
            continue
        key = None if kind == "string" else KEY.match(text, place)
        most = LONGEST_STRING if kind == "string" else LINE_BYTES
        fields, place = _fields(text, key.end() if key else place, strings, most)
        if kind != "string":
            yield kind, key[1] if key else "", fields
        elif len(strings) < MOST_STRINGS:
            strings |= fields


def _fields(text: str, place: int, strings: Mapping[str, str], most: int) -> tuple[dict[str, str], int]:
    """Return the fields of an entry and the place after it; the first of two with the same name counts.

    Repeated white space counts as one space, as in TeX. Abbreviations may double in length each time they are
    joined, so all values together have at most `most` characters.
    """
    fields: dict[str, str] = {}
    size = 0
    while found := FIELD.match(text, place):
        place = found.end()
        parts = found.captures("parts")
        values = [part[1:-1] if part[0] in '{"' else strings.get(part.lower(), part) for part in parts]
        if (size := size + sum(map(len, values))) > most:
            raise _Malformed(f"values of more than {most:,} characters")
        fields.setdefault(found["name"].lower(), WHITE_SPACE.sub(" ", "".join(values)))
    if end := END.match(text, place):
        return fields, end.end()
    if text.count("{") != text.count("}"):
        raise _Malformed("its braces are not balanced: truncated?")
    raise _Malformed(f"no field at {text[place:].strip()[:40]!r}")
