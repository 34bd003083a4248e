"""Tables: our own columns, named columns, and the layouts of databases by their headings."""

import csv
import io
import unicodedata
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.errors import InvalidCall
from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, parse_columns, read_corpus
from indexer.corpora.readers.csv import read_csv
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.table_layouts import KOREAN, OPENALEX, PUBMED, SCOPUS, ZOTERO, layout_of
from indexer.errors import UnknownFormat
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one, read

# The export of KCI's search results, saved as CSV.
KCI = {
    "유형": "학술논문", "논문 ID": "ART002345678", "저자명": "강가은;장보람", "논문명": "논의 메탄",
    "논문영어명": "Methane of paddies", "학술지명": "논 학회지", "저자키워드": "메탄, 벼, R&amp;D",
    "참고문헌 수": "12", "인용된 총 횟수": "7", "발행기관명": "논 학회", "발행연도": "2023", "권": "12",
    "호": "3",
    "특별호": "", "시작 페이지": "101", "끝 페이지": "118", "DOI": "http://dx.doi.org/10.5555/Paddy.2",
    "주제분야": "농학", "URL": "https://www.kci.go.kr/x",
}  # fmt: skip
KCI_RECORD = {
    "id": "10.5555/paddy.2",
    "title": "논의 메탄",
    "title2": "Methane of paddies",
    "lang": "ko",
    "authors": ["강가은", "장보람"],
    "year": 2023,
    "journal": "논 학회지",
    "publisher": "논 학회",
    "keywords": ["메탄", "벼", "R&D"],
    "doi": "10.5555/Paddy.2",
    "url": "https://www.kci.go.kr/x",
    "volume": "12",
    "issue": "3",
    "pages": "101-118",
    "cited_by_count": 7,
    "subjects": "농학",
    "accession_number": "ART002345678",
    "type": "학술논문",
    "참고문헌 수": "12",
}
THESIS = {
    "서명": "논의 메탄", "저자": "강가은", "대학": "한밭대학교", "학위논문사항": "학위논문(석사)",
    "출판년": "2023",
    "UCI식별코드": "I804:1", "국문 초록 (Abstract)": "메탄이 줄었다.",
    "다국어 초록 (Multilingual Abstract)": "Fell.",
    "발행사항": "대전, 2023",
}  # fmt: skip
SCOPUS_ROW = {
    "Authors": "Kim A.; Jang B.", "Title": "Methane", "Year": "2019", "Source title": "Annals",
    "Cited by": "7",
    "Author Keywords": "methane; rice, wet", "Page start": "1", "Page end": "9", "EID": "2-s2.0-1",
    "Language of Original Document": "Korean", "Document Type": "Article", "Funding Details": "NRF",
}  # fmt: skip
ZOTERO_ROW = {
    "Key": "AB12", "Item Type": "journalArticle", "Publication Year": "2019", "Author": "Kim, Ada; 강, 가은",
    "Title": "Methane", "Abstract Note": "Fell.", "Manual Tags": "methane; rice",
}  # fmt: skip
WOS_ROW = {
    "PT": "J",
    "AU": "Jang, B; Lee, D",
    "AF": "Jang, Boram; Lee, Dahye",
    "TI": "Methane",
    "SO": "ANNALS",
    "DE": "methane; rice",
    "PY": "2019",
    "UT": "WOS:1",
    "": "",
}
PUBMED_ROW = {"PMID": "7", "Title": "Cells, big", "Authors": "Loyd AC, Kim M.", "Journal/Book": "Cell"}
OPENALEX_ROW = {
    "id": "https://openalex.org/W1", "title": "W", "publication_year": "2020",
    "doi": "https://doi.org/10.5555/o",
    "authorships.author.display_name": "Kim Minsu|Lee Dahye", "keywords.display_name": "soil|water",
}  # fmt: skip


def table(row, delimiter=","):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([row.keys(), row.values()])
    return text.getvalue()


def rows(text, columns=None):
    content = text if isinstance(text, bytes) else text.encode()
    return list(read_csv(Stream("papers.csv", io.BytesIO(content)), columns))


@pytest.mark.parametrize(
    ("row", "delimiter", "expected"),
    [
        (KCI, ",", KCI_RECORD),
        ({unicodedata.normalize("NFD", key): value for key, value in KCI.items()}, "\t", KCI_RECORD),
        (KCI | {"DOI": ""}, ";", {"id": "ART002345678"}),
        (KCI | {"논문명": ""}, ",", {"title": "Methane of paddies", "title2": None, "lang": "en"}),
        (
            *(THESIS, "\t"),
            {"id": "I804:1", "type": "thesis", "year": 2023, "abstract": "메탄이 줄었다.",
            "abstract2": "Fell."}
            | {"publisher": "한밭대학교", "thesis": "학위논문(석사)", "발행사항": "대전, 2023"},
        ),
        (
            *(SCOPUS_ROW, ","),
            {"id": "2-s2.0-1", "declared_language": "Korean", "authors": ["Kim A.", "Jang B."], "year": 2019}
            | {"keywords": ["methane", "rice, wet"], "pages": "1-9", "cited_by_count": 7}
            | {"type": "article-journal", "Funding Details": "NRF", "journal": "Annals"},
        ),
        (
            *(ZOTERO_ROW, ","),
            {"id": "a/AB12", "citation_key": "AB12", "authors": ["Kim, Ada", "강가은"], "abstract": "Fell."},
        ),
        (
            *(WOS_ROW, "\t"),
            {"id": "WOS:1", "authors": ["Jang, Boram", "Lee, Dahye"], "title": "Methane", "journal": "ANNALS"}
            | {"year": 2019, "keywords": ["methane", "rice"], "AU": "Jang, B; Lee, D"},
        ),
        (PUBMED_ROW, ",", {"id": "7", "title": "Cells, big", "authors": ["Loyd AC", "Kim M."],
         "journal": "Cell"}),
        (
            *(OPENALEX_ROW, ","),
            {"id": "W1", "authors": ["Kim Minsu", "Lee Dahye"], "keywords": ["soil", "water"], "year": 2020}
            | {"doi": "10.5555/o"},
        ),
        ({"id": "a", "제목": "논", "저자": "강"}, ",", {"id": "a", "제목": "논", "저자": "강",
         "title": None}),
    ],
)  # fmt: skip
def test_a_table_is_read_by_its_headings_with_any_ending(tmp_path, row, delimiter, expected):
    record = one("csv", table(row, delimiter), "a.csv")
    (tmp_path / "a.txt").write_text(table(row, delimiter), "utf-16")

    assert {key: record.get(key) for key in expected} == expected
    assert [paper.title for paper in items_of(read_corpus([tmp_path / "a.txt"]))] == [record.get("title", "")]


def test_no_column_is_lost_and_none_is_invented():
    assert one("csv", table(KCI), "a.csv") == KCI_RECORD


def test_columns_called_like_our_fields_are_read_and_others_are_kept():
    (paper,) = rows(
        "\ufeffID,Title,text,Year,authors,keywords,References,cited_by_count,Note,lang\r\n"
        'P1,"A ""title"", R&amp;D","Two\r\nlines",2019,M&uuml;ller; Lee,a|b,P2;P3,12,kept,일본어\r\n'
    )

    assert paper.record() == {
        "id": "P1",
        "title": 'A "title", R&D',
        "abstract": "Two\r\nlines",
        "year": 2019,
        "lang": "en",
        "authors": ["Müller", "Lee"],
        "keywords": ["a", "b"],
        "references": ["P2", "P3"],
        "cited_by_count": 12,
        "Note": "kept",
        "csv:lang": "일본어",
    }


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;\r"])
def test_a_delimiter_is_declared_before_the_header(tmp_path, line):
    (paper,) = rows(f'{line}\nid;title, with commas, \nP1;"Mud; silt"\n')
    (tmp_path / "a.txt").write_text(f"{line}\nid;title\nP1;Mud\n")

    assert paper.record()["title, with commas,"] == "Mud; silt"
    assert [item.title for item in items_of(read_corpus([tmp_path / "a.txt"]))] == ["Mud"]


def test_columns_can_be_named():
    (paper,) = rows("Number,Name,title\nP1,The name,The other\n", {"id": "Number", "title": "Name"})

    assert paper.record() == {"id": "P1", "title": "The name", "lang": "en", "csv:title": "The other"}


@pytest.mark.parametrize(
    ("row", "fact"),
    [
        *((b"P1,a,b", "3 cells"), (b"P1", "1 cells"), (b"P1,\xff", "CP1252"), (b"P1,\xb0\xa1", "CP949")),
        *((b"P1,a\0b", "a NUL byte"), (b",no id", "id: "), (b"P 1,a", "id: ")),
    ],
)
def test_a_bad_row_is_one_dead_letter_and_reading_goes_on(row, fact):
    before, dead, after = rows(b"id,title,\nbefore,a,\n" + row + b"\nafter,b,\n")

    assert (dead.file, dead.line, dead.head) == ("papers.csv", 3, row.decode("utf-8", "backslashreplace"))
    assert (fact in dead.reason, before.id, after.id) == (True, "before", "after")


@pytest.mark.parametrize(
    ("text", "line", "facts"),
    [
        ('id,title\n"P 1","one\ntwo"\n', 2, ["id: "]),
        ("id,year\nP1,soon\n", 2, ["year: "]),
        ("name,year\na,2019\nb,2020\n", 1, ["name, year", "--columns id=COLUMN"]),
        ("제목,값\n논의 메탄,1\n", 1, ["--columns"]),
        ("id,id\na,b\n", 1, ["twice"]),
        ('id,title\nP1,"Mud\nP2,Silt\nP3,Clay', 2, ["a quote without an end", "2 to 4"]),
        ('id,title\nP1,"Mud\nP2,"Silt"\n', 2, ["a quote within", "2 to 3"]),
        ('id,title\nP1,"Mud\nP2",wet\n', 2, ["3 cells", "to line 3"]),
        (b"\xb3\xed,id\na,b\n", 1, ["CP949"]),
    ],
)
def test_what_cannot_be_used_is_one_dead_letter_with_its_first_line(text, line, facts):
    (dead,) = rows(text)

    assert (dead.line, all(fact in dead.reason for fact in facts)) == (line, True)


def test_empty_lines_within_a_cell_stay_and_between_rows_count():
    first, dead = rows('id,title\n\n\n1,"A\n\n\nB"\n,\n\n2\n')

    assert (first.title, dead.line) == ("A\n\n\nB", 10)


def test_a_cell_of_5_mb_is_read():
    (paper,) = rows("id,abstract\nP1," + "x" * 5_000_000)

    assert len(paper.abstract) == 5_000_000


@pytest.mark.parametrize("text", ["", "id", "id=", "=a", "number=a"])
def test_pairs_of_field_and_column_are_parsed_or_refused(text):
    assert parse_columns("id=Doc No, text=Body=x") == {"id": "Doc No", "abstract": "Body=x"}
    with pytest.raises(InvalidCall, match="id, title, abstract"):
        parse_columns(text)
    with pytest.raises(InvalidCall, match="'a' and 'b'"):
        parse_columns("id=a,id=b")


@pytest.mark.parametrize(
    "members", [{"a.csv": "no,title\n1,A\n", "b.md": "# B"}, {"a.md": "# A", "b.csv": "no\n1\n"}]
)
def test_named_columns_are_looked_for_in_tables_alone_and_refused_at_once(tmp_path, members):
    (tmp_path / "a.jsonl").write_text('{"id": "a"}\n')
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)

    assert len(list(read_corpus([tmp_path / "c.zip"], columns={"id": "no"}))) == 2
    with pytest.raises(UnknownFormat, match=r"\.csv .*'Number'.* no"):
        read_corpus([tmp_path / "c.zip"], columns={"id": "Number"})
    with pytest.raises(UnknownFormat, match="jsonl"):
        read_corpus([tmp_path / "a.jsonl"], columns={"id": "no"})


@pytest.mark.parametrize("keys", [KOREAN, SCOPUS, ZOTERO, PUBMED, OPENALEX])
def test_no_heading_has_two_meanings(keys):
    headings = [heading for listed in keys.values() for heading in listed.split()]

    assert len(set(headings)) == len(headings)
    assert layout_of(headings)


@given(st.binary(max_size=200), st.sampled_from([b"", b"id,title\n", "제목,저자,발행년\n".encode()]))
def test_no_bytes_stop_the_reader(content, header):
    for item in read("csv", header + content, "a.csv"):
        assert isinstance(item, Paper | DeadLetter)


@pytest.mark.parametrize("rest", ["2,Kept\n", '2,"Kept"\n3,Kept too\n'])
def test_a_row_with_an_unclosed_quote_is_refused_rather_than_taking_the_rows_behind_it(rest):
    dead, *_ = read("csv", '\ufeffid,title\n1,"Open\n' + rest, "papers.csv")

    assert isinstance(dead, DeadLetter)
    assert (dead.line, "a quote w" in dead.reason) == (2, True)


def test_columns_without_a_name_get_their_number_and_counts_may_have_commas():
    (paper,) = rows('id,,title,,cited_by_count\n1,a,Methane,b,"1,234"\n')

    assert paper.record() == {
        "id": "1",
        "title": "Methane",
        "lang": "en",
        "cited_by_count": 1234,
        "column 2": "a",
        "column 4": "b",
    }
