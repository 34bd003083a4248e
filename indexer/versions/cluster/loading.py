"""An index in a cluster during loading: creation, cloning, and merging."""

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from elastic_transport import ObjectApiResponse
from elasticsearch import AsyncElasticsearch

from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.analysis.packing import PackedTokens
from indexer.analysis.tokens import Token
from indexer.errors import EngineRefused, IndexMismatch
from indexer.files.schema import TERMS
from indexer.versions.cluster.documents import line_of
from indexer.versions.cluster.mapping import WHILE_LOADING, index_body
from indexer.versions.fingerprint import fixed_texts

READY_WITHIN_S = 60
ANSWER_LIMIT_S = 10
FLUSH_INTERVAL_S = 3.0
QUERY_INTERVAL_S = 0.2
MOST_TERMS_COMPARED = 200  # of a user dictionary
LONGEST_SHOWN = 200  # characters of a text
IDLE_POLLS = 25  # polls without a running merge until the cluster counts as done


async def create_for_loading(
    client: AsyncElasticsearch,
    index: str,
    analyzer: str,
    decompound: Decompound,
    shards: int,
    meta: dict[str, Any],
    dictionary: UserDictionary | None = None,
) -> None:
    """Create an empty index, and check that the cluster's analysis agrees with this machine's.

    `meta` is part of its mapping from the start.

    Raises:
        IndexMismatch: the cluster's analysis produces other tokens for the fixed texts.
    """
    body = index_body(analyzer, decompound, shards=shards, meta=meta, dictionary=dictionary)
    await create_placed(client, index, body)
    differing = await first_difference(client, index, analyzer, decompound, dictionary)
    if differing:
        await client.indices.delete(index=index)
        plugin = "the plugin analysis-nori must be the one for Elasticsearch 9"
        term = "a dictionary term is the cause: try without the terms in this text"
        raise IndexMismatch(
            f"the cluster analyses text differently from this machine: other tokens for {differing!r}",
            remedy=(plugin, term) if dictionary else plugin,
        )


async def first_difference(
    client: AsyncElasticsearch,
    index: str,
    analyzer: str,
    decompound: Decompound,
    dictionary: UserDictionary | None,
) -> str | None:
    """Return the first of the fixed texts or user words with different tokens in the cluster.

    Compares the analysis of texts and the tokenization of the lines of terms.
    """
    chain = make_analyzer(analyzer, decompound, dictionary)
    texts = fixed_texts()
    if dictionary:
        texts += [entry.term for entry in dictionary.entries[:MOST_TERMS_COMPARED]]
    read = [chain.analyze(text) for text in texts]
    in_one = _joined(read)
    for name, sent, expected in (
        (analyzer, texts, read),
        (TERMS, [line_of(PackedTokens.pack(in_one))], [in_one]),
    ):
        answer = await client.indices.analyze(index=index, analyzer=name, text=sent)
        for text, ours, theirs in zip(sent, expected, _by_text(sent, answer["tokens"]), strict=True):
            if _relative((token["token"], token["position"]) for token in theirs) != _relative(
                token[:2] for token in ours
            ):
                return text[:LONGEST_SHOWN]
    return None


def _by_text(texts: Sequence[str], tokens: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Split the tokens of a response by text; offsets continue across texts, with a gap of one."""
    waiting, ends = deque(tokens), 0
    for text in texts:
        ends += len(text.encode("utf-16-le")) // 2 + 1
        theirs = []
        while waiting and waiting[0]["start_offset"] < ends:
            theirs.append(waiting.popleft())
        yield theirs


def _relative(tokens: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return tokens with positions relative to the first one, as positions continue across texts."""
    listed = list(tokens)
    return [(term, position - listed[0][1]) for term, position in listed]


def _joined(texts: Iterable[Sequence[Token]]) -> list[Token]:
    """Return the tokens of all texts with positions continuing from text to text."""
    joined: list[Token] = []
    for tokens in texts:
        behind = joined[-1][1] + 1 if joined else 0
        joined += [(term, behind + position, start, end) for term, position, start, end in tokens]
    return joined


async def start_from(client: AsyncElasticsearch, base: str, index: str, meta: dict[str, Any]) -> None:
    """Clone a published index by hard links, open for writing.

    Its mapping has the `meta` of the published index until it is replaced by `meta`.
    """
    made = await _patient(client).indices.clone(
        index=base,
        target=index,
        timeout=f"{READY_WITHIN_S}s",
        settings={"index": {"blocks.write": None, "auto_expand_replicas": False, **WHILE_LOADING}},
    )
    await _require_allocated(client, index, made)
    await client.indices.put_mapping(index=index, meta=meta)


async def create_placed(client: AsyncElasticsearch, index: str, body: dict[str, Any]) -> None:
    """Create an index, and wait for the allocation of its shards; EngineRefused if that fails."""
    made = await _patient(client).indices.create(index=index, **body, timeout=f"{READY_WITHIN_S}s")
    await _require_allocated(client, index, made)


async def is_placed(client: AsyncElasticsearch, index: str, within_s: float) -> bool:
    """Wait for the allocation of all shards; return whether it succeeded."""
    patient = client.options(ignore_status=408, request_timeout=within_s + ANSWER_LIMIT_S)
    health = await patient.cluster.health(
        index=index, wait_for_status="yellow", timeout=f"{int(1000 * within_s)}ms"
    )
    return not health["timed_out"]


def _patient(client: AsyncElasticsearch) -> AsyncElasticsearch:
    return client.options(request_timeout=READY_WITHIN_S + ANSWER_LIMIT_S)


async def _require_allocated(client: AsyncElasticsearch, index: str, made: ObjectApiResponse[Any]) -> None:
    """Delete an index whose shards were not allocated."""
    if not made["shards_acknowledged"]:
        await client.indices.delete(index=index)
        raise EngineRefused(
            f"the cluster allocated no shards of index {index} within {READY_WITHIN_S} s",
            remedy="see GET /_cluster/allocation/explain (often a full disk), then repeat the command",
        )


async def merge(client: AsyncElasticsearch, index: str, *, settle_s: float) -> None:
    """Merge each shard to one segment, so that BM25 statistics exclude deleted passages.

    The cluster retains deleted passages for replicas of the shard, and releases them every 30 seconds. The
    function waits for this up to `settle_s` seconds after the first merge.
    """
    deadline = None
    while True:
        await client.indices.flush(index=index)
        await client.indices.forcemerge(index=index, max_num_segments=1, wait_for_completion=False)
        stats = await _merged(client, index)
        deadline = deadline or time.monotonic() + settle_s
        if not stats["docs"]["deleted"] or time.monotonic() > deadline:
            return
        await asyncio.sleep(FLUSH_INTERVAL_S)


async def _merged(client: AsyncElasticsearch, index: str) -> dict[str, Any]:
    """Wait for running merges, and return the statistics."""
    idle = 0
    while True:
        await client.indices.refresh(index=index)
        answer = await client.indices.stats(index=index, metric="segments,merge,docs")
        total: dict[str, Any] = answer["_all"]["primaries"]
        idle = 0 if total["merges"]["current"] else idle + 1
        if idle > IDLE_POLLS or total["segments"]["count"] <= answer["_shards"]["successful"]:
            return total
        await asyncio.sleep(QUERY_INTERVAL_S)
