"""Way SHRAG: keywords, a search, and an answer from its best papers (Ryu, Shin & Park, section 3).

The language model writes keywords and answer. Without a model, or if it fails, keywords come from statistics
and the answer is quoted from the evidence.
"""

from dataclasses import replace

from generator.answer_step import answer_step
from generator.answers.answer import WayResult
from generator.keywords import model_keywords
from generator.request import AskRequest, Resources
from generator.search_step import search_step
from generator.tracing.steps import Step
from retriever.search import open_search, run_stages

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
            context = context.with_keywords(await model_keywords(step, asked, resources))
    result = await search_step(step, context, stages, low_scores=request.low_scores)
    return WayResult(await answer_step(step, result, resources), result)
