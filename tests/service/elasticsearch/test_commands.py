"""The command line with a cluster behind it: what it prints, and how it exits."""

import json

import pytest

from indexer.backups import SERVER_STORE
from tests.generator.sample_index import (
    ENGLISH,
    ENGLISH_OF_KOREAN,
    NAME,
    UNANSWERABLE_KOREAN,
    shrag,
)
from tests.indexer.made_corpora import ROOT, paper, write_jsonl
from tests.service.elasticsearch.own_prefix import environment_of, own_prefix

pytest_plugins = ["tests.generator.sample_index"]

# Not S03, as elsewhere: it is about the one record of the sample in which nori finds another word.
KOREAN = "논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄고, 그때 쌀 수확량도 함께 떨어지는가?"
SAMPLE = ROOT / "sample" / "papers.jsonl"


@pytest.fixture
def call(elasticsearch, tmp_path):
    """Return a function that runs the command with a prefix of the test's own; `home` is another machine."""
    with own_prefix(elasticsearch) as settings_for:
        yield lambda *arguments, home="home": run(settings_for(tmp_path / home), *arguments)


def run(settings, *arguments):
    named = environment_of(settings) | {"SHRAG_ENGINE": "elasticsearch"}
    given = {name.removeprefix("SHRAG_").lower(): value for name, value in named.items()}
    return shrag(*arguments, home=given.pop("home"), **given)


@pytest.fixture
def corpus(tmp_path):
    return write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(1, 5)])


def test_an_index_is_made_listed_shown_changed_and_deleted(call, corpus, monkeypatch):
    monkeypatch.setenv("SHRAG_ELASTICSEARCH__SETTLE_S", "0")
    assert "shrag index PATH --name NAME" in call("indexes", "list").stdout

    made = call("index", corpus, "--name", "학술")
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith("index '학술', version 1: 4 passages of 4 papers, 4 records read in ")

    removed = call("indexes", "remove", "학술", "P00001", "none")
    assert (removed.returncode, removed.stderr.endswith(": none\n")) == (0, True)
    assert removed.stdout.startswith("index '학술', version 2: 1 record removed")

    shown = json.loads(call("indexes", "show", "학술", "--json").stdout)
    assert (shown["engine"], shown["version"], shown["versions"], shown["passages"], shown["unfinished"]) == (
        "elasticsearch",
        2,
        [1, 2],
        3,
        False,
    )

    assert "version 1" in call("indexes", "rollback", "학술").stdout
    listed = json.loads(call("indexes", "list", "--json").stdout)["indexes"]
    assert [(one["name"], one["version"], one["engine"]) for one in listed] == [("학술", 1, "elasticsearch")]

    deleted = call("indexes", "delete", "학술", "--yes")
    assert deleted.returncode == 0
    assert json.loads(call("indexes", "list", "--json").stdout) == {"indexes": []}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("indexes", "delete", "none", "--yes"), "UnknownIndex: "),
        (("search", "지식", "--name", "none"), "UnknownIndex: "),
        (("indexes", "show", "../none"), "InvalidCall: "),
        (("indexes", "rollback", "papers"), "InvalidCall: "),
        (("indexes", "remove", "papers", "none"), "InvalidCall: "),
    ],
)
def test_what_cannot_be_done_is_one_line_and_an_exit_code(papers, arguments, told):
    done = run(papers, *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def papers(settings_for, tmp_path_factory):
    """Return the settings of a home with an index `papers`."""
    settings = settings_for(tmp_path_factory.mktemp("papers"))
    corpus = write_jsonl(tmp_path_factory.mktemp("corpus") / "corpus.jsonl", [paper(1), paper(2)])
    assert run(settings, "index", corpus, "--name", "papers").returncode == 0
    return settings


def test_a_backup_says_that_the_cluster_saves_its_indexes_and_copies_the_keys(papers, tmp_path):
    refused = run(papers, "indexes", "backup", "--location", tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "docs/how-to/cluster.md#backup-and-restore" in refused.stderr
    assert run(papers, "keys", "create", "--label", "reader").returncode == 0
    done = run(papers, "indexes", "backup", "first", "--location", tmp_path)
    assert (done.returncode, "docs/how-to/cluster.md" in done.stderr) == (0, True)
    assert (tmp_path / "first" / SERVER_STORE).exists()


@pytest.fixture(scope="module")
def sample_in_cluster(settings_for, tmp_path_factory):
    """Return the settings of a second machine, where another has indexed the sample."""
    first, second = (settings_for(tmp_path_factory.mktemp(home)) for home in ("first", "second"))
    assert run(first, "index", SAMPLE, "--name", NAME).returncode == 0
    return second


def parsed(output, **options):
    """Return a record without the times in it."""
    hook = lambda record: {key: value for key, value in record.items() if key != "milliseconds"}  # noqa: E731
    return json.loads(output, object_hook=hook, **options)


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", KOREAN),
        ("ask", ENGLISH_OF_KOREAN),
        ("ask", UNANSWERABLE_KOREAN),
        ("search", ENGLISH, "--method", "paper"),
        ("search", KOREAN, "--year", "2015..", "--lang", "ko"),
        ("search", '제목:"회복탄력성" OR "thermal runaway" NOT year:..2000', "--method", "boolean"),
    ],
)
def test_an_answer_and_a_search_are_those_of_the_embedded_engine(sample_home, sample_in_cluster, arguments):
    embedded = shrag(*arguments, "--name", NAME, "--json", home=sample_home)
    cluster = run(sample_in_cluster, *arguments, "--name", NAME, "--json")

    assert (cluster.returncode, cluster.stderr) == (embedded.returncode, embedded.stderr) == (0, "")
    expected = parsed(embedded.stdout, parse_float=lambda text: pytest.approx(float(text), abs=2e-4))
    assert parsed(cluster.stdout) == expected
    assert expected["hits"]
