"""SHRAG: keywords, the search, and an answer from its best papers (Ryu, Shin & Park, section 3).

The language model writes keywords and answer. Where there is none, or it fails, the search takes its keywords
from statistics, and the answer is quoted from the evidence.
"""

import asyncio
from functools import partial

from generator.answers import Answer
from generator.asking import AskRequest, Resources, WayResult
from generator.extractive import extractive_answer
from generator.keywords import keyword_records, keywords_from_model
from generator.model_answer import answer_from_model
from generator.model_steps import model_step
from generator.searching import search_step
from generator.steps import Step
from retriever.confidence import THRESHOLD
from retriever.hits import SearchResult
from retriever.keywords import Keyword
from retriever.methods import method_named
from retriever.search import SearchRequest, open_search, run_stages


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the first hits of one search."""
    asked = SearchRequest(
        request.question, method=request.method, k=request.evidence, filters=request.filters
    )
    context = open_search(resources.index, asked, resources.settings.retriever)
    stages = await run_stages(context, upto="question")
    if stages.question and not stages.question.is_empty:
        context = context.with_keywords(await _keywords(asked, resources, step))
    result = await search_step(step, context, stages)
    return WayResult(await write_answer(result, resources, step), result)


async def _keywords(asked: SearchRequest, resources: Resources, step: Step) -> tuple[Keyword, ...] | None:
    """Return the model's keywords; None, for those from statistics or where the method has none."""
    if resources.model is None or method_named(asked.method).keywords is None:
        return None
    most = resources.settings.retriever.keywords
    return await model_step(
        step,
        "keywords",
        partial(keywords_from_model, asked.question, resources.model, resources.index.analyzer, most=most),
        keyword_records,
        fallback="keywords from statistics",
        question=asked.question,
    )


async def write_answer(result: SearchResult, resources: Resources, step: Step) -> Answer:
    """Have the model answer from the hits of a search; where there is none, or it fails, quote them."""
    index, model = resources.index, resources.model
    passage_ids = [hit.passage_id for hit in result.hits]
    if model and result.hits:
        written = await model_step(
            step,
            "answer",
            partial(answer_from_model, result.question, [hit.passage for hit in result.hits], model, index),
            Answer.as_record,
            fallback="extractive answer",
            evidence=passage_ids,
        )
        if written:
            return written
    with step.step("quotation", evidence=passage_ids) as quotation:
        quoted = await asyncio.to_thread(extractive_answer, result, index, THRESHOLD)
        quotation.output = quoted.as_record()
    return quoted
