"""Way VI of paper-QA: way III, and what is not relevant enough is left out (section 5)."""

from generator.answers.answer import WayResult
from generator.passages.answering import answer_briefly
from generator.passages.asked import OF_PASSAGES, open_question
from generator.passages.expanding import FURTHER_QUERIES, expand
from generator.passages.reranking import filter_relevant, rerank
from generator.passages.retrieving import fuse, retrieve
from generator.request import AskRequest, Resources
from generator.tracing.steps import Step

RETRIEVED, FUSED = 10, 15  # for each query, of all
RELEVANT = 0.6  # is what has more
TAKES = OF_PASSAGES


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the relevant passages alone of what the question and two further queries find."""
    asked = await open_question(step, request, resources)
    queries = await expand(step, asked, FURTHER_QUERIES)
    found = await retrieve(step, asked, queries, k=RETRIEVED)
    best = await rerank(step, asked, fuse(step, asked, found, k=FUSED), k=request.evidence)
    return await answer_briefly(step, asked, filter_relevant(step, best, above=RELEVANT))
