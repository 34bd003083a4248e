"""Words that a question shares with its relevant documents, and their languages."""

from collections.abc import Collection
from dataclasses import replace

from eval.reproduction.materials import Materials
from indexer.analysis.word_roles import SUBJECT_ROLES
from indexer.corpora.papers import language_of
from retriever.queries.boolean import And, Exact
from retriever.queries.filters import Filters
from retriever.queries.keywords import words_of
from retriever.query_plan import keyword_query
from retriever.question.analysis import AnalysedQuestion, common_tokens


async def documents_with_a_word(
    materials: Materials, question: AnalysedQuestion, documents: Collection[str]
) -> frozenset[str]:
    """Return the documents whose title or text contains a word of the question's subject."""
    common = common_tokens(question.text, question.tagged)
    tokens = [
        token
        for token in question.tokens
        if question.roles[token[0]] in SUBJECT_ROLES and token[0] not in common
    ]
    if not tokens or not documents:
        return frozenset()
    words = keyword_query(replace(question, synonyms=()), words_of(question.text, tokens))
    wanted = Exact("doc_id" if materials.collapses else "passage_id", tuple(sorted(documents)))
    [hits] = await materials.index.engine.search(
        [(And((words, wanted)), len(documents))], filters=Filters(), collapse=materials.collapses
    )
    return frozenset(map(materials.id_of, hits))


async def compared_languages(materials: Materials, question: str, relevant: Collection[str]) -> str:
    """Return "same" if a relevant document is in the language of the question, else "other"."""
    passages, papers = await materials.index.engine.records(relevant, relevant)
    found = papers if materials.collapses else passages
    own = language_of(question)
    return "same" if any(passage.lang == own for passage in found.values()) else "other"
