"""Exchanges with each service: `responses/` has answers in the published formats; all papers are invented."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

SECRET = "s3cret-key-of-32-characters-long"
CONTACT = "library@example.org"
TITLE = "Methane from flooded rice paddies"
TITLE2 = "A second paper that says little"
RESPONSES = {path.stem: path.read_bytes() for path in Path(__file__).with_name("responses").iterdir()}
OPENALEX: dict[str, Any] = json.loads(RESPONSES["openalex"])
SCHOLAR: list[dict[str, Any]] = json.loads(RESPONSES["semantic_scholar"])
WIKIPEDIA: dict[str, Any] = json.loads(RESPONSES["wikipedia"])
ATOM, PUBMED, SCIENCEON = (RESPONSES[name] for name in ("arxiv", "pubmed", "scienceon"))
NO_SCIENCEON = (
    b"<MetaData><resultSummary><statusCode>200</statusCode></resultSummary><recordList/></MetaData>"
)


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def parameters(self) -> dict[str, list[str]]:
        """What stands in the address and in a form."""
        return {**parse_qs(urlsplit(self.target).query), **parse_qs(self.body.decode())}

    def one(self, name: str) -> str:
        return self.parameters.get(name, [""])[0]


@dataclass(frozen=True)
class Exchange:
    """What a service answers when all goes well, and what is made of it."""

    found: Callable[[Asked], bytes]
    ids: tuple[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def scholar(asked: Asked) -> bytes:
    if asked.path.endswith("/batch"):
        by_id = {p["paperId"]: p for p in SCHOLAR} | {"DOI:10.5555/paddy.1": SCHOLAR[0]}
        return as_json([by_id.get(each) for each in json.loads(asked.body)["ids"]])
    inside = {"references": "citedPaper", "citations": "citingPaper"}.get(asked.path.rpartition("/")[2])
    data = [{inside: paper} for paper in SCHOLAR] if inside else SCHOLAR
    return as_json({"total": 2, "offset": 0, "data": data})


def pubmed(asked: Asked) -> bytes:
    if asked.path.endswith("efetch.fcgi"):
        return PUBMED
    if asked.path.endswith("elink.fcgi"):
        links = {"linkname": asked.one("linkname"), "links": ["101", "102"]}
        return as_json(
            {"linksets": [{"ids": [each], "linksetdbs": [links]} for each in asked.parameters["id"]]}
        )
    return as_json({"esearchresult": {"count": "2", "idlist": ["101", "102"]}})


def scienceon(asked: Asked) -> bytes:
    if asked.path.endswith("tokenrequest.do"):
        return as_json({"access_token": "0123456789abcdef", "refresh_token": "fedcba9876543210"})
    return SCIENCEON


CLIENT = {"client_id": "id-of-the-client", "api_key": SECRET, "mac_address": "AA-BB-CC-DD-EE-FF"}
EXCHANGES = {
    "openalex": Exchange(lambda asked: as_json(OPENALEX), ("W101", "W102"), {"api_key": SECRET}),
    "semantic_scholar": Exchange(scholar, ("a" * 40, "b" * 40), {"api_key": SECRET}),
    "arxiv": Exchange(lambda asked: ATOM, ("1901.00001", "hep-th/9901001")),
    "pubmed": Exchange(pubmed, ("101", "102"), {"api_key": SECRET}),
    "wikipedia": Exchange(lambda asked: as_json(WIKIPEDIA), ("101", "102"), {"language": "en"}),
    "scienceon": Exchange(scienceon, ("JAKO200000000001", "JAKO200000000002"), CLIENT),
}
