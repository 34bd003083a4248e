r"""BibTeX in UTF-8, in which TeX reads every value as text.

What TeX would obey is written as the text of it. No command and no brace is left of what a record held:
BibTeX counts the brace of \{ too, so both are commands here. A paper's key is made of its id alone, and
is the same in every export unless two keys collide. Fields that no style prints hold the other language's
texts, the references and the exact id, for indexing the file again.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from indexer.corpora.names.author_name import AuthorName
from indexer.corpora.own_exports import BIBTEX_ID
from retriever.exports import Export, Record
from retriever.reference import Reference, reference_of

ESCAPES = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "%$&#_"},
        "\\": r"{\textbackslash}",
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
    }
)
LANGUAGES = {"ko": "korean", "en": "english"}
NO_KEY_CHARACTERS = re.compile(r"[^A-Za-z0-9.:/+-]+")
SEPARATORS = frozenset(",;")  # between keywords
VERBATIM = "!\"#&'()*+,-./:;<=>?@[]_|~%"  # allowed in \url and \href; the rest is percent-encoded
HASH_DIGITS = 8
# Without braces, " and " separates authors, and "others" means further ones.
JOINED = re.compile(r"\band\b|\bothers\b", re.IGNORECASE)


def write(records: Iterable[Record]) -> Iterator[str]:
    """Yield one entry after the other."""
    given: set[str] = set()
    for reference in map(reference_of, records):
        key = _unused(citation_key(reference.id), given)
        kind = "article" if reference.journal else "misc"
        fields = "".join(f",\n  {name} = {{{value}}}" for name, value in _fields(reference) if value)
        yield f"@{kind}{{{key}{fields}\n}}\n\n"


def citation_key(paper_id: str) -> str:
    """Return a key: the id without characters that keys must not contain, followed by a hash of the id."""
    kept = NO_KEY_CHARACTERS.sub("-", paper_id).strip("-")
    if kept == paper_id and kept:
        return kept
    digest = hashlib.sha256(paper_id.encode()).hexdigest()[:HASH_DIGITS]
    return f"{kept or 'paper'}-{digest}"


def _unused(key: str, given: set[str]) -> str:
    """Return the key, numbered if an earlier entry has it; BibTeX ignores case."""
    number, unused = 1, key
    while unused.casefold() in given:
        number += 1
        unused = f"{key}-{number}"
    given.add(unused.casefold())
    return unused


def _fields(reference: Reference) -> Iterator[tuple[str, str]]:
    yield "title", escaped(reference.title)
    yield "author", " and ".join(map(_author, reference.authors))
    yield "year", str(reference.year or "")
    yield "journal", escaped(reference.journal)
    yield "volume", escaped(reference.volume)
    yield "number", escaped(reference.issue)
    yield "pages", escaped(reference.pages.replace("-", "--"))
    yield "publisher", escaped(reference.publisher)
    yield "abstract", escaped(reference.abstract)
    yield "keywords", ", ".join(map(_keyword, reference.keywords))
    yield "doi", quote(reference.doi, safe=VERBATIM)
    yield "url", quote(reference.url, safe=VERBATIM)
    yield "language", "und" if reference.is_other_language else LANGUAGES.get(reference.language, "")
    yield "title2", escaped(reference.translated_title)
    yield "abstract2", escaped(reference.second_abstract)
    yield "references", escaped(" ".join(reference.references))
    yield "source", escaped(reference.source)
    yield BIBTEX_ID, escaped(reference.id)


def escaped(text: str) -> str:
    """Escape text for TeX."""
    return text.translate(ESCAPES)


def _keyword(keyword: str) -> str:
    """Format a keyword; braces keep a comma or semicolon in it."""
    return f"{{{escaped(keyword)}}}" if SEPARATORS & {*keyword} else escaped(keyword)


def _author(name: AuthorName) -> str:
    """Format a name as "von Last, Jr, First"; braces keep what BibTeX would misread."""
    family, given, particle, suffix = map(escaped, (name.family, name.given, name.particle, name.suffix))
    if name.is_whole or JOINED.search(str(name)) or "," in family:
        family = f"{{{family}}}"
        given = f"{{{given}}}" if given else ""
    return ", ".join(part for part in (f"{particle} {family}".strip(), suffix, given) if part)


EXPORT = Export("application/x-bibtex", ".bib", write)
