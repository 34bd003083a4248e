"""RIS as Zotero, EndNote, Mendeley and publishers write it, and everything that can be wrong with it."""

from io import BufferedReader, BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
from indexer.corpora.readers.references import read_ris
from indexer.corpora.readers.streams import Stream
from tests.indexer.corpora.readers.items import items_of

ZOTERO = (
    "\ufeffTY  - JOUR\r\n"
    "TI  - Methane from <i>rice</i> paddies\r\n"
    "AU  - Jang, Boram\r\n"
    "AU  - 강가은\r\n"
    "T2  - Annals of Paddies\r\n"
    "AB  - Methane fell by 40%.\r\n"
    "DA  - 2023/03/01/\r\n"
    "PY  - 2023\r\n"
    "DO  - 10.5555/Paddy.2\r\n"
    "VL  - 12\r\n"
    "IS  - 3\r\n"
    "SP  - 101\r\n"
    "EP  - 118\r\n"
    "J2  - Ann. Paddies\r\n"
    "LA  - en\r\n"
    "SN  - 1234-5678\r\n"
    "UR  - https://example.org/2\r\n"
    "KW  - methane\r\n"
    "KW  - rice, paddy\r\n"
    "N1  - <p>To be read</p>\r\n"
    "L1  - files/7/a.pdf\r\n"
    "L1  - files/8/b.pdf\r\n"
    "ER  - \r\n\r\n"
)


def read(text, name="papers/library.ris"):
    content = text if isinstance(text, bytes) else text.encode()
    return list(read_ris(Stream(name, BufferedReader(BytesIO(content)), root="papers")))


def one(text):
    (paper,) = read(text)
    return paper.record()


def test_an_export_of_zotero_is_read_with_notes_and_attachments():
    assert one(ZOTERO) == {
        "id": "10.5555/paddy.2",
        "title": "Methane from rice paddies",
        "authors": ["Jang, Boram", "강가은"],
        "journal": "Annals of Paddies",
        "abstract": "Methane fell by 40%.",
        "year": 2023,
        "date": "2023/03/01/",
        "doi": "10.5555/Paddy.2",
        "volume": "12",
        "issue": "3",
        "pages": "101-118",
        "J2": "Ann. Paddies",
        "lang": "en",
        "issn": "1234-5678",
        "url": "https://example.org/2",
        "keywords": ["methane", "rice, paddy"],
        "note": "To be read",
        "L1": ["files/7/a.pdf", "files/8/b.pdf"],
        "type": "article-journal",
    }


def test_an_export_of_endnote_has_keywords_on_lines_of_their_own_and_wrapped_texts():
    record = one(
        "TY  - CHAP\nAU  - Kim, A.\nAU  - World Health Organization,\nPY  - 2019\nTI  - A chapter\n"
        "T2  - A book\nKW  - soil\nwater\nAB  - It starts here\nand goes on.\nA2  - Lee, B.\n"
        "ID  - 12\nER  - \n"
    )

    assert record["authors"] == ["Kim, A.", "World Health Organization"]
    assert (record["keywords"], record["abstract"]) == (["soil", "water"], "It starts here and goes on.")
    assert (record["journal"], record["editors"], record["type"]) == ("A book", ["Lee, B."], "chapter")
    assert (record["id"], record["citation_key"]) == ("library/12", "12")


def test_tags_of_reference_manager_are_read_too():
    record = one(
        "TY  - JOUR\nT1  - A title\nA1  - Kim, A.\nY1  - 2019///\nJF  - Annals\nJA  - Ann\n"
        "N2  - A text.\nER  -\n"
    )

    assert (record["title"], record["authors"], record["year"]) == ("A title", ["Kim, A."], 2019)
    assert (record["journal"], record["abstract"], record["JA"]) == ("Annals", "A text.", "Ann")


def test_a_list_in_one_line_is_split():
    record = one("TY  - JOUR\nAU  - 홍길동; 김철수\nKW  - 인공지능, 교육\nTI  - 제목\nER  - \n")

    assert (record["authors"], record["keywords"]) == (["홍길동", "김철수"], ["인공지능", "교육"])


def test_abstracts_in_two_languages_are_sorted_by_the_language_of_the_title():
    record = one("TY  - JOUR\nTI  - 논의 메탄\nAB  - Methane fell.\nN2  - 메탄이 줄었다.\nER  - \n")

    assert (record["abstract"], record["abstract2"]) == ("메탄이 줄었다.", "Methane fell.")


def test_a_series_is_not_the_journal_of_a_book():
    record = one("TY  - BOOK\nTI  - A book\nT2  - Lecture notes\nPB  - Press\nER  - \n")

    assert (record["series"], record["publisher"], "journal" in record) == ("Lecture notes", "Press", False)


@pytest.mark.parametrize(
    ("lines", "id_"),
    [
        ("DO  - https://doi.org/10.1000/A.1\nID  - 5\n", "10.1000/a.1"),
        ("UR  - https://doi.org/10.1000/A.1\n", "10.1000/a.1"),
        ("AN  - WOS:000123\nID  - 5\n", "WOS:000123"),
        ("AN  - 000123\nID  - Kim 2020\n", "library/Kim_2020"),
        ("TI  - A title\n", "library/0a9a20f49dbd"),
    ],
)
def test_the_id_is_the_doi_or_else_unique_below_the_file(lines, id_):
    assert one(f"TY  - JOUR\n{lines}ER  - \n")["id"] == id_


@pytest.mark.parametrize(
    ("code", "title", "language", "kept"),
    [
        ("kor", "제목", "ko", None),
        ("English", "A title", "en", None),
        ("fre", "Un titre", "other", "fre"),
        ("klingon", "A title", "en", "klingon"),
        ("Korean", "A translated title", "en", "Korean"),
        ("kor", "", "ko", None),
    ],
)
def test_the_language_is_declared_unless_the_script_contradicts(code, title, language, kept):
    record = one(f"TY  - JOUR\nTI  - {title}\nLA  - {code}\nER  - \n")

    assert (record["lang"], record.get("declared_language")) == (language, kept)


def test_text_around_records_is_skipped_and_one_space_before_the_hyphen_is_enough():
    first, second = read("Provider: Press\n\nTY - JOUR\nID - a\nER -\n1.\nTY - JOUR\nID - b\nER - \n")

    assert (first.id, second.id) == ("library/a", "library/b")


def test_a_new_record_ends_one_without_an_end():
    first, second = read("TY  - JOUR\nID  - a\nTY  - JOUR\nID  - b\nER  - \n")

    assert (first.id, second.id) == ("library/a", "library/b")


@pytest.mark.parametrize(
    ("record", "line", "fact"),
    [
        (b"TY  - JOUR\nTI  - A\n", 4, "truncated"),
        (b"AU  - Kim\nTY  - JOUR\nID  - b\nER  - \n", 4, "AU before TY"),
        (b"TY  - JOUR\nTI  - \xb0\xa1\nER  - \nTY  - JOUR\nID  - b\nER  - \n", 4, "byte 7 of line 5"),
    ],
)
def test_what_is_wrong_is_one_dead_letter_with_its_line(record, line, fact):
    before, dead, *after = read(b"TY  - JOUR\nID  - a\nER  - \n" + record)

    assert (dead.line, fact in dead.reason) == (line, True)
    assert [item.id for item in (before, *after)] == ["library/a", *(["library/b"] if after else [])]


def test_a_record_over_64_mib_is_not_held_in_memory():
    class Long:
        def __init__(self):
            lines = [b"AB  - " + b"x" * (1 << 20) + b"\n"] * 100
            self.blocks = iter([b"TY  - JOUR\n", *lines, b"ER  - \nTY  - JOUR\nID  - b\nER  - \n"])

        def read1(self, size):
            return next(self.blocks, b"")

    dead, after = items_of(read_ris(Stream("a.ris", Long())))

    assert (str(64 << 20) in dead.reason, after.id) == (True, "a/b")


@pytest.mark.parametrize("name", ["a.ris", "a.txt", "a", "a.enw"])
def test_the_format_is_recognised_by_its_first_tag(tmp_path, name):
    (tmp_path / name).write_text(ZOTERO, "utf-8")

    corpus = read_corpus([tmp_path / name])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("ris", ["10.5555/paddy.2"])


@given(st.binary(max_size=300) | st.binary(max_size=80).map(lambda noise: b"TY  - JOUR\n" + noise))
def test_no_bytes_stop_the_reader(content):
    for item in read(content):
        assert isinstance(item, Paper | DeadLetter)
