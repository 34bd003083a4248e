"""Further queries without a language model: a question's strongest keywords, the other language's words."""

from indexer.corpora.papers import language_of
from retriever.index import SearchIndex
from retriever.requests.request import SearchRequest
from retriever.search import open_ranking, run_stages
from retriever.settings import RetrieverSettings

MOST_WORDS = 5  # of one query
NARROW = 2  # keywords of the second query if the question has no words in the other language


async def further_queries_from_statistics(
    index: SearchIndex, question: str, settings: RetrieverSettings
) -> tuple[str, ...]:
    """Return at most two queries in addition to the question.

    The first contains its strongest keywords. The second contains their translations from the glossary, or
    only the two strongest keywords. Queries that repeat another are left out.
    """
    context = open_ranking(index, SearchRequest(question, collapse=False), settings)
    stages = await run_stages(context, upto="keywords")
    keywords = stages.keywords.keywords if stages.keywords else ()
    language = language_of(question)
    own = [keyword.text for keyword in keywords if keyword.language == language]
    other = [keyword.text for keyword in keywords if keyword.language != language]
    candidates = [(own or other)[:MOST_WORDS], other[:MOST_WORDS], own[:NARROW]]
    texts = [" ".join(words) for words in candidates if words]
    return tuple(text for text in dict.fromkeys(texts) if text != question.strip())[:2]
