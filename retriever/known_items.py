"""Known items: papers that a question names by DOI, arXiv id, title or author, which `search` lists first.

Rankings for evaluation (`rank`) and the evidence of answers have none.
"""

from dataclasses import replace
from typing import Literal, NamedTuple

from base.notes import Note
from indexer.corpora.names import EAST_ASIAN_NAME
from indexer.corpora.normal_forms import identifier
from indexer.files.keys import author_key, doi_key, title_key
from retriever.engines import EngineHit
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.queries.boolean import Exact
from retriever.queries.filters import Filters
from retriever.request import SearchContext
from retriever.stages.stages import Ranking
from retriever.written_filters import fields_of

MAX_NAME_WORDS = 5
MAX_SAME_TITLE = 5  # papers; a title of more papers is a subject
MAX_SAME_DOI = 100
Kind = Literal["doi", "title", "author"]


class KnownItems(NamedTuple):
    """The papers with a key, in order of id, and the kind of the key."""

    kind: Kind
    key: Exact
    papers: tuple[EngineHit, ...]

    @property
    def note(self) -> Note:
        """The note for the reader."""
        return Note(f"papers_of_{self.kind}")


def papers_of_doi(index: SearchIndex, doi: str) -> list[str]:
    """Return the papers whose record or id has a DOI, in order of id; none if the text is not a DOI."""
    if not identifier(doi):
        return []
    query = Exact("keys", (doi_key(doi),))
    [hits] = index.engine.search([(query, MAX_SAME_DOI)], filters=Filters(), collapse=True)
    return [hit.doc_id for hit in hits]


def known_items(context: SearchContext) -> KnownItems | None:
    """Return the papers that the question names; None if it names none, or a person steers the search.

    Sources have no known items.
    """
    request, engine, strategy = context.request, context.index.engine, context.request.strategy
    steered = strategy is not None and (strategy.origin != "model" or strategy.exclude)
    if engine.lexicon is None or steered or request.exclude or request.keywords or request.skip:
        return None
    keys, text, filters = dict[Kind, str](), request.question, replace(request.filters, complete=None)
    if identifier(text):
        keys = {"doi": doi_key(text)}
    elif not method_named(request.method).is_expression:
        if context.conditions.fields:
            text = context.conditions.remaining
            fields = fields_of(context.conditions.fields, context.index.analyzer)
            filters = replace(filters, written=(*filters.written, *fields))
        keys = {"title": title_key(text)} if text else {}
        if 1 < len(text.split()) <= MAX_NAME_WORDS or EAST_ASIAN_NAME.fullmatch(text.strip()):
            keys["author"] = author_key(text)
    queries = {kind: Exact("keys", (key,)) for kind, key in keys.items()}
    asked = [(query, request.k) for query in queries.values()]
    found = engine.search(asked, filters=filters, collapse=True)
    for (kind, query), hits in zip(queries.items(), found, strict=True):
        if hits and (kind != "title" or len(hits) <= MAX_SAME_TITLE):
            return KnownItems(kind, query, tuple(hits))
    return None


def known_first(known: KnownItems, ranking: Ranking) -> Ranking:
    """Return a ranking with known items before its other hits."""
    score = max(1.0, ranking.hits[0][1] if ranking.hits else 0.0)
    papers: dict[str, list[EngineHit]] = {hit.doc_id: [] for hit in known.papers}
    for hit, _ in ranking.hits:
        if hit.doc_id in papers:
            papers[hit.doc_id].append(hit)
    first = [(hit, score) for item in known.papers for hit in papers[item.doc_id] or [item]]
    return replace(ranking, hits=(*first, *(pair for pair in ranking.hits if pair[0].doc_id not in papers)))
