"""Passage search for a text, in the whole index, or in one paper first and then in the others.

It uses the text's vector if the index has usable vectors, else the text's words (method `or`). Further
queries come from a strategy of statistics, without a language model.
"""

from collections.abc import Sequence
from dataclasses import replace

from base.notes import Note
from indexer.corpora.papers import language_of
from retriever.engines.ordering import reciprocal_rank_fusion
from retriever.index import SearchIndex
from retriever.papers.page import Topic
from retriever.queries.boolean import Exact, Or
from retriever.query_plan import QUESTION
from retriever.ranking import apply_exclusions, rank_by_method
from retriever.request import SearchContext, SearchRequest
from retriever.search import Stages, open_search, present, run_stages, terms_of, with_conditions
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit, SearchResult, SentQuery, summed_milliseconds
from retriever.stages.pool import read_hits
from retriever.stages.stages import Ranking, computed
from retriever.strategy import Strategy

BY_VECTOR, BY_WORDS, WITH_CONDITIONS = "dense", "or", "shrag"
WITHOUT_VECTORS = Note("passages_by_words")
MAX_WORDS = 5  # of one query
NARROW = 2  # keywords of the second query if the question has no words in the other language


def search_passages(
    index: SearchIndex,
    request: SearchRequest,
    settings: RetrieverSettings,
    *,
    name: str = QUESTION,
    topic: Topic | None = None,
) -> SearchResult:
    """Return at most `request.k` passages, found under a query name; the request's method is not used.

    Passages of a topic come first. If there are fewer than k, passages of other papers follow, with scores
    lowered so that none is above the scores of the topic.

    Raises:
        BadQuestion, BadFilter: a request that cannot be used.
    """
    request = replace(request, collapse=False)
    if topic is None:
        return _under(name, request.question, _search(index, request, settings))
    own = replace(request, filters=replace(request.filters, doc_ids=(topic.doc_id,)))
    found = _search(index, own, settings, whole=topic)
    missing = request.k - len(found.hits)
    if missing > 0:
        more = _search(index, replace(request, k=request.k + len(found.hits)), settings)
        others = [hit for hit in more.hits if hit.doc_id != topic.doc_id][:missing]
        above = others[0].score - found.hits[-1].score if found.hits and others else 0.0
        lower = [replace(hit, score=round(hit.score - max(0.0, above), 6)) for hit in others]
        found = with_hits(found, [*found.hits, *lower])
    return _under(name, request.question, found)


def _search(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings, whole: Topic | None = None
) -> SearchResult:
    """Search by vector, else by words, under the exclusions and years of the strategy or the question."""
    context = open_search(index, replace(request, method=WITH_CONDITIONS), settings)
    stages = run_stages(context, upto="question")
    asked, given = computed(stages.question).conditions, request.strategy or Strategy()
    if asked.exclude or asked.years or request.exclude or given.exclude or given.years:
        stages = run_stages(context, stages, upto="terms")
    filters, recorder = with_conditions(context, stages).request.filters, context.recorder
    plain = replace(request, filters=filters, strategy=None, keywords=None, exclude=())
    if index.vectors.usable:
        opened = open_search(index, replace(plain, method=BY_VECTOR), settings)
        context = replace(opened, recorder=recorder)
        searched = run_stages(context, stages, upto="pool")
        # Sources have no passages until they are searched by words.
        if any(computed(searched.pool).found.values()):
            return _ranked_passages(context, searched)
    else:
        recorder.note(index.vectors.disabled_reason or WITHOUT_VECTORS)
    context = replace(open_search(index, replace(plain, method=BY_WORDS), settings), recorder=recorder)
    stages = run_stages(context, stages, upto="plan")
    if whole and (plan := computed(stages.plan)).queries:
        # The query also matches all other passages of the paper, which come last.
        named, every = plan.queries[0], Exact("doc_id", (whole.doc_id,))
        queries = (replace(named, query=Or((named.query, every))),)
        stages = stages.with_plan(replace(plan, queries=queries))
    return _ranked_passages(context, run_stages(context, stages, upto="pool"))


def _ranked_passages(context: SearchContext, stages: Stages) -> SearchResult:
    """Order the found passages by their method, without a cross-encoder, and present them.

    A passage that is only a title is replaced by its paper's abstract.
    """
    question, pool, terms = computed(stages.question), computed(stages.pool), stages.terms
    ranking = rank_by_method(context, question, None, pool) if pool.found else Ranking()
    collapsing = replace(context, request=replace(context.request, collapse=True))
    found = read_hits(collapsing, [hit for hit, _ in ranking.hits])
    hits = tuple((hit, hit.score) for hit in found.hits)
    ranking = replace(ranking, hits=hits)
    if terms and terms.exclusions and hits:
        ranking = apply_exclusions(context, terms, ranking)
    return present(context, replace(stages, ranking=ranking))


def _under(name: str, text: str, result: SearchResult) -> SearchResult:
    """Return a result with one query, under the given name."""
    hits = tuple(replace(hit, found_by=(name,)) for hit in result.hits)
    papers = len({hit.doc_id for hit in hits})
    return replace(result, hits=hits, queries=(SentQuery(name, text, len(hits), papers),))


def with_hits(result: SearchResult, hits: Sequence[Hit]) -> SearchResult:
    """Return a result with other hits, ranked from 1 in their order."""
    return replace(result, hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)))


def fused(results: Sequence[SearchResult], k: int) -> SearchResult:
    """Return the k best passages of several searches by reciprocal rank fusion, which gives their scores.

    All other fields come from the first search.
    """
    found: dict[str, Hit] = {}
    for result in results:
        for hit in result.hits:
            known = found.setdefault(hit.passage_id, hit)
            names = dict.fromkeys((*known.found_by, *hit.found_by))
            found[hit.passage_id] = replace(known, found_by=tuple(names))
    ranked = reciprocal_rank_fusion([[hit.passage_id for hit in result.hits] for result in results])
    queries, papers = [], set[str]()
    for result in results:
        new = {hit.doc_id for hit in result.hits} - papers
        queries += [replace(query, added=len(new)) for query in result.queries]
        papers |= new
    return replace(
        with_hits(results[0], [replace(found[item], score=round(score, 6)) for item, score in ranked[:k]]),
        queries=tuple(queries),
        notes=tuple(dict.fromkeys(note for result in results for note in result.notes)),
        milliseconds=summed_milliseconds(results),
    )


def further_queries_from_statistics(
    index: SearchIndex, question: str, settings: RetrieverSettings
) -> tuple[str, ...]:
    """Return at most two queries in addition to the question.

    The first contains its strongest keywords. The second contains their translations from the glossary, or
    only the two strongest keywords. Queries that repeat another are left out.
    """
    terms = terms_of(index, SearchRequest(question), settings)
    keywords, language = terms.keywords if terms else (), language_of(question)
    own = [keyword.text for keyword in keywords if keyword.language == language]
    other = [keyword.text for keyword in keywords if keyword.language != language]
    candidates = [(own or other)[:MAX_WORDS], other[:MAX_WORDS], own[:NARROW]]
    texts = [" ".join(words) for words in candidates if words]
    return tuple(text for text in dict.fromkeys(texts) if text != question.strip())[:2]
