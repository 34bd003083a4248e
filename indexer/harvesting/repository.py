"""A repository as a value: address, set and metadata format, and the addresses of its requests."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from base.errors import UnknownPath

PREFIX = "oai:"
OAI_DC = "oai_dc"  # the metadata format that every repository has
EXAMPLE = "oai:https://repository.example.ac.kr/oai"


@dataclass(frozen=True, slots=True)
class Repository:
    """An OAI-PMH repository, or one of its sets, in one metadata format."""

    url: str
    set: str = ""
    metadata_prefix: str = OAI_DC

    @classmethod
    def of(cls, path: str, *, set_: str = "", metadata_prefix: str = OAI_DC) -> Self:
        """Parse a path `oai:URL`.

        Raises:
            UnknownPath: the address is not one of a web server, has a password, or is that of a request.
        """
        url = path.removeprefix(PREFIX)
        try:
            parts = urlsplit(url)
            is_valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
            is_valid = is_valid and url.isprintable() and len(url.split()) == 1
        except ValueError:
            is_valid = False
        if not is_valid:
            raise UnknownPath(f"{path}: a repository is named by its web address, for example {EXAMPLE}")
        if "@" in parts.netloc:
            raise UnknownPath(f"{PREFIX}…: the address of a repository cannot contain a name or password")
        if parts.fragment or "verb" in parse_qs(parts.query):
            raise UnknownPath(f"{path}: name the address of the repository, without ?verb=… and #…")
        return cls(url, set_, metadata_prefix)

    @property
    def path(self) -> str:
        """The path `oai:URL` of the command line."""
        return f"{PREFIX}{self.url}"

    @property
    def name(self) -> str:
        """The path, and the set if there is one, for messages."""
        return f"{self.path} (set {self.set})" if self.set else self.path

    @property
    def host(self) -> str:
        """The host, which is the source of its papers."""
        return urlsplit(self.url).hostname or ""

    @property
    def slug(self) -> str:
        """A file name for the repository and set; another metadata format has the same one."""
        digest = hashlib.sha256(f"{self.url}\n{self.set}".encode()).hexdigest()
        return f"{re.sub(r'[^a-z0-9.-]', '-', self.host)[:60]}-{digest[:12]}"

    def as_record(self) -> dict[str, Any]:
        """Return the values as JSON."""
        return {"url": self.url, "set": self.set, "metadata_prefix": self.metadata_prefix}

    def request(self, arguments: Mapping[str, str]) -> str:
        """Return the address of a request; the addresses of some repositories contain a query."""
        return f"{self.url}{'&' if '?' in self.url else '?'}{urlencode(arguments, quote_via=quote, safe='')}"

    def list_arguments(self, *, from_: str = "", token: str = "") -> dict[str, str]:
        """Return the arguments of a request for records: the first page, or the page of a token.

        The token is an exclusive argument (section 3.5).
        """
        if token:
            return {"verb": "ListRecords", "resumptionToken": token}
        given = {"metadataPrefix": self.metadata_prefix, "set": self.set, "from": from_}
        return {"verb": "ListRecords"} | {name: value for name, value in given.items() if value}
