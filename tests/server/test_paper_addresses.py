"""Addresses and pages of papers: by DOI and by any id, in unAPI and OpenSearch; hostile records are text."""

import re
import xml.etree.ElementTree as ET
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import parse_qsl, quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from server.html import Reader, page_in
from server.routes.papers import paper_values
from tests.indexer.made_corpora import build, write_jsonl
from tests.server.running import NO_LIMITS, add_key, application, serving

PAPER = {
    "id": "scans/gills.pdf",
    "title": "Axolotl gills",
    "abstract": "Gills of the axolotl.",
    "doi": "10.1000/Gills(24)",
}
ODD = {"id": "a/b&c#d+논문", "title": "Axolotl tails", "abstract": "Tails of the axolotl."}
OTHER = {"id": "10.1000/limbs", "title": "Axolotl limbs", "abstract": "Limbs of the axolotl."}
HTML = {"Accept": "text/html", "Accept-Language": "ko"}
DESCRIBED = "{http://a9.com/-/spec/opensearch/1.1/}"


def publish(home, *papers, name="papers"):
    build(home, write_jsonl(home / "papers.jsonl", papers), name)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("links")
    publish(home, PAPER, OTHER, ODD)
    return home


@pytest.fixture(scope="module")
def api(home):
    with application(home, public_url="https://search.example.org") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/doi/10.1000/gills(24)", "/papers/scans%2Fgills.pdf?index=papers"),
        ("/doi/10.1000%2FGILLS%2824%29?index=papers", "/papers/scans%2Fgills.pdf?index=papers"),
        ("/doi/https://doi.org/10.1000/gills(24)", "/papers/scans%2Fgills.pdf?index=papers"),
        ("/doi/10.1000/LIMBS", "/papers/10.1000%2Flimbs?index=papers"),
        ("/papers/10.1000%2Fgills%2824%29?index=papers", "/papers/scans%2Fgills.pdf?index=papers"),
    ],
)
def test_a_doi_leads_to_its_paper(api, path, address):
    answered = api.get(path, follow_redirects=False)
    assert (answered.status_code, answered.headers["location"]) == (302, address)


def test_the_address_by_doi_stays_when_the_file_is_renamed(tmp_path):
    publish(tmp_path, PAPER)
    with application(tmp_path) as client:
        text = client.get("/papers/scans%2Fgills.pdf").text
        [link] = re.findall(r"http://localhost(/doi/[^\"]+)\">", text)
        publish(tmp_path, PAPER | {"id": "renamed.pdf"})
        assert client.get(link).url.path == "/papers/renamed.pdf"


def test_a_full_paper_shows_its_sections_and_its_file_if_the_folder_is_served(tmp_path, monkeypatch):
    corpus, outside = tmp_path / "corpus", tmp_path / "outside.txt"
    outside.write_text("Secret\n\nAbstract\nSecret.\n")
    (corpus / "2021").mkdir(parents=True)
    (corpus / "2021" / "gill notes.txt").write_text("Gills\n\nAbstract\nGills of the axolotl.\n")
    (corpus / "linked.txt").symlink_to(outside)
    monkeypatch.chdir(tmp_path)
    build(tmp_path / "home", Path("corpus"), "papers")
    (corpus / "later.txt").write_text("Later\n\nAbstract\nNot indexed.\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.txt").write_text("Secret\n\nAbstract\nOf another index.\n")
    build(tmp_path / "home", Path("other"), "other")
    monkeypatch.chdir("/")
    gills, linked = ("/files/2021%2Fgill_notes?index=papers", "/files/linked?index=papers")
    for served, status in (
        (str(tmp_path), 200),
        (str(corpus), 200),
        (str(tmp_path / "corp"), 404),
        ("", 404),
    ):
        with application(tmp_path / "home", files=str(served)) as client:
            answered = client.get(gills)
            page = client.get("/papers/2021%2Fgill_notes?index=papers").text
            assert (answered.status_code, gills in page) == (status, status == 200)
            others = (
                "..%2Foutside",
                "%2Fetc%2Fpasswd",
                "..%2Fother%2Fsecret",
                "later",
                "%2e%2e/other/secret",
                "",
            )
            for path in (linked, *(f"/files/{name}?index=papers" for name in others)):
                assert client.get(path).status_code == 404
    odd = ({"title": ["x"]}, {"title": " "}, {"level": 3}, {"title": "Odd", "level": '"><i>'})
    record = {"sections": [{"title": "1 Introduction", "level": 1}, {"title": "Tails", "level": 2}, *odd]}
    publish(tmp_path / "home", PAPER | record | {"tables": [{"caption": "Sizes", "rows": [["a", 1]]}]})
    with application(tmp_path / "home") as client:
        page = client.get("/papers/scans%2Fgills.pdf?index=papers").text
    assert re.findall(r'<li class="level-(.*)">(.*)</li>', page)[1:] == [("2", "Tails"), ("1", "Odd")]
    assert "caption: Sizes; rows: a, 1" in page
    with application(tmp_path / "home", files=str(corpus)) as client:
        add_key(tmp_path / "home")
        assert client.get(gills).status_code == 401


KEYWORDS = ["gills & tails", "C++ OR x", "-soil", 'pond" water']


def test_authors_and_keywords_of_a_paper_are_searches(tmp_path):
    changed = {"authors": ['Ada "A" Kim'], "keywords": KEYWORDS, "abstract": "; ".join(KEYWORDS)}
    publish(tmp_path, PAPER | changed, OTHER)
    with application(tmp_path) as client:
        page = client.get("/papers/scans%2Fgills.pdf").text
        links = [unescape(link) for link in re.findall(r'<a href="(/\?q=[^"]+)" lang=', page)]
        found = [client.get(link.replace("/?", "/plain?")).text for link in links]
    assert [dict(parse_qsl(link[2:]))["q"] for link in links] == [
        'author:"Ada  A  Kim"',
        *('"gills & tails"', '"C++ OR x"', '"-soil"', '"pond water"'),
    ]
    assert all("Axolotl gills" in text for text in found)
    assert "Axolotl limbs" not in found[0]


@pytest.mark.parametrize(("language", "word"), [("ko", "논문"), ("en", "papers")])
def test_a_browser_can_add_the_search(api, language, word):
    page = api.get("/", params={"hl": language}).text
    href = re.search(
        r'<link rel="search" type="application/opensearchdescription\+xml"[^>]* href="([^"]+)"', page
    )
    assert href
    answered = api.get(href[1], headers={"Host": "127.0.0.1:1"})
    described = ET.fromstring(answered.content)

    assert answered.headers["content-type"] == "application/opensearchdescription+xml"
    assert described.findtext(f"{DESCRIBED}ShortName") == "SHRAG"
    assert word in (described.findtext(f"{DESCRIBED}Description") or "")
    assert [url.get("template") for url in described.iter(f"{DESCRIBED}Url")] == [
        "https://search.example.org/?q={searchTerms}",
        f"https://search.example.org/opensearch.xml?hl={language}",
    ]
    assert "axolotl" in api.get("/", params={"q": "axolotl"}).text


@pytest.mark.parametrize("path", ["/plain?q=axolotl+tails", "/papers/a%2Fb%26c%23d%2B%EB%85%BC%EB%AC%B8"])
def test_an_id_of_a_page_is_found_by_unapi_as_it_is_and_encoded(api, path):
    page = api.get(path).text
    [identifier, *_] = re.findall(r'<abbr class="unapi-id" title="([^"]+)"', page)

    assert '<link rel="unapi-server"' in page
    assert 'class="Z3988"' in page
    assert path.startswith("/plain") or '<meta name="citation_title" content="Axolotl tails">' in page
    listed = api.get("/unapi", params={"id": identifier})
    assert listed.status_code == 300
    formats = {each.get("name") for each in ET.fromstring(listed.content)}
    assert {"ris", "bibtex", "csl-json", "csv", "jsonl"} <= formats
    as_zotero_asks = api.get(f"/unapi?id={identifier}&format=ris")
    encoded = api.get("/unapi", params={"id": identifier, "format": "ris"})
    assert as_zotero_asks.status_code == encoded.status_code == 200
    assert "TI  - Axolotl tails" in as_zotero_asks.text
    assert encoded.text == as_zotero_asks.text
    assert api.get("/unapi", params={"id": f"papers/{'%41' * 2_000}"}).status_code == 404


ODD_IDS = [
    *("10.1000/xyz#1", "a%2Fb", "a%b", "what?is=this&that", "/leading", "trailing/", "a//b", "a\\b", "a+b"),
    *("../../etc/passwd", "..%2f..", "한국어/논문#2", "😀", "a;b,c:d@e!$'()*", "${7*7}{{7*7}}", "x" * 512),
    *('"><script>alert(1)</script>', "가" * 512, "@en", "#", "ü\u200b\u202e", "null", "ER-", "=1+1"),
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
    publish(home, *records, name="논문.모음")
    with serving(home, home.parent / "log", **NO_LIMITS) as server:  # a test client decodes addresses twice
        yield server


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


HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(1)>' {{base}} &lt;"


class Tags(HTMLParser):
    """The elements and attributes of the page of a paper that says the same everywhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: set[str] = set()
        record: dict[str, Any] = dict.fromkeys(
            ["title", "title2", "journal", "publisher", "doi", "url", "note"], text
        )
        record |= {"authors": [text], "keywords": [text], text or "x": [{"a": text}]}
        named = {"doc_id": text, "title": text, "authors": [text]}
        passage = {"passage_id": text, "part": "abstract", "lang": "ko", "title": text, "text": text}
        page = {
            "doc_id": text,
            "record": record,
            "passages": [passage],
            "passage_count": 2,
            **{key: [named] for key in ("cites", "cited_by", "similar")},
            "unknown": [text],
            "reference_count": 2,
            "citing_count": 1,
        }
        filled = page_in(Reader("ko", "auto"), "paper.html", title=text, **paper_values(page, text, ""))
        self.feed(bytes(filled.body).decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags |= {tag, *(f"{tag} {name}" for name, _ in attrs)}
        self.addresses |= {value or "" for name, value in attrs if name in {"href", "src"}}


@given(st.text(min_size=1))
@example(HOSTILE)
@example("javascript:alert(1)")
def test_no_text_becomes_markup(text):
    tags = Tags(text)
    assert tags.tags - Tags("https://a").tags == set()
    assert not any(address.startswith("javascript:") for address in tags.addresses)
