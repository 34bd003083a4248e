"""Way SHRAG: a strategy, a search, and an answer from its best papers (Ryu, Shin & Park, section 3).

The language model writes strategy and answer. Without a model, or if it fails, the strategy comes from
statistics and the answer is quoted from the evidence. Other ways use the same steps of search and answer.
"""

from dataclasses import replace

from base.logs import get_logger
from base.notes import Note
from generator.answers.answer import (
    Answer,
    WayResult,
    with_unknown_words,
)
from generator.answers.extractive import extractive_answer, searched_terms, shares_of_best
from generator.answers.judging import judged
from generator.answers.model_answer import WHOLE_ANSWER, AnswerForm, written_answer
from generator.request import AskRequest, Resources
from generator.strategist import ask_for_strategy
from generator.tracing import Step
from retriever.answerability import THRESHOLD
from retriever.request import SearchContext
from retriever.search import open_search, present, run_stages
from retriever.stages.hits import Hit, SearchResult

# Share of the best score. On the plain tuning questions it drops no paper that answers the question.
LEAST_SHARE = 0.3

log = get_logger("search")


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the first hits of one search, without hits that score far below the best.

    Raises:
        RetrieverError: the search failed.
    """
    request = await ask_for_strategy(step, request, resources)
    context = open_search(resources.index, request.search(), resources.settings.retriever)
    result = await search_step(step, context, low_scores=request.low_scores)
    return WayResult(await answer_step(step, result, resources), result)


async def search_step(parent: Step, context: SearchContext, *, low_scores: bool = True) -> SearchResult:
    """Run a search opened by `open_search`; output as `shrag search --json`.

    The parent's listener receives the stages once the strategy is chosen, and then the result. Without
    `low_scores`, hits that score far below the best one are dropped.

    Raises:
        RetrieverError: an invalid expression or method.
    """
    request = context.request
    inputs = {"question": request.question, "method": request.method, "k": context.shown}
    keywords = None if request.keywords is None else list(request.keywords)
    with parent.step("search", **inputs, keywords=keywords, skip=list(request.skip)) as step:
        index = context.index
        chosen = await index.run(lambda _: run_stages(context, upto="terms"))
        parent.publish(chosen)
        result = await index.run(lambda _: present(context, run_stages(context, chosen)))
        if not low_scores:
            result = without_low_scores(result)
        step.output = result.as_record()
    parent.publish(result)
    log.info("search", method=result.method, hits=len(result.hits), milliseconds=step.output["milliseconds"])
    return result


def without_low_scores(result: SearchResult) -> SearchResult:
    """Return a search result without hits that score less than `LEAST_SHARE` of the best hit.

    A result below the answer threshold keeps its hits, as the nearest papers. `filtered` counts the dropped
    hits.
    """
    if result.likelihood is not None and result.likelihood < THRESHOLD:
        return result
    kept = hits_near_best(result)
    left_out = len(result.hits) - len(kept)
    if not left_out or not kept:
        return result
    return replace(result, hits=kept, filtered=result.filtered | {"low_scores": left_out})


def hits_near_best(result: SearchResult) -> tuple[Hit, ...]:
    """Return the hits with at least `LEAST_SHARE` of the best score; all if scores are not lexical."""
    shares = zip(result.hits, shares_of_best(result), strict=True)
    return tuple(hit for hit, share in shares if share >= LEAST_SHARE)


async def answer_step(
    parent: Step,
    result: SearchResult,
    resources: Resources,
    form: AnswerForm = WHOLE_ANSWER,
    *,
    judges: bool = True,
) -> Answer:
    """Answer from the hits of a search with the model; without a model, or if it fails, quote them.

    `judges`: a model checks the sentences of the answer.
    """
    index, passages = resources.index, [hit.passage for hit in result.hits]
    terms = await searched_terms(result, index, resources.settings.retriever)
    exclusions = terms.exclusions if terms else ()

    async def quotation() -> Answer:
        evidence = [passage.passage_id for passage in passages]
        with parent.step("quotation", evidence=evidence) as step:
            most, in_context = form.most_quoted, form.quotes_in_context
            quoted = await index.run(
                lambda _: extractive_answer(result, index, terms, THRESHOLD, most, in_context=in_context)
            )
            quoted = with_unknown_words(quoted, result.unknown_words)
            step.output = quoted.as_record()
        return quoted

    if resources.model is None or not passages:
        return await quotation()
    writing = written_answer(
        result.question,
        [hit.passage for hit in hits_near_best(result)],
        index,
        exclusions=exclusions,
        on_sentences=parent.publish if parent.listener else None,
        form=form,
    )
    answer = await writing.run(parent, resources.model)
    if answer is None:
        return await quotation()
    if not answer.abstained and result.likelihood is not None and result.likelihood < THRESHOLD:
        parent.notes.append(Note("probably_no_answer", percent=round(100 * result.likelihood)))
    if judges:
        answer = await judged(parent, answer, passages, resources)
    return with_unknown_words(answer, result.unknown_words)
