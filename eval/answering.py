"""A question ranked by the evidence of its answer, as in `shrag ask`."""

from eval.ranking import NOTHING_FOUND, RankedTopic, without_hits
from eval.runs import as_written
from generator.llm import LanguageModel
from generator.pipeline import AskRequest, Settings, answer_question
from indexer.corpora.papers import Unit
from retriever.errors import BadExpression, BadQuestion
from retriever.index import OpenIndex


async def answer_topic(
    index: OpenIndex,
    request: AskRequest,
    settings: Settings,
    *,
    unit: Unit,
    model: LanguageModel | None = None,
) -> RankedTopic:
    """Answer a question, and rank its evidence: passages, or papers by their best passage.

    A question that cannot be searched for has an empty ranking and a reason. If the model failed and a
    fallback was used, failures and deviations name the steps.
    """
    try:
        asked = await answer_question(index, request, settings, model=model)
    except (BadQuestion, BadExpression) as error:
        return without_hits(error)
    ranked: dict[str, float] = {}
    for hit in asked.evidence:
        ranked.setdefault(hit.doc_id if unit == "paper" else hit.passage_id, hit.score)
    applied = asked.result.applied
    calls = [(step["name"], step.get("model_call") or {}) for step in asked.trace.steps()]
    prompts = {name: [call["prompt_version"]] for name, call in calls if "prompt_version" in call}
    alone = [step["name"] for step in asked.trace.steps() if model and step.get("fallback")]
    return RankedTopic(
        as_written(ranked.items()),
        "" if ranked else NOTHING_FOUND,
        applied,
        {"without the model": alone} if alone else {},
        (*(applied.failures if applied else ()), *(f"without the model: {name}" for name in alone)),
        prompts=prompts,
    )
