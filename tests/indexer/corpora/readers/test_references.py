r"""Bibliographic references in every format: rows of input and expected paper, and all that can be wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import READERS, DeadLetter, read_corpus
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.tex import text_of
from tests.hostile import VALUES
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one, read

ARTICLE = {
    "id": "10.5555/paddy.2",
    "title": "Methane from rice paddies",
    "abstract": "Methane fell by 40%.",
    "lang": "en",
    "authors": ["Jang, Boram", "강가은"],
    "year": 2023,
    "journal": "Annals & Paddies",
    "keywords": ["methane", "R&D, paddy"],
    "doi": "10.5555/Paddy.2",
    "url": "https://example.org/2",
    "volume": "12",
    "issue": "3",
    "pages": "101-118",
    "issn": "1234-5678",
    "type": "article-journal",
}
RIS = (
    "\ufeffTY  - JOUR\r\nTI  - Methane from <i>rice</i> paddies\r\nAU  - Jang, Boram\r\nAU  - 강, 가은\r\n"
    "T2  - Annals &amp; Paddies\r\nAB  - Methane fell\r\nby 40%.\r\nDA  - 2023/03/01/\r\nPY  - 2023\r\n"
    "DO  - https://doi.org/10.5555/Paddy.2\r\nVL  - 12\r\nIS  - 3\r\nSP  - 101\r\nEP  - 118\r\nN2  -\r\n"
    "J2  - Ann. Paddies\r\nLA  - en\r\nSN  - 1234-5678\r\nUR  - https://example.org/2\r\nKW  - methane\r\n"
    "R&amp;D, paddy\r\nN1  - <p>To be read</p>\r\nL1  - a.pdf\r\nL1  - b.pdf\r\n"
    "Y2  - 2024/01/01\r\nER  - \r\n"
)
ENW = """%0 Journal Article
%T Methane from rice paddies
%A Jang, Boram
%A 강가은
%J Annals &amp; Paddies
%D 2023
%V 12
%N 3
%P 101-118
%@ 1234-5678
%K methane
R&D, paddy
%X Methane fell by 40%.
%R https://doi.org/10.5555/Paddy.2
%U https://example.org/2
%G eng
%Q 논의 메탄
%W KCI
"""
ENDNOTE_XML = """<?xml version="1.0" encoding="UTF-8"?><xml><records><record>
<database name="My.enl" path="My.enl">My.enl</database>
<rec-number>7</rec-number><ref-type name="Journal Article">17</ref-type>
<contributors><authors>
<author><style>Jang, Boram</style></author><author>강가은,</author></authors></contributors>
<titles><title><style>Methane from </style><style face="italic">rice</style> paddies</title>
<secondary-title>Annals</secondary-title></titles>
<periodical><full-title>Annals &amp; Paddies</full-title></periodical>
<pages>101-118</pages><volume>12</volume><number>3</number><isbn>1234-5678</isbn>
<keywords><keyword>methane</keyword><keyword>R&amp;D, paddy</keyword></keywords>
<dates><year>2023</year></dates><abstract>Methane fell by 40%.</abstract>
<electronic-resource-num>10.5555/Paddy.2</electronic-resource-num><language>English</language>
<urls><related-urls><url>https://example.org/2</url></related-urls></urls></record></records></xml>"""
MEDLINE = """
PMID- 90000001
OWN - NLM
TI  - Methane from rice
      paddies
FAU - Jang, Boram
AU  - Jang B
FAU - 강, 가은
JT  - Annals & Paddies
DP  - 2023 Sep 12
VI  - 12
IP  - 3
PG  - 101-118
IS  - 1234-5678
LID - 10.5555/Paddy.2 [doi]
OT  - methane
OT  - R&D, paddy
AB  - Methane fell by 40%.
LA  - eng
PT  - Journal Article
"""
WOS = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Jang, B
AF Jang, Boram
   강가은
TI Methane from rice
   paddies
SO Annals & Paddies
LA English
DT Article
DE methane; R&D, paddy
AB Methane fell by 40%.
PY 2023
VL 12
IS 3
BP 101
EP 118
SN 1234-5678
DI 10.5555/Paddy.2
UT WOS:000900000000001
ER

EF
"""
REFWORKS = """RT Journal Article
SR Electronic
A1 Jang, Boram
A1 강가은
T1 Methane from rice paddies
JF Annals & Paddies
YR 2023
VO 12
IS 3
SP 101
OP 118
SN 1234-5678
K1 methane
K1 R&D, paddy
AB Methane fell by 40%.
DO 10.5555/Paddy.2
UL https://example.org/2
"""
BIB = r"""% Encoding: UTF-8
@article{jang_methane_2023,
  title = {Methane from {\emph{rice}} paddies}, volume = {12}, number = {3}, pages = {101--118},
  issn = {1234-5678}, url = {https://example.org/2}, doi = {10.5555/Paddy.2}, year = {2023},
  abstract = {Methane fell by 40\%.}, language = {en}, journal = {Annals &amp; Paddies}, month = mar,
  author = {Jang, Boram and {강가은}}, keywords = {methane; R&amp;D, paddy}, file = {PDF:a.pdf:x},
}
"""
CSL = {
    "id": "http://zotero.org/1",
    "type": "article-journal",
    "title": "Methane from <i>rice</i> paddies",
    "abstract": "Methane fell by 40%.",
    "container-title": "Annals &amp; Paddies",
    "DOI": "10.5555/Paddy.2",
    "ISSN": "1234-5678",
    "issue": "3",
    "volume": 12,
    "page": "101-118",
    "URL": "https://example.org/2",
    "language": "en",
    "author": [{"family": "Jang", "given": "Boram"}, {"family": "강", "given": "가은"}],
    "issued": {"date-parts": [["2023", 3, 1]]},
    "keyword": "methane; R&amp;D, paddy",
    "accessed": {"date-parts": [["2024"]]},
}


@pytest.mark.parametrize(
    ("format_", "name", "text", "further"),
    [
        (
            *("ris", "a.ris", RIS),
            {"date": "2023/03/01/", "note": "To be read", "J2": "Ann. Paddies", "L1": ["a.pdf", "b.pdf"]}
            | {"Y2": "2024/01/01"},
        ),
        ("endnote", "a.enw", ENW, {"title2": "논의 메탄", "%W": "KCI"}),
        ("endnote", "a.xml", ENDNOTE_XML, {"citation_key": "7"}),
        (
            *("medline", "a.nbib", MEDLINE),
            {"id": "90000001", "pmid": "90000001", "date": "2023 Sep 12", "url": None, "OWN": "NLM"}
            | {"AU": "Jang B", "LID": "10.5555/Paddy.2 [doi]"},
        ),
        (
            *("wos", "a.ciw", WOS),
            {"accession_number": "WOS:000900000000001", "url": None, "AU": "Jang, B", "PT": "J"},
        ),
        ("refworks", "a.txt", REFWORKS, {"SR": "Electronic"}),
        (
            *("bibtex", "a.bib", BIB),
            {"citation_key": "jang_methane_2023", "month": "Mar", "file": "PDF:a.pdf:x"},
        ),
        (
            *("csl-json", "a.json", json.dumps([CSL])),
            {"citation_key": "http://zotero.org/1", "accessed": {"date-parts": [["2024"]]}},
        ),
    ],
)
def test_an_article_is_read_alike_in_all_formats_and_recognised_by_its_content(
    tmp_path, format_, name, text, further
):
    expected = {key: value for key, value in (ARTICLE | further).items() if value is not None}
    ending = "json" if format_ == "csl-json" else "txt"

    assert one(format_, text, name) == expected
    for file in (name, f"b.{ending}", *([] if ending == "json" else ["c"])):
        (tmp_path / file).write_text(text, "utf-8")
        corpus = read_corpus([tmp_path / file])
        assert (corpus.format, [item.id for item in items_of(corpus)]) == (format_, [expected["id"]])


def ris(*lines):
    return "\n".join(("TY  - JOUR", *lines, "ER  - \n"))


def bib(fields, kind="misc"):
    return f"@{kind}{{a, {fields}}}"


def csl(**item):
    return json.dumps([{"id": "a", "type": "book"} | item])


@pytest.mark.parametrize(
    ("format_", "text", "expected"),
    [
        ("ris", ris("AU  - 홍길동; 김철수", "KW  - 교육, 논"), {"authors": ["홍길동", "김철수"],
         "keywords": ["교육", "논"]}),
        ("ris", ris("AU  - M&uuml;ller, A.", "AU  - WHO,", "A1  - B"), {"authors": ["Müller, A.", "WHO",
         "B"]}),
        ("ris", ris("TI  - 논", "AB  - Fell.", "N2  - 줄다."), {"abstract": "줄다.", "abstract2": "Fell."}),
        ("ris", ris("AB  - One.", "AB  - Two."), {"abstract": "One. Two.", "abstract2": None}),
        ("ris", ris("AB  - Same.", "N2  - Same."), {"abstract": "Same.", "abstract2": None}),
        ("ris", ris("SP  - 12-20", "EP  - 20"), {"pages": "12-20"}),
        ("ris", ris("IS  - 9", "SP  -", "EP  -"), {"issue": "9", "pages": None}),
        ("ris", ris("Y2  - 2024", "Y1  - 2005/06/01"), {"year": 2005}),
        ("ris", ris("AN  - WOS:1", "ID  - 5"), {"id": "WOS:1", "citation_key": "5"}),
        ("ris", ris("AN  - 000123", "ID  - Kim 2020"), {"id": "a/Kim_2020"}),
        ("ris", ris("UR  - https://doi.org/10.1000/A.1"), {"id": "10.1000/a.1", "doi": "10.1000/A.1"}),
        ("ris", ris("LA  - fre", "TI  - Un titre"), {"lang": "other", "declared_language": "fre"}),
        ("ris", ris("LA  - Korean", "TI  - A title"), {"lang": "en", "declared_language": "Korean"}),
        ("ris", "TY  - BOOK\nTI  - A\nT2  - Notes\nER  - \n", {"series": "Notes", "journal": None}),
        ("ris", "TY  - CHAP\nDO  - 10.5555/978-3\nID  - 5\nER  - \n", {"id": "a/5", "doi": "10.5555/978-3"}),
        ("ris", "x\n  TY  - JOUR\n  TI  - Indented\n  ER  - \n", {"title": "Indented"}),
        ("refworks", "RT Book, Whole\nID 5\nT1 A\nJF Notes\n", {"type": "book", "series": "Notes"}),
        ("refworks", "RT Book, Section\nID 5\nT1 A\n", {"type": "chapter"}),
        ("endnote", "%0 Thesis\n%A 김철수;이수\n%B Series\n%F 7\n", {"authors": ["김철수", "이수"],
         "series": "Series"}),
        ("bibtex", bib("author={van der Berg, Jr, Jan AND {Kim and Lee, Inc.} and Ada Kim and others}"),
         {"authors": ["van der Berg, Jan, Jr", "Kim and Lee, Inc.", "Ada Kim"]}),
        ("bibtex", bib("author={A. {Delgado de M} and G. van {Old tot Old} and 김, 철수 and 남궁 민재}"),
         {"authors": ["Delgado de M, A.", "van Old tot Old, G.", "김철수", "남궁민재"]}),
        ("bibtex", bib('author={family=Dijk, given=Jan, prefix=van and "family={R and S, Inc.}"}'),
         {"authors": ["van Dijk, Jan", "R and S, Inc."]}),
        ("bibtex", '@string{x = "Ann of "}\n@ARTICLE(a, journal = x # {P},\n year = 2020)',
         {"journal": "Ann of P", "year": 2020}),
        ("bibtex", bib("title={제목}, subtitle={부제}, date={2019-03-01}, eprint={21}, eprinttype={arxiv}"),
         {"title": "제목: 부제", "year": 2019, "arxiv": "21"}),
        ("bibtex", bib("keywords={a, {b, c}}"), {"keywords": ["a", "b, c"]}),
        ("bibtex", bib("references={Kim}, id=3"), {"bibtex:references": "Kim", "bibtex:id": "3"}),
        ("bibtex", bib(r"doi={10.5555/a\_b}, url={http://a.b/~x_y}"), {"id": "10.5555/a_b",
         "url": "http://a.b/~x_y"}),
        ("bibtex", bib(r"title={Law {\&}amp$\mathsemicolon$ CO<sub>2</sub>}"), {"title": "Law & CO2"}),
        ("bibtex", "@misc{Kim 2020, title={T}}", {"id": "a/Kim_2020", "title": "T"}),
        ("bibtex", "@misc{title={No key}}", {"title": "No key", "citation_key": None}),
        ("bibtex", '@misc{M{\\"u}?id=3 ,\n title={T}}', {"citation_key": "Mü?id=3", "title": "T"}),
        ("bibtex", "@misc{a, abstract={an example:\n @misc{b}\n and more}}",
         {"abstract": "an example: @miscb and more"}),
        ("csl-json", csl(editor=[{"family": "B", "given": "L", "dropping-particle": "van",
         "suffix": "Jr."}], issued=2019),
         {"editors": ["B, L van, Jr."]}),
        ("csl-json", csl(author=[{"literal": "Kim, 철수 lab"}], DOI="10.1/x"),
         {"authors": ["Kim, 철수 lab"]}),
        ("csl-json", csl(references="Kim", language="tlh", issued=2019), {"csl:references": "Kim",
         "declared_language": "tlh"}),
        *(
            ("csl-json", csl(issued=issued), {"year": 2019})
            for issued in (
                *({"date-parts": [[2019, 3], [2020]]}, {"raw": "March 2019"}, {"literal": "2019"}, "2019-03"),
                *(2019, [{"year": "2019", "month": "1"}]),
            )
        ),
    ],
)  # fmt: skip
def test_a_value_is_read_from_where_programs_write_it(format_, text, expected):
    record = one(format_, text, "a.txt")

    assert {key: record.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("date", "year"),
    [
        *(("1998/12//", 1998), ("n.d.", None), ("20190301", 2019), ("201905", 2019), ("12/05/1998", 1998)),
        *(("2020-2021", 2020), ("[2003]", 2003), ("c1999", 1999), ("199X", None), ("Spring 2007", 2007)),
        *(("2019년 3월", 2019), ("0000", None), ("12-May-98", None), ("２０１９", 2019)),
    ],
)
def test_a_year_is_found_in_a_date(date, year):
    assert one("ris", ris(f"PY  - {date}"), "a.ris").get("year") == year


def test_bibtex_inherits_from_later_and_earlier_entries():
    book, child, other = read(
        "bibtex",
        "@inbook{c, title={C}, pages={1}, crossref={B}}\n@book{b, title={B}, year=2004,"
        " editor={E. F}, doi={10.1/b}}\n"
        "@xdata{x, publisher={P}, year=1999}\n@inproceedings{d, title={D}, year=2005, xdata={x}, "
        "crossref={d}}",
        "a.bib",
    )

    chapter, paper = child.record(), other.record()
    assert (book.title, chapter["title"], chapter["journal"], chapter["year"]) == ("B", "C", "B", 2004)
    assert (chapter["editors"], "doi" in chapter) == (["E. F"], False)
    assert (paper["title"], paper["year"], paper["publisher"]) == ("D", 2005, "P")


@pytest.mark.parametrize(
    ("format_", "text", "dead_lines", "fact", "ids"),
    [
        ("ris", ris("ID  - a") + "TY  - JOUR\nTI  - A\n", [4], "truncated", ["a/a"]),
        ("ris", "AU  - Kim\n" + ris("ID  - b"), [1], "AU before TY", ["a/b"]),
        ("ris", ris("ID  - a") + "TY  - JOUR\nTI  - \udcb0\udca1\nER  - \n" + ris("ID  - b"), [4],
         "byte 7 of line 5", ["a/a", "a/b"]),
        ("ris", "TY  - JOUR\nID  - a\nTY  - JOUR\nID  - b\nER  - \n", [], "", ["a/a", "a/b"]),
        ("endnote", "%T Lost\n%0 Book\n%F b\n", [1], "%T", ["a/b"]),
        ("bibtex", "@misc{a}\n@misc{x, title = {a {b}\n@misc{b,}", [2], "not balanced", ["a/a", "a/b"]),
        ("bibtex", '@misc{a}\n@misc{x, title = "a\n}\n@misc{b,}', [2], "no end", ["a/a", "a/b"]),
        ("bibtex", "@misc{a}\n@misc{x title = {X}, year=2001}\n@misc{b,}", [2], "title", ["a/a", "a/b"]),
        ("bibtex", "@misc{a}\n@misc{x, title = }\n@misc{b,}", [2], "no value", ["a/a", "a/b"]),
        ("bibtex", "@misc{a}\n@misc{x, title = {a} {b}}\n@misc{b,}", [2], "{b}", ["a/a", "a/b"]),
        ("bibtex", "@misc{a}\n@misc{x, title = {\udcff}}\n@misc{b,}", [2], "CP1252", ["a/a", "a/b"]),
        ("bibtex", '% @ {\n@comment{x {y} @misc{no}}\n@preamble{"\\x"}\n@misc{a} @misc{b}', [], "", ["a/a",
         "a/b"]),
        ("bibtex", "@misc{a, title = {open \\{ brace},\n}\n\n@misc{b, title={B}}", [], "", ["a/a", "a/b"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_dead_letter_with_its_line(format_, text, dead_lines, fact, ids):
    items = read(format_, text.encode("utf-8", "surrogateescape"), "a.txt")
    letters = [item for item in items if isinstance(item, DeadLetter)]

    assert [letter.line for letter in letters] == dead_lines
    assert all(fact in letter.reason for letter in letters)
    assert [item.id for item in items if isinstance(item, Paper)] == ids


@pytest.mark.parametrize(
    ("format_", "head", "line", "end"),
    [
        ("ris", b"TY  - JOUR\n", b"AB  - ", b"ER  - \nTY  - JOUR\nID  - b\nER  - \n"),
        ("bibtex", b"@misc{a, abstract = {", b"", b"}}\n@misc{b}"),
    ],
)
def test_a_record_over_64_mib_is_not_held_in_memory(format_, head, line, end):
    class Long:
        def __init__(self):
            self.blocks = iter([head, *[line + b"x" * (1 << 20) + b"\n"] * 100, end])

        def read1(self, size):
            return next(self.blocks, b"")

    dead, after = items_of(READERS[format_](Stream("a.txt", Long())))

    assert (str(64 << 20) in dead.reason, after.id) == (True, "a/b")


@pytest.mark.parametrize(
    ("content", "format_"),
    [
        ('[{"id": "a", "type": "book"}, {"id": "b", "type": "book", "issued": 2019}]', "csl-json"),
        ('{"id": "a", "type": "thesis"}', "jsonl"),
        ('{"id": "a", "type": "x", "authors": [], "DOI": "d"}', "jsonl"),
    ],
)
def test_csl_is_told_from_our_own_keys_by_its_variables(tmp_path, content, format_):
    (tmp_path / "a.json").write_text(content)

    assert read_corpus([tmp_path / "a.json"]).format == format_


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"G{\"o}del \'{\i}ndice {\c c}a \v{s} {\O}re", "Gödel índice ça š Øre"),
        (r"Nguy{\~{\^e}}n \'{\^e} \h{a} \textcommabelow{s}", "Nguyễn ế ả ș"),
        (r"{D}eep~{L}earning \emph{E. coli} in {\textbackslash}x", r"Deep Learning E. coli in \x"),
        (r"CO$_2$ and $\mathrm{H_2O}$, $O(n \log n)$", "CO2 and H2O, O(n log n)"),
        (r"$p \leq 0.05$ of 50\,\% \& \$5 \#1 a\_b", "p ≤ 0.05 of 50 % & $5 #1 a_b"),
        (r"The {\LaTeX} and \TeX{} book", "The LaTeX and TeX book"),
        (r"A--B --- ``quoted'' text", "A–B — “quoted” text"),
        ("two\\\\lines  and\ttabs, unfinished \\'", "two lines and tabs, unfinished"),
    ],
)
def test_tex_is_read_as_what_it_prints(tex, text):
    assert text_of(tex) == text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("CO<sub>2</sub> &amp;amp; <b>R&amp;D</b>", "CO2 & R&D"),
        ("&lt;i&gt;x&lt;/i&gt; p &lt; 0.05 &#39;&eacute;&#39;", "x p < 0.05 'é'"),
        ("p <0.05, a <b and c> d; the <title> tag", "p <0.05, a <b and c> d; the <title> tag"),
        ("http://a.b?x=1&section=2&copy=3 R&D;", "http://a.b?x=1&section=2&copy=3 R&D;"),
        ("<jats:p>A</jats:p>\n<jats:p>H<jats:sub>2</jats:sub>O</jats:p><br/>B", "A H2O B"),
        ('in <mml:math xmlns:mml="http://w3.org"><mml:mi>N</mml:mi></mml:math>-coupled', "in N-coupled"),
        ("<jats:tex-math>$$E=mc$$</jats:tex-math><mml:math><mml:mi>E</mml:mi></mml:math> was", "E was"),
        (r"<tex-math>\begin{x}$$E=mc$$\end{x}</tex-math> was<!-- <i> -->", "E=mc was"),
    ],
)
def test_markup_is_removed_and_text_is_kept(given, text):
    assert without_markup(given) == text


NOISE = st.binary(max_size=300) | st.text(st.sampled_from('@misc{a,b="c"}#\\ \n%<&;-'), max_size=60).map(
    str.encode
)
ITEM = st.fixed_dictionaries({}, optional={key: st.sampled_from(VALUES) for key in (*CSL, "custom")})


@given(
    st.sampled_from(["ris", "endnote", "medline", "wos", "refworks", "bibtex"]),
    st.sampled_from([b"", b"TY  - JOUR\n", b"%0 Book\n%A ", b"PMID- 1\n", b"PT J\n", b"RT Book\n"]),
    NOISE,
    st.lists(ITEM, max_size=3),
)
def test_no_bytes_and_no_values_stop_a_reader(format_, head, content, items):
    for item in (*read(format_, head + content, "a.txt"), *read("csl-json", json.dumps(items), "a.json")):
        assert isinstance(item, Paper | DeadLetter)
