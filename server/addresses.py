"""Where readers find things: addresses of papers, as this server is reached from outside."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import HTTPConnection

from server.settings import ServerSettings

MOST_AUTHORS = 3


def public_address(settings: ServerSettings, connection: HTTPConnection | None = None) -> str:
    """Return where the server is reached: as set, else as it was asked, else where it listens."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    if connection is not None:
        return str(connection.base_url).rstrip("/")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def paper_address(doc_id: str, index: str, passage_id: str = "") -> str:
    """Return where a paper's page is on this server; with a passage, where that stands on it.

    An id may hold slashes: as they are, a browser would take `a/../b` for `b`.
    """
    place = f"#{quote(passage_id)}" if passage_id else ""
    return f"/papers/{quote(doc_id, safe='')}?index={quote(index, safe='')}{place}"


def hit_address(hit: Mapping[str, Any], index: str | None, public: str = "") -> str:
    """Return where a reader finds a hit: on this server, of a source (no index) on the web, or "" nowhere."""
    if index is None:
        return str(hit.get("url") or "")
    return f"{public}{paper_address(hit['doc_id'], index, hit['passage_id'])}"


def known_by(record: dict[str, Any]) -> str:
    """Return authors, year, title and journal of a paper's record on one line, as a reference says them."""
    authors = [str(name) for name in record.get("authors") or []]
    named = ", ".join(authors[:MOST_AUTHORS]) + (" et al." if len(authors) > MOST_AUTHORS else "")
    year = f"({record['year']})" if record.get("year") else ""
    parts = [" ".join(filter(None, (named, year))), record.get("title") or "", record.get("journal") or ""]
    return ". ".join(str(part).rstrip(".") for part in parts if part)
