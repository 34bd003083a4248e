"""Dublin Core records as papers."""

from xml.etree.ElementTree import fromstring

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers.items import DeadLetter
from indexer.corpora.readers.metadata_records import read_metadata
from indexer.corpora.readers.oai_dc import earliest_year, paper_record

LONG_KOREAN = "논에서 나오는 메탄을 측정하였다. " * 20
LONG_ENGLISH = "Methane from rice paddies was measured. " * 10


def oai_dc(inner):
    return (
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        f"{inner}</oai_dc:dc>"
    )


def read(inner):
    return paper_record(fromstring(oai_dc(inner)), identifier="oai:x:1")


def test_every_element_of_an_article_has_its_key():
    record = read(
        "<dc:title>Methane of paddies</dc:title><dc:creator>Kim, Ada</dc:creator>"
        "<dc:creator>Lee, Bo</dc:creator>"
        "<dc:subject>methane; rice</dc:subject><dc:description>Methane fell.</dc:description>"
        "<dc:date>2014-03-02</dc:date><dc:type>Article</dc:type><dc:language>eng</dc:language>"
        "<dc:publisher>Society of Rice</dc:publisher><dc:rights>CC BY</dc:rights>"
        "<dc:identifier>https://repository.example.ac.kr/handle/1/2</dc:identifier>"
        "<dc:identifier>doi:10.5555/rice.1</dc:identifier>"
        "<dc:source>Journal of Rice; Vol. 3 No. 2 (2014); 12-20</dc:source><dc:source>1234-567X</dc:source>"
        "<dc:contributor>Park, Cy</dc:contributor>"
    )

    assert record == {
        "id": "oai:x:1",
        "title": "Methane of paddies",
        "abstract": "Methane fell.",
        "lang": "en",
        "authors": ["Kim, Ada", "Lee, Bo"],
        "keywords": ["methane", "rice"],
        "year": 2014,
        "journal": "Journal of Rice",
        "publisher": "Society of Rice",
        "doi": "10.5555/rice.1",
        "url": "https://repository.example.ac.kr/handle/1/2",
        "identifiers": ["doi:10.5555/rice.1"],
        "type": "article-journal",
        "rights": ["CC BY"],
        "contributors": ["Park, Cy"],
    }
    assert Paper.model_validate(record).year == 2014


@pytest.mark.parametrize(
    ("inner", "title", "title2"),
    [
        (
            "<dc:title>벼의 메탄</dc:title><dc:title>Methane of rice</dc:title>",
            "벼의 메탄",
            "Methane of rice",
        ),
        (
            '<dc:title xml:lang="en">Methane</dc:title><dc:title xml:lang="ko">CH4</dc:title>',
            "Methane",
            "CH4",
        ),
        (
            "<dc:title>Methane</dc:title><dc:title>메탄</dc:title><dc:language>ko_KR</dc:language>",
            "메탄",
            "Methane",
        ),
        ("<dc:title>벼의 메탄 = Methane of rice</dc:title>", "벼의 메탄", "Methane of rice"),
        ("<dc:title>E = mc2</dc:title>", "E = mc2", ""),
        ("<dcterms:alternative>메탄</dcterms:alternative><dc:title>Methane</dc:title>", "Methane", "메탄"),
    ],
)
def test_titles_in_two_languages_are_separated(inner, title, title2):
    record = read(inner)

    assert (record["title"], record.get("title2", "")) == (title, title2)


def test_abstracts_in_two_languages_are_separated_from_notes():
    record = read(
        f"<dc:title>메탄</dc:title><dc:description>학위논문(석사)</dc:description>"
        f"<dc:description>{LONG_ENGLISH}</dc:description><dc:description>{LONG_KOREAN}</dc:description>"
        "<dc:title>Methane</dc:title>"
    )

    assert record["abstract"] == LONG_KOREAN.strip()
    assert record["abstract2"] == LONG_ENGLISH.strip()
    assert record["notes"] == ["학위논문(석사)"]


def test_an_abstract_in_another_language_alone_is_the_papers():
    record = read("<dc:title>메탄</dc:title><dc:description>Methane fell.</dc:description>")

    assert (record["lang"], record["abstract"], record.get("abstract2")) == ("ko", "Methane fell.", None)


def test_paragraphs_of_an_abstract_are_joined():
    record = read(
        "<dc:title>A</dc:title><dc:description>One.</dc:description><dc:description>Two.</dc:description>"
    )

    assert record["abstract"] == "One.\nTwo."


@pytest.mark.parametrize(
    ("dates", "year"),
    [
        (["2015-05-01T00:00:00Z", "2014"], 2014),
        (["c1998"], 1998),
        (["2019년 2월"], 2019),
        (["n.d.", "12345"], None),
        (["0000"], None),
    ],
)
def test_the_year_is_the_earliest_of_the_dates(dates, year):
    assert earliest_year(dates) == year


@pytest.mark.parametrize(
    ("source", "journal"),
    [
        ("한국농학회지; 제3권 2호; 12-20", "한국농학회지"),
        ("Journal of Rice, 12(3), 45-67", "Journal of Rice"),
        ("Journal of Rice, Vol. 12", "Journal of Rice"),
        ("Science", "Science"),
        ("ISSN: 1234-5678", ""),
        ("https://journal.example.org", ""),
    ],
)
def test_the_journal_is_the_name_in_the_source(source, journal):
    assert read(f"<dc:title>A</dc:title><dc:source>{source}</dc:source>").get("journal", "") == journal


def test_markup_in_a_description_is_removed():
    assert read(
        "<dc:title>A</dc:title><dc:description>&lt;p&gt;H&lt;sub&gt;2&lt;/sub&gt;O&lt;/p&gt;</dc:description>"
    )["abstract"] == ("H2O")


def test_the_identifier_of_a_record_is_the_id_of_its_paper():
    paper = read_metadata(oai_dc("<dc:title>A</dc:title>").encode(), "oai:x:a b", "repository.example.ac.kr")

    assert isinstance(paper, Paper)
    assert (paper.id, paper.source) == ("oai:x:a%20b", "repository.example.ac.kr")


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (oai_dc("<dc:creator>Kim</dc:creator>"), "title"),
        ('<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo/></mods>', "mods"),
        ("<a><b></a>", "XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "XML"),
    ],
)
def test_a_record_that_cannot_be_read_is_a_dead_letter_with_its_identifier(metadata, reason):
    letter = read_metadata(metadata.encode(), "oai:x:1", "x")

    assert isinstance(letter, DeadLetter)
    assert letter.file == "oai:x:1"
    assert reason in letter.reason
