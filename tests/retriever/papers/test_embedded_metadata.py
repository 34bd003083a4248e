"""What pages tell literature managers of a paper."""

from html import escape
from html.parser import HTMLParser
from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

from retriever.papers.embedded_metadata import citation_tags, coins
from tests.hostile import TEXTS

PAPER = {
    "doc_id": "A-1",
    "title": "논의 메탄 & <b>물</b>",
    "authors": ["곽소율", "Kim, Ada"],
    "year": 2023,
    "journal": "토양과 물",
    "volume": 12,
    "issue": "3",
    "pages": "101-118",
    "doi": "https://doi.org/10.5555/A.1",
    "url": "https://example.org/a?b=c&d",
    "keywords": ["메탄", "methane"],
    "lang": "ko",
}


def test_coins_is_a_context_object_of_a_journal_article():
    assert parse_qsl(coins(PAPER), strict_parsing=True) == [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", "info:ofi/fmt:kev:mtx:journal"),
        ("rft.genre", "article"),
        ("rft.atitle", "논의 메탄 & <b>물</b>"),
        ("rft.jtitle", "토양과 물"),
        ("rft.date", "2023"),
        ("rft.volume", "12"),
        ("rft.issue", "3"),
        ("rft.spage", "101"),
        ("rft.epage", "118"),
        ("rft.aulast", "곽"),
        ("rft.aufirst", "소율"),
        ("rft.au", "곽, 소율"),
        ("rft.au", "Kim, Ada"),
        ("rft_id", "info:doi/10.5555/A.1"),
        ("rft_id", "https://example.org/a?b=c&d"),
    ]


def test_citation_tags_are_those_of_scholarly_search_engines():
    assert citation_tags(PAPER) == [
        ("citation_title", "논의 메탄 & <b>물</b>"),
        ("citation_author", "곽, 소율"),
        ("citation_author", "Kim, Ada"),
        ("citation_publication_date", "2023"),
        ("citation_journal_title", "토양과 물"),
        ("citation_volume", "12"),
        ("citation_issue", "3"),
        ("citation_firstpage", "101"),
        ("citation_lastpage", "118"),
        ("citation_doi", "10.5555/A.1"),
        ("citation_language", "ko"),
        ("citation_keywords", "메탄; methane"),
        ("citation_public_url", "https://example.org/a?b=c&d"),
    ]


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(("title", "journal", "doi", "url"), TEXTS)))
def test_escaped_as_text_it_stays_one_attribute(record):
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append((tag, dict(attrs)))

    Reader().feed(f'<span class="Z3988" title="{escape(coins(record))}"></span>')

    assert found == [("span", {"class": "Z3988", "title": coins(record)})]
    assert coins(record).isascii()
