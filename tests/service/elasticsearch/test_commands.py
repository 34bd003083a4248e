"""The command line with a cluster behind it: what it prints, and how it exits."""

import json

import pytest

from indexer.backups import SERVER_STORE
from tests.generator.sample_index import NAME, UNANSWERABLE_KOREAN, shrag
from tests.indexer.made_corpora import ROOT, paper, write_jsonl
from tests.service.elasticsearch.own_prefix import environment_of

pytest_plugins = ["tests.generator.sample_index"]

# Not S03, as elsewhere: it is about the one record of the sample in which nori finds another word.
KOREAN = "논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄고, 그때 쌀 수확량도 함께 떨어지는가?"


def run(settings, *arguments):
    named = environment_of(settings) | {"SHRAG_ENGINE": "elasticsearch", "SHRAG_ELASTICSEARCH__SETTLE_S": "0"}
    given = {name.removeprefix("SHRAG_").lower(): value for name, value in named.items()}
    return shrag(*arguments, home=given.pop("home"), **given)


@pytest.fixture(scope="module")
def papers(settings_for, tmp_path_factory):
    """Return the settings of a home with an index `papers`."""
    settings = settings_for(tmp_path_factory.mktemp("papers"))
    corpus = write_jsonl(tmp_path_factory.mktemp("corpus") / "corpus.jsonl", [paper(1), paper(2)])
    assert run(settings, "index", corpus, "--name", "papers").returncode == 0
    return settings


def test_an_index_is_made_listed_shown_changed_and_deleted(papers, tmp_path):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(1, 5)])
    made = run(papers, "index", corpus, "--name", "학술")
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith("index '학술', version 1: 4 passages of 4 papers, 4 records read in ")

    removed = run(papers, "indexes", "remove", "학술", "P00001", "none")
    assert (removed.returncode, removed.stderr.endswith(": none\n")) == (0, True)
    assert removed.stdout.startswith("index '학술', version 2: 1 record removed")

    shown = json.loads(run(papers, "indexes", "show", "학술", "--json").stdout)
    expected = {
        "engine": "elasticsearch",
        "version": 2,
        "versions": [1, 2],
        "passages": 3,
        "unfinished": False,
    }
    assert expected.items() <= shown.items()

    assert "version 1" in run(papers, "indexes", "rollback", "학술").stdout
    listed = json.loads(run(papers, "indexes", "list", "--json").stdout)["indexes"]
    assert {(one["name"], one["version"]) for one in listed} == {("papers", 1), ("학술", 1)}
    assert run(papers, "indexes", "delete", "학술", "--yes").returncode == 0
    assert len(json.loads(run(papers, "indexes", "list", "--json").stdout)["indexes"]) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("indexes", "delete", "none", "--yes"), "UnknownIndex: "),
        (("search", "지식", "--name", "none"), "UnknownIndex: "),
        (("indexes", "rollback", "papers"), "InvalidCall: "),
        (("indexes", "remove", "papers", "none"), "InvalidCall: "),
    ],
)
def test_what_cannot_be_done_is_one_line_and_an_exit_code(papers, arguments, told):
    done = run(papers, *arguments)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(told)


def test_a_backup_says_that_the_cluster_saves_its_indexes_and_copies_the_keys(papers, tmp_path):
    refused = run(papers, "indexes", "backup", "--location", tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "docs/how-to/cluster.md#backup-and-restore" in refused.stderr
    assert run(papers, "keys", "create", "--label", "reader").returncode == 0
    done = run(papers, "indexes", "backup", "first", "--location", tmp_path)
    assert (done.returncode, "docs/how-to/cluster.md" in done.stderr) == (0, True)
    assert (tmp_path / "first" / SERVER_STORE).exists()


def test_a_second_machine_answers_as_the_embedded_engine(settings_for, tmp_path_factory, sample_home):
    first, second = (settings_for(tmp_path_factory.mktemp(home)) for home in ("first", "second"))
    assert run(first, "index", ROOT / "sample" / "papers.jsonl", "--name", NAME).returncode == 0

    def timeless(output, **options):
        hook = lambda record: {key: value for key, value in record.items() if key != "milliseconds"}  # noqa: E731
        return json.loads(output, object_hook=hook, **options)

    for arguments in (("ask", KOREAN), ("ask", UNANSWERABLE_KOREAN), ("search", KOREAN, "--lang", "ko")):
        embedded = shrag(*arguments, "--name", NAME, "--json", home=sample_home)
        cluster = run(second, *arguments, "--name", NAME, "--json")
        assert (cluster.returncode, cluster.stderr) == (embedded.returncode, embedded.stderr) == (0, "")
        expected = timeless(embedded.stdout, parse_float=lambda text: pytest.approx(float(text), abs=2e-4))
        assert timeless(cluster.stdout) == expected
