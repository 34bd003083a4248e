import json
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper, year_in
from indexer.corpora.readers import DeadLetter, read_corpus
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.scienceon import paper_record, read_scienceon
from indexer.corpora.readers.streams import Stream
from tests.indexer.corpora.readers.items import items_of

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<MetaData>'
    "<resultSummary><statusCode>200</statusCode></resultSummary>"
    '<parameterData><item metaCode="CN">no record</item></parameterData>\n<recordList>\n'
)
TAIL = "</recordList></MetaData>"


def read(text, name="saved.xml"):
    content = text if isinstance(text, bytes) else text.encode()
    return list(read_scienceon(Stream(name, BytesIO(content))))


def record(**fields):
    items = "".join(f'<item metaCode="{code}"><![CDATA[{value}]]></item>' for code, value in fields.items())
    return f"<record>{items}</record>\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("형식을  <b>예시</b> 논문", "형식을 예시 논문"),
        ("<font color='blue'>태그</font>와 &lt;엔티티&gt;", "태그와 <엔티티>"),
        ("p < 0.05 and q <0.1 &lt; 3", "p < 0.05 and q <0.1 < 3"),
        ("a<b>c</b>", "ac"),
        ("a <b and c> d", "a <b and c> d"),
        ("H<sub>2</sub>O &amp; CO&lt;sub&gt;2&lt;/sub&gt;", "H2O & CO2"),
        ("one<br/>two<P align=center>three</P>", "one two three"),
        ("x <y> z", "x <y> z"),
    ],
)
def test_html_is_removed_and_what_only_looks_like_it_stays(value, text):
    assert without_markup(value) == text


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("2019", 2019),
        ("20190301", 2019),
        ("2019-03", 2019),
        ("2019년", 2019),
        ("0000", None),
        ("20191", None),
        ("", None),
    ],
)
def test_the_year_is_the_first_four_digits_of_a_date(date, year):
    assert year_in(date) == year


def test_the_fields_of_a_record_become_those_of_a_paper():
    fields = {
        "CN": "JAKO1",
        "DBCode": "JAKO",
        "Title": "제목",
        "Abstract2": "An abstract.",
        "Author": "가나다;라마바|",
        "Author2": "Kim;Lee",
        "Pubyear": "",
        "Pubdate": "20200301",
        "JournalName": "예시학회지",
        "Keyword": "예시 . 형식, 3.5 V",
        "Keyword2": "format;예시",
        "DOI": "",
        "ContentURL": "http://a.b/?c=1&amp;d=2",
        "FulltextURL": "http://a.b/full",
        "Lang": "한국어",
        "VolumeNo": "3",
    }

    assert paper_record(fields) == {
        "id": "JAKO1",
        "source": "JAKO",
        "title": "제목",
        "abstract2": "An abstract.",
        "authors": ["가나다", "라마바"],
        "Author2": "Kim;Lee",
        "year": 2020,
        "Pubdate": "20200301",
        "journal": "예시학회지",
        "keywords": ["예시", "형식", "3.5 V", "format"],
        "url": "http://a.b/?c=1&d=2",
        "FulltextURL": "http://a.b/full",
        "lang": "ko",
        "VolumeNo": "3",
    }


def test_a_language_that_is_not_known_is_kept_and_the_script_decides():
    (paper,) = read(HEAD + record(CN="A", Title="表題", Lang="일본어") + TAIL)

    assert (paper.lang, paper.record()["Lang"]) == ("other", "일본어")


def test_items_of_parameter_data_are_no_records():
    assert [item.id for item in read(HEAD + record(CN="A") + record(CN="B") + TAIL)] == ["A", "B"]


def test_a_record_without_cn_is_a_dead_letter_with_its_line():
    dead, paper = read(HEAD + record(Title="no id") + record(CN="B") + TAIL)

    assert dead == DeadLetter("saved.xml", 4, "id: Field required", "Title: no id")
    assert paper.id == "B"


WITHOUT_DECLARATION = HEAD.partition("\n")[2] + record(CN="A") + TAIL


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ('<!DOCTYPE MetaData SYSTEM "x.dtd">' + WITHOUT_DECLARATION, "DOCTYPE"),
        ('<!DOCTYPE MetaData [<!ENTITY a "aaaa">]>' + WITHOUT_DECLARATION, "DOCTYPE"),
        ("<!DOCTYPE MetaData>" + WITHOUT_DECLARATION, "DOCTYPE"),
        ("<MetaData><recordList>" + record(CN="A") + TAIL, "statusCode"),
        ("<project/>", "no statusCode"),
        (WITHOUT_DECLARATION.replace("200", "401"), "statusCode 401"),
        ('<?xml version="1.0" encoding="EUC-KR"?><MetaData/>', "encoding"),
        ("<MetaData>" + "<a>" * 100_000, "200 levels"),
    ],
    ids=[
        "doctype",
        "entities",
        "bare doctype",
        "no status",
        "other root",
        "other status",
        "encoding",
        "nesting",
    ],
)
def test_such_xml_is_refused_whole(text, fact):
    (dead,) = read(text)

    assert fact in dead.reason


def test_records_before_a_break_are_read_and_the_rest_is_one_dead_letter():
    paper, dead = read(HEAD + record(CN="A") + "<record><item metaCode='CN'>B")

    assert (paper.id, dead.line) == ("A", 5)
    assert dead.reason.startswith("invalid XML: ")


def test_the_same_keys_are_read_as_json_lines(tmp_path):
    path = tmp_path / "saved.jsonl"
    path.write_text(json.dumps({"CN": "A", "Title": "<b>T</b>", "Pubyear": "2001", "Lang": "eng"}), "utf-8")
    (tmp_path / "more.xml").write_text(HEAD + record(CN="B") + TAIL, "utf-8")

    corpus = read_corpus([path, tmp_path / "more.xml"])
    first, second = items_of(corpus)

    assert (corpus.format, corpus.unit) == ("scienceon", "paper")
    assert first.record() == {"id": "A", "title": "T", "year": 2001, "lang": "en"}
    assert second.id == "B"


def test_the_example_of_the_api_is_read(shared_data):
    first, second = items_of(read_corpus([shared_data / "scienceon-example.xml"]))

    assert (
        first.abstract == "이 기록은 형식만을 보인다. 값에는 태그와 <엔티티>, 그리고 여러 칸의 공백이 섞인다."
    )
    assert (first.keywords, first.authors, first.doi) == (
        ["예시", "형식", "format"],
        ["가나다", "라마바"],
        "",
    )
    assert second.record() == {
        "id": "NART00000002",
        "title": "A record with a title and nothing else",
        "lang": "en",
    }


@given(
    st.binary(max_size=300) | st.binary(max_size=50).map(lambda noise: HEAD.encode() + b"<record>" + noise)
)
def test_no_bytes_stop_the_reader(content):
    for item in read(content):
        assert isinstance(item, Paper | DeadLetter)
