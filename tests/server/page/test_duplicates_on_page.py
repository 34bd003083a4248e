"""The page names copies that were left out, and papers that claim the same DOI, with scripts and without."""

import pytest
from playwright.sync_api import expect

from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import write_jsonl
from tests.retriever.test_duplicates import FLOOD, SEWER
from tests.server.page.browser import NO_LIMITS, Reader
from tests.server.page.walking import address, hits, settled
from tests.server.running import serving

PAPERS = [
    {"id": "PAPER", "title": "Methane of rice paddies", "abstract": FLOOD, "doi": "10.5555/rice"},
    {"id": "COPY", "title": "Methane of rice paddies (2)", "abstract": FLOOD, "year": 1999},
    {"id": "CLAIM", "title": "Sewers", "abstract": f"{SEWER} Methane was not.", "doi": "10.5555/RICE"},
]
REMARKS = {
    "en": (
        "duplicates left out: 1 · same DOI, different text: CLAIM",
        "same DOI, different text: PAPER",
    ),
    "ko": (
        "중복 1편 생략 · 같은 DOI, 다른 글: CLAIM",
        "같은 DOI, 다른 글: PAPER",
    ),
}


@pytest.fixture(scope="module")
def served_duplicates(tmp_path_factory):
    home = tmp_path_factory.mktemp("duplicates")
    file = write_jsonl(home / "papers.jsonl", PAPERS)
    done = shrag("index", str(file), "--name", "duplicates", home=home)
    assert done.returncode == 0, done.stderr
    with serving(home, home / "log", **NO_LIMITS) as server:
        yield server


@pytest.mark.parametrize("language", REMARKS)
def test_hits_name_their_copies_and_the_other_papers_of_their_doi(browser, served_duplicates, language):
    paper, claim = REMARKS[language]
    reader = Reader(browser, served_duplicates.url)
    page = reader.open(address("methane of rice paddies"), language=language)
    settled(page)
    expect(hits(page)).to_have_count(2)
    for place, remark in enumerate((paper, claim)):
        expect(page.locator("#hits .meta").nth(place)).to_contain_text(remark)
    page.goto(f"{served_duplicates.url}/plain?q=methane+of+rice+paddies&hl={language}")
    expect(page.locator(".meta").first).to_contain_text(paper)
    reader.close()
