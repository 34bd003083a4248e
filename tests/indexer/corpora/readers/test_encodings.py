"""Files in other encodings than UTF-8 and with other line ends: what is recognised, converted, or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.readers import read_corpus
from indexer.corpora.readers.streams import Stream, encoding_of
from tests.indexer.corpora.readers.items import items_of

KOREAN = "논에서 나오는 메탄(methane)이 두 해 동안 줄었다고 보고하였다."
CHINESE = "本研究采用问卷调查方法对农业温室气体排放进行了分析结果表明甲烷排放量显著下降"
FRENCH = "L’été dernier, “Ébène” naïve à la plage; Äpfel don’t won’t "
JAPANESE = "日本語のテキストは研究のために使われるデータ"
FILES = {
    "a.csv": f"id,title\na,{KOREAN}\n",
    "a.ris": f"TY  - JOUR\nTI  - {KOREAN}\nDP  - SHRAG\nID  - a\nER  - \n",
    "a.jsonl": f'{{"id": "a", "title": "{KOREAN}"}}\n',
    "a.bib": f"@misc{{a,\n title = {{{KOREAN}}},\n}}\n",
    "a.xml": f'<?xml version="1.0" encoding="EUC-KR"?><dc><title>{KOREAN}</title></dc>',
    "a.txt": f"{KOREAN}\nText.",
}


@pytest.mark.parametrize(
    ("text", "encoding", "found"),
    [
        *((KOREAN, "cp949", "cp949"), (KOREAN, "euc-kr", "cp949"), (KOREAN, "utf-8", ""), ("ASCII", "ascii",
        "")),
        *((KOREAN, "utf-16", "utf-16"), (KOREAN, "utf-16-le", "utf-16-le"), ("A title", "utf-16-be",
        "utf-16-be")),
        *((FRENCH, "cp1252", ""), (CHINESE, "gb2312", ""), (CHINESE, "gbk", ""), (JAPANESE, "shift_jis", "")),
        *((JAPANESE, "euc_jp", ""), ("가", "cp949", "")),
    ],
)  # fmt: skip
def test_only_korean_text_is_taken_for_cp949(text, encoding, found):
    assert encoding_of(text.encode(encoding) * 5) == found


@pytest.mark.parametrize("end", range(1, 12))
def test_a_cut_character_of_utf8_at_the_end_is_no_other_encoding(end):
    assert encoding_of(KOREAN.encode()[:-end]) == ""


@pytest.mark.parametrize("encoding", ["utf-8", "cp949", "utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", FILES)
def test_a_paper_is_read_alike_in_each_encoding_and_with_each_line_end(tmp_path, name, line_end, encoding):
    content = FILES[name].replace("EUC-KR", "UTF-8") if encoding.startswith("utf-8") else FILES[name]
    (tmp_path / name).write_bytes(content.replace("\n", line_end).encode(encoding))

    (paper,) = items_of(read_corpus([tmp_path]))

    assert paper.title == KOREAN


@pytest.mark.parametrize(
    ("title", "encoding", "advice"), [("논", "cp949", "CP949"), ("論文", "cp949", "CP949"), ("Größe",
     "latin-1", "CP1252")]
)  # fmt: skip
def test_a_file_that_is_not_recognised_is_refused_with_its_encoding(tmp_path, title, encoding, advice):
    for name, text in (
        ("a.ris", f"TY  - JOUR\nTI  - {title}\nER  - \n"),
        ("b.csv", f"id,title\na,{title}\n"),
    ):
        (tmp_path / name).write_bytes(text.encode(encoding))

    letters = items_of(read_corpus([tmp_path]))

    assert [(letter.line, f"-f {advice}" in letter.reason) for letter in letters] == [(2, True), (1, True)]


def test_invalid_bytes_of_a_converted_file_are_a_dead_letter_with_their_line(tmp_path):
    lines = [f'{{"id": "{number}", "title": "{KOREAN}"}}'.encode("cp949") for number in range(3)]
    lines[1] = lines[1].replace(b"methane", b"\xff\xff")
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))

    first, dead, third = items_of(read_corpus([tmp_path]))

    assert (first.id, dead.line, third.id) == ("0", 2, "2")
    assert "UTF-8" in dead.reason


@given(
    st.binary(max_size=200), st.sampled_from([KOREAN.encode("cp949"), b"\xff\xfe", b"\xfe\xff", b"\r", b""])
)
def test_no_bytes_stop_the_conversion(content, head):
    blocks = [head, content[:3], content[3:]]

    class Bytes:
        def read1(self, size):
            return blocks.pop(0) if blocks else b""

    stream = Stream("a.jsonl", Bytes())
    while stream.read():
        pass
