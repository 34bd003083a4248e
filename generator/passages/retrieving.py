"""Retrieval of passages for one or several texts, and fusion of the rankings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from generator.passages.asked import PassageQuestion
from generator.side_by_side import all_of
from generator.tracing.steps import Step
from retriever.query_plan import QUESTION
from retriever.stages.hits import SearchResult
from retriever.views.passage_search import fused, search_passages


@dataclass(frozen=True, slots=True)
class QueryText:
    """A query text and the name of its ranking."""

    name: str
    text: str


async def retrieve(
    parent: Step, asked: PassageQuestion, further: Sequence[QueryText] = (), *, k: int
) -> list[SearchResult]:
    """Retrieve k passages for the question and each further text concurrently; passages of the topic first.

    k is at least the request's number of evidence passages.
    """
    k = max(k, asked.request.evidence)
    queries = (QueryText(QUESTION, asked.text), *further)
    index, settings, topic = asked.resources.index, asked.resources.settings.retriever, asked.topic
    texts = {query.name: query.text for query in queries}
    with parent.step("retrieve", queries=texts, k=k, topic=topic and topic.doc_id) as step:
        found = await all_of(
            search_passages(index, asked.search(query.text, k), settings, name=query.name, topic=topic)
            for query in queries
        )
        step.output = {
            "method": found[0].method,
            "found": {name: hit_records(result) for name, result in zip(texts, found, strict=True)},
        }
        others = [_of_others(result, topic.doc_id) if topic else 0 for result in found]
        if topic and any(others):
            step.output["of_other_papers"] = dict(zip(texts, others, strict=True))
            step.notes.append(
                f"passages of paper {topic.doc_id}: {topic.passages}, {k} are wanted; the others are "
                "filled in from other papers"
            )
    return found


def fuse(parent: Step, asked: PassageQuestion, results: Sequence[SearchResult], k: int) -> SearchResult:
    """Keep the k best passages of several rankings by reciprocal rank fusion; k as in `retrieve`."""
    k = max(k, asked.request.evidence)
    with parent.step("fuse", rankings=len(results), k=k) as step:
        result = fused(results, k)
        step.output = hit_records(result)
    return result


def hit_records(result: SearchResult) -> list[dict[str, Any]]:
    """Return passage ids and scores as JSON, for a step."""
    return [{"passage_id": hit.passage_id, "score": hit.score} for hit in result.hits]


def _of_others(result: SearchResult, doc_id: str) -> int:
    return sum(hit.doc_id != doc_id for hit in result.hits)
