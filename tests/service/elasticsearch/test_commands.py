"""The command line with a cluster behind it: what it prints, and how it exits."""

import json

import pytest

from indexer.backups import SERVER_STORE
from tests.generator.sample_index import NAME, UNANSWERABLE_KOREAN, shrag
from tests.indexer.made_corpora import ROOT, paper, write_jsonl
from tests.service.elasticsearch.cluster import run

HASTY = {"settle_s": 0.0}
# Not S03, as elsewhere: it is about the one record of the sample in which nori finds another word.
KOREAN = "논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄고, 그때 쌀 수확량도 함께 떨어지는가?"


def test_a_backup_says_that_the_cluster_saves_its_indexes_and_copies_the_keys(settings_for, tmp_path):
    papers = settings_for(tmp_path / "home", cluster=HASTY)
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [paper(1), paper(2)])
    made = run(papers, "index", corpus, "--name", "papers")
    assert (made.returncode, made.stderr) == (0, "")
    for arguments in (("indexes", "rollback", "papers"), ("indexes", "remove", "papers", "none")):
        done = run(papers, *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith("InvalidCall: ")
    backups = tmp_path / "backups"
    backups.mkdir()
    refused = run(papers, "indexes", "backup", "--location", backups)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "docs/how-to/cluster.md#backup-and-restore" in refused.stderr
    assert run(papers, "keys", "create", "--label", "reader").returncode == 0
    done = run(papers, "indexes", "backup", "first", "--location", backups)
    assert (done.returncode, "docs/how-to/cluster.md" in done.stderr) == (0, True)
    assert (backups / "first" / SERVER_STORE).exists()


def test_a_second_machine_answers_as_the_embedded_engine(settings_for, tmp_path_factory, sample_home):
    homes = (tmp_path_factory.mktemp(home) for home in ("first", "second"))
    first, second = (settings_for(home, cluster=HASTY) for home in homes)
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
