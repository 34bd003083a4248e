"""Inputs of an experiment, read from the files and the index that its call names."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from base.errors import InvalidCall
from eval.manifest import asked_with, index_record, software
from eval.progress import question_bar
from eval.qrels import read_qrels
from eval.reproduction.experiment import ExperimentCall, Materials
from eval.topics import read_topics
from eval.units import MadeRun, in_one_unit
from indexer.options import chosen_index
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.settings import RetrieverSettings


@contextmanager
def opened_materials(call: ExperimentCall) -> Iterator[Materials]:
    """Open the index and read topics and qrels; close the index at the end.

    Raises:
        BadTopics, BadQrels: with file and line.
        InvalidCall: no topic has a relevant judgement.
        ResourceError: as `open_index`.
    """
    digests = {"topics": hashlib.sha256(), "qrels": hashlib.sha256()}
    topics, qrels = read_topics(call.topics, digests["topics"]), read_qrels(call.qrels, digests["qrels"])
    settings, places = RetrieverSettings(), IndexerSettings()
    judged = {
        query_id: question
        for query_id, question in topics.items()
        if any(grade > 0 for grade in qrels.get(query_id, {}).values())
    }
    if not judged:
        raise InvalidCall(f"no topic of {call.topics} has a relevant judgement in {call.qrels}")
    with (
        open_index(places, chosen_index(call.index, places), settings.synonyms) as index,
        question_bar() as progress,
    ):
        if index.manifest.unit == "paper":
            qrels, _, _ = in_one_unit(qrels, [MadeRun("index", {}, "paper")])
        hashes = {part: digest.hexdigest() for part, digest in digests.items()}
        yield Materials(index, judged, qrels, hashes, len(topics) - len(judged), settings, progress)


def made_with(name: str, call: ExperimentCall, materials: Materials) -> dict[str, Any]:
    """Return the record of all inputs of the results, for the manifest."""
    encoder = IndexerSettings().encoder
    values: Mapping[str, Any] = call.model_dump(mode="json")
    return {
        "experiment": name,
        "call": {**values, "index": materials.index.manifest.name},
        "inputs": {part: {"path": values[part], "sha256": each} for part, each in materials.hashes.items()},
        "index": index_record(materials.index.manifest),
        "settings": {
            **materials.settings.model_dump(mode="json"),
            "encoder": asked_with(encoder),
        },
        **software(models=encoder.provider != "none"),
    }
