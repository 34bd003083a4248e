"""What `--export` writes is indexed again without loss: a thousand records in each format."""

from io import BufferedReader, BytesIO
from random import Random

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers.formats import read_items
from indexer.corpora.readers.streams import Stream
from retriever.exports import export_named
from retriever.reference import csl_item

RECORDS = 1000
WORDS = (
    *"논에서 메탄이 줄었다 지식 그래프 학술 정보 검색 the methane of rice paddies fell deep learning".split(),
    *(
        "ER  -",
        "TY  - JOUR",
        "@article{x,",
        "}",
        "{{",
        "\\alpha",
        "\\",
        "$x_2^{a}$",
        "50%",
        "#1_a",
        "~",
        "a~b",
    ),
    *("``quoted''", "A--B", "---", "=1+1", "-5", "+", "@SUM(A1)", "'=x", '"quoted"', "a;b", "c,", "|", "[x]"),
    *("<i>x</i>", "&amp;", "p<0.05", "γ-선", "１２", "[", "]", "2019", "\t", "\n", "e\u0301", "🇰🇷", "“인용”"),
)
KEYWORDS = ("메탄", "rice paddy", "soil, water", "a; b", "C++", "[1]", "50%", "{x}", "메탄")
AUTHORS = (
    *("김철수", "남궁 민재", "Kim, Ada", "Ada Kim", "van der Berg, Jan", "Ferreira, Daniel João", "이수"),
    *("World Health Organization", "Kim and Lee", "others", "Kim, A.-B.", "O'Neil, Sean", "한국농업학회"),
)
ID_CHARACTERS = "abcXYZ019가나논-_.:/()#@+{}%&;=~^$\\\"'"
ADDRESSES = ("https://example.org/a_b?c=%20&d#e", "http://a.b/~x", "https://doi.org/10.1/x")
DOIS = ("10.5555/ko.1_a", "10.1002/(SICI)1097-4636(199823)43:4<338::AID-JBM16>3.0.CO;2-B", "10.1/a{b}c")

# Fields that each format can hold.
BASIC = (
    *("id", "title", "title2", "abstract", "abstract2", "lang", "authors", "year", "journal", "publisher"),
    *("keywords", "doi", "url", "source", "volume", "issue", "pages"),
)
HELD = {
    "ris": BASIC,
    "bibtex": (*BASIC, "references"),
    "csl-json": (*BASIC, "references"),
    "csv": (*BASIC, "references", "cited_by_count", "reference_list", "grade"),
    "jsonl": (*BASIC, "references", "cited_by_count", "reference_list", "grade"),
}


def text(random, most):
    words = random.choices(WORDS, k=random.randint(1, most))
    return " ".join([random.choice(WORDS).strip() or "첫", *words])


def record(random, number):
    made = {
        "id": "".join(random.choices(ID_CHARACTERS, k=random.randint(1, 12))) + str(number),
        "lang": random.choice(["ko", "en", "other"]),
        "title": text(random, 8),
        "title2": text(random, 8),
        "abstract": text(random, 60),
        "abstract2": text(random, 60),
        "authors": random.sample(AUTHORS, random.randint(1, 6)),
        "year": random.randint(1000, 2100),
        "journal": text(random, 4),
        "publisher": text(random, 3),
        "keywords": random.choices(KEYWORDS, k=random.randint(1, 5)),
        "doi": random.choice(DOIS),
        "url": random.choice(ADDRESSES),
        "volume": str(random.randint(1, 99)),
        "issue": random.choice(["2", "3-4", "특집호"]),
        "pages": random.choice(["101-118", "e17", "S1-S9"]),
        "source": text(random, 2),
        "references": [f"10.1/{random.randint(1, 99)}", f"P-{number}"],
        "cited_by_count": random.randint(0, 10**6),
        "reference_list": [{"title": text(random, 3), "year": 2019}],
        "grade": {"a": [1, 2.5, None]},
    }
    return {key: value for key, value in made.items() if key in {"id", "lang"} or random.random() < 0.7}


def one_line(value):
    return " ".join(value.split()) if isinstance(value, str) else value


def names(authors):
    """Return the names as they are cited, as "Ada Kim" and "Kim, Ada" are the same."""
    return csl_item({"authors": authors})["author"]


def as_held(record, format_):
    return {
        key: names(value) if key == "authors" else one_line(value)
        for key, value in record.items()
        if key in HELD[format_]
    }


@pytest.mark.parametrize("format_", HELD)
def test_a_thousand_records_come_back_with_all_that_the_format_can_hold(format_):
    random = Random(25)
    records = [record(random, number) for number in range(RECORDS)]
    export = export_named(format_)
    content = b"".join(export.encoded([{"doc_id": one["id"], **one} for one in records]))

    items = list(read_items(Stream(f"a{export.extension}", BufferedReader(BytesIO(content))), format_))

    papers = [item for item in items if isinstance(item, Paper)]
    for given, read in zip(records, papers, strict=True):
        assert as_held(read.record(), format_) == as_held(given, format_)
