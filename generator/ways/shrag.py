"""Way SHRAG: a strategy, a search, and an answer from its best papers (Ryu, Shin & Park, section 3).

The language model writes strategy and answer. Without a model, or if it fails, the strategy comes from
statistics and the answer is quoted from the evidence.
"""

from generator.answer_step import answer_step
from generator.answers.answer import WayResult
from generator.request import AskRequest, Resources
from generator.search_step import search_step
from generator.strategist import ask_for_strategy
from generator.tracing.steps import Step
from retriever.search import open_search


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the first hits of one search, without hits that score far below the best.

    Raises:
        RetrieverError: the search failed.
    """
    request = await ask_for_strategy(step, request, resources)
    context = open_search(resources.index, request.search(), resources.settings.retriever)
    result = await search_step(step, context, low_scores=request.low_scores)
    return WayResult(await answer_step(step, result, resources), result)
