"""Encoders compared by the similarity of questions and relevant documents, and by the order of the union.

SHRAG, section 3.4, chooses mGTE over Snowflake because questions and relevant documents are more similar,
and requires texts of 8,000 tokens at once. For each topic the union of the ten progressive queries and the
relevant documents are encoded. Reported for each encoder: the mean cosine of the question with relevant
documents and with the others, the share of topics whose most similar document is relevant, and the query
success rate of the first documents of the union by cosine, beside the order by fusion, which needs no
encoder. In an index with vectors of the configured encoder, the nearest documents of the whole index are a
further row.

Cosines of different models have different ranges: compare the difference between relevant documents and
others, or the order, rather than the cosines.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from base.calls import Flag, Section
from base.errors import InvalidCall
from eval.experiments.calls import Documents, StrategyCall
from eval.experiments.comparing import ROWS, Column, compared, main_numbers, mean, percent, rows_of
from eval.experiments.experiment import Experiment, Outcome, Record, TopicResult
from eval.experiments.materials import Materials, opened_materials
from eval.experiments.retrieving import (
    ids_of,
    open_topic,
    ranked_by,
    retrieve,
    runs_by_row,
    share_of,
    strategy_of,
)
from eval.runs import Ranking
from eval.statistics import mean_of_known
from indexer.encoders import Encoder, open_encoder
from indexer.vectors.spool import text_to_encode
from retriever.request import SearchRequest

FUSION, NEAREST = "fusion, no encoder", "nearest in the whole index"
LONG = 8_000  # tokens that an encoder must read at once (section 3.4)


class Encoders(StrategyCall):
    """The encoders, and how many documents."""

    encoders: Annotated[
        tuple[str, ...],
        Flag("--encoder", section=Section.SEARCHING, metavar="MODEL[,MODEL]", commas=True),
        Field(
            max_length=8,
            description="Models to compare: names on the hub, or folders; default is the configured one.",
        ),
    ] = ()
    k: Documents = 5


@contextmanager
def opened(call: Encoders) -> Iterator[Materials]:
    """Open the inputs, and as `own` the encoders by the name of the model.

    Raises:
        InvalidCall: no encoder is named or configured.
        LibraryMissing, EncoderUnusable: an encoder cannot be loaded.
    """
    with opened_materials(call) as materials, ExitStack() as closed_at_end:
        configured = materials.settings.indexer.encoder
        named = [
            configured.model_copy(update={"provider": "local", "model": model, "revision": ""})
            for model in call.encoders
        ]
        found: dict[str, Encoder] = {}
        for settings in named or [configured]:
            if encoder := open_encoder(settings):
                found[settings.model] = closed_at_end.enter_context(closing(encoder))
        if not found:
            raise InvalidCall(
                "no encoder is named or configured",
                remedy=("add --encoder MODEL", "set SHRAG_ENCODER__PROVIDER and SHRAG_ENCODER__MODEL"),
            )
        record = {"encoders": {name: encoder.fingerprint.as_record() for name, encoder in found.items()}}
        yield replace(materials, more_record=record, own=found)


async def similarities_of_topic(
    call: Encoders, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Encode a question with the documents of its union and its relevant documents."""
    relevant, engine = materials.relevant(query_id), materials.index.engine
    strategy = await strategy_of(materials, query_id, question)
    topic = await open_topic(question, call.k, materials, strategy)
    retrieved = await retrieve(topic, materials)
    ids = sorted(relevant | retrieved.union)
    documents = await (engine.papers(ids) if materials.collapses else engine.passages(ids))
    names = sorted(documents)
    texts = [text_to_encode(documents[name]) or documents[name].title for name in names]
    rankings: dict[str, Ranking] = {FUSION: retrieved.ranking}
    more: dict[str, dict[str, Any]] = {}
    for model, encoder in materials.own.items():
        cosines = dict(zip(names, _cosines(encoder, question, texts), strict=True))
        union = sorted(retrieved.union & cosines.keys(), key=lambda name: (-cosines[name], name))
        rankings[model] = [(name, cosines[name]) for name in union[: call.k]]
        more[model] = _similarity(cosines, relevant)
    if nearest := await _nearest(call, materials, question):
        rankings[NEAREST] = nearest
    rows = {
        name: {"share": share_of(relevant, ids_of(ranking)), **more.get(name, {})}
        for name, ranking in rankings.items()
    }
    return TopicResult({ROWS: rows}, runs_by_row(rankings))


def _cosines(encoder: Encoder, question: str, texts: Sequence[str]) -> list[float]:
    vector = encoder.encode_queries([question])[0].astype(np.float64)
    return [round(float(each), 6) for each in encoder.encode_passages(texts).astype(np.float64) @ vector]


def _similarity(cosines: Mapping[str, float], relevant: frozenset[str]) -> dict[str, Any]:
    """Return the mean cosines of relevant documents and of others, and whether a relevant one is first."""
    right = [cosine for name, cosine in cosines.items() if name in relevant]
    wrong = [cosine for name, cosine in cosines.items() if name not in relevant]
    return {
        "relevant": mean_of_known(right),
        "others": mean_of_known(wrong),
        "relevant_first": bool(right) and max(right) > max(wrong, default=-1.0),
    }


async def _nearest(call: Encoders, materials: Materials, question: str) -> Ranking:
    """Return the nearest documents of the index by its own vectors; none if it has no usable vectors."""
    index = materials.index
    if not index.manifest.vectors or index.vectors.disabled_reason:
        return []
    request = SearchRequest(question, method="dense", k=call.k)
    return await ranked_by(materials, request, materials.settings.retriever)


def _mean_if_both(part: str) -> Column:
    """Return the column of a mean cosine over the topics that have relevant and other documents."""
    return lambda records: mean_of_known(
        record[part] for record in records if None not in (record["relevant"], record["others"])
    )


def summary(call: Encoders, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compare the encoders."""
    encoders: Mapping[str, Encoder] = materials.own
    limits = {name: encoder.fingerprint.max_tokens for name, encoder in encoders.items()}
    names = [FUSION, *encoders, *([NEAREST] if NEAREST in topics[0][ROWS] else [])]
    similarity = compared(
        "Similarity of questions and documents",
        "encoder",
        rows_of(topics, encoders),
        {
            "cosine, relevant": _mean_if_both("relevant"),
            "cosine, others": _mean_if_both("others"),
            "relevant document first, %": percent(lambda record: record["relevant_first"]),
        },
    )
    success = percent(lambda record: record["share"] > 0)
    order = compared(
        f"First {call.k} documents of the union of progressive queries, by cosine",
        "order",
        rows_of(topics, names),
        {"QSR, %": success, "share of relevant documents": mean("share")},
        lambda record: record["share"],
        "difference to fusion",
    )
    notes = [
        f"{name} reads {limit:,} tokens at once{', fewer than the paper requires' if limit < LONG else ''}."
        for name, limit in limits.items()
        if limit
    ]
    main = main_numbers(rows_of(topics, names), {"QSR": success})
    return Outcome((similarity, order), notes=tuple(notes), main=main)


EXPERIMENT = Experiment(
    Encoders,
    similarities_of_topic,
    summary,
    opened,
    requires="an encoder (--encoder or SHRAG_ENCODER__…)",
)
