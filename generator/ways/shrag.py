"""Way SHRAG: keywords, a search, and an answer from its best papers (Ryu, Shin & Park, section 3).

The language model writes keywords and answer. Without a model, or if it fails, keywords come from statistics
and the answer is quoted from the evidence.
"""

from dataclasses import replace

from generator.answer_step import answer_step
from generator.answers.answer import WayResult
from generator.keywords import keywords_step
from generator.request import AskRequest, Resources
from generator.search_step import search_step
from generator.tracing.steps import Step
from retriever.methods import method_named
from retriever.queries.keywords import Keyword
from retriever.search import SearchRequest, open_search, run_stages

TAKES = frozenset({"method", "keywords", "skip"})


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the first hits of one search, without hits that score far below the best.

    Raises:
        RetrieverError: the search failed.
    """
    asked = request.search()
    context = open_search(resources.index, asked, resources.settings.retriever)
    stages = await run_stages(context, upto="question")
    if stages.question and not stages.question.is_empty:
        searched = stages.question.constraints.remaining(stages.question.text) or request.question
        asked = replace(asked, question=searched)
        if request.keywords is None:
            context = context.with_keywords(await _keywords(asked, resources, step))
    result = await search_step(step, context, stages, low_scores=request.low_scores)
    return WayResult(await answer_step(step, result, resources), result)


async def _keywords(asked: SearchRequest, resources: Resources, step: Step) -> tuple[Keyword, ...] | None:
    """Return the model's keywords; None for keywords from statistics, or if the method uses none."""
    if resources.model is None or method_named(asked.method).keywords is None:
        return None
    settings = resources.settings.retriever
    most = None if settings.keywords_ranked else settings.keywords
    keywords = keywords_step(asked.question, resources.model.settings, resources.index.analyzer, most=most)
    return await keywords.run(step, resources.model)
