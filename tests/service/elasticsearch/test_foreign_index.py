"""SHRAG in front of an index that somebody else built: other field names, the standard analyzer.

The few lines of `state` make it, and share nothing with the project. It is never written to.
"""

import json
import os

import httpx
import pytest

from generator.pipeline import ask
from tests.generator.sample_index import ENGLISH, KOREAN, shrag
from tests.indexer.made_corpora import ROOT
from tests.needs import mostly_nightly

LIBRARY = """
kind = "elasticsearch"
url = "{url}"
index = "{index}"
user = "{user}"
hangul = "{hangul}"

[fields]
title = {{titel = 2.0, titel_2 = 1.0}}
abstract = ["inhalt", "inhalt_2"]
year = "jahr"
lang = "sprache"
authors = "person.name"
journal = "zeitschrift"
doi = "doi"
references = "zitiert"
"""
NAMES = {
    "title": "titel",
    "title2": "titel_2",
    "abstract": "inhalt",
    "abstract2": "inhalt_2",
    "year": "jahr",
    "lang": "sprache",
    "journal": "zeitschrift",
    "doi": "doi",
    "references": "zitiert",
}
EXACT = ("sprache", "zitiert", "doi")


@pytest.fixture(scope="module")
def state(elasticsearch):
    """Make an index of sample/ by plain HTTP; return a function that describes its content."""
    index = f"foreign-library-{os.getpid()}"
    with httpx.Client(
        base_url=elasticsearch.url, auth=elasticsearch.basic_auth, trust_env=False, timeout=240
    ) as http:
        properties = {name: {"type": "keyword"} for name in EXACT} | {"jahr": {"type": "integer"}}
        http.put(f"/{index}", json={"mappings": {"properties": properties}}).raise_for_status()
        lines = []
        for line in (ROOT / "sample" / "papers.jsonl").read_text("utf-8").splitlines():
            paper = json.loads(line)
            record = {NAMES[key]: value for key, value in paper.items() if key in NAMES}
            record["person"] = [{"name": name} for name in paper.get("authors", [])]
            lines += [{"index": {"_id": paper["id"]}}, record]
        content = "".join(json.dumps(line) + "\n" for line in lines)
        headers = {"Content-Type": "application/x-ndjson"}
        done = http.post(f"/{index}/_bulk?refresh=true", content=content, headers=headers)
        assert not done.raise_for_status().json()["errors"]
        try:
            yield lambda: {
                "count": http.get(f"/{index}/_count").json()["count"],
                "about": http.get(f"/{index}").json(),
                "version": http.get(f"/{index}/_stats").json()["_all"]["total"]["indexing"]["index_total"],
            }
        finally:
            http.delete(f"/{index}").raise_for_status()


@pytest.fixture(params=mostly_nightly(["words", "prefixes"], by_day={"words"}))
def library(request, elasticsearch, state, tmp_path, monkeypatch):
    """Return the mapping file of the index; its password stands in a variable."""
    path = tmp_path / "library.toml"
    [index] = state()["about"]
    user, hangul = elasticsearch.username, request.param
    path.write_text(LIBRARY.format(url=elasticsearch.url, index=index, user=user, hangul=hangul))
    monkeypatch.setenv("SHRAG_SOURCES__LIBRARY__PASSWORD", elasticsearch.password)
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path / "home"))
    return str(path)


def test_ask_quotes_the_right_papers_and_the_index_stays_as_it_was(library, state):
    before = state()
    for question, paper_id in ((KOREAN, "SAMPLE-NUR-001"), (ENGLISH, "SAMPLE-BAT-011")):
        answered = ask(question, sources=[library])
        evidence = [hit.doc_id for hit in answered.evidence]
        assert paper_id in evidence
        assert not answered.answer.abstained
    assert state() == before


def test_hits_carry_their_record_and_their_source(library, tmp_path):
    done = shrag("search", ENGLISH, "--source", library, "--year", "2015..", "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    hits = json.loads(done.stdout)["hits"]
    assert all(hit["found_in"] == [{"source": "library", "id": hit["doc_id"]}] for hit in hits)
    assert all(hit["year"] >= 2015 and hit["authors"] for hit in hits)
