"""A reference as an item of CSL-JSON (csl-data.json of CSL 1.0.2)."""

from typing import Any

from indexer.corpora.names.author_name import AuthorName
from retriever.reference import Reference


def csl_item(reference: Reference) -> dict[str, Any]:
    """Make the item of one paper; missing fields are left out."""
    item = {
        "id": reference.id,
        "type": "article-journal" if reference.journal else "document",
        "title": reference.title,
        "author": [_name(author) for author in reference.authors],
        "issued": {"date-parts": [[reference.year]]} if reference.year else None,
        "container-title": reference.journal,
        "volume": reference.volume,
        "issue": reference.issue,
        "page": reference.pages,
        "publisher": reference.publisher,
        "abstract": reference.abstract,
        "keyword": ", ".join(reference.keywords),
        "DOI": reference.doi,
        "URL": reference.url,
        "language": "und" if reference.is_other_language else reference.language,
    }
    return {key: value for key, value in item.items() if value or key == "id"}


def _name(author: AuthorName) -> dict[str, str]:
    if author.is_whole:
        return {"literal": author.family}
    parts = {
        "family": author.family,
        "given": author.given,
        "non-dropping-particle": author.particle,
        "suffix": author.suffix,
    }
    return {key: value for key, value in parts.items() if value}
