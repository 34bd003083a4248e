"""MARCXML of MARC 21 and KORMARC: books, theses, articles of journals."""

import pytest

from indexer.corpora.readers import read_corpus
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one

NAMESPACE = 'xmlns="http://www.loc.gov/MARC21/slim"'


def marc(fields, *, kind="am", controls=()):
    """Return a record of lines such as `264/1 $bPress`: tag, second indicator, subfields."""
    written = [f"<leader>00000n{kind} a2200000 a 4500</leader>"]
    written += [f'<controlfield tag="{tag}">{text}</controlfield>' for tag, text in controls]
    for line in fields.strip().splitlines():
        tag, _, rest = line.strip().partition(" ")
        parts = "".join(
            f'<subfield code="{part[0]}">{part[1:]}</subfield>' for part in rest.split("$") if part
        )
        tag, _, indicator = tag.partition("/")
        written.append(f'<datafield tag="{tag}" ind1=" " ind2="{indicator or " "}">{parts}</datafield>')
    return f"<record {NAMESPACE}>{''.join(written)}</record>"


THESIS = marc(
    """
    041 $akor$beng
    056 $a527
    100 $a강가은
    245 $a논의 메탄 :$b두 해의 측정 =$xMethane of paddies /$d강가은
    246 $aMethane of rice paddies
    260 $a대전 :$b한밭대학교,$c2023.
    502 $a학위논문(석사)-- 한밭대학교 대학원: 농학과, 2023
    520 $a메탄을 재었다.
    520 $aMethane was measured.
    653 $a메탄$a벼
    653 $aMethane
    700 $aJang, Boram.
    856 $uhttps://library.example.ac.kr/1
    """,
    controls=[("001", "000012345"), ("003", "KUL"), ("008", "230801s2023    ulk     bm    000 a kor  ")],
)
ARTICLE = marc(
    """
    022 $a1234-5678
    024 $a10.5555/Paddy.2$2doi
    100 $aKim, A.,$eauthor
    245 $aMethane of paddies.
    773 $tAnnals of paddies.$gVol. 12, no. 3 (Mar. 2019), p. 101-118$x1234-5679
    """,
    kind="ab",
)


def test_a_thesis_of_kormarc_is_read():
    assert one("marcxml", f"<collection {NAMESPACE}>{THESIS}</collection>", "a.xml") == {
        "id": "(KUL)000012345",
        "title": "논의 메탄: 두 해의 측정",
        "title2": "Methane of paddies",
        "abstract": "메탄을 재었다.",
        "abstract2": "Methane was measured.",
        "lang": "ko",
        "authors": ["강가은", "Jang, Boram"],
        "year": 2023,
        "publisher": "한밭대학교",
        "place": "대전",
        "keywords": ["메탄", "벼", "Methane"],
        "url": "https://library.example.ac.kr/1",
        "note": "학위논문(석사)-- 한밭대학교 대학원: 농학과, 2023",
        "classification": ["527"],
        "type": "thesis",
    }


def test_an_article_has_its_journal_in_the_host_item():
    record = one("marcxml", ARTICLE, "a.xml")

    assert (record["id"], record["authors"], record["year"]) == ("10.5555/paddy.2", ["Kim, A."], 2019)
    assert (record["journal"], record["pages"], record["issn"]) == (
        "Annals of paddies",
        "101-118",
        "1234-5678",
    )
    assert record["type"] == "article-journal"


ROMANIZED = """
    100 $6880-01$aKim, Ch'olsu
    245 $6880-02$aNonui met'an
    260 $6880-03$bNong Hakhoe
    520 $aMethane was measured.
    650 $aMethane
    880 $6100-01/$1$a김, 철수
    880 $6245-02/$1$a논의 메탄
    880 $6520-00$a메탄을 재었다.
    880 $6650-00$a메탄
    880 $6700-00$a박, 영희
    """


def test_fields_in_the_original_script_are_read():
    record = one("marcxml", marc(ROMANIZED), "a.xml")

    assert (record["title"], record["title2"]) == ("Nonui met'an", "논의 메탄")
    assert (record["authors"], record["romanized_authors"]) == (["김철수", "박영희"], ["Kim, Ch'olsu"])
    assert {record["abstract"], record["abstract2"]} == {"메탄을 재었다.", "Methane was measured."}
    assert (record["keywords"], record["publisher"]) == (["Methane", "메탄"], "Nong Hakhoe")


@pytest.mark.parametrize(
    ("fields", "publisher", "year"),
    [
        ("264/2 $bDistributor$c2021\n264/1 $bPress$c2020", "Press", 2020),
        ("264/3 $bPrinter$c2021\n260 $bPress$c2020", "Press", 2020),
        ("264/0 $bProducer$c2019", "Producer", 2019),
        ("264/1 $bPress\n264/4 $c©2018", "Press", 2018),
        ("264/2 $bDistributor$c2021", None, None),
    ],
)
def test_the_publisher_is_chosen_by_the_indicator(fields, publisher, year):
    record = one("marcxml", marc(f"245 $aA\n{fields}"), "a.xml")

    assert (record.get("publisher"), record.get("year")) == (publisher, year)


@pytest.mark.parametrize(
    ("controls", "id_"),
    [([("001", "ocm123")], "ocm123"), ([("001", "123")], "a/123"), ([], "a/7d6354215fe3")],
)
def test_numbers_without_an_agency_are_unique_only_in_their_file(controls, id_):
    assert one("marcxml", marc("245 $aA title", controls=controls), "a.xml")["id"] == id_


def test_records_of_a_harvest_have_its_identifiers(tmp_path):
    (tmp_path / "a.xml").write_text(
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record><header><identifier>oai:1'
        f"</identifier></header><metadata>{THESIS}</metadata></record></ListRecords></OAI-PMH>",
        "utf-8",
    )

    corpus = read_corpus([tmp_path])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("marcxml", ["oai:1"])
