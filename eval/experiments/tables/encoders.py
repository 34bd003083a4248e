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

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from base.errors import InvalidCall
from eval.experiments.comparing import ROWS, Column, Comparison, Outcome, mean, percent
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult, ids_of, result_of
from eval.experiments.materials import SEARCHING, Inputs, StrategyCall, documents, option, read_judged
from eval.runs import Ranking
from eval.statistics import mean_of_known
from generator.pipeline import Settings
from indexer.encoders import Encoder, open_encoder
from indexer.vectors.spool import text_to_encode

FUSION, NEAREST = "fusion, no encoder", "nearest in the whole index"
LONG = 8_000  # tokens that an encoder must read at once (section 3.4)


class Encoders(StrategyCall):
    """The encoders, and how many documents."""

    encoders: tuple[str, ...] = option(
        "Models to compare: names on the hub, or folders; default is the configured one.",
        (),
        replace(SEARCHING, name="--encoder", metavar="MODEL[,MODEL]", commas=True),
        max_length=8,
    )
    k: int = documents(5)


def read(call: Encoders, settings: Settings) -> Inputs:
    """Read the inputs, and open the encoders, which are `own` by the name of the model."""
    inputs, configured = read_judged(call), settings.indexer.encoder
    named = [
        configured.model_copy(update={"provider": "local", "model": model, "revision": ""})
        for model in call.encoders
    ]
    opened = {each.model: open_encoder(each) for each in named or [configured]}
    found = {model: encoder for model, encoder in opened.items() if encoder}
    if not found:
        raise InvalidCall(
            "no encoder is named or configured",
            remedy=("add --encoder MODEL", "set SHRAG_ENCODER__PROVIDER and SHRAG_ENCODER__MODEL"),
        )
    record = {"encoders": {name: encoder.fingerprint.as_record() for name, encoder in found.items()}}
    return replace(inputs, record=record, own=found)


async def similarities_of_topic(topic: Topic) -> TopicResult:
    """Encode a question with the documents of its union and its relevant documents."""
    k, relevant, index = topic.call.k, topic.relevant, topic.materials.index
    found = await topic.search(k=k, strategy=await topic.strategy())
    union, ids = found.union, sorted(relevant | found.union)
    read = index.engine.papers if topic.materials.collapses else index.engine.passages
    documents = dict(sorted((await index.run(lambda _: read(ids))).items()))
    texts = [text_to_encode(document) or document.title for document in documents.values()]
    rankings: dict[str, Ranking] = {FUSION: found.ranking}
    more: dict[str, dict[str, Any]] = {}
    for model, encoder in topic.materials.own.items():
        vector = encoder.encode_queries([topic.question])[0].astype(np.float64)
        of_texts = encoder.encode_passages(texts).astype(np.float64) @ vector
        cosines = {name: round(float(each), 6) for name, each in zip(documents, of_texts, strict=True)}
        ordered = sorted(union & cosines.keys(), key=lambda name: (-cosines[name], name))
        rankings[model] = [(name, cosines[name]) for name in ordered[:k]]
        right, wrong = (
            [of for name, of in cosines.items() if (name in relevant) == is_right]
            for is_right in (True, False)
        )
        is_first = bool(right) and max(right) > max(wrong, default=-1.0)
        more[model] = {
            "relevant": mean_of_known(right),
            "others": mean_of_known(wrong),
            "relevant_first": is_first,
        }
    if index.manifest.vectors and not index.vectors.disabled_reason:
        rankings[NEAREST] = (await topic.search(method="dense", k=k)).ranking
    rows = {name: {"share": topic.share(ids_of(of)), **more.get(name, {})} for name, of in rankings.items()}
    return result_of(rows, rankings)


def _mean_if_both(part: str) -> Column:
    """Return the column of a mean cosine over the topics that have relevant and other documents."""
    return lambda records: mean_of_known(
        record[part] for record in records if None not in (record["relevant"], record["others"])
    )


SIMILARITIES: Mapping[str, Column] = {
    "cosine, relevant": _mean_if_both("relevant"),
    "cosine, others": _mean_if_both("others"),
    "relevant document first, %": percent("relevant_first"),
}


def summary(of: Results) -> Outcome:
    """Compare the encoders."""
    encoders: Mapping[str, Encoder] = of.materials.own
    rows = of.rows([FUSION, *encoders, *([NEAREST] if NEAREST in of.topics[0][ROWS] else [])])
    similarity = Comparison("Similarity of questions and documents", "encoder", SIMILARITIES).table(
        of.rows(encoders)
    )
    success = percent(lambda record: record["share"] > 0)
    title = f"First {of.call.k} documents of the union of progressive queries, by cosine"
    columns = {"QSR, %": success, "share of relevant documents": mean("share")}
    main = {"QSR": success}
    order = Comparison(title, "order", columns, "share", "difference to fusion", main=main).table(rows)
    limits = {name: encoder.fingerprint.max_tokens for name, encoder in encoders.items()}
    notes = tuple(
        f"{name} reads {limit:,} tokens at once{', fewer than the paper requires' if limit < LONG else ''}."
        for name, limit in limits.items()
        if limit
    )
    return Outcome((similarity, order), notes=notes)


EXPERIMENT = Experiment(
    Encoders,
    similarities_of_topic,
    summary,
    read,
    requires="an encoder (--encoder or SHRAG_ENCODER__…)",
)
