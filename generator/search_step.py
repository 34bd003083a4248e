"""The search step, and a cut of the evidence at scores far below the best paper's."""

from dataclasses import replace

from base.logs import get_logger
from generator.tracing.steps import Step
from retriever.answerability import THRESHOLD
from retriever.request import SearchContext
from retriever.search import Stages, present, run_stages
from retriever.stages.hits import SearchResult

# Share of the best score. On the plain tuning questions it drops no paper that answers the question.
LEAST_SHARE = 0.3

log = get_logger("search")


async def search_step(
    parent: Step, context: SearchContext, stages: Stages | None = None, *, low_scores: bool = True
) -> SearchResult:
    """Run the remaining stages of a search opened by `open_search`; output as `shrag search --json`.

    The parent's listener receives the stages once the strategy is chosen, and then the result. Without
    `low_scores`, hits that score far below the best one are dropped.

    Raises:
        RetrieverError: an invalid expression or method.
    """
    request = context.request
    inputs = {"question": request.question, "method": request.method, "k": context.shown}
    keywords = None if request.keywords is None else list(request.keywords)
    with parent.step("search", **inputs, keywords=keywords, skip=list(request.skip)) as step:
        chosen = await context.index.in_one_thread(lambda: run_stages(context, stages, upto="terms"))
        parent.publish(chosen)

        async def searched() -> SearchResult:
            return await present(context, await run_stages(context, chosen))

        result = await context.index.in_one_thread(searched)
        if not low_scores:
            result = without_low_scores(result)
        step.output = result.as_record()
    parent.publish(result)
    log.info("search", method=result.method, hits=len(result.hits), milliseconds=step.output["milliseconds"])
    return result


def without_low_scores(result: SearchResult) -> SearchResult:
    """Return a search result without hits that score less than `LEAST_SHARE` of the best hit.

    It applies only to lexical scores of method `shrag`. A result below the answer threshold keeps its hits,
    as the nearest papers. `filtered` counts the dropped hits.
    """
    applied, likelihood = result.applied, result.likelihood
    if likelihood is None or likelihood < THRESHOLD or not applied or applied.vectors or applied.reranker:
        return result
    least = LEAST_SHARE * result.hits[0].score if result.hits else 0.0
    kept = tuple(hit for hit in result.hits if hit.score >= least)
    left_out = len(result.hits) - len(kept)
    if not left_out or not kept:
        return result
    return replace(result, hits=kept, filtered=result.filtered | {"low_scores": left_out})
