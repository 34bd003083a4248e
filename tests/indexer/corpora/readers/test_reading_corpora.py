"""The files of a corpus: formats, links, documents, tables, encodings, and harvested records."""

import json
import os
import zipfile

import pytest

from base.errors import InvalidCall, UnknownPath
from indexer.corpora.papers import Paper
from indexer.corpora.readers import parse_columns, read_corpus
from indexer.corpora.readers.files import is_corpus_file
from indexer.corpora.readers.formats import read_metadata
from indexer.corpora.readers.items import DeadLetter
from indexer.corpora.readers.streams import encoding_of
from indexer.corpora.readers.table_layouts import KOREAN, OPENALEX, PUBMED, SCOPUS, ZOTERO, layout_of
from indexer.errors import UnknownFormat
from tests.indexer.corpora.full_text.pdf_files import SENTENCE, page_of, text
from tests.indexer.corpora.readers.items import ids, items_of


@pytest.fixture
def corpus(tmp_path):
    for name in ("corpus/a", "corpus/sub/b", "secret/s"):
        path = tmp_path / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"id": path.stem}) + "\n")
    return tmp_path / "corpus"


REFUSED = {
    "two units": ({"a.jsonl": '{"docid": "1#0"}', "b.csv": "id\n1"}, r"a\.jsonl is miracl, .*b\.csv is csv"),
    "unknown XML": ({"a.xml": "<settings/>"}, "root <settings>"),
}


@pytest.mark.parametrize(("files", "reason"), REFUSED.values(), ids=REFUSED)
def test_corpora_without_one_unit_or_a_format_are_refused(tmp_path, files, reason):
    for name, content in files.items():
        (tmp_path / name).write_text(content)

    with pytest.raises(UnknownFormat, match=reason):
        read_corpus([tmp_path])


def test_a_given_format_takes_its_files_of_a_folder_and_any_named_file(tmp_path):
    for name, content in {
        "a.jsonl": '{"docid": "1#0"}',
        "b.csv": "id\n1",
        "c.csv.gz": "",
        "x.dat": "id;title\na;T\n",
    }.items():
        (tmp_path / name).write_text(content)

    found = read_corpus([tmp_path], format="miracl")

    assert found.files == [f"{tmp_path}/a.jsonl"]
    assert found.left_out.endings == {".csv": 2, ".dat": 1}
    assert ids(read_corpus([tmp_path / "x.dat"], format="csv")) == ["a"]


@pytest.mark.parametrize("path", ["", "nothing", "pipe.jsonl"])
def test_paths_that_are_neither_file_nor_folder_are_refused(tmp_path, path):
    os.mkfifo(tmp_path / "pipe.jsonl")

    with pytest.raises(UnknownPath):
        read_corpus([tmp_path / path if path else path])


def test_folders_are_read_in_sorted_order_and_paths_in_the_order_given(tmp_path):
    for name in ("b/z.jsonl", "b/a/1.JSONL", "b/b.ndjson", "a.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"id": "a"}')

    found = read_corpus([tmp_path / "b", tmp_path / "a.json"])

    assert [os.path.relpath(name, tmp_path) for name in found.files] == [
        "b/a/1.JSONL",
        "b/b.ndjson",
        "b/z.jsonl",
        "a.json",
    ]


LISTINGS = {
    "hidden files and other endings are left out": (
        ".a.jsonl .git/b.jsonl c.docx d.tar.gz e.XML.gz f.zip g.tsv.gz",
        "e.XML.gz f.zip g.tsv.gz",
    ),
    "texts about the corpus are no papers": (
        "README.md a/Readme_ko.TXT LICENSE.txt.gz licenses.md readme.jsonl",
        "licenses.md readme.jsonl",
    ),
    "topics and judgements are no corpus": (
        "papers.jsonl qrels/test.tsv topics.dev.tsv queries.jsonl questionnaires.jsonl",
        "papers.jsonl questionnaires.jsonl",
    ),
}


@pytest.mark.parametrize(("listing", "read"), LISTINGS.values(), ids=LISTINGS)
def test_some_files_of_a_folder_are_a_corpus(listing, read):
    assert list(filter(is_corpus_file, listing.split())) == read.split()


# Links below the folder `corpus`, the option, the files that are read and the links that are left out.
LINKS = {
    "out of the folder": (
        {"file.jsonl": "../secret/s.jsonl", "folder": "../secret", "sub/up": "../.."},
        False,
        "a.jsonl sub/b.jsonl",
        "file.jsonl folder sub/up",
    ),
    "out of the folder on request, each file once": (
        {"sub/up": "../..", "z.jsonl": "../secret/s.jsonl"},
        True,
        "a.jsonl sub/b.jsonl z.jsonl",
        "",
    ),
    "within the folder": (
        {"0.jsonl": "a.jsonl", "0": "sub", "sub/up": ".."},
        False,
        "a.jsonl sub/b.jsonl",
        "",
    ),
    "to names that are none of a corpus": (
        {"x.jsonl": ".store/x", "y.jsonl": "blob", "z.jsonl": "blob"},
        False,
        "a.jsonl sub/b.jsonl x.jsonl y.jsonl",
        "",
    ),
    "to nothing and to themselves": (
        {"gone.jsonl": "nothing.jsonl", "self.jsonl": "self.jsonl"},
        True,
        "a.jsonl sub/b.jsonl",
        "gone.jsonl self.jsonl",
    ),
}


@pytest.mark.parametrize(("links", "follow", "read", "left_out"), LINKS.values(), ids=LINKS)
def test_links_are_followed_within_the_folder(corpus, links, follow, read, left_out):
    (corpus / ".store").mkdir()
    for name in (".store/x", "blob"):
        (corpus / name).write_text(json.dumps({"id": name}))
    for name, target in links.items():
        (corpus / name).symlink_to(target)

    found = read_corpus([corpus], follow_links=follow)

    assert [os.path.relpath(name, corpus) for name in found.files] == read.split()
    assert [os.path.relpath(name, corpus) for name in found.left_out.links] == left_out.split()


def test_special_files_are_listed_and_never_opened(corpus):
    os.mkfifo(corpus / "f.jsonl")
    (corpus / "sub" / "link.txt").symlink_to("../f.jsonl")

    found = read_corpus([corpus]).left_out

    assert found.as_record()["special"] == {
        "count": 2,
        "first": [f"{corpus}/f.jsonl", f"{corpus}/sub/link.txt"],
    }


@pytest.mark.parametrize("become", [lambda path: None, os.mkfifo], ids=["nothing", "pipe"])
def test_a_file_that_is_gone_or_a_pipe_since_is_one_dead_letter(corpus, become):
    found = read_corpus([corpus])
    (corpus / "a.jsonl").unlink()
    become(corpus / "a.jsonl")

    dead, paper = items_of(found)

    assert (dead.file, dead.line, paper.id) == (f"{corpus}/a.jsonl", 0, "b")


@pytest.mark.parametrize(
    ("folder", "format_", "unit", "papers"),
    [
        ("tydi-goldp/miracl-corpus-v1.0-ko", "miracl", "passage", 1488),
        ("tydi-goldp/miracl-corpus-v1.0-en", "miracl", "passage", 3858),
        ("scifact", "jsonl", "paper", 5183),
        ("hotpotqa-100", "jsonl", "paper", 994),
    ],
)
def test_the_shared_corpora_are_read_whole(shared_data, folder, format_, unit, papers):
    found = read_corpus([shared_data / folder])

    assert (found.format, found.unit) == (format_, unit)
    assert sum(isinstance(item, Paper) for item in found) == sum(1 for _ in found) == papers


def test_the_example_of_the_api_is_read(shared_data):
    first, second = items_of(read_corpus([shared_data / "scienceon-example.xml"]))

    assert (first.keywords, first.authors) == (["예시", "형식", "format"], ["가나다", "라마바"])
    assert second.record() == {
        "id": "NART00000002",
        "title": "A record with a title and nothing else",
        "lang": "en",
    }


def test_a_file_is_named_by_its_place_below_the_folder(tmp_path):
    (tmp_path / "2021").mkdir()
    (tmp_path / "2021" / "Kim et al.v2.pdf").write_bytes(page_of(text(SENTENCE)))

    assert ids(read_corpus([tmp_path])) == ["2021/Kim_et_al.v2"]


def test_the_pdf_comes_after_texts_of_its_name_so_that_they_count_where_it_is_refused(tmp_path):
    (tmp_path / "scan.pdf").write_bytes(page_of(b""))
    (tmp_path / "scan.txt").write_text("Rice\n\nText that OCR read.")
    (tmp_path / "good.pdf").write_bytes(page_of(text(SENTENCE)))
    (tmp_path / "good.txt").write_text("A copy")
    last = {paper.id: paper.origin.file for paper in read_corpus([tmp_path]) if isinstance(paper, Paper)}

    assert last == {"good": f"{tmp_path}/good.pdf", "scan": f"{tmp_path}/scan.txt"}


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


def dc(inner, container="oai_dc:dc"):
    return (
        f'<{container} xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:x="urn:x" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{inner}</{container}>'
    )


@pytest.mark.parametrize("container", ["oai_dc:dc", "x:qualifieddc", "x:metadata", "x:other"])
def test_harvested_records_are_read_in_any_container(container):
    paper = read_metadata(
        dc("<dc:title>A</dc:title>", container).encode(), "oai:x:a b", "repository.example.ac.kr"
    )

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


TEXT = "논에서 나오는 메탄(methane)이 두 해 동안 줄었다고 보고하였다."
CHINESE = "本研究采用问卷调查方法对农业温室气体排放进行了分析结果表明甲烷排放量显著下降"
FRENCH = "L’été dernier, “Ébène” naïve à la plage; Äpfel don’t won’t "
JAPANESE = "日本語のテキストは研究のために使われるデータ"
FILES = {
    "a.csv": f"id,title\na,{TEXT}\n",
    "a.ris": f"TY  - JOUR\nTI  - {TEXT}\nDP  - SHRAG\nID  - a\nER  - \n",
    "a.jsonl": f'{{"id": "a", "title": "{TEXT}"}}\n',
    "a.bib": f"@misc{{a,\n title = {{{TEXT}}},\n}}\n",
    "a.xml": f'<?xml version="1.0" encoding="EUC-KR"?><dc><title>{TEXT}</title></dc>',
    "a.txt": f"{TEXT}\nText.",
}


@pytest.mark.parametrize(
    ("text", "encoding", "found"),
    [
        *((TEXT, "cp949", "cp949"), (TEXT, "euc-kr", "cp949"), (TEXT, "utf-8", ""), ("ASCII", "ascii",
        "")),
        *((TEXT, "utf-16", "utf-16"), (TEXT, "utf-16-le", "utf-16-le"), ("A title", "utf-16-be",
        "utf-16-be")),
        *((FRENCH, "cp1252", ""), (CHINESE, "gb2312", ""), (CHINESE, "gbk", ""), (JAPANESE, "shift_jis", "")),
        *((JAPANESE, "euc_jp", ""), ("가", "cp949", "")),
    ],
)  # fmt: skip
def test_only_korean_text_is_taken_for_cp949(text, encoding, found):
    assert encoding_of(text.encode(encoding) * 5) == found


@pytest.mark.parametrize("encoding", ["utf-8", "cp949", "utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", FILES)
def test_a_paper_is_read_alike_in_each_encoding_and_with_each_line_end(tmp_path, name, line_end, encoding):
    content = FILES[name].replace("EUC-KR", "UTF-8") if encoding.startswith("utf-8") else FILES[name]
    (tmp_path / name).write_bytes(content.replace("\n", line_end).encode(encoding))

    (paper,) = items_of(read_corpus([tmp_path]))

    assert paper.title == TEXT


@pytest.mark.parametrize(
    ("title", "encoding", "advice"), [("논", "cp949", "CP949"), ("論文", "cp949", "CP949"), ("Größe",
     "latin-1", "CP1252")]
)  # fmt: skip
def test_a_file_that_is_not_recognised_is_refused_with_its_encoding(tmp_path, title, encoding, advice):
    for name, content in (
        ("a.ris", f"TY  - JOUR\nTI  - {title}\nER  - \n"),
        ("b.csv", f"id,title\na,{title}\n"),
    ):
        (tmp_path / name).write_bytes(content.encode(encoding))

    letters = items_of(read_corpus([tmp_path]))

    assert [(letter.line, f"-f {advice}" in letter.reason) for letter in letters] == [(2, True), (1, True)]


def test_invalid_bytes_of_a_converted_file_are_a_dead_letter_with_their_line(tmp_path):
    lines = [f'{{"id": "{number}", "title": "{TEXT}"}}'.encode("cp949") for number in range(3)]
    lines[1] = lines[1].replace(b"methane", b"\xff\xff")
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))

    first, dead, third = items_of(read_corpus([tmp_path]))

    assert (first.id, dead.line, third.id) == ("0", 2, "2")
    assert "UTF-8" in dead.reason
