"""The answer step: an answer written by the model, or quoted from the papers."""

from generator.answers.answer import EXTRACTIVE, Answer, Sentence, SentencesSoFar, with_unknown_words
from generator.answers.extractive import quoted_answer, searched_terms
from generator.answers.judging import judged
from generator.answers.model_answer import WHOLE_ANSWER, AnswerForm, written_answer
from generator.request import Resources
from generator.tracing.steps import Step
from retriever.answerability import THRESHOLD
from retriever.stages.hits import SearchResult


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

    def publish(sentences: tuple[Sentence, ...]) -> None:
        parent.publish(SentencesSoFar(sentences))

    async def quotation() -> Answer:
        evidence = [passage.passage_id for passage in passages]
        with parent.step("quotation", evidence=evidence) as step:
            quoted = await quoted_answer(
                result,
                index,
                terms,
                THRESHOLD,
                form.most_quoted,
                findings=form.quotes_findings,
            )
            quoted = with_unknown_words(quoted, result.unknown_words)
            step.output = quoted.as_record()
        return quoted

    if resources.model is None or not passages:
        return await quotation()
    writing = written_answer(
        result.question,
        passages,
        index,
        quotation,
        exclusions=exclusions,
        on_sentences=publish if parent.listener else None,
        form=form,
    )
    answer = await writing.run(parent, resources.model)
    if answer.written_by == EXTRACTIVE:
        return answer
    if judges:
        answer = await judged(parent, answer, passages, resources)
    return with_unknown_words(answer, result.unknown_words)
