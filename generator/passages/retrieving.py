"""Passages of a question: retrieval for one or several texts, fusion, re-ranking, and a filter."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from generator.request import AskRequest, Resources
from generator.tracing.progress import all_of
from generator.tracing.steps import Step
from retriever.papers.topics import Topic, find_topic
from retriever.query_plan import QUESTION
from retriever.relevance.passages import relevance
from retriever.request import SearchRequest, check_question
from retriever.stages.hits import SearchResult
from retriever.views.passage_search import fused, search_passages, with_hits

MEASURES = {"cosine": "cosine", "words": "shared words"}


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question to passages, and the paper that it is about, if any."""

    request: AskRequest
    resources: Resources
    topic: Topic | None

    @property
    def text(self) -> str:
        """Text of the question."""
        return self.request.question

    def search(self, text: str, k: int) -> SearchRequest:
        """Return the request for k passages for a text, with the filters of the question."""
        own = self.request if text == self.text else None  # only the question itself has conditions
        return SearchRequest(
            text,
            k=k,
            filters=self.request.filters,
            exclude=own.exclude if own else (),
            conditions=own.conditions if own else False,
            collapse=False,
        )


async def open_question(parent: Step, request: AskRequest, resources: Resources) -> PassageQuestion:
    """Check a question to passages and look up its topic in a step.

    Raises:
        BadQuestion: the question cannot be searched for.
        BadFilter: several papers have the title.
        UnknownPaper: the index contains no paper with that id or title.
    """
    check_question(request.question)
    if request.topic is None:
        return PassageQuestion(request, resources, None)
    with parent.step("topic", topic=request.topic) as step:
        topic = await find_topic(resources.index, request.topic, request.filters)
        step.output = {"doc_id": topic.doc_id, "title": topic.title, "passages": topic.passages}
    return PassageQuestion(request, resources, topic)


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


async def rerank(
    parent: Step, asked: PassageQuestion, result: SearchResult, k: int, guide: Sequence[str] = ()
) -> SearchResult:
    """Keep the k most relevant passages; their scores are relevances, 0 to 1.

    With `guide`, the sentences of an answer, the score is the mean of the relevance to the question and the
    highest relevance to one of these sentences, if that is higher. A guide never lowers a score, because a
    sentence in another language shares few words with any passage.
    """
    index, settings = asked.resources.index, asked.resources.settings.retriever
    inputs = {"guide": list(guide)} if guide else {}
    with parent.step("rerank", passages=len(result.hits), k=k, **inputs) as step:
        found, *guided = await asyncio.gather(
            *(relevance(index, text, result.hits, settings) for text in (asked.text, *guide))
        )
        scores = found.scores
        alike = [each.scores for each in guided if each.by == found.by]  # other measures differ in scale
        if alike:
            nearest = map(max, zip(scores, *alike, strict=True))
            scores = tuple(map(fmean, zip(scores, nearest, strict=True)))
        scored = [replace(hit, score=round(score, 4)) for hit, score in zip(result.hits, scores, strict=True)]
        scored.sort(key=lambda hit: (-hit.score, hit.passage_id))
        kept = _by_measure(with_hits(result, scored[:k]), found.by)
        step.output = {"by": found.by, "hits": hit_records(kept)}
        failures = dict.fromkeys(failure for each in (found, *guided) for failure in each.failures)
        step.notes += [f"not re-ranked by a model, it failed: {failure}" for failure in failures]
    return kept


def _by_measure(result: SearchResult, by: str) -> SearchResult:
    if result.applied is None:
        return result
    model = "" if by in MEASURES else by
    order = f"{result.order}; then the relevance to the question by {MEASURES.get(by, by)}"
    applied = replace(result.applied, order=order, reranker=model)
    return replace(result, applied=applied)


def filter_relevant(parent: Step, result: SearchResult, *, above: float) -> SearchResult:
    """Drop passages whose relevance is not above a value; the result may be empty."""
    with parent.step("filter", passages=len(result.hits), above=above) as step:
        kept = with_hits(result, [hit for hit in result.hits if hit.score > above])
        step.output = hit_records(kept)
        if result.hits and not kept.hits:
            step.notes.append(f"no passage has a relevance above {above:g}: there is none to answer from")
    return kept
