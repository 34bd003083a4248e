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
from dataclasses import dataclass, field
from statistics import fmean
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from base.calls import Flag, Section
from base.errors import InvalidCall
from eval.experiments.experiment import (
    Cell,
    Documents,
    Experiment,
    Outcome,
    Record,
    StrategyCall,
    Table,
    TopicResult,
)
from eval.experiments.materials import Materials, opened_materials, with_more
from eval.experiments.retrieving import open_topic, ranked_by, relevant_in, retrieve, run_name, strategy_of
from eval.runs import Ranking
from eval.significance import difference_cells, difference_columns
from eval.statistics import mean_of_known
from indexer.encoders import Encoder, open_encoder
from indexer.encoders.local import LocalEncoder
from indexer.files.schema import StoredPassage
from indexer.vectors.adding import text_to_encode
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


@dataclass(frozen=True, slots=True)
class EncoderMaterials(Materials):
    """The inputs with open encoders, by the name of the model."""

    encoders: Mapping[str, Encoder] = field(default_factory=dict)

    def index_record(self) -> dict[str, Any]:
        """Return the properties of the index, and of the encoders."""
        encoders = {name: encoder.fingerprint.as_record() for name, encoder in self.encoders.items()}
        return {**super(EncoderMaterials, self).index_record(), "encoders": encoders}


@contextmanager
def opened(call: Encoders) -> Iterator[EncoderMaterials]:
    """Open the inputs and the encoders.

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
        yield with_more(EncoderMaterials, materials, encoders=found)


async def similarities_of_topic(
    call: Encoders, materials: EncoderMaterials, query_id: str, question: str
) -> TopicResult:
    """Encode a question with the documents of its union and its relevant documents."""
    relevant = materials.relevant(query_id)
    strategy = await strategy_of(materials, query_id, question)
    topic = await open_topic(question, call.k, materials, strategy)
    retrieved = await retrieve(topic, materials)
    documents = await _documents(materials, relevant | retrieved.union)
    names = sorted(documents)
    texts = [text_to_encode(documents[name]) or documents[name].title for name in names]
    rankings: dict[str, Ranking] = {run_name(FUSION): retrieved.ranking}
    records: dict[str, Any] = {FUSION: {"found": relevant_in(retrieved.ranking, relevant)}}
    for model, encoder in materials.encoders.items():
        cosines = dict(zip(names, _cosines(encoder, question, texts), strict=True))
        union = sorted(retrieved.union & cosines.keys(), key=lambda name: (-cosines[name], name))
        rankings[run_name(model)] = [(name, cosines[name]) for name in union[: call.k]]
        records[model] = {
            "found": relevant_in(rankings[run_name(model)], relevant),
            **_similarity(cosines, relevant),
            **_lengths(encoder, texts),
        }
    if nearest := await _nearest(call, materials, question):
        rankings[run_name(NEAREST)] = nearest
        records[NEAREST] = {"found": relevant_in(nearest, relevant)}
    return TopicResult({"relevant": len(relevant), "encoders": records}, rankings)


async def _documents(materials: Materials, ids: frozenset[str]) -> dict[str, StoredPassage]:
    """Return papers or passages by id; ids that the index does not contain are left out."""
    engine = materials.index.engine
    return await (engine.papers(sorted(ids)) if materials.collapses else engine.passages(sorted(ids)))


def _cosines(encoder: Encoder, question: str, texts: Sequence[str]) -> list[float]:
    vector = encoder.encode_queries([question])[0].astype(np.float64)
    return [round(float(each), 6) for each in encoder.encode_passages(texts).astype(np.float64) @ vector]


def _similarity(cosines: Mapping[str, float], relevant: frozenset[str]) -> dict[str, float | bool | None]:
    """Return the mean cosines of relevant documents and of others, and whether a relevant one is first."""
    right = [cosine for name, cosine in cosines.items() if name in relevant]
    wrong = [cosine for name, cosine in cosines.items() if name not in relevant]
    return {
        "relevant": mean_of_known(right),
        "others": mean_of_known(wrong),
        "relevant_first": bool(right) and max(right) > max(wrong, default=-1.0),
    }


def _lengths(encoder: Encoder, texts: Sequence[str]) -> dict[str, int]:
    """Return the longest text in tokens, and the number of texts of which the encoder reads a part."""
    if not isinstance(encoder, LocalEncoder) or not texts:
        return {}
    tokens = list(map(encoder.count_tokens, texts))
    limit = encoder.fingerprint.max_tokens
    return {"longest": max(tokens), "cut": sum(0 < limit < count for count in tokens)}


async def _nearest(call: Encoders, materials: Materials, question: str) -> Ranking:
    """Return the nearest documents of the index by its own vectors; none if it has no usable vectors."""
    index = materials.index
    if not index.manifest.vectors or index.vectors.disabled_reason:
        return []
    request = SearchRequest(question, method="dense", k=call.k)
    return await ranked_by(materials, request, materials.settings.retriever)


def summary(call: Encoders, materials: EncoderMaterials, topics: Sequence[Record]) -> Outcome:
    """Compare the encoders."""
    names = [*materials.encoders, FUSION, *([NEAREST] if NEAREST in topics[0]["encoders"] else [])]
    order = Table(
        f"First {call.k} documents of the union of progressive queries, by cosine",
        (
            *("order", "QSR, %", "share of relevant documents"),
            *difference_columns("difference to fusion"),
        ),
        tuple(_order_row(name, topics) for name in names),
    )
    similarity = Table(
        "Similarity of questions and documents",
        (
            *("encoder", "cosine, relevant", "cosine, others", "difference", "relevant document first, %"),
            *("reads tokens", "longest text", "texts cut"),
        ),
        tuple(_similarity_row(name, materials, topics) for name in materials.encoders),
    )
    short = [
        name for name, encoder in materials.encoders.items() if 0 < encoder.fingerprint.max_tokens < LONG
    ]
    limits = (
        f"{', '.join(short)}: fewer than {LONG:,} tokens at once, the paper's criterion." if short else ""
    )
    return Outcome(
        (similarity, order),
        notes=(*([limits] if short else []), *materials.notes()),
        main={f"QSR, {name}": _success(name, topics) for name in names},
    )


def _shares(name: str, topics: Sequence[Record]) -> list[float]:
    return [topic["encoders"][name]["found"] / topic["relevant"] for topic in topics]


def _success(name: str, topics: Sequence[Record]) -> float:
    return 100 * fmean(share > 0 for share in _shares(name, topics))


def _order_row(name: str, topics: Sequence[Record]) -> tuple[Cell, ...]:
    shares = _shares(name, topics)
    return (
        name,
        _success(name, topics),
        fmean(shares),
        *difference_cells(lambda order: _shares(order, topics), name, FUSION),
    )


def _similarity_row(name: str, materials: EncoderMaterials, topics: Sequence[Record]) -> tuple[Cell, ...]:
    records = [topic["encoders"][name] for topic in topics]
    both = [each for each in records if each["relevant"] is not None and each["others"] is not None]
    right, wrong = ([each[part] for each in both] for part in ("relevant", "others"))
    lengths = [each for each in records if "longest" in each]
    return (
        name,
        mean_of_known(right),
        mean_of_known(wrong),
        fmean(right) - fmean(wrong) if right else None,
        100 * fmean(each["relevant_first"] for each in records),
        materials.encoders[name].fingerprint.max_tokens or None,
        max((each["longest"] for each in lengths), default=None),
        sum(each["cut"] for each in lengths) if lengths else None,
    )


EXPERIMENT = Experiment(
    "Encoders",
    "SHRAG, section 3.4",
    Encoders,
    similarities_of_topic,
    summary,
    opened,
    requires="an encoder (--encoder or SHRAG_ENCODER__…)",
)
