"""An index keeps the general pairs that can find something in it."""

from contextlib import closing

from indexer.glossary.storage import Glossary
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import GLOSSARY
from tests.indexer.made_corpora import write_jsonl


def general_pairs(tmp_path, **paper):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [{"id": "P1", **paper}])
    build_index(IngestRequest(name="x", paths=[str(corpus)]), IndexerSettings(home=tmp_path / "home"))
    with closing(Glossary.open(tmp_path / "home" / "x" / "versions" / "000001" / GLOSSARY)) as glossary:
        return {pair.korean: pair.english for pair in glossary.pairs()}


def test_a_word_of_the_corpus_keeps_its_counterpart(tmp_path):
    assert general_pairs(tmp_path, title="Methane of rice paddies", abstract="Methane.")["메탄"] == "methane"
    assert general_pairs(tmp_path, title="논의 메탄", abstract="메탄이다.")["메탄"] == "methane"


def test_a_pair_whose_words_no_paper_holds_is_left_out(tmp_path):
    assert "메탄" not in general_pairs(tmp_path, title="Rice", abstract="Rice.")
