"""Ways I to VIII of paper-QA, which answer from passages and not papers (sections 3 to 5).

Each retrieves passages; some expand the question, fuse rankings, re-rank, filter, or draft an answer first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from base.notes import Note
from generator.answers.answer import WayResult
from generator.answers.extractive import extractive_answer, searched_terms
from generator.answers.model_answer import (
    AnswerForm,
    Title,
    WrittenAnswer,
    WrittenSentence,
)
from generator.llm import Reply
from generator.model_step import ModelStep, UnusableReply
from generator.prompts import load_prompt
from generator.request import AskRequest, Resources
from generator.tracing import Step, all_of
from generator.ways import PAPER_QA
from generator.ways.shrag import answer_step
from indexer.corpora.papers import language_of_question
from retriever.papers.page import Topic, find_topic
from retriever.query_plan import QUESTION
from retriever.relevance.passages import relevance
from retriever.request import SearchRequest, check_question
from retriever.stages.hits import SearchResult
from retriever.views.passage_search import (
    further_queries_from_statistics,
    fused,
    search_passages,
    with_hits,
)

RETRIEVED, FUSED = 10, 15  # passages for each of several texts, passages after fusion
FIRST_RETRIEVAL = 10  # passages whose best sentences replace hypotheses
RELEVANT = 0.6  # passages with a higher relevance are kept
MOST_SENTENCES = 3  # written or quoted
MEASURES = {"cosine": "cosine", "words": "shared words"}

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class TwoTexts(BaseModel):
    """Reply schema of an expansion; there are exactly two texts (paper-QA, section 3)."""

    texts: Annotated[list[Text], Field(min_length=2, max_length=2)]


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question to passages, and the paper that it is about, if any."""

    request: AskRequest
    resources: Resources
    topic: Topic | None

    def search(self, text: str, k: int, name: str = QUESTION) -> Awaitable[SearchResult]:
        """Search for k passages for a text, with the filters of the question."""
        asked, settings = self.request, self.resources.settings.retriever
        search = SearchRequest(text, k=k, filters=asked.filters, conditions=False, collapse=False)
        if text == asked.question:  # only the question has conditions
            search = replace(search, exclude=asked.exclude, conditions=asked.conditions)
        return self.resources.index.run(search_passages, search, settings, name=name, topic=self.topic)


@dataclass(frozen=True, slots=True)
class Expansion:
    """A kind of additional query texts: the model's prompt, and the substitute without a model.

    `step` and `substitute` name the steps, `name` the texts.
    """

    step: str
    prompt: str
    name: str
    substitute: str
    without_model: Callable[[PassageQuestion], Awaitable[Sequence[str]]]


async def _quoted(asked: PassageQuestion) -> Sequence[str]:
    """Return at most two sentences of a first retrieval that cover most of the question."""
    index, settings = asked.resources.index, asked.resources.settings.retriever
    found = await asked.search(asked.request.question, FIRST_RETRIEVAL)
    terms = await searched_terms(found, index, settings)
    quoted = await index.run(lambda _: extractive_answer(found, index, terms, 0.0, 2, in_context=False))
    return [sentence.text for sentence in quoted.sentences]


def _from_statistics(asked: PassageQuestion) -> Awaitable[Sequence[str]]:
    index, settings = asked.resources.index, asked.resources.settings.retriever
    return index.run(further_queries_from_statistics, asked.request.question, settings)


QUERIES = Expansion("queries", "further_queries", "query", "statistical-queries", _from_statistics)
HYPOTHESES = Expansion("hypotheses", "hypotheses", "hypothesis", "quoted-hypotheses", _quoted)


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from passages by the way of the request; abstain if none is left.

    Raises:
        BadQuestion: the question cannot be searched for.
        BadFilter: several papers have the title of the topic.
        UnknownPaper: the index contains no paper with that id or title.
    """
    steps = PAPER_QA[request.way].split()
    expansions = [each for each in (QUERIES, HYPOTHESES) if each.step in steps]
    check_question(request.question)
    topic = None
    if request.topic is not None:
        with step.step("topic", topic=request.topic) as finding:
            topic = await resources.index.run(find_topic, request.topic, request.filters)
            finding.output = {"doc_id": topic.doc_id, "title": topic.title, "passages": topic.passages}
    asked = PassageQuestion(request, resources, topic)
    fused_k = max(FUSED, request.evidence)
    if expansions:
        expanded = await all_of(_expand(step, asked, expansion) for expansion in expansions)
        texts = {name: text for of_expansion in expanded for name, text in of_expansion.items()}
        found = await _retrieve(step, asked, texts, max(RETRIEVED, request.evidence))
        with step.step("fuse", rankings=len(found), k=fused_k) as fusing:
            result = fused(found, fused_k)
            fusing.output = _hit_records(result)
    else:
        [result] = await _retrieve(step, asked, {}, fused_k if "rerank" in steps else request.evidence)
    values = {"topic": topic.title if topic else ""}
    form = AnswerForm("brief_answer", BriefAnswer, ("body",), MOST_SENTENCES, values)
    if "rerank" in steps:
        guide = await _draft(step, asked, result, form) if "draft" in steps else ()
        result = await _rerank(step, asked, result, guide)
    if "filter" in steps:
        result = _filter_relevant(step, result)
    step.publish(result)
    return WayResult(await answer_step(step, result, resources, form), result)


async def _expand(parent: Step, asked: PassageQuestion, expansion: Expansion) -> dict[str, str]:
    """Return two texts by name, which differ from the question and from each other.

    A reply with more or fewer texts is repaired once; one that repeats the question or itself is a failure. A
    substitute may find fewer texts in a small index.
    """
    question = asked.request.question

    def read(reply: Reply[TwoTexts]) -> Sequence[str]:
        texts = reply.value.texts
        letters = {"".join(filter(str.isalnum, text.casefold())) for text in (question, *texts)}
        if len(letters) <= len(texts):
            raise UnusableReply("repeated the question or itself")
        return texts

    expanding = ModelStep(
        expansion.step,
        load_prompt(expansion.prompt, language_of_question(question)),
        {"question": question},
        TwoTexts,
        read=read,
        fallback=expansion.substitute,
        inputs={"question": question},
        output=list,
    )
    texts = await expanding.run(parent, asked.resources.model)
    if texts is None:
        with parent.step(expansion.substitute, question=question) as step:
            texts = await expansion.without_model(asked)
            step.output = list(texts)
    return {f"{expansion.name} {number}": text for number, text in enumerate(texts, 1)}


async def _retrieve(
    parent: Step, asked: PassageQuestion, further: Mapping[str, str], k: int
) -> list[SearchResult]:
    """Retrieve k passages for each text concurrently; passages of the topic come first."""
    topic = asked.topic
    texts = {QUESTION: asked.request.question, **further}
    with parent.step("retrieve", queries=texts, k=k, topic=topic and topic.doc_id) as step:

        async def search(name: str, text: str) -> SearchResult:
            return await asked.search(text, k, name)

        found = await all_of(search(name, text) for name, text in texts.items())
        by_name = dict(zip(texts, found, strict=True))
        records = {name: _hit_records(result) for name, result in by_name.items()}
        step.output = {"method": found[0].method, "found": records}
        if topic:
            of, hits = topic.doc_id, {name: result.hits for name, result in by_name.items()}
            others = {name: sum(hit.doc_id != of for hit in each) for name, each in hits.items()}
            if any(others.values()):
                step.output["of_other_papers"] = others
                step.notes.append(Note("passages_filled_in", paper=of, found=topic.passages, wanted=k))
    return found


def _hit_records(result: SearchResult) -> list[dict[str, Any]]:
    return [{"passage_id": hit.passage_id, "score": hit.score} for hit in result.hits]


async def _rerank(
    parent: Step, asked: PassageQuestion, result: SearchResult, guide: Sequence[str]
) -> SearchResult:
    """Keep the most relevant passages; their scores are relevances, 0 to 1.

    With `guide`, the sentences of an answer, the score is the mean of the relevance to the question and the
    highest relevance to one of these sentences, if that is higher. A guide never lowers a score, because a
    sentence in another language shares few words with any passage.
    """
    index, settings = asked.resources.index, asked.resources.settings.retriever
    k, inputs = asked.request.evidence, {"guide": list(guide)} if guide else {}
    with parent.step("rerank", passages=len(result.hits), k=k, **inputs) as step:
        found, *guided = await asyncio.gather(
            *(index.run(relevance, text, result.hits, settings) for text in (asked.request.question, *guide))
        )
        scores = found.scores
        alike = [each.scores for each in guided if each.by == found.by]  # other measures differ in scale
        if alike:
            nearest = map(max, zip(scores, *alike, strict=True))
            scores = tuple(map(fmean, zip(scores, nearest, strict=True)))
        scored = [replace(hit, score=round(score, 4)) for hit, score in zip(result.hits, scores, strict=True)]
        scored.sort(key=lambda hit: (-hit.score, hit.passage_id))
        kept = with_hits(result, scored[:k])
        if kept.applied is not None:
            order = f"{kept.order}; then the relevance to the question by {MEASURES.get(found.by, found.by)}"
            model = "" if found.by in MEASURES else found.by
            kept = replace(kept, applied=replace(kept.applied, order=order, reranker=model))
        step.output = {"by": found.by, "hits": _hit_records(kept)}
        failures = dict.fromkeys(failure for each in (found, *guided) for failure in each.failures)
        step.notes += [Note("passages_not_reranked", error=str(failure)) for failure in failures]
    return kept


def _filter_relevant(parent: Step, result: SearchResult) -> SearchResult:
    """Drop passages whose relevance is not above `RELEVANT`; the result may be empty."""
    with parent.step("filter", passages=len(result.hits), above=RELEVANT) as step:
        kept = with_hits(result, [hit for hit in result.hits if hit.score > RELEVANT])
        step.output = _hit_records(kept)
        if result.hits and not kept.hits:
            step.notes.append(Note("no_relevant_passage", above=RELEVANT))
    return kept


# Brief answers


class BriefAnswer(WrittenAnswer):
    """Reply schema: only a body; the reasoning comes first, so that the answer follows from it."""

    reasoning: Annotated[str, Field(max_length=2_000)] = ""
    title: Title
    body: Annotated[list[WrittenSentence], Field(max_length=MOST_SENTENCES)]
    answered: bool = True


async def _draft(
    parent: Step, asked: PassageQuestion, result: SearchResult, form: AnswerForm
) -> tuple[str, ...]:
    """Return the sentences of a temporary answer from passages; none if it abstains."""
    with parent.step("draft", passages=[hit.passage_id for hit in result.hits]) as drafting:
        form = replace(form, quotes_in_context=False)  # its words are compared with passages
        drafted = await answer_step(drafting, result, asked.resources, form, judges=False)
        sentences = () if drafted.abstained else tuple(each.text for each in drafted.sentences)
        drafting.output = list(sentences[:MOST_SENTENCES])
        # If the server was too slow, later steps do not wait for it again.
        drafting.failure = next((call.failure for call in drafting.children if call.failure), None)
    return sentences[:MOST_SENTENCES]
