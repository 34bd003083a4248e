"""Way II of paper-QA: retrieve more, re-rank, answer (section 5)."""

from generator.answers.answer import WayResult
from generator.passages.answering import answer_briefly
from generator.passages.retrieving import OF_PASSAGES, open_question, rerank, retrieve
from generator.request import AskRequest, Resources
from generator.tracing.steps import Step

RETRIEVED = 15
TAKES = OF_PASSAGES


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the most relevant of the passages nearest to the question."""
    asked = await open_question(step, request, resources)
    [found] = await retrieve(step, asked, k=RETRIEVED)
    best = await rerank(step, asked, found, k=request.evidence)
    return await answer_briefly(step, asked, best)
