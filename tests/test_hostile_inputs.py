"""Whatever is given to `shrag`, it ends with a result or says what is wrong, and loses nothing on the way.

All goes through the real entry point, in this process. What hypothesis draws is the same in each run.
"""

import json
from itertools import islice, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import BY_NIGHT
from tests.hostile import CHARACTERS, RUNS, SIGNS, TEXTS, VALUES, WORDS, as_json, call
from tests.indexer.made_corpora import build, write_jsonl
from tests.needs import mostly_nightly

PAPERS = (
    {"id": "X", "title": "논의 메탄", "abstract": "논에서 나오는 메탄(methane)을 재었다.", "year": 2020},
    {"id": "Y", "title": "Methane of paddies", "abstract": "Methane was measured. It fell.", "title2": "논"},
)
METHODS = ("or", "paper", "shrag", "boolean")
FIELDS = "id title abstract title2 abstract2 lang authors year journal keywords doi references body".split()
SCIENCEON = {"id": "CN", "title": "Title", "abstract": "Abstract", "year": "Pubyear", "keywords": "Keyword"}
# The names of fields of a format, where they differ from our own.
FORMATS = {
    "jsonl": {},
    "miracl": {"id": "docid", "abstract": "text"},
    "beir": {"id": "_id", "abstract": "text"},
    "scienceon": SCIENCEON,
}

drawn = lambda number: settings(  # noqa: E731
    max_examples=number,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Return a home with an index `x` of two papers."""
    home = tmp_path_factory.mktemp("hostile")
    build(home, write_jsonl(home / "papers.jsonl", PAPERS), "x")
    return home


@pytest.fixture(autouse=True)
def _environment(published, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(published))
    monkeypatch.setenv("SHRAG_WORKERS", "1")


def records(format_):
    """Return lines of records, each with a strange value."""
    renamed = FORMATS[format_]
    fields = [*FIELDS, "other"] if format_ == "jsonl" else SCIENCEON
    for number, (field, value) in enumerate(product(fields, VALUES)):
        record = {"id": f"R{number}", "title": "methane", "abstract": "논"} | {field: value}
        yield as_json({renamed.get(name, name): value for name, value in record.items()}).encode()


GOOD = as_json(PAPERS[0]).encode()
NO_RECORDS = [
    GOOD,
    *(GOOD[:end] for end in range(1, len(GOOD), 7)),
    *(
        GOOD[:place] + bytes([byte]) + GOOD[place + 1 :]
        for place, byte in product((0, 5, 20), (0, 1, 0x80, 0xC0, 0xFF))
    ),
    *(b"[" * depth for depth in (1, 99, 10_000)),
    *(b'{"a":' * depth + b"1" + b"}" * depth for depth in (1, 99, 200, 10_000)),
    *(b'{"id": "D", "other": %b}' % (b"[" * depth + b"]" * depth) for depth in (1, 99, 101, 900)),
    b"1" * 1_000_000,
    b'{"id": "N", "cited_by_count": %b}' % (b"9" * 100_000),
    b'{"id": "N", "other": 1e%b}' % (b"9" * 1_000),
    b'{"id": "N", "other": NaN}',
    b'{"id": "K", "id": "L"}',
    b'{"id": "B", "body": "%b"}' % (b"# 1. a\\n" * 2_000),
    *(
        b'{"id": "%d", "%b": %b}' % (number, field, as_json(run).encode())
        for number, (field, run) in enumerate(product((b"abstract", b"body"), RUNS))
    ),
]
CELLS = ["", " ", "a;b|c", "\0", "\ud800", "9" * 5_000, '"a""b"', *'x 가 "a,b" 2020 -1 ko xx'.split(), *SIGNS]
ROWS = [
    *("id,title,year,keywords", "GOOD,methane,2020,a"),
    *(f"R{number},t,{cell},{cell}" for number, cell in enumerate(CELLS) if cell != '"'),
    *("", ",,,", "a", "a,b,c,d,e", "a b,t,2,3"),
]
# Of the table neither its header, nor the empty row, nor the one of commas counts.
CORPORA = {
    **{format_: (f"c.{format_}.jsonl", [*records(format_)], 0) for format_ in FORMATS},
    "no records": ("c.jsonl", NO_RECORDS, 0),
    "rows": ("c.csv", [row.encode("utf-8", "surrogatepass") for row in ROWS], 3),
}


@pytest.mark.parametrize("kind", CORPORA)
def test_lines_are_indexed_replaced_or_set_aside(tmp_path, kind):
    name, lines, uncounted = CORPORA[kind]
    path = tmp_path / name
    path.write_bytes(b"\n".join(lines))
    format_ = () if kind == "rows" else ("--format", kind if kind in FORMATS else "jsonl")
    ended = call("index", path, "--name", "y", "--rebuild", "--json", *format_)
    assert ended.code == 0, ended
    counts = json.loads(ended.out)["counts"]
    told = counts["records"] + counts["dead_letters"] + counts["duplicates"]
    assert told == len(lines) - uncounted, counts
    assert call("search", "methane 논", "--name", "y", "--method", "or").code == 0


RESPONSE = (
    "<MetaData><resultSummary><statusCode>200</statusCode></resultSummary><recordList><record>"
    '<item metaCode="CN">{}</item><item metaCode="Title">{}</item></record></recordList></MetaData>'
)


def test_responses_are_read_or_refused(tmp_path):
    good = RESPONSE.format("CN1", "methane")
    odd = (*SIGNS, "<b>", "<![CDATA[", "]]>", "&#0;", "&#xD800;", "&x;", "<!-- ")
    texts = [
        good,
        *(good[:end] for end in range(20, len(good), 9)),
        *(RESPONSE.format("C", value) for value in odd),
        *(RESPONSE.format(value, "t") for value in ("", " ", "a b", "X@en", "가" * 513)),
        "<a>" * 5_000,
        '<?xml version="1.0" encoding="utf-7"?>' + good,
        '<?xml version="1.0" encoding="x"?>' + good,
        '<!DOCTYPE a [<!ENTITY b "c">]>' + good,
        f"<MetaData {'a' * 100_000}='1'/>",
    ]
    for number, text in enumerate(texts):
        (tmp_path / f"r{number:03}.xml").write_text(text, encoding="utf-8")
    assert call("index", tmp_path, "--name", "y", "--rebuild", "--json").code == 0


@pytest.mark.parametrize("method", mostly_nightly(METHODS, by_day={"shrag", "boolean"}))
def test_questions_are_answered_or_refused(published, method):
    @drawn(90)
    @given(TEXTS)
    def ask(question):
        call("search", question, "--name", "x", "--method", method, "--json")

    ask()
    for question in (*CHARACTERS, *RUNS, "", "x" * 20_001, " ".join(map(chr, range(0xAC00, 0xAC00 + 2_000)))):
        call("search", question, "--name", "x", "--method", method)


IDS = {
    "explain": "explain methane {}",
    "remove": "indexes remove x -- {}-",
    "delete": "indexes delete --yes -- -{}",
    "index": "index --name z -- /nowhere/{}",
    **{name: f"indexes {name} -- -{{}}" for name in ("show", "rollback", "export")},
}
# The doctor and bundles look at the machine; so only that they refuse.
REFUSING = [f"{name} --no-such-option" for name in ("doctor", "bundle")]
GROUPS = ["", *"index indexes search ask explain eval trace".split(), *REFUSING]
OPTIONS = ["--year", "--lang", "--journal", "-k", "--method", "--synonyms", "--name"]
SOME = TEXTS | st.sampled_from(["--name", "--json", "--help", "--", "-v", "\udcff", "x"])
EXPRESSIONS = st.lists(st.sampled_from((*WORDS, *SIGNS, "(", ")", '"')), max_size=30).map("".join)
ONE = TEXTS.map(lambda text: [text])
CALLS = {  # number of examples, words of the command, further arguments
    "ask": (60, ["ask --name x --"], ONE),
    "expression": (150, ["search --name x --method boolean --"], EXPRESSIONS.map(lambda text: [text])),
    "option": (100, [f"search methane --name x {option}" for option in OPTIONS], ONE),
    "id": (100, IDS.values(), ONE),
    "any": (60, GROUPS, st.lists(SOME, max_size=4)),
}


@pytest.mark.parametrize(("number", "words", "arguments"), CALLS.values(), ids=CALLS)
def test_arguments_are_used_or_refused(published, number, words, arguments):
    @drawn(number)
    @given(st.sampled_from(list(words)), arguments)
    def use(command, given_words):
        before = [word.format(*given_words) if "{}" in word else word for word in command.split()]
        call(*before, *([] if "{}" in command else given_words))

    use()


ODD_LINES = (
    *("q 0 X 1", "q Q0 X 1 1.0 t", "q\tmethane", '{"query_id": "q", "question": "methane"}', "q 0 X 1e3"),
    *("q Q0 X 1 nan t", "q Q0 X x 1 t", "q Q0 X 1 1e400 t", "q X 1", "\ufeffq 0 X 1", "메탄, methane"),
    *('{"query_id": [], "question": {}}', "[" * 5_000, "a => b", "a, a", "세종시 세종 시"),
)
LINES = TEXTS | st.sampled_from(ODD_LINES)
FILES = {
    "qrels": "eval score {file} {run}",
    "run": "eval score {qrels} {file}",
    "topics": "eval run {file} --name x --method or --out {out}",
    "expressions": "eval run {file} --name x --method boolean --out {out}",
    "synonyms": "search methane --name x --synonyms {file}",
    "dictionary": "index {papers} --name z --analyzer english --dictionary {file}",
}


@pytest.mark.parametrize("words", FILES.values(), ids=FILES)
def test_files_are_read_or_refused(published, tmp_path, words):
    names = ("file", "out", "qrels", "run")
    given_files = {name: tmp_path / name for name in names} | {"papers": published / "papers.jsonl"}
    given_files["qrels"].write_text("q 0 X 1\n")
    given_files["run"].write_text("q Q0 X 1 1.0 t\n")

    @drawn(60)
    @given(st.lists(LINES, max_size=5).map("\n".join), st.binary(max_size=4))
    def read(text, tail):
        given_files["file"].write_bytes(text.encode() + tail)
        call(*(word.format(**given_files) for word in words.split()))

    read()


SETTINGS = (
    "HOME ENGINE WORKERS KEEP_VERSIONS READABLE_BY TITLE_WEIGHT KEYWORDS "
    "ENCODER LLM HITS_PER_QUERY CANDIDATES RERANK_DEPTH RANKING SYNONYMS DROP_INCOMPLETE "
    "ENCODER__PROVIDER ENCODER__BASE_URL ENCODER__STORAGE LLM__BASE_URL EVIDENCE ASK_METHOD "
    "ELASTICSEARCH__URL ELASTICSEARCH__CA_CERTS ELASTICSEARCH ELASTICSEARCH__PREFIX RERANKER__PROVIDER"
).split()


def test_settings_are_used_or_refused(published, monkeypatch):
    values = ("", " ", "9" * 5_000, '{"a": 1}', *"-1 x 가 nan 1e999 {} [ http://[ /dev/null".split())
    for name, value in islice(product(SETTINGS, values), 0, None, 1 if BY_NIGHT else 3):
        with monkeypatch.context() as patch:
            patch.setenv(f"SHRAG_{name}", value)
            call("search", "methane", "--name", "x")
