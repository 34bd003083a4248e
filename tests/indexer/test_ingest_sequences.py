"""Any order of index, rebuild, remove and rollback gives the index of the remaining records."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from base.errors import InvalidCall
from indexer.errors import UnknownIndex
from indexer.forward.lexicon import Lexicon
from indexer.ingest import remove_records
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import CITATIONS, GLOSSARY, LEXICON
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import answers, build, stored_records, write_jsonl

IDS = st.sampled_from("ABCDE")
CORPORA = st.lists(st.tuples(IDS, st.integers(0, 9)), min_size=1, max_size=5)
STEPS = st.one_of(
    st.tuples(st.just("index"), CORPORA),
    st.tuples(st.just("rebuild"), CORPORA),
    st.tuples(st.just("remove"), st.lists(IDS, min_size=1, max_size=3)),
    st.tuples(st.just("rollback"), st.none()),
)
KEPT = 3
TERMS = [
    *(("지식", "knowledge"), ("그래프", "graph"), ("검색", "retrieval"), ("질의", "question")),
    *(("색인", "index"), ("학습", "learning"), ("번역", "translation"), ("근거", "evidence")),
    *(("환각", "hallucination"), ("순위", "ranking")),
]


class Model:
    """The versions as dictionaries from id to text, the one that answers last."""

    def __init__(self):
        self.versions = []

    def apply(self, step, given):
        if step in {"index", "rebuild"}:
            before = self.versions[-1] if self.versions and step == "index" else {}
            after = before | dict(given)
            return None if after == before else self._publish(after)
        if not self.versions:
            return UnknownIndex
        if step == "remove":
            left = {key: text for key, text in self.versions[-1].items() if key not in given}
            return InvalidCall if len(left) == len(self.versions[-1]) else self._publish(left)
        if len(self.versions) == 1:
            return InvalidCall
        self.versions.pop()
        return None

    def _publish(self, records):
        self.versions = [*self.versions, records][-KEPT:]


def record(key, text):
    """Make a paper with terms for a glossary, and references to others and to itself."""
    cited = "ABCDE"[text % 5]
    return {
        "id": key,
        "title": f"논문 {key} 메탄(methane {key})의 배출",
        "title2": f"Emission of methane by {key}",
        "abstract": f"text {text}",
        "doi": f"10.1/{key}",
        "year": 2000 + text,
        "keywords": ["메탄", "methane", *TERMS[text]],
        "references": [cited, f"10.1/{'ABCDE'[text // 2]}", "unknown"],
        "reference_list": [{"title": f"논문 {cited} 메탄(methane {cited})의 배출", "year": 2000 + text}],
    }


def summarised(home):
    """Return what is made of all passages of a version: glossary, citations, counts by term."""
    store = FolderStore(home, "papers")
    manifest = store.manifest()
    folder = store.version_path(manifest.version)
    lexicon = Lexicon.open(folder / LEXICON)
    numbers = np.arange(len(lexicon) + 1, dtype=np.int32)[lexicon.frequency > 0]
    terms = lexicon.terms(numbers.tolist())
    counts = zip(lexicon.frequency[numbers].tolist(), lexicon.named_share(numbers).tolist(), strict=True)
    return {
        "glossary": (folder / GLOSSARY).read_bytes(),
        "citations": (folder / CITATIONS).read_bytes(),
        "terms": dict(zip(terms, counts, strict=True)),
        "length": lexicon.average_length,
        "manifest": (manifest.papers, manifest.passages, manifest.glossary, manifest.citations),
    }


def apply(home, step, given):
    try:
        if step in {"index", "rebuild"}:
            corpus = write_jsonl(home / "corpus.jsonl", [record(*each) for each in given])
            build(home, corpus, rebuild=step == "rebuild", keep_versions=KEPT)
        elif step == "remove":
            remove_records("papers", given, IndexerSettings(home=home, keep_versions=KEPT))
        else:
            FolderStore(home, "papers").rollback()
    except (InvalidCall, UnknownIndex) as error:
        return type(error)
    return None


def held(home):
    passages = [json.loads(record) for record in stored_records(home)]
    return {each["doc_id"]: int(each["text"].removeprefix("text ")) for each in passages if each["paper"]}


@settings(max_examples=15)
@given(st.lists(STEPS, min_size=1, max_size=7))
def test_an_index_holds_what_a_dictionary_would(steps):
    model = Model()
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for step, given_to_it in steps:
            assert apply(home, step, given_to_it) == model.apply(step, given_to_it)
            if model.versions:
                assert held(home) == model.versions[-1]
        if model.versions and model.versions[-1]:
            new = write_jsonl(home / "new.jsonl", [record(*each) for each in model.versions[-1].items()])
            build(home / "new", new)
            assert summarised(home) == summarised(home / "new")
            by_order = {
                "methods": ("shrag",)
            }  # the scores of `or` count passages that are not yet merged away
            assert answers(home, **by_order) == answers(home / "new", **by_order)
