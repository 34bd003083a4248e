"""The answer step: an answer written by the model, or quoted from the papers."""

import asyncio
from functools import partial

from generator.answers.answer import Answer, Sentence, SentencesSoFar, with_unknown_words
from generator.answers.excluding import mark_excluded
from generator.answers.extractive import quoted_answer
from generator.answers.judging import judged
from generator.answers.model_answer import WHOLE_ANSWER, AnswerForm, answer_from_model
from generator.model_calls.model_step import model_step
from generator.request import Resources
from generator.tracing.steps import Step
from retriever.searching.answerability import THRESHOLD
from retriever.stages.hits import SearchResult


async def answer_step(
    parent: Step, result: SearchResult, resources: Resources, form: AnswerForm = WHOLE_ANSWER
) -> Answer:
    """Answer from the hits of a search with the model; without a model, or if it fails, quote them."""
    index, model = resources.index, resources.model
    passage_ids = [hit.passage_id for hit in result.hits]

    def publish(sentences: tuple[Sentence, ...]) -> None:
        parent.publish(SentencesSoFar(sentences))

    if model and result.hits:
        written = await model_step(
            parent,
            "answer",
            partial(
                answer_from_model,
                result.question,
                [hit.passage for hit in result.hits],
                model,
                index,
                constraints=result.constraints,
                on_sentences=publish if parent.listener else None,
                form=form,
            ),
            Answer.as_record,
            fallback="extractive answer",
            evidence=passage_ids,
        )
        if written:
            passages = [hit.passage for hit in result.hits]
            answer = await judged(parent, written, passages, resources)
            # A supported sentence may still be about an excluded subject.
            answer = await asyncio.to_thread(mark_excluded, answer, result.constraints, index)
            return with_unknown_words(answer, result.unknown_words)
    with parent.step("quotation", evidence=passage_ids) as quotation:
        quoted = await quoted_answer(
            result,
            index,
            resources.settings.retriever,
            THRESHOLD,
            form.most_quoted,
            findings=form.quotes_findings,
        )
        quoted = with_unknown_words(quoted, result.unknown_words)
        quotation.output = quoted.as_record()
    return quoted
