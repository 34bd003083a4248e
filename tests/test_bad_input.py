"""What the command line makes of bad input: what it says, its exit code, and that nothing else is lost."""

import gzip
import io
import json
import os
import re
import resource
import subprocess
import unicodedata
import zipfile

import pytest

from indexer.settings import IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.generator.sample_index import called
from tests.indexer.made_corpora import (
    WITHOUT_COMPILING,
    as_others_may,
    command,
    edit_manifest,
    environment_of,
    limited,
    paper,
    write_jsonl,
)
from tests.needs import mostly_nightly

GOOD = {"id": "GOOD", "title": "Rice paddies", "abstract": "methane of rice paddies"}


@pytest.fixture
def call(monkeypatch):
    """Call `shrag` with these arguments; return exit code, standard output and standard error."""
    monkeypatch.setenv("SHRAG_WORKERS", "1")

    def run(*arguments):
        done = called(*arguments)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def index(call):
    """Index a corpus as JSON; return the report and what was said."""

    def run(path, *options):
        code, out, told = call("index", path, "--name", "x", "--json", *options)
        assert code == 0, told
        return json.loads(out)

    return run


@pytest.fixture
def hits(call):
    def run(question, *options):
        code, out, told = call("search", question, "--name", "x", "--method", "or", "--json", *options)
        assert code == 0, told
        return [hit["passage_id"] for hit in json.loads(out)["hits"]]

    return run


def home():
    return IndexerSettings().home


def in_another_process(arguments, environment=(), **options):
    """Run a command in a process with these variables beside its home."""
    env = environment_of(home()) | dict(environment)
    return subprocess.run(arguments, env=env, check=False, capture_output=True, text=True, **options)


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("up", "..") + ".jsonl", content)
    return file.getvalue()


LINE = json.dumps(GOOD).encode() + b"\n"
BAD_PARTS = {  # name of the file, content, facts of each dead letter
    "not JSON": ("c.jsonl", LINE + b'{"id": "A"\n', ["2 not JSON"]),
    "an empty id": ("c.jsonl", LINE + b'{"id": ""}\n', ["2 id: "]),
    "invalid UTF-8": ("c.jsonl", LINE + b'{"id": "A", "title": "\xff"}\n', ["byte 23"]),
    "a bomb": ("c.jsonl.gz", gzip.compress(LINE + b"\n" * (8 << 20)), ["200 times"]),
    "members outside and a bomb": (
        "c.zip",
        zipped(good=LINE, up__outside=LINE.replace(b"GOOD", b"OUT"), bomb=bytes(8 << 20)),
        ["outside.jsonl", "bomb.jsonl"],
    ),
    "a row that never ends": (
        "c.csv",
        b'id,title\nGOOD,methane\nX,"' + b'a","b\n' * 500 + b'"\n',
        ["1000 bytes"],
    ),
}


@pytest.mark.parametrize(("name", "content", "facts"), BAD_PARTS.values(), ids=BAD_PARTS)
def test_a_bad_part_is_set_aside_and_the_rest_is_indexed(
    index, hits, tmp_path, monkeypatch, name, content, facts
):
    monkeypatch.setattr("indexer.corpora.readers.files.BOMB_BYTES", 1 << 20)
    monkeypatch.setattr("indexer.corpora.readers.csv.LINE_BYTES", 1_000)
    (corpus := tmp_path / name).write_bytes(content)

    report = index(corpus)

    dead = [f"{one['file']} {one['line']} {one['reason']}" for one in report["dead_letters"]]
    assert [fact for fact in facts if not any(fact in letter for letter in dead)] == []
    assert all(str(corpus) in letter for letter in dead)
    assert hits("methane") == ["GOOD"]
    letters = (home() / "x" / "dead-letters" / "000001.jsonl").read_text().splitlines()
    if name == "c.jsonl":
        assert json.loads(letters[0])["head"] == content.split(b"\n")[1].decode("utf-8", "backslashreplace")


def test_a_record_without_abstract_is_indexed_and_marked(index, hits, tmp_path, monkeypatch):
    records = [GOOD, {"id": "T", "title": "methane"}, {"id": "A", "abstract": "methane"}]
    assert index(write_jsonl(tmp_path / "c.jsonl", records))["counts"]["incomplete"] == 1
    *complete, last = hits("of methane?")
    assert (sorted(complete), last) == (["A", "GOOD"], "T")
    monkeypatch.setenv("SHRAG_DROP_INCOMPLETE", "false")
    assert sorted(hits("of methane?")) == ["A", "GOOD", "T"]


LONG = "methane " + "paddy " * 166_664 + "within" + " paddy" * 700_000 + " beyond"
NFD = unicodedata.normalize("NFD", "벼논에서 나오는 메탄의 양을 재었다")


@pytest.mark.parametrize(
    ("records", "counted", "found"),
    [
        ([GOOD, GOOD | {"abstract": "ammonia"}], "duplicates", {"methane": [], "ammonia": ["GOOD"]}),
        (
            [{"docid": "A#1", "title": "t", "text": LONG}],
            "cut",
            {"methane": ["A#1"], "within": ["A#1"], "beyond": []},
        ),
        (
            [{"id": "A", "title": "a\u0000b\u001fc", "abstract": "methane\u001fgas\u0085"}],
            "",
            {"methane": ["A"]},
        ),
        (
            [{"id": "A", "title": "t", "abstract": NFD}],
            "",
            {"메탄": ["A"], unicodedata.normalize("NFD", "메탄"): ["A"]},
        ),
    ],
    ids=["the last of an id wins", "5 MB", "control characters", "decomposed Hangul"],
)
def test_a_strange_record_is_indexed_and_found(index, hits, tmp_path, records, counted, found):
    counts = index(write_jsonl(tmp_path / "c.jsonl", records))["counts"]
    assert counts.get(counted, 1) == 1
    assert {word: hits(word) for word in found} == found


def test_of_a_truncated_gzip_what_is_whole_is_indexed(index, tmp_path):
    corpus = tmp_path / "c.jsonl.gz"
    lines = "".join(json.dumps(paper(number)) + "\n" for number in range(600)).encode()
    corpus.write_bytes(gzip.compress(lines, mtime=0)[:-5_000])
    report = index(corpus)
    assert 200 < report["counts"]["records"] < 600
    assert report["counts"]["dead_letters"] == 1
    assert "ends early" in report["dead_letters"][0]["reason"]


RESPONSE = (
    "<MetaData><resultSummary><statusCode>{status}</statusCode></resultSummary><recordList>"
    '<record><item metaCode="CN">CN1</item><item metaCode="Title">methane</item>'
    '<item metaCode="Abstract">methane of rice</item></record></recordList></MetaData>'
)
DOCTYPE = '<!DOCTYPE a [<!ENTITY b "c">]>'


@pytest.mark.parametrize(
    ("name", "text", "good", "reason"),
    [
        ("bad.xml", DOCTYPE + RESPONSE.format(status=200), RESPONSE.format(status=200), "DOCTYPE"),
        ("bad.xml", RESPONSE.format(status=401), RESPONSE.format(status=200), "statusCode 401, not 200"),
        ("bad.txt", "\xff", "A title\nA text about methane.", ""),
    ],
)
def test_a_file_that_is_refused_whole_is_named_without_a_line(call, tmp_path, name, text, good, reason):
    bad = tmp_path / name
    bad.write_text(text, "latin-1")
    code, _, told = call("index", tmp_path, "--name", "x")
    assert (code, told.count("\n")) == (1, 1)
    assert re.match(f"EmptyCorpus: .*{bad}: .*{reason}", told)

    (tmp_path / name.replace("bad", "good")).write_text(good)
    code, out, told = call("index", tmp_path, "--name", "x")
    assert (code, "1 record invalid" in out, told.partition(": ")[0]) == (0, True, f"  {bad}")


@pytest.mark.parametrize("question", ["the of and", "😀😀"])
def test_a_question_with_nothing_to_search_for(call, hits, index, tmp_path, question):
    index(write_jsonl(tmp_path / "c.jsonl", [GOOD]))
    assert hits(question) == []
    assert re.search("nothing to search for|no hits", "".join(call("search", question, "--name", "x")[1:]))


def test_an_index_of_another_fingerprint_is_told_with_what_differs(call, index, tmp_path):
    index(write_jsonl(tmp_path / "c.jsonl", [GOOD]))
    edit_manifest(FolderStore(home(), "x").version_path(1), fingerprint={"schema": "0"})
    code, _, told = call("search", "methane", "--name", "x")
    assert (code, told.count("\n")) == (1, 1)
    assert re.match(r"IndexMismatch: .*'x'.*\(schema: 0, now .*--rebuild", told)


def test_arguments_that_are_no_utf_8_are_no_tracebacks():
    for arguments in (("search", "meth\udcffane"), ("index", "no\udcff")):
        run = in_another_process(command(*arguments, "--name", "x"))
        assert (run.returncode, run.stderr.count("\n")) == (2, 1)


def test_too_little_memory_is_told_as_what_it_is(index, hits, tmp_path):
    corpus = write_jsonl(tmp_path / "c.jsonl", [GOOD])
    index(corpus)

    run = in_another_process(
        command("index", corpus, "--name", "x", "--workers", "1"),
        {"OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (210_000_000, 210_000_000)),
    )

    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (1, "", 1), run.stderr
    assert "memory" in run.stderr
    assert hits("methane") == ["GOOD"]


@pytest.mark.slow
@pytest.mark.parametrize("size", mostly_nightly([0, 30_000, 120_000], by_day={30_000}))
def test_where_files_cannot_grow_the_old_version_answers_and_the_command_resumes(index, hits, tmp_path, size):
    index(write_jsonl(tmp_path / "c.jsonl", [GOOD]))
    large = write_jsonl(tmp_path / "large.jsonl", [paper(number) for number in range(1_500)])

    run = in_another_process(
        command("index", large, "--name", "x", "--rebuild", "--workers", "1"),
        WITHOUT_COMPILING,
        preexec_fn=limited(size),
    )

    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (1, "", 1), run.stderr
    assert run.stderr.startswith("IndexNotWritten: ")
    assert "repeat the command" in run.stderr
    assert hits("methane") == ["GOOD"]
    assert index(large, "--rebuild")["papers"] == 1_500


def test_without_permission_the_old_version_answers(index, hits, tmp_path):
    index(write_jsonl(tmp_path / "c.jsonl", [GOOD]))
    folder = home() / "x"
    modes = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")]}
    for path in modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        run = in_another_process(
            as_others_may() + command("index", tmp_path / "c.jsonl", "--name", "x"), {"SHRAG_WORKERS": "1"}
        )
    finally:
        for path, mode in modes.items():
            path.chmod(mode)

    assert (run.returncode, run.stderr.count("\n")) == (1, 1), run.stderr
    assert re.match("IndexNotWritten: .*'x'.* permission", run.stderr)
    assert hits("methane") == ["GOOD"]


@pytest.mark.parametrize(("readable_by", "mode"), [(None, 0o750), ("owner", 0o700), ("all", 0o755)])
def test_an_index_can_be_read_by_whom_the_settings_name(index, tmp_path, monkeypatch, readable_by, mode):
    if readable_by:
        monkeypatch.setenv("SHRAG_READABLE_BY", readable_by)
    index(write_jsonl(tmp_path / "c.jsonl", [GOOD]))

    assert (home() / "x").stat().st_mode & 0o777 == mode & ~current_umask()
    files = {path.name: path.stat().st_mode & 0o044 for path in (home() / "x" / "versions").rglob("*")}
    assert {name for name, readable in files.items() if readable != 0o044 & ~current_umask()} == set()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_an_empty_home_is_unset_and_a_tilde_is_expanded(index, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    corpus = write_jsonl(tmp_path / "c.jsonl", [GOOD])
    for given, folder in [("", ".local/share/shrag"), ("~/indexes", "indexes")]:
        monkeypatch.setenv("SHRAG_HOME", given)
        index(corpus)
        assert (tmp_path / folder / "x" / "CURRENT").exists()


def test_a_decomposed_name_names_the_same_index(call, index, tmp_path):
    corpus = write_jsonl(tmp_path / "c.jsonl", [GOOD])
    assert call("index", corpus, "--name", unicodedata.normalize("NFD", "논문"))[0] == 0

    assert call("search", "methane", "--name", "논문")[0] == 0
    assert call("indexes", "delete", unicodedata.normalize("NFD", "논문"), "--yes")[0] == 0


def test_dead_letters_are_told_to_a_person_and_their_file_is_bounded(index, call, tmp_path, monkeypatch):
    monkeypatch.setattr("indexer.building.records.MOST_BYTES", 2_000)
    corpus = write_jsonl(tmp_path / "c.jsonl", [GOOD, *["{}"] * 98, "[]", '{"id": "long id"}'])
    code, out, told = call("index", corpus, "--name", "x")
    report = index(corpus)
    assert report["dead_letter_kinds"] == {
        "id: Field required": 98,
        "id: an id cannot contain white space or control characters": 1,
        "not a JSON object but a list": 1,
    }
    path = home() / "x" / "dead-letters" / "000001.jsonl"
    *letters, last = map(json.loads, path.read_text().splitlines())
    assert (code, "100 records invalid (dead letters)" in out) == (0, True)
    assert path.stat().st_size < 2_200
    assert last["reason"].startswith(f"{100 - len(letters)} more")
    assert f"{corpus}, line 2: " in told
    assert f"the first {len(letters)} in {path}" in told
