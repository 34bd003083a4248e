"""Way IV of paper-QA: two hypothetical answers, all rankings fused, re-ranked, answer (section 5)."""

from generator.answers.answer import WayResult
from generator.passages.answering import answer_briefly
from generator.passages.expanding import HYPOTHESES, expand
from generator.passages.retrieving import OF_PASSAGES, fuse, open_question, rerank, retrieve
from generator.request import AskRequest, Resources
from generator.tracing.steps import Step

RETRIEVED, FUSED = 10, 15  # passages for each text, passages after fusion
TAKES = OF_PASSAGES


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the passages found by the question and two hypothetical answers."""
    asked = await open_question(step, request, resources)
    hypotheses = await expand(step, asked, HYPOTHESES)
    found = await retrieve(step, asked, hypotheses, k=RETRIEVED)
    best = await rerank(step, asked, fuse(step, asked, found, k=FUSED), k=request.evidence)
    return await answer_briefly(step, asked, best)
