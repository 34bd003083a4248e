"""Dublin Core: files, OAI-PMH responses and harvested records give the same papers."""

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers.items import DeadLetter
from indexer.corpora.readers.metadata_records import read_metadata
from tests.indexer.corpora.readers.records import one, read

LONG_KOREAN = "논에서 나오는 메탄을 측정하였다. " * 20
LONG_ENGLISH = "Methane from rice paddies was measured. " * 10


def dc(inner, container="oai_dc:dc"):
    return (
        f'<{container} xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:x="urn:x" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        f"{inner}</{container}>"
    )


def response(*records):
    return (
        '<?xml version="1.0"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>'
        '<record><header status="deleted"><identifier>oai:x:0</identifier></header></record>'
        + "".join(
            f"<record><header><identifier>oai:x:{number}</identifier></header><metadata>{record}</metadata></record>"
            for number, record in enumerate(records, 1)
        )
        + "<resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>"
    )


def values(inner):
    return one("dublin-core", response(dc(inner)), "a.xml")


DC = dc(
    "<dc:title>Methane of paddies</dc:title><dc:title xml:lang='ko'>논의 메탄</dc:title>"
    "<dc:creator>강, 가은</dc:creator><dc:creator>Jang, Boram</dc:creator>"
    "<dc:contributor>지도교수</dc:contributor>"
    "<dc:subject>메탄; 벼</dc:subject><dc:subject>methane</dc:subject>"
    "<dc:description>Methane &lt;b&gt;fell&lt;/b&gt;.</dc:description>"
    "<dc:description>메탄이 줄었다.</dc:description>"
    "<dc:publisher>한밭대학교</dc:publisher><dc:date>2024-02-01T10:00:00Z</dc:date><dc:date>2023-08</dc:date>"
    "<dc:type>Thesis</dc:type><dc:identifier>https://repository.example.ac.kr/handle/1/2</dc:identifier>"
    "<dc:identifier>https://doi.org/10.5555/Paddy.2</dc:identifier><dc:identifier>000012345</dc:identifier>"
    "<dc:language>kor</dc:language><dc:rights>CC BY</dc:rights><dc:relation>a</dc:relation>"
    "<dc:source>논 학회지; Vol. 3 No. 2 (2023); 1-9</dc:source>"
)
PAPER = {
    "title": "논의 메탄",
    "title2": "Methane of paddies",
    "abstract": "메탄이 줄었다.",
    "abstract2": "Methane fell.",
    "lang": "ko",
    "authors": ["강가은", "Jang, Boram"],
    "contributors": ["지도교수"],
    "year": 2023,
    "journal": "논 학회지",
    "publisher": "한밭대학교",
    "keywords": ["메탄", "벼", "methane"],
    "doi": "10.5555/paddy.2",
    "url": "https://repository.example.ac.kr/handle/1/2",
    "type": "thesis",
    "identifiers": ["000012345"],
    "rights": ["CC BY"],
    "relation": ["a"],
}


def test_a_response_has_the_identifiers_of_the_repository_and_a_harvest_gives_the_same_paper():
    harvested = read_metadata(DC.encode(), "oai:x:1", "repository.example.ac.kr")

    assert one("dublin-core", response(DC), "a.xml") == {"id": "oai:x:1", **PAPER}
    assert isinstance(harvested, Paper)
    assert harvested.record() == {"id": "oai:x:1", "source": "repository.example.ac.kr", **PAPER}


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        (DC, "10.5555/paddy.2"),
        (f"<records>{DC.replace('10.5555/Paddy.2', 'x')}</records>", "a/000012345"),
        ("<dc><title>A title</title></dc>", "a/7d6354215fe3"),
    ],
)
def test_records_alone_have_their_doi_or_identifier_as_id(text, id_):
    assert one("dublin-core", text, "a.xml")["id"] == id_


def title(text, rest=""):
    return f"<dc:title>{text}</dc:title>{rest}"


ELEMENTS = {
    "two titles": (title("벼의 메탄", title("Methane")), {"title": "벼의 메탄", "title2": "Methane"}),
    "languages of titles": (
        '<dc:title xml:lang="en">Methane</dc:title><dc:title xml:lang="ko">CH4</dc:title>',
        {"title": "Methane", "title2": "CH4"},
    ),
    "the language of the paper": (
        title("Methane", title("메탄", "<dc:language>ko_KR</dc:language>")),
        {"title": "메탄", "title2": "Methane"},
    ),
    "a parallel title": (
        title("벼의 메탄 = Methane of rice"),
        {"title": "벼의 메탄", "title2": "Methane of rice"},
    ),
    "an equation": (title("E = mc2"), {"title": "E = mc2", "title2": None}),
    "an alternative title": (
        title("Methane", "<dcterms:alternative>메탄</dcterms:alternative>"),
        {"title": "Methane", "title2": "메탄"},
    ),
    "further titles": (title("A", title("B", title("메탄"))), {"title2": "메탄", "other_titles": ["B"]}),
    "abstracts and notes": (
        title("메탄", title("Methane"))
        + f"<dc:description>학위논문(석사)</dc:description><dc:description>{LONG_ENGLISH}</dc:description>"
        f"<dc:description>{LONG_KOREAN}</dc:description>",
        {"abstract": LONG_KOREAN.strip(), "abstract2": LONG_ENGLISH.strip(), "notes": ["학위논문(석사)"]},
    ),
    "an abstract in another language alone": (
        title("메탄", "<dc:description>Methane fell.</dc:description>"),
        {"lang": "ko", "abstract": "Methane fell.", "abstract2": None},
    ),
    "an abstract of the second title": (
        title("메탄", title("Methane", "<dc:description>Methane fell.</dc:description>")),
        {"abstract": None, "abstract2": "Methane fell."},
    ),
    "paragraphs": (
        title("A", "<dc:description>One.</dc:description><dc:description>Two.</dc:description>"),
        {"abstract": "One.\nTwo."},
    ),
    "qualified terms": (
        title("A", "<dcterms:abstract>Text.</dcterms:abstract><dc:description>Notes</dc:description>")
        + "<dcterms:isPartOf>Annals</dcterms:isPartOf><dcterms:issued>2012</dcterms:issued>",
        {"abstract": "Text.", "notes": ["Notes"], "journal": "Annals", "year": 2012},
    ),
    "escaped markup": (
        title(
            "&amp;lt;i&amp;gt;In&amp;lt;/i&amp;gt; R&amp;amp;D",
            "<dc:description>CO&lt;sub&gt;2</dc:description>",
        ),
        {"title": "In R&D", "abstract": "CO2"},
    ),
    "creators in one element": (
        title("A", "<dc:creator>Moon, D.; 강, 가은(Kang, Gaeun)</dc:creator>"),
        {"authors": ["Moon, D.", "강, 가은(Kang, Gaeun)"]},
    ),
    "a DOI in a citation": (
        title("A", "<dc:identifier>Kim (2011). https://doi.org/10.1575/1912/4843.</dc:identifier>"),
        {"doi": "10.1575/1912/4843"},
    ),
}


@pytest.mark.parametrize(("inner", "expected"), ELEMENTS.values(), ids=ELEMENTS)
def test_elements_become_values(inner, expected):
    record = values(inner)

    assert {key: record.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("dates", "year"),
    [
        (["2015-05-01T00:00:00Z", "2014"], 2014),
        (["c1998"], 1998),
        (["2019년 2월"], 2019),
        (["201908"], 2019),
        (["20190820"], 2019),
        (["December 2024"], 2024),
        (["1998/2001"], 1998),
        (["n.d.", "12345"], None),
        (["0018-07-17T00:00:00.000Z"], None),
    ],
)
def test_the_year_is_the_earliest_of_the_dates(dates, year):
    assert values(title("A") + "".join(f"<dc:date>{date}</dc:date>" for date in dates)).get("year") == year


@pytest.mark.parametrize(
    ("source", "journal"),
    [
        ("한국농학회지; 제3권 2호; 12-20", "한국농학회지"),
        ("Journal of Rice, 12(3), 45-67", "Journal of Rice"),
        ("Journal of Rice, Vol. 12", "Journal of Rice"),
        ("Science", "Science"),
        ("ISSN: 1234-5678", None),
        ("https://journal.example.org", None),
    ],
)
def test_the_journal_is_the_name_in_the_source(source, journal):
    assert values(title("A", f"<dc:source>{source}</dc:source>")).get("journal") == journal


@pytest.mark.parametrize("container", ["oai_dc:dc", "x:qualifieddc", "x:metadata", "x:other"])
def test_harvested_records_are_read_in_any_container(container):
    paper = read_metadata(dc(title("A"), container).encode(), "oai:x:a b", "repository.example.ac.kr")

    assert isinstance(paper, Paper)
    assert (paper.id, paper.title) == ("oai:x:a%20b", "A")


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (dc("<dc:creator>Kim</dc:creator>"), "title"),
        ('<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo/></mods>', "mods"),
        ("<dc><b></dc>", "XML"),
        ('<!DOCTYPE dc [<!ENTITY b "c">]><dc>&b;</dc>', "XML"),
        ("not XML", "XML"),
    ],
)
def test_a_record_that_cannot_be_read_is_a_dead_letter_with_its_identifier(metadata, reason):
    letter = read_metadata(metadata.encode(), "oai:x:1", "x")

    assert isinstance(letter, DeadLetter)
    assert letter.file == "oai:x:1"
    assert reason in letter.reason


def test_records_without_dublin_core_and_the_end_of_a_broken_response_are_dead_letters():
    paper, other, broken = read("dublin-core", response(DC, "<mods/>")[:-30], "a.xml")

    assert (paper.id, other.line, broken.line) == ("oai:x:1", 2, 2)
    assert "<dc>" in other.reason
