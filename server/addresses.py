"""Addresses of papers for readers, names of sources and files; the address of the model is hidden."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import HTTPConnection

from base.notes import Note
from generator.request import Settings
from indexer.corpora.normal_forms import whole_doi
from server.settings import ServerSettings

PREFIX = "source:"  # no index name contains a colon
SHOWN = "the server of the model"


def as_index(*names: str) -> str:
    """Return the name of sources in place of an index."""
    return f"{PREFIX}{','.join(names)}"


def sources_named(name: str) -> tuple[str, ...]:
    """Return the sources in a name; none if it is the name of an index."""
    return tuple(name.removeprefix(PREFIX).split(",")) if name.startswith(PREFIX) else ()


def without_address(record: Any, settings: Settings) -> Any:
    """Replace the address of the model's server, with its path, in all texts of a JSON value."""
    address = settings.generator.llm.base_url
    if not address:
        return record
    return _replaced(record, re.compile(rf"{re.escape(address.removesuffix('/v1'))}(?:/[\w/-]*)?"))


def _replaced(value: Any, address: re.Pattern[str]) -> Any:
    match value:
        case Note():
            return Note(value.code, **_replaced(dict(value.values), address))
        case str():
            return address.sub(SHOWN, value)
        case dict():
            return {name: _replaced(each, address) for name, each in value.items()}
        case list() | tuple():
            return [_replaced(each, address) for each in value]
    return value


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


def saved_as(name: str) -> dict[str, str]:
    """Return the header with the name of a file (RFC 6266); non-ASCII names are encoded by RFC 8187."""
    if name.isascii():
        return {"Content-Disposition": f'attachment; filename="{name}"'}
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
