"""Dublin Core of repositories: OAI-PMH responses, elements alone, terms of qualified Dublin Core."""

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one, read

DC = """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>Methane of paddies</dc:title>
<dc:title xml:lang="ko">논의 메탄</dc:title>
<dc:creator>강, 가은</dc:creator><dc:creator>Jang, Boram</dc:creator>
<dc:contributor>지도교수</dc:contributor>
<dc:subject>메탄; 벼</dc:subject><dc:subject>methane</dc:subject>
<dc:description>Methane &lt;b&gt;fell&lt;/b&gt;.</dc:description>
<dc:description>메탄이 줄었다.</dc:description>
<dc:publisher>한밭대학교</dc:publisher>
<dc:date>2024-02-01T10:00:00Z</dc:date><dc:date>2023-08</dc:date>
<dc:type>Thesis</dc:type>
<dc:identifier>https://repository.example.ac.kr/handle/1/2</dc:identifier>
<dc:identifier>https://doi.org/10.5555/Paddy.2</dc:identifier>
<dc:identifier>000012345</dc:identifier>
<dc:language>kor</dc:language>
<dc:rights>CC BY</dc:rights><dc:relation>a</dc:relation><dc:relation>b</dc:relation>
<dc:source>논 학회지; Vol. 3 No. 2 (2023); 1-9</dc:source>
</oai_dc:dc>"""
RECORD = (
    "<record><header><identifier>oai:repository:1/2</identifier><datestamp>2024-02-01</datestamp></header>"
    f"<metadata>{DC}</metadata></record>"
)
DELETED = '<record><header status="deleted"><identifier>oai:repository:1/3</identifier></header></record>'
RESPONSE = (
    '<?xml version="1.0"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>'
    f"{DELETED}{RECORD}<resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>"
)
READ = {
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
    "relation": ["a", "b"],
}


def test_the_records_of_a_response_have_the_identifiers_of_the_repository():
    assert one("dublin-core", RESPONSE, "a.xml") == {"id": "oai:repository:1/2", **READ}


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


def test_a_saved_response_and_a_harvest_give_the_same_paper():
    from indexer.corpora.readers.metadata_records import read_metadata

    harvested = read_metadata(DC.encode(), "oai:repository:1/2", "repository.example.ac.kr")

    assert isinstance(harvested, Paper)
    assert harvested.record() == {
        "source": "repository.example.ac.kr",
        **one("dublin-core", RESPONSE, "a.xml"),
    }


def test_terms_of_qualified_dublin_core_are_preferred():
    record = one(
        "dublin-core",
        "<dc><title>A</title><abstract>Text.</abstract><description>Notes</description>"
        "<isPartOf>Annals</isPartOf></dc>",
        "a.xml",
    )

    assert (record["abstract"], record["notes"], record["journal"]) == ("Text.", ["Notes"], "Annals")


def test_the_format_is_recognised_by_its_elements(tmp_path):
    (tmp_path / "a.xml").write_text(RESPONSE, "utf-8")

    corpus = read_corpus([tmp_path])

    assert (corpus.format, len(items_of(corpus))) == ("dublin-core", 1)


def test_a_response_that_ends_early_is_one_dead_letter_after_its_records():
    paper, dead = read("dublin-core", RESPONSE[:-30], "a.xml")

    assert (paper.id, dead.line) == ("oai:repository:1/2", 20)
