"""MIRACL in full, on a small corpus in its layout, and errors of incomplete folders."""

import gzip
import json

import pytest

from base.errors import UnknownPath
from eval.experiments.miracl_files import find_files
from indexer.settings import IndexerSettings
from indexer.versions.store.engines import index_names
from tests.eval.experiments.calling import call, read, topics_of
from tests.fixture_model import MODEL

CORPUS, DATA = "miracl-corpus-v1.0-ko", "miracl-v1.0-ko"
TOPICS = f"{DATA}/topics/topics.miracl-v1.0-ko-dev.tsv"
QRELS = f"{DATA}/qrels/qrels.miracl-v1.0-ko-dev.tsv"
# nDCG@10 of q2: the first of two relevant passages at rank 1, 1 / (1 + 1 / log2(3)).
MEANS = {"nDCG@10": (1 + 0.6131) / 2, "R@100": (1 + 0.5) / 2}


def passages(*records):
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return gzip.compress(lines.encode(), mtime=0)


def passage(docid, title, text):
    return {"docid": docid, "title": title, "text": text}


@pytest.fixture
def folder(tmp_path):
    """Return a folder in MIRACL's layout."""
    files = {
        f"{CORPUS}/docs-0.jsonl.gz": passages(
            passage("1#0", "세종", "세종은 조선의 제4대 국왕으로 훈민정음을 만들었다."),
            passage("1#1", "세종", "세종의 능은 영릉이며 여주에 있다."),
        ),
        f"{CORPUS}/docs-1.jsonl.gz": passages(
            passage("2#0", "한라산", "한라산은 제주도에 있는 산으로 높이는 1947미터이다."),
            passage("3#0", "김치", "김치는 배추를 소금에 절여 양념으로 버무린 음식이다."),
        ),
        TOPICS: "q1\t한라산의 높이는?\nq2\t배추 김치\nq3\t없다\n".encode(),
        QRELS: b"q1\t0\t2#0\t1\nq2\t0\t3#0\t1\nq2\t0\t9#9\t1\nq3\t0\t3#0\t0\n",
    }
    for name, content in files.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "data"


@pytest.fixture
def run(folder, tmp_path, monkeypatch):
    for name, value in {"HOME": str(tmp_path / "home"), "WORKERS": "1", "GENERAL_GLOSSARY": "false"}.items():
        monkeypatch.setenv(f"SHRAG_{name}", value)

    def called(*options):
        given = ("miracl", "--lang", "ko", "--corpus", folder, *options, "--out", folder.parent / "out")
        return call(*given, "--restart")

    return called


experiment = pytest.mark.needs_libraries


def main_of(folder):
    return read(folder.parent / "out" / "metrics.json")["main"]


@experiment
def test_all_methods_are_scored_by_passage_beside_the_published_values(run, folder):
    made = run()
    expected = {
        f"{measure}, ko, {method}": pytest.approx(mean, abs=5e-5)
        for method in ("or", "paper", "shrag")
        for measure, mean in MEANS.items()
    }
    assert main_of(folder) == expected
    assert "4 passages, MIRACL's 1,486,752" in made.stderr
    assert "0.4533" in made.stdout
    run()  # the index of the same corpus is used again
    assert len(index_names(IndexerSettings())) == 1
    (folder / CORPUS / "docs-2.jsonl.gz").write_bytes(passages(passage("4#0", "한라산", "한라산의 높이")))
    run()
    assert len(index_names(IndexerSettings())) == 2


@experiment
def test_a_ranking_by_article_lists_each_article_once(run, folder, tmp_path):
    (tmp_path / "topics.tsv").write_text("q1\t세종의 훈민정음\n")
    (tmp_path / "qrels.txt").write_text("q1 0 1#0 1\nq1 0 1#1 1\n")
    run("--topics", tmp_path / "topics.tsv", "--qrels", tmp_path / "qrels.txt")
    runs = {name: (tmp_path / f"out/runs/{name}.trec").read_text().split() for name in ("or", "or-articles")}
    assert {*runs["or"]} >= {"1#0", "1#1"}
    assert runs["or-articles"][2::6] == ["1"]
    assert topics_of(tmp_path / "out")["q1"]["relevant"] == {"passage": 2, "article": 1}


@experiment
def test_keywords_of_a_language_model_are_searched_for(run, model, folder):
    run("--model")
    assert read(folder.parent / "out" / "manifest.json")["language model"]["model"] == MODEL
    assert main_of(folder)["nDCG@10, ko, paper"] == pytest.approx(MEANS["nDCG@10"], abs=5e-5)


def test_the_files_are_found_in_the_order_of_their_numbers(folder):
    files = find_files("ko", "dev", folder=str(folder))
    assert (files.topics, files.qrels) == (folder / TOPICS, folder / QRELS)
    for number in range(2, 11):
        (folder / CORPUS / f"docs-{number}.jsonl.gz").write_bytes(b"")
    more = find_files("ko", "dev", folder=str(folder)).corpus
    assert [path.name for path in more][-2:] == ["docs-9.jsonl.gz", "docs-10.jsonl.gz"]
    (folder / TOPICS).unlink()
    with pytest.raises(UnknownPath, match=r"topics\.miracl"):
        find_files("ko", "dev", folder=str(folder))
