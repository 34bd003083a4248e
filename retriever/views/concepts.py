"""The concepts of a question, for results of methods that do not compute them."""

from retriever.index import SearchIndex
from retriever.question.concepts import Concept
from retriever.requests.request import SearchRequest
from retriever.search import open_ranking, run_stages
from retriever.settings import RetrieverSettings


async def question_concepts(
    index: SearchIndex, question: str, settings: RetrieverSettings
) -> tuple[Concept, ...]:
    """Return the concepts of a question as method `shrag` computes them; none without words."""
    stages = await run_stages(open_ranking(index, SearchRequest(question), settings), upto="keywords")
    return stages.keywords.concepts if stages.keywords else ()
