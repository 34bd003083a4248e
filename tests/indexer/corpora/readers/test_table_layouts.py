"""Tables of KCI, RISS, DBpia, Scopus and Zotero, by their headings."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.table_layouts import KOREAN, SCOPUS, ZOTERO, layout_of
from tests.indexer.corpora.readers.records import one, read


def table(rows, delimiter=","):
    """Return a table from lists of (heading, cell); the first one has the headings."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow([heading for heading, _ in rows[0]])
    writer.writerows([cell for _, cell in row] for row in rows)
    return text.getvalue()


# The export of KCI's search results, saved as CSV.
KCI = [
    ("유형", "학술논문"),
    ("논문 ID", "ART002345678"),
    ("저자명", "강가은;장보람"),
    ("주저자 소속기관", "한밭대학교"),
    ("논문명", "논의 메탄"),
    ("논문영어명", "Methane of paddies"),
    ("학술지명", "논 학회지"),
    ("저자키워드", "메탄, 벼, rice"),
    ("참고문헌 수", "12"),
    ("인용된 총 횟수", "7"),
    ("발행기관명", "논 학회"),
    ("발행연도", "2023"),
    ("발행일", "2023.08"),
    ("권", "12"),
    ("호", "3"),
    ("특별호", ""),
    ("시작 페이지", "101"),
    ("끝 페이지", "118"),
    ("DOI", "http://dx.doi.org/10.5555/Paddy.2"),
    ("주제분야", "농수해양학 > 농학"),
    ("URL", "https://www.kci.go.kr/x"),
    ("KCI 등재 구분", "등재"),
]
# The file of KCI's papers at data.go.kr.
KCI_DATA = [
    ("논문명(국문)", ""),
    ("논문명(외국어)", "Methane of paddies"),
    ("저자", "강가은"),
    ("발행년", "2023"),
    ("학술지명(국문)", "논 학회지"),
    ("권", "12"),
    ("키워드(국문)", "메탄"),
    ("키워드(외국어)", "methane, rice"),
    ("시작페이지", "101"),
    ("끝페이지", "101"),
]
# The export of theses by RISS.
RISS = [
    ("서명", "논의 메탄"),
    ("기타서명", "Methane of paddies"),
    ("저자", "강가은"),
    ("발행사항", "대전 : 한밭대학교, 2023"),
    ("대학", "한밭대학교"),
    ("학위논문사항", "학위논문(석사)-- 한밭대학교 : 농학과 2023"),
    ("출판년", "2023"),
    ("주제어", "메탄;벼"),
    ("UCI식별코드", "I804:30001-200000000001"),
    ("국문 초록 (Abstract)", "메탄이 줄었다."),
    ("다국어 초록 (Multilingual Abstract)", "Methane fell."),
]


def test_an_export_of_kci_is_read():
    assert one("csv", table([KCI]), "KCI.csv") == {
        "id": "10.5555/paddy.2",
        "title": "논의 메탄",
        "title2": "Methane of paddies",
        "lang": "ko",
        "authors": ["강가은", "장보람"],
        "year": 2023,
        "journal": "논 학회지",
        "publisher": "논 학회",
        "keywords": ["메탄", "벼", "rice"],
        "doi": "10.5555/paddy.2",
        "url": "https://www.kci.go.kr/x",
        "volume": "12",
        "issue": "3",
        "pages": "101-118",
        "cited_by_count": 7,
        "subjects": "농수해양학 > 농학",
        "affiliation": "한밭대학교",
        "accession_number": "ART002345678",
        "type": "학술논문",
        "참고문헌 수": "12",
        "KCI 등재 구분": "등재",
    }


def test_a_row_without_doi_has_the_number_of_the_database_as_id():
    rows = [(heading, "" if heading == "DOI" else cell) for heading, cell in KCI]

    assert one("csv", table([rows]), "KCI.csv")["id"] == "ART002345678"


def test_the_papers_of_kci_at_data_go_kr_are_read():
    record = one("csv", table([KCI_DATA], ";"), "KCI.csv")

    assert (record["title"], record["lang"], record["pages"]) == ("Methane of paddies", "en", "101")
    assert record["keywords"] == ["메탄", "methane", "rice"]
    assert record["id"].startswith("KCI/")


def test_theses_of_riss_are_read():
    record = one("csv", table([RISS], "\t"), "RISS.tsv")

    assert (record["id"], record["type"], record["year"]) == ("I804:30001-200000000001", "thesis", 2023)
    assert (record["abstract"], record["abstract2"]) == ("메탄이 줄었다.", "Methane fell.")
    assert (record["publisher"], record["thesis"]) == (
        "한밭대학교",
        "학위논문(석사)-- 한밭대학교 : 농학과 2023",
    )
    assert record["발행사항"] == "대전 : 한밭대학교, 2023"


@pytest.mark.parametrize(
    ("names", "authors"),
    [
        ("강가은, 장보람", ["강가은", "장보람"]),
        ("강가은·장보람", ["강가은", "장보람"]),
        ("Kim, Ada; Jang, B.", ["Kim, Ada", "Jang, B."]),
        ("Kim, Ada", ["Kim, Ada"]),
        ("강, 가은|장보람", ["강가은", "장보람"]),
    ],
)
def test_names_are_split(names, authors):
    row = [("제목", "논의 메탄"), ("저자", names), ("간행물명", "논 학회지")]

    assert one("csv", table([row]), "a.csv")["authors"] == authors


def test_an_export_of_scopus_is_read():
    row = [
        *(("Authors", "Kim A.; Jang B."), ("Title", "Methane"), ("Year", "2019"), ("Source title", "Annals")),
        *(("Cited by", "7"), ("DOI", "10.5555/Paddy.2"), ("Author Keywords", "methane; rice, wet")),
        *(("Page start", "1"), ("Page end", "9"), ("Language of Original Document", "Korean")),
        *(("EID", "2-s2.0-1"), ("Document Type", "Article"), ("Funding Details", "NRF")),
    ]

    assert one("csv", "\ufeff" + table([row]), "scopus.csv") == {
        "id": "10.5555/paddy.2",
        "title": "Methane",
        "lang": "en",
        "declared_language": "Korean",
        "authors": ["Kim A.", "Jang B."],
        "year": 2019,
        "journal": "Annals",
        "keywords": ["methane", "rice, wet"],
        "doi": "10.5555/paddy.2",
        "pages": "1-9",
        "cited_by_count": 7,
        "type": "article-journal",
        "accession_number": "2-s2.0-1",
        "Funding Details": "NRF",
    }


def test_an_export_of_zotero_is_read():
    row = [
        *(("Key", "ABCD1234"), ("Item Type", "journalArticle"), ("Publication Year", "2019")),
        *(("Author", "Kim, Ada; 강, 가은"), ("Title", "Methane"), ("Publication Title", "Annals")),
        *(("Abstract Note", "Methane fell."), ("Manual Tags", "methane; rice"), ("Notes", "x")),
    ]

    record = one("csv", table([row]), "zotero.csv")

    assert (record["id"], record["citation_key"]) == ("zotero/ABCD1234", "ABCD1234")
    assert (record["authors"], record["keywords"]) == (["Kim, Ada", "강가은"], ["methane", "rice"])
    assert (record["type"], record["abstract"]) == ("article-journal", "Methane fell.")


def test_a_table_with_a_column_for_the_id_is_read_as_before():
    row = [("id", "a"), ("제목", "논의 메탄"), ("저자", "강가은"), ("title", "T")]

    record = one("csv", table([row]), "a.csv")

    assert record == {"id": "a", "제목": "논의 메탄", "저자": "강가은", "title": "T", "lang": "en"}


def test_a_table_of_an_unknown_layout_needs_a_column_for_the_id():
    (dead,) = read("csv", "제목,값\n논의 메탄,1\n", "a.csv")

    assert isinstance(dead, DeadLetter)
    assert "--columns" in dead.reason


@pytest.mark.parametrize("keys", [KOREAN, SCOPUS, ZOTERO])
def test_no_heading_has_two_meanings(keys):
    headings = [heading for listed in keys.values() for heading in listed.split()]

    assert len(set(headings)) == len(headings)
    assert layout_of(headings)


@given(
    st.lists(
        st.sampled_from([cell for _, cell in (*KCI, *RISS)]) | st.text(max_size=20), min_size=22, max_size=22
    )
)
def test_no_cells_stop_the_reader(cells):
    for item in read(
        "csv", table([[(heading, cell) for (heading, _), cell in zip(KCI, cells, strict=True)]]), "a.csv"
    ):
        assert isinstance(item, Paper | DeadLetter)
