"""Addresses of papers, as readers reach this server from outside."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import HTTPConnection

from server.settings import ServerSettings

MOST_AUTHORS = 3


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


def hit_address(hit: Mapping[str, Any], index: str | None, public: str = "") -> str:
    """Return a hit's address: on this server, for a hit of a source (no index) on the web, "" if unknown."""
    if index is None:
        return str(hit.get("url") or "")
    return f"{public}{paper_address(hit['doc_id'], index, hit['passage_id'])}"


def reference_line(record: dict[str, Any]) -> str:
    """Return authors, year, title and journal of a paper's record on one line, as in a reference list."""
    authors = [str(name) for name in record.get("authors") or []]
    named = ", ".join(authors[:MOST_AUTHORS]) + (" et al." if len(authors) > MOST_AUTHORS else "")
    year = f"({record['year']})" if record.get("year") else ""
    parts = [" ".join(filter(None, (named, year))), record.get("title") or "", record.get("journal") or ""]
    return ". ".join(str(part).rstrip(".") for part in parts if part)
