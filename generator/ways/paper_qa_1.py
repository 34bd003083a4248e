"""Way I of paper-QA: retrieve, answer (section 5)."""

from generator.answers.answer import WayResult
from generator.passages.answering import answer_briefly
from generator.passages.retrieving import OF_PASSAGES, open_question, retrieve
from generator.request import AskRequest, Resources
from generator.tracing.steps import Step

TAKES = OF_PASSAGES


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the passages nearest to the question."""
    asked = await open_question(step, request, resources)
    [found] = await retrieve(step, asked, k=request.evidence)
    return await answer_briefly(step, asked, found)
