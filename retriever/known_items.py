"""Known items: papers that a question names by DOI, arXiv id, whole title or author.

They are listed first. Rankings for evaluation (`rank`) have none.
"""

from dataclasses import replace
from typing import Literal

from base.notes import Note
from indexer.corpora.names import EAST_ASIAN_NAME
from indexer.corpora.normal_forms import identifier
from indexer.files.keys import author_key, doi_key, title_key
from retriever.engines import EngineHit
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.queries.boolean import Exact
from retriever.queries.filters import Filters
from retriever.query_plan import NOTHING_TO_SEARCH
from retriever.request import SearchContext
from retriever.stages.stages import Ranking

MAX_NAME_WORDS = 5
MAX_SAME_TITLE = 5  # papers; a title of more papers is a subject
Kind = Literal["doi", "title", "author"]


def papers_of_doi(index: SearchIndex, doi: str) -> list[str]:
    """Return the papers whose record or id has a DOI, in order of id; none if the text is not a DOI."""
    if not identifier(doi):
        return []
    hits = index.engine.search([(Exact("keys", (doi_key(doi),)), 100)], filters=Filters(), collapse=True)
    return [hit.doc_id for hit in hits[0]]


def known_items(context: SearchContext) -> tuple[Kind, list[EngineHit]] | None:
    """Return the papers that the question names, in order of id, and by what; None if it names none."""
    request, engine = context.request, context.index.engine
    if engine.lexicon is None or any((request.exclude, request.strategy, request.keywords, request.skip)):
        return None
    queries: dict[Kind, str] = {}
    if identifier(request.question):
        queries = {"doi": doi_key(request.question)}
    elif not method_named(request.method).is_expression:
        queries = {"title": title_key(request.question)}
        words = request.question.split()
        if 1 < len(words) <= MAX_NAME_WORDS or EAST_ASIAN_NAME.fullmatch(request.question.strip()):
            queries["author"] = author_key(request.question)
    found = engine.search(
        [(Exact("keys", (key,)), request.k) for key in queries.values()],
        filters=replace(request.filters, complete=None),
        collapse=request.collapse,
    )
    for kind, hits in zip(queries, found, strict=True):
        if hits and (kind != "title" or len(hits) <= MAX_SAME_TITLE):
            return kind, hits
    return None


def with_known_items(
    context: SearchContext, known: tuple[Kind, list[EngineHit]], ranking: Ranking
) -> Ranking:
    """Return a ranking with known items before its other hits, and note it."""
    kind, items = known
    context.recorder.notes = [note for note in context.recorder.notes if note != NOTHING_TO_SEARCH]
    context.recorder.note(Note(f"papers_of_{kind}"))
    score = max(1.0, ranking.hits[0][1] if ranking.hits else 0.0)
    papers = {hit.doc_id for hit in items}
    others = [(hit, score) for hit, score in ranking.hits if hit.doc_id not in papers]
    ranked = {hit.doc_id: hit for hit, _ in ranking.hits[::-1]}
    first = [(ranked.get(hit.doc_id, hit), score) for hit in items]
    return replace(ranking, hits=(*first, *others))
