"""Metadata of a paper for literature managers and search engines: COinS and `citation_*` tags.

Both are plain text, which must be escaped in HTML.
"""

from urllib.parse import quote, urlencode

from retriever.reference import Item, Record, csl_item, last_name, sorted_name, year_of

MOST_AUTHORS = 100  # repeated with each hit of a page
LONG = ("abstract", "abstract2", "keywords", "references")  # fields that are not in a ContextObject
WEB = ("https://", "http://")


def coins(record: Record) -> str:
    """Return a paper as a ContextObject, for the title of a span of class Z3988 (ocoins.info).

    Key/encoded values of Z39.88-2004 for a journal article (info:ofi/fmt:kev:mtx:journal).
    """
    authors = record.get("authors")
    few = authors[:MOST_AUTHORS] if isinstance(authors, list) else []
    item = csl_item({key: value for key, value in record.items() if key not in LONG} | {"authors": few})
    names = item.get("author", [])
    first = names[0] if names else {}
    begin, _, end = item.get("page", "").partition("-")
    pairs = [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", "info:ofi/fmt:kev:mtx:journal"),
        ("rft.genre", "article" if "container-title" in item else "unknown"),
        ("rft.atitle", item.get("title")),
        ("rft.jtitle", item.get("container-title")),
        ("rft.date", year_of(item)),
        ("rft.volume", item.get("volume")),
        ("rft.issue", item.get("issue")),
        ("rft.spage", begin),
        ("rft.epage", end),
        ("rft.aulast", last_name(first) if first.get("given") else ""),
        ("rft.aufirst", first.get("given")),
        ("rft.ausuffix", first.get("suffix")),
        *(("rft.au", sorted_name(name)) for name in names),
        ("rft_id", f"info:doi/{item['DOI']}" if "DOI" in item else ""),
        ("rft_id", _web_address(item)),
    ]
    return urlencode([(key, value) for key, value in pairs if value], quote_via=quote, safe="")


def citation_tags(record: Record) -> list[tuple[str, str]]:
    """Return (name, content) of a page's meta tags for Google Scholar and Zotero; one per author."""
    item = csl_item(record)
    begin, _, end = item.get("page", "").partition("-")
    pairs = [
        ("title", item.get("title")),
        *(("author", sorted_name(name)) for name in item.get("author", ())),
        ("publication_date", year_of(item)),
        ("journal_title", item.get("container-title")),
        ("volume", item.get("volume")),
        ("issue", item.get("issue")),
        ("firstpage", begin),
        ("lastpage", end),
        ("publisher", item.get("publisher")),
        ("doi", item.get("DOI")),
        ("language", item.get("language", "").replace("und", "")),
        ("keywords", "; ".join(item["custom"].get("keywords", ()))),
        ("abstract", item.get("abstract")),
        ("public_url", _web_address(item)),
    ]
    return [(f"citation_{name}", content) for name, content in pairs if content]


def _web_address(item: Item) -> str:
    url: str = item.get("URL", "")
    return url if url.startswith(WEB) else ""
