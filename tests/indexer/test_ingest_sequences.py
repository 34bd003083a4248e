"""Any order of index, rebuild, remove and rollback leaves what a dictionary says."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from base.errors import InvalidCall
from indexer.errors import UnknownIndex
from indexer.ingest import remove_records
from indexer.settings import IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import build, stored_records, write_jsonl

IDS = st.sampled_from("ABCDE")
CORPORA = st.lists(st.tuples(IDS, st.integers(0, 9)), min_size=1, max_size=5)
STEPS = st.one_of(
    st.tuples(st.just("index"), CORPORA),
    st.tuples(st.just("rebuild"), CORPORA),
    st.tuples(st.just("remove"), st.lists(IDS, min_size=1, max_size=3)),
    st.tuples(st.just("rollback"), st.none()),
)
KEPT = 3


class Model:
    """The versions as dictionaries from id to text, the one that answers last."""

    def __init__(self):
        self.versions = []

    def apply(self, step, given):
        """Do the step; return what keeps it from being done."""
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


def apply(home, step, given):
    """Do the step; return what kept it from being done."""
    try:
        if step in {"index", "rebuild"}:
            records = [{"id": key, "title": key, "abstract": f"text {text}"} for key, text in given]
            build(
                home,
                write_jsonl(home / "corpus.jsonl", records),
                rebuild=step == "rebuild",
                keep_versions=KEPT,
            )
        elif step == "remove":
            remove_records("papers", given, IndexerSettings(home=home, keep_versions=KEPT))
        else:
            FolderStore(home, "papers").rollback()
    except (InvalidCall, UnknownIndex) as error:
        return type(error)
    return None


def held(home):
    records = [json.loads(record) for record in stored_records(home)]
    return {record["passage_id"]: int(record["text"].removeprefix("text ")) for record in records}


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
