"""Metadata of a paper for literature managers and search engines: COinS and `citation_*` tags.

Both are plain text, which must be escaped in HTML.
"""

from urllib.parse import quote, urlencode

from indexer.corpora.names.author_name import AuthorName
from retriever.exports import Record
from retriever.reference import Reference, reference_of

MOST_AUTHORS = 100  # repeated with each hit of a page
NOT_IN_COINS = frozenset({"abstract", "abstract2", "keywords", "references"})
WEB = ("https://", "http://")


def coins(record: Record) -> str:
    """Return a paper as a ContextObject, for the title of a span of class Z3988 (ocoins.info).

    Key/encoded values of Z39.88-2004 for a journal article (info:ofi/fmt:kev:mtx:journal).
    """
    reference = reference_of(_in_coins(record))
    first = next(iter(reference.authors), AuthorName(""))
    begin, _, end = reference.pages.partition("-")
    pairs = [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", "info:ofi/fmt:kev:mtx:journal"),
        ("rft.genre", "article" if reference.journal else "unknown"),
        ("rft.atitle", reference.title),
        ("rft.jtitle", reference.journal),
        ("rft.date", str(reference.year or "")),
        ("rft.volume", reference.volume),
        ("rft.issue", reference.issue),
        ("rft.spage", begin),
        ("rft.epage", end),
        ("rft.aulast", first.last_name if first.given else ""),
        ("rft.aufirst", first.given),
        ("rft.ausuffix", first.suffix),
        *(("rft.au", str(name)) for name in reference.authors),
        ("rft_id", f"info:doi/{reference.doi}" if reference.doi else ""),
        ("rft_id", _web_address(reference)),
    ]
    return urlencode([(key, value) for key, value in pairs if value], quote_via=quote, safe="")


def _in_coins(record: Record) -> Record:
    """Return the fields of a record for a ContextObject, without fields that may be long."""
    authors = record.get("authors")
    kept = {key: value for key, value in record.items() if key not in NOT_IN_COINS}
    return kept | {"authors": authors[:MOST_AUTHORS] if isinstance(authors, list) else []}


def citation_tags(record: Record) -> list[tuple[str, str]]:
    """Return (name, content) of a page's meta tags for Google Scholar and Zotero; one per author."""
    reference = reference_of(record)
    begin, _, end = reference.pages.partition("-")
    pairs = [
        ("citation_title", reference.title),
        *(("citation_author", str(name)) for name in reference.authors),
        ("citation_publication_date", str(reference.year or "")),
        ("citation_journal_title", reference.journal),
        ("citation_volume", reference.volume),
        ("citation_issue", reference.issue),
        ("citation_firstpage", begin),
        ("citation_lastpage", end),
        ("citation_publisher", reference.publisher),
        ("citation_doi", reference.doi),
        ("citation_language", reference.language),
        ("citation_keywords", "; ".join(reference.keywords)),
        ("citation_abstract", reference.abstract),
        ("citation_public_url", _web_address(reference)),
    ]
    return [(name, content) for name, content in pairs if content]


def _web_address(reference: Reference) -> str:
    return reference.url if reference.url.startswith(WEB) else ""
