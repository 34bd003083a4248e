"""EndNote's tagged references and XML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one, read

TAGGED = """%0 Journal Article
%T 논의 메탄
%A 강가은
%A Jang, Boram
%J 논 학회지
%D 2023
%V 12
%N 3
%P 101-118
%@ 1234-5678
%K 메탄
rice
%X 메탄이 줄었다.
%R https://doi.org/10.5555/Paddy.2
%U https://example.org/2
%G kor
%Q Methane of paddies
%W KCI
%> files/a.pdf

%0 Thesis
%T A thesis
%A 김철수;이수
%I 한밭대학교
%B Series
%F 7
"""
XML = """<?xml version="1.0" encoding="UTF-8"?><xml><records><record>
<database name="My.enl" path="My.enl">My.enl</database>
<source-app name="EndNote" version="20.0">EndNote</source-app>
<rec-number>7</rec-number><ref-type name="Journal Article">17</ref-type>
<contributors><authors><author><style face="normal">Kim, A.</style></author><author>WHO,</author></authors>
</contributors><titles><title><style>Methane of </style><style face="italic">rice</style></title>
<secondary-title>Ann</secondary-title></titles><periodical><full-title>Annals</full-title></periodical>
<pages>101-118</pages><volume>12</volume><number>3</number>
<keywords><keyword>methane</keyword><keyword>rice, wet</keyword></keywords>
<dates><year>2019</year></dates><abstract>A text.</abstract>
<electronic-resource-num>10.5555/Paddy.2</electronic-resource-num><language>English</language>
<urls><related-urls><url>https://example.org/2</url></related-urls></urls></record></records></xml>"""


def test_tagged_references_are_read():
    article, thesis = (item.record() for item in read("endnote", TAGGED, "a.enw"))

    assert article == {
        "id": "10.5555/paddy.2",
        "title": "논의 메탄",
        "title2": "Methane of paddies",
        "abstract": "메탄이 줄었다.",
        "lang": "ko",
        "authors": ["강가은", "Jang, Boram"],
        "year": 2023,
        "journal": "논 학회지",
        "keywords": ["메탄", "rice"],
        "doi": "10.5555/paddy.2",
        "url": "https://example.org/2",
        "volume": "12",
        "issue": "3",
        "pages": "101-118",
        "issn": "1234-5678",
        "type": "article-journal",
        "%W": "KCI",
        "%>": "files/a.pdf",
    }
    assert thesis == {
        "id": "a/7",
        "title": "A thesis",
        "lang": "en",
        "authors": ["김철수", "이수"],
        "publisher": "한밭대학교",
        "series": "Series",
        "type": "thesis",
        "citation_key": "7",
    }


def test_xml_has_the_same_values():
    assert one("endnote", XML, "a.xml") == {
        "id": "10.5555/paddy.2",
        "title": "Methane of rice",
        "abstract": "A text.",
        "lang": "en",
        "authors": ["Kim, A.", "WHO"],
        "year": 2019,
        "journal": "Annals",
        "keywords": ["methane", "rice, wet"],
        "doi": "10.5555/paddy.2",
        "url": "https://example.org/2",
        "volume": "12",
        "issue": "3",
        "pages": "101-118",
        "citation_key": "7",
        "type": "article-journal",
    }


@pytest.mark.parametrize(
    ("name", "content", "count"), [("a.enw", TAGGED, 2), ("a.txt", "\ufeff" + TAGGED, 2), ("a.xml", XML, 1)]
)
def test_the_format_is_recognised(tmp_path, name, content, count):
    (tmp_path / name).write_text(content, "utf-8")

    corpus = read_corpus([tmp_path / name])

    assert (corpus.format, len(items_of(corpus))) == ("endnote", count)


def test_a_tag_before_the_first_reference_is_a_dead_letter():
    dead, paper = read("endnote", "%T Lost\n%0 Book\n%T Found\n", "a.enw")

    assert (dead.line, "%T" in dead.reason, paper.title) == (1, True, "Found")


@given(st.binary(max_size=300) | st.binary(max_size=80).map(lambda noise: b"%0 Book\n%A " + noise))
def test_no_bytes_stop_the_reader(content):
    for item in read("endnote", content, "a.enw"):
        assert isinstance(item, Paper | DeadLetter)
