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
FIELDS = (
    "id title abstract title2 abstract2 lang authors year journal keywords doi references cited_by_count "
    "body other"
).split()

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


def indexed(path, lines, *options):
    """Index records, each of which is indexed, replaced or refused; what is published can be searched."""
    ended = call("index", path, "--name", "y", "--rebuild", "--json", *options)
    assert ended.code == 0, ended
    counts = json.loads(ended.out)["counts"]
    assert counts["records"] + counts["dead_letters"] + counts["duplicates"] == lines, counts
    assert call("search", "methane 논", "--name", "y", "--method", "or").code == 0


def records(format_):
    names = {"miracl": {"id": "docid", "abstract": "text"}, "beir": {"id": "_id", "abstract": "text"}}
    keys = "CN Title Abstract Title2 Author Pubyear Lang Keyword DOI".split()
    own = "id title abstract title2 authors year lang keywords doi".split()
    sciences = dict(zip(own, keys, strict=True))
    renamed = names.get(format_, sciences if format_ == "scienceon" else {})
    fields = FIELDS if format_ == "jsonl" else ("id", "title", "abstract", "year", "keywords")
    for number, (field, value) in enumerate(product(fields, VALUES)):
        record = {"id": f"R{number}", "title": "methane", "abstract": "논"} | {field: value}
        yield {renamed.get(name, name): value for name, value in record.items()}


@pytest.mark.parametrize("format_", ["jsonl", "miracl", "beir", "scienceon"])
def test_records_with_a_strange_value_are_indexed_or_set_aside(tmp_path, format_):
    lines = [as_json(record) for record in records(format_)]
    indexed(write_jsonl(tmp_path / "c.jsonl", lines), len(lines), "--format", format_)


def test_lines_that_are_no_records_are_set_aside(tmp_path):
    good = as_json(PAPERS[0]).encode()
    lines = [
        good,
        *(good[:end] for end in range(1, len(good), 7)),
        *(
            good[:place] + bytes([byte]) + good[place + 1 :]
            for place in (0, 5, 20)
            for byte in (0, 1, 0x80, 0xC0, 0xFF)
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
            b'{"id": "R%d", "abstract": %b}' % (number, as_json(run).encode())
            for number, run in enumerate(RUNS)
        ),
        *(b'{"id": "S%d", "body": %b}' % (number, as_json(run).encode()) for number, run in enumerate(RUNS)),
    ]
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\n".join(lines))
    indexed(path, len(lines), "--format", "jsonl")


def test_rows_of_a_table_are_indexed_or_set_aside(tmp_path):
    cells = [
        "",
        " ",
        "a;b|c",
        "\0",
        "\ud800",
        "9" * 5_000,
        '"a""b"',
        *'x 가 "a,b" 2020 -1 ko xx'.split(),
        *SIGNS,
    ]
    rows = [f"R{number},t,{cell},{cell}" for number, cell in enumerate(cell for cell in cells if cell != '"')]
    rows += ["", ",,,", "a", "a,b,c,d,e", "a b,t,2,3"]
    text = "\n".join(["id,title,year,keywords", "GOOD,methane,2020,a", *rows])
    path = tmp_path / "c.csv"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    indexed(path, len(rows) - 1)  # neither the empty row nor the one of commas counts, the good one does


RESPONSE = (
    "<MetaData><resultSummary><statusCode>200</statusCode></resultSummary><recordList><record>"
    '<item metaCode="CN">{}</item><item metaCode="Title">{}</item></record></recordList></MetaData>'
)


def test_responses_are_read_or_refused(tmp_path):
    good = RESPONSE.format("CN1", "methane")
    texts = [
        *(good[:end] for end in range(20, len(good), 9)),
        *(
            RESPONSE.format("C", value)
            for value in (*SIGNS, "<b>", "<![CDATA[", "]]>", "&#0;", "&#xD800;", "&x;", "<!-- ")
        ),
        *(RESPONSE.format(value, "t") for value in ("", " ", "a b", "X@en", "가" * 513)),
        "<a>" * 5_000,
        '<?xml version="1.0" encoding="utf-7"?>' + good,
        '<?xml version="1.0" encoding="x"?>' + good,
        '<!DOCTYPE a [<!ENTITY b "c">]>' + good,
        f"<MetaData {'a' * 100_000}='1'/>",
    ]
    for number, text in enumerate(texts):
        (tmp_path / f"r{number:03}.xml").write_text(text, encoding="utf-8")
    (tmp_path / "good.xml").write_text(good)

    ended = call("index", tmp_path, "--name", "y", "--rebuild", "--json")

    assert ended.code == 0, ended


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
GROUPS = ["", *"index indexes search ask explain eval trace".split()]
# The doctor and bundles look at the machine; so only that they refuse.
REFUSING = [f"{name} --no-such-option" for name in ("doctor", "bundle")]
OPTIONS = ["--year", "--lang", "--journal", "-k", "--method", "--synonyms"]
SOME = TEXTS | st.sampled_from(["--name", "--json", "--help", "--", "-v", "\udcff", "x"])
EXPRESSIONS = st.lists(st.sampled_from((*WORDS, *SIGNS, "(", ")", '"')), max_size=30).map("".join)
ONE = TEXTS.map(lambda text: [text])
CALLS = {  # number of examples, words of the command, further arguments
    "ask": (60, ["ask --name x --"], ONE),
    "expression": (150, ["search --name x --method boolean --"], EXPRESSIONS.map(lambda text: [text])),
    "option": (
        80,
        [f"search methane --name x {option}" for option in OPTIONS],
        ONE,
    ),
    "name": (20, ["search methane --name"], ONE),
    "id": (100, IDS.values(), ONE),
    "any": (60, [*GROUPS, *REFUSING], st.lists(SOME, max_size=4)),
}


@pytest.mark.parametrize(("number", "words", "arguments"), CALLS.values(), ids=CALLS)
def test_arguments_are_used_or_refused(published, number, words, arguments):
    @drawn(number)
    @given(st.sampled_from(list(words)), arguments)
    def use(command, given_words):
        before = [word.format(*given_words) if "{}" in word else word for word in command.split()]
        call(*before, *([] if "{}" in command else given_words))

    use()


LINES = TEXTS | st.sampled_from(
    [
        *("q 0 X 1", "q Q0 X 1 1.0 t", "q\tmethane", '{"query_id": "q", "question": "methane"}', "q 0 X 1e3"),
        *("q Q0 X 1 nan t", "q Q0 X x 1 t", "q Q0 X 1 1e400 t", "q X 1", "\ufeffq 0 X 1"),
        *(
            '{"query_id": [], "question": {}}',
            "[" * 5_000,
            "메탄, methane",
            "a => b",
            "a, a",
            "세종시 세종 시",
        ),
    ]
)
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
    given_files = {"file": tmp_path / "file", "out": tmp_path / "out", "papers": published / "papers.jsonl"}
    for name, line in (("qrels", "q 0 X 1\n"), ("run", "q Q0 X 1 1.0 t\n")):
        given_files[name] = tmp_path / name
        given_files[name].write_text(line)

    @drawn(60)
    @given(st.lists(LINES, max_size=5).map("\n".join), st.binary(max_size=4))
    def read(text, tail):
        given_files["file"].write_bytes(text.encode() + tail)
        call(*(word.format(**given_files) for word in words.split()))

    read()


SETTINGS = (
    "HOME ENGINE WORKERS WRITER_MEMORY_MB KEEP_VERSIONS COMMIT_EVERY READABLE_BY TITLE_WEIGHT KEYWORDS "
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
