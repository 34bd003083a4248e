"""Calls that nobody should make: each is answered or refused in plain words, and nothing else happens."""

from unicodedata import normalize
from urllib.parse import quote

import pytest

from tests.indexer.made_corpora import build, write_jsonl
from tests.server.running import UNLIMITED, application

ODD_IDS = [
    "10.1000/xyz#1",
    "a%2Fb",
    "a%b",
    "what?is=this&that",
    "/leading",
    "trailing/",
    "a//b",
    "../../etc/passwd",
    "..%2f..",
    "a\\b",
    "한국어/논문#2",
    "😀",
    "a+b",
    "a;b,c:d@e!$'()*",
    '"><script>alert(1)</script>',
    "${7*7}{{7*7}}",
    "x" * 512,
    "가" * 512,
    "@en",
    "#",
    "ü\u200b\u202e",
    "null",
    "ER-",
    "=1+1",
]


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Serve an index of a Korean name whose papers have all odd ids."""
    home = tmp_path_factory.mktemp("odd")
    records = [
        {
            "id": doc_id,
            "title": f"Aerogel {number}",
            "abstract": f"Aerogel number {number} slows the runaway of cells.",
            "references": ODD_IDS[:number][-2:],
        }
        for number, doc_id in enumerate(ODD_IDS)
    ]
    build(home, write_jsonl(home.parent / "odd.jsonl", records), name="논문.모음")
    with application(home, **UNLIMITED) as client:
        yield client


@pytest.mark.parametrize("doc_id", ODD_IDS)
def test_a_paper_of_any_id_has_an_address(odd, doc_id):
    address = f"/api/v1/papers/{quote(doc_id, safe='')}"
    paper = odd.get(address, params={"index": "논문.모음"})
    assert paper.status_code == 200, paper.text
    assert paper.json()["doc_id"] == doc_id
    assert paper.json()["record"]["id"] == doc_id
    passage_id = paper.json()["passages"][0]["passage_id"]
    passage = odd.get(f"/api/v1/passages/{quote(passage_id, safe='')}", params={"index": "논문.모음"})
    assert passage.json()["doc_id"] == doc_id
    if doc_id.isascii():  # a decomposed one is the same one
        return
    decomposed = quote(normalize("NFD", doc_id), safe="")
    assert odd.get(f"/api/v1/papers/{decomposed}", params={"index": "논문.모음"}).json() == paper.json()
