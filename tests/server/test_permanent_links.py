"""Permanent addresses of papers, their ids in unAPI, and the OpenSearch description."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.indexer.made_corpora import build, write_jsonl
from tests.server.running import application

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
        answered = client.get(link)
    assert answered.status_code == 200
    assert answered.url.path == "/papers/renamed.pdf"


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
    as_zotero_asks = api.get(f"/unapi?id={identifier}&format=ris")
    encoded = api.get("/unapi", params={"id": identifier, "format": "ris"})
    assert as_zotero_asks.status_code == encoded.status_code == 200
    assert "TI  - Axolotl tails" in as_zotero_asks.text
    assert encoded.text == as_zotero_asks.text
    assert api.get("/unapi", params={"id": f"papers/{'%41' * 2_000}"}).status_code == 404
