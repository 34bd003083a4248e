"""Synonyms are the question's alone, so both engines find the same with them."""

import pytest

from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.indexer.made_corpora import write_jsonl
from tests.retriever.made_papers import found, run_of
from tests.retriever.opening.test_synonyms import PAPERS, RULES
from tests.service.elasticsearch.own_prefix import own_prefix


@pytest.fixture(scope="module")
def both(elasticsearch, tmp_path_factory):
    folder = tmp_path_factory.mktemp("synonyms")
    corpus, synonyms = write_jsonl(folder / "papers.jsonl", PAPERS), folder / "synonyms.txt"
    synonyms.write_text(RULES, encoding="utf-8")
    with own_prefix(elasticsearch) as settings_for:
        here = IndexerSettings(home=folder / "here", workers=1)
        there = settings_for(folder / "there")
        for settings in (here, there):
            build_index(IngestRequest(name="papers", paths=[str(corpus)]), settings)
        with open_index(here, "papers", synonyms) as one, open_index(there, "papers", synonyms) as other:
            yield one, other


@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
@pytest.mark.parametrize("question", ["딥러닝", "LLM", '"딥러닝을 이용"', "벼"])
def test_runs_notes_and_queries_are_the_same(both, method, question):
    here, there = (run_of(index, question, method) for index in both)
    told_here, told_there = (found(index, question, method) for index in both)

    assert [one for one, _ in here] == [one for one, _ in there]
    assert [score for _, score in here] == pytest.approx([score for _, score in there], abs=1e-3)
    assert told_here.notes == told_there.notes
    assert told_here.queries == told_there.queries
