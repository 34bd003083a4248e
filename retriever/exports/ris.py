"""RIS for EndNote, Zotero and Mendeley.

The format is Research Information Systems' (RIS Format Specifications, 2011): a tag of two characters, two
spaces, a hyphen and a space, lines that end in CR LF, and `ER` after each reference. The database provider
(`DP`) marks a file whose ids are kept when it is indexed.
"""

from collections.abc import Iterable, Iterator

from indexer.corpora.own_exports import EXPORTER
from retriever.exports import Export, Record
from retriever.reference import Reference, reference_of


def write(records: Iterable[Record]) -> Iterator[str]:
    """Yield the lines of one reference after the other."""
    for reference in map(reference_of, records):
        lines = (f"{tag}  - {value}\r\n" for tag, value in _tags(reference) if value)
        yield "".join(lines) + "ER  - \r\n\r\n"


def _tags(reference: Reference) -> Iterator[tuple[str, str]]:
    yield "TY", "JOUR" if reference.journal else "GEN"
    yield "ID", reference.id
    yield "TI", reference.title
    yield "TT", reference.translated_title
    for author in reference.authors:
        # An unsplit name with a space is only kept whole by a comma.
        yield "AU", f"{author}," if author.is_whole and " " in author.family else str(author)
    yield "PY", str(reference.year or "")
    yield "JO", reference.journal
    yield "VL", reference.volume
    yield "IS", reference.issue
    first, _, last = reference.pages.partition("-")
    yield "SP", first
    yield "EP", last
    yield "PB", reference.publisher
    yield "AB", reference.abstract
    yield "N2", reference.second_abstract
    for keyword in reference.keywords:
        yield "KW", keyword
    yield "DO", reference.doi
    yield "UR", reference.url
    yield "LA", "und" if reference.is_other_language else reference.language
    yield "DB", reference.source
    yield "DP", EXPORTER


EXPORT = Export("application/x-research-info-systems", ".ris", write)
