"""Addresses of papers, as readers reach this server from outside."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import HTTPConnection

from indexer.corpora.normal_forms import whole_doi
from server.settings import ServerSettings


def public_address(settings: ServerSettings, connection: HTTPConnection | None = None) -> str:
    """Return the server's address: the setting, else the address of the request, else the listening one."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    if connection is not None:
        return str(connection.base_url).rstrip("/")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def paper_address(doc_id: str, index: str, passage_id: str = "") -> str:
    """Return the address of a paper's page on this server; with a passage, the passage's place on the page.

    Slashes in an id are escaped: a browser would turn `a/../b` into `b`.
    """
    place = f"#{quote(passage_id)}" if passage_id else ""
    return f"/papers/{quote(doc_id, safe='')}?index={quote(index, safe='')}{place}"


def doi_address(doi: object, index: str) -> str:
    """Return the address of the paper with a DOI, which does not contain the paper's id; "" for no DOI."""
    known = whole_doi(doi) if isinstance(doi, str) else ""
    return f"/doi/{quote(known)}?index={quote(index, safe='')}" if known else ""


def hit_address(hit: Mapping[str, Any], index: str | None, public: str = "") -> str:
    """Return a hit's address: on this server, for a hit of a source (no index) on the web, "" if unknown."""
    if index is None:
        return str(hit.get("url") or "")
    return f"{public}{paper_address(hit['doc_id'], index, hit['passage_id'])}"
