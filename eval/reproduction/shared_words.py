"""Words that a question shares with its relevant documents, and their languages."""

from collections.abc import Collection

from eval.reproduction.materials import Materials
from indexer.analysis.word_roles import is_common
from indexer.corpora.papers import language_of
from retriever.queries.boolean import And, Exact, or_query
from retriever.queries.filters import Filters
from retriever.question import analyse_question


async def documents_with_a_word(
    materials: Materials, question: str, documents: Collection[str]
) -> frozenset[str]:
    """Return the documents whose title or text contains a word of the question's subject.

    Words that any paper may contain do not count.
    """
    analysed = analyse_question(materials.index, question, synonyms=False)
    words = [
        word.term()
        for word in analysed.words()
        if not all(is_common(word.text, token) for token in word.tokens)
    ]
    if not words or not documents:
        return frozenset()
    wanted = Exact("doc_id" if materials.collapses else "passage_id", tuple(sorted(documents)))
    query = And((or_query(words), wanted))
    [hits] = await materials.index.engine.search(
        [(query, len(documents))], filters=Filters(), collapse=materials.collapses
    )
    return frozenset(map(materials.id_of, hits))


async def compared_languages(materials: Materials, question: str, relevant: Collection[str]) -> str:
    """Return "same" if a relevant document is in the language of the question, else "other"."""
    passages, papers = await materials.index.engine.records(relevant, relevant)
    found = papers if materials.collapses else passages
    own = language_of(question)
    return "same" if any(passage.lang == own for passage in found.values()) else "other"
