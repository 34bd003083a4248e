r"""BibTeX as reference managers and publishers write it, and everything that can be wrong with it."""

from io import BufferedReader, BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
from indexer.corpora.readers.bibtex import read_bibtex
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.tex import text_of
from tests.indexer.corpora.readers.items import items_of

ZOTERO = r"""
@article{jang_methane_2023,
	title = {Methane from {Korean} rice paddies: 40\% less},
	volume = {12},
	issn = {1234-5678},
	url = {https://example.org/a_b~c},
	doi = {10.5555/paddy\_2},
	abstract = {Methane fell --- by \$5.},
	language = {en},
	number = {3},
	urldate = {2024-01-01},
	journal = {Annals of Paddies},
	author = {Jang, Boram and {강가은} and Garc{\'i}a L{\'o}pez, Ana},
	month = mar,
	year = {2023},
	note = {To be read},
	keywords = {methane, rice},
	pages = {101--118},
	file = {PDF:files/7/a.pdf:application/pdf},
}
"""


def read(text, name="papers/library.bib"):
    content = text if isinstance(text, bytes) else text.encode()
    return list(read_bibtex(Stream(name, BufferedReader(BytesIO(content)), root="papers")))


def one(text):
    (paper,) = read(text)
    return paper.record()


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"G{\"o}del", "Gödel"),
        (r"\'{\i}ndice {\c c}a \v{s} {\O}re", "índice ça š Øre"),
        (r"{D}eep~{L}earning", "Deep Learning"),
        (r"CO$_2$ and $\mathrm{H_2O}$", "CO2 and H2O"),
        (r"$p \leq 0.05$ of 50\,\% \& \$5 \#1 a\_b", "p ≤ 0.05 of 50 % & $5 #1 a_b"),
        (r"A--B --- ``quoted'' text", "A–B — “quoted” text"),
        (r"\emph{E. coli} in {\textbackslash}x", r"E. coli in \x"),
        (r"two\\lines  and	tabs", "two lines and tabs"),
        (r"unfinished \'", "unfinished"),
    ],
)
def test_tex_is_read_as_what_it_prints(tex, text):
    assert text_of(tex) == text


def test_an_export_of_zotero_is_read():
    assert one(ZOTERO) == {
        "id": "10.5555/paddy_2",
        "title": "Methane from Korean rice paddies: 40% less",
        "volume": "12",
        "issn": "1234-5678",
        "url": "https://example.org/a_b~c",
        "doi": "10.5555/paddy_2",
        "abstract": "Methane fell — by $5.",
        "lang": "en",
        "issue": "3",
        "urldate": "2024-01-01",
        "journal": "Annals of Paddies",
        "authors": ["Jang, Boram", "강가은", "García López, Ana"],
        "month": "Mar",
        "year": 2023,
        "note": "To be read",
        "keywords": ["methane", "rice"],
        "pages": "101-118",
        "file": "PDF:files/7/a.pdf:application/pdf",
        "citation_key": "jang_methane_2023",
        "type": "article-journal",
    }


def test_names_are_separated_outside_of_braces():
    record = one("@misc{a, author = {van der Berg, Jr, Jan AND {Kim and Lee, Inc.} and Ada Kim and others}}")

    assert record["authors"] == ["van der Berg, Jan, Jr", "Kim and Lee, Inc.", "Ada Kim"]


def test_abbreviations_and_parts_are_joined():
    text = '@string{annals = "Annals of "}\n@ARTICLE(a, journal = annals # {Paddies}, year = 2020)\n'

    record = one(text)

    assert (record["journal"], record["year"]) == ("Annals of Paddies", 2020)


def test_biblatex_has_other_names_for_fields():
    record = one(
        "@online{a, title={제목}, subtitle={부제}, journaltitle={J}, date={2019-03-01}, langid={korean},"
        " eprint={2101.00001}, eprinttype={arxiv}, location={Seoul}}"
    )

    assert (record["title"], record["journal"], record["year"], record["lang"]) == (
        "제목: 부제",
        "J",
        2019,
        "ko",
    )
    assert (record["arxiv"], record["place"], record["type"]) == ("2101.00001", "Seoul", "webpage")


@pytest.mark.parametrize(
    ("keywords", "read"),
    [("a, b", ["a", "b"]), ("a; b, c", ["a", "b, c"]), ("a, {b, c}", ["a", "b, c"])],
)
def test_keywords_are_separated_by_semicolons_or_else_by_commas(keywords, read):
    assert one(f"@misc{{a, keywords = {{{keywords}}}}}")["keywords"] == read


def test_a_field_with_the_name_of_another_value_is_kept_apart():
    record = one('@misc{a, references = "Kim 2019; Lee 2020", source = {Scopus}, id = 3}')

    assert record["bibtex:references"] == "Kim 2019; Lee 2020"
    assert (record["bibtex:source"], record["bibtex:id"], record["id"]) == ("Scopus", "3", "library/a")


def test_comments_and_preambles_are_skipped():
    text = '% a comment @ {\n@comment{jabref-meta: {x} @misc{no}}\n@preamble{"\\newcommand{x}"}\n@misc{a}'

    assert [item.id for item in read(text)] == ["library/a"]


def test_escaped_braces_need_not_balance():
    first, second = read("@misc{a, title = {an open \\{ brace},\n}\n\n@misc{b, title={B}}")

    assert (first.title, second.id) == ("an open { brace", "library/b")


@pytest.mark.parametrize(
    ("entry", "fact"),
    [
        ("@misc{broken, title = {a {b}\n", "not balanced"),
        ('@misc{broken, title = "a\n}\n', "no end"),
        ("@misc{broken, title = }\n", "no value"),
        ("@misc{broken, title = {a} {b}}\n", "{b}"),
        ("@misc{broken, title = {\ud800}}\n", "byte 24 of line 2"),
    ],
)
def test_what_is_wrong_is_one_dead_letter_with_its_line(entry, fact):
    before, dead, after = read(f"@misc{{a}}\n{entry}@misc{{b, title={{B}}}}".encode("utf-8", "surrogatepass"))

    assert (before.id, dead.line, after.id) == ("library/a", 2, "library/b")
    assert fact in dead.reason


def test_an_entry_over_64_mib_is_not_held_in_memory():
    class Long:
        def __init__(self):
            lines = [b"x" * (1 << 20) + b"\n"] * 100
            self.blocks = iter([b"@misc{a, abstract = {", *lines, b"}}\n@misc{b}"])

        def read1(self, size):
            return next(self.blocks, b"")

    dead, after = items_of(read_bibtex(Stream("a.bib", Long())))

    assert (str(64 << 20) in dead.reason, after.id) == (True, "a/b")


@pytest.mark.parametrize("name", ["a.bib", "a.txt", "a"])
def test_the_format_is_recognised_by_its_first_entry(tmp_path, name):
    (tmp_path / name).write_text("% Encoding: UTF-8\n" + ZOTERO, "utf-8")

    corpus = read_corpus([tmp_path / name])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("bibtex", ["10.5555/paddy_2"])


@given(
    st.binary(max_size=300)
    | st.text(st.sampled_from('@misc{a,b="c"}#\\ \n'), max_size=60).map(lambda text: text.encode())
)
def test_no_bytes_stop_the_reader(content):
    for item in read(content):
        assert isinstance(item, Paper | DeadLetter)
