"""The result of a search: hits without duplicates, with papers and snippets, and the effective settings."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from base.notes import Note
from indexer.analysis.tokens import as_indexed
from indexer.files.schema import StoredPassage
from retriever.answerability import EVIDENCE, answer_likelihood
from retriever.duplicates import without_duplicates
from retriever.engines import EngineHit
from retriever.methods import method_named
from retriever.papers.linked import citation_counts
from retriever.queries.boolean import searched_tokens
from retriever.queries.keywords import words_of
from retriever.query_plan import BRIDGES, FEEDBACK
from retriever.request import RELEVANCE, SearchContext, SearchRequest
from retriever.second_search import Bridge
from retriever.stages.highlights import found_in, snippet, title_spans
from retriever.stages.hits import AppliedSearch, Hit, SearchResult, SentQuery
from retriever.stages.pool import CandidatePool, read_hits
from retriever.stages.stages import Ranking, Stages, computed
from retriever.terms import SearchTerms

MAX_SORTED = 100  # most relevant papers that are sorted, if no more are requested
MAX_UNKNOWN = 10  # unknown words of a long question that are shown


def sorted_depth(request: SearchRequest) -> int:
    """Return the number of papers that are found and sorted, of which `k` are shown."""
    return request.k if request.sort == RELEVANCE else max(request.k, MAX_SORTED)


def present(context: SearchContext, stages: Stages) -> SearchResult:
    """Return the result: hits without duplicates, each with its paper and snippet."""
    terms, ranking = stages.terms, computed(stages.ranking)
    question = computed(stages.question)
    searched = question.weights if question.expression is None else searched_tokens(question.expression)
    weights = terms.token_weights if terms else dict(searched)
    with context.recorder.timed("total"):
        shown, title_only, filtered, likelihood = _shown(context, stages, weights)
        queries, bridges = _later_searches(context, stages)
    demotes = terms and shown and method_named(context.request.method).has_conditions
    if demotes and terms and (note := _exclusion_note(terms, ranking, shown)):
        context.recorder.note(note)
    if count := len(title_only):  # papers that are listed by their titles
        context.recorder.note(Note("title_only", papers=count) if count > 1 else Note("title_only_one"))
    return SearchResult(
        question=context.request.question,
        method=context.request.method,
        keywords=terms.keywords if terms else (),
        token_weights=weights,
        queries=queries,
        hits=shown,
        title_only=title_only,
        filtered=filtered,
        milliseconds=dict(context.recorder.milliseconds),
        applied=applied_search(context, stages),
        likelihood=likelihood,
        notes=(*context.recorder.notes, *_bridge_notes(bridges), *context.index.engine.notes),
        version=context.index.manifest.version,
        strategy=terms.strategy if terms else None,
        bridges=bridges,
        unknown_words=unknown_words(context, terms),
    )


def unknown_words(context: SearchContext, terms: SearchTerms | None) -> tuple[str, ...]:
    """Return the words of the question's subject that no paper contains, and that have no counterpart.

    Empty if the method has no strategy, or the engine no lexicon: an engine of sources has none, and a word
    that the returned papers do not contain can be in other papers.
    """
    if terms is None or context.index.engine.lexicon is None:
        return ()
    known, question = terms.formula.statistics.frequencies, terms.question
    respelled = {
        token
        for each in terms.formula.counterparts
        if any(all(map(known.get, other)) for other in each.others)
        for token in each.source
    }
    unknown = [
        token
        for token in question.tokens
        if question.roles[token[0]] == "noun"
        and not known.get(token[0])
        and token[0] not in respelled
        and any(map(str.isalpha, token[0]))
    ]
    edges = {edge for token in question.tokens if known.get(token[0]) for edge in token[2:]}
    # One syllable of a known Korean word (그 of 그때) is no word.
    tokens = {token[0] for token in unknown if len(token[0]) > 1 or not edges.intersection(token[2:])}
    words = words_of(question.text, question.tokens)  # whole, as the reader typed them
    return tuple(word.text for word in words if tokens.intersection(word.tokens))[:MAX_UNKNOWN]


def _exclusion_note(terms: SearchTerms, ranking: Ranking, shown: Sequence[Hit]) -> Note | None:
    """Return a note with the number of shown hits that are about an excluded thing."""
    excluded = ", ".join(each.text for each in terms.exclusions if each.names)
    papers = {hit.doc_id for hit, _ in ranking.hits if hit.passage_id in ranking.losses}
    about = sum(hit.doc_id in papers for hit in shown)
    code = {0: "about_excluded_none", 1: "about_excluded_one"}.get(about, "about_excluded")
    return Note(code, excluded=excluded, about=about, shown=len(shown)) if excluded else None


def _bridge_notes(bridges: Sequence[Bridge]) -> Iterator[Note]:
    """Yield a line for each passage whose names are searched for."""
    for source in dict.fromkeys(bridge.passage_id for bridge in bridges):
        texts = [bridge.text or " ".join(bridge.tokens) for bridge in bridges if bridge.passage_id == source]
        yield Note("also_for_names", names=", ".join(texts), paper=source)


def _shown(
    context: SearchContext, stages: Stages, weights: Mapping[str, float]
) -> tuple[tuple[Hit, ...], tuple[Hit, ...], dict[str, int], float | None]:
    """Return hits, hits by a title only, the numbers of papers left out, and the likelihood of an answer."""
    k, incomplete = context.shown, computed(stages.pool).incomplete
    kept, duplicates = _kept_hits(context, stages)
    named = {hit.doc_id for hit in kept if hit.title_only}
    incomplete = tuple(hit for hit in incomplete if hit.doc_id not in named)
    by_title = _title_only_hits(context, incomplete, kept)
    before = len(incomplete)
    if len(kept) >= k:  # only papers that score at least as much as the last one count
        scores = {hit.doc_id: hit.score for hit in next(iter(computed(stages.pool).found.values()), ())}
        least = min((scores.get(hit.doc_id, 0.0) for hit in kept[:k] if not hit.title_only), default=0.0)
        before = sum(hit.score >= least for hit in incomplete)
    filtered = {"incomplete": before - len(by_title), "duplicates": duplicates}
    evidence = [hit.passage_id for hit in kept if not hit.title_only][:EVIDENCE]
    with context.recorder.timed("order"):
        likelihood = _likelihood(context, stages, evidence)
    with context.recorder.timed("snippets"):
        listed = [*_sorted(context, kept[: context.sorted])[:k], *by_title]
        shown = _with_snippets(listed, weights)
    count = len(listed) - len(by_title)
    return shown[:count], shown[count:], filtered, likelihood


def _sorted(context: SearchContext, hits: list[Hit]) -> list[Hit]:
    """Return hits in the order of the request; equal values, and hits without one, by relevance.

    Citations are those of the record; without them, those of the papers of the index. A note says if no hit
    has any.
    """
    if context.request.sort == RELEVANCE:
        return hits
    if context.request.sort == "year":
        values = {hit.doc_id: hit.passage.year or 0 for hit in hits}
    else:
        counts = citation_counts(context.index, (hit.doc_id for hit in hits))
        values = {hit.doc_id: counts[hit.doc_id].cited_by for hit in hits} | {
            hit.doc_id: count for hit in hits if (count := hit.paper.get("cited_by_count")) is not None
        }
    if hits and not any(values.values()):
        context.recorder.note(Note("not_sorted", sort=context.request.sort))
    return sorted(hits, key=lambda hit: values[hit.doc_id], reverse=True)


def _title_only_hits(
    context: SearchContext, incomplete: Sequence[EngineHit], hits: Sequence[Hit]
) -> list[Hit]:
    """Return papers without an abstract for the remaining places, without duplicates of hits.

    Their score is 0, because engine scores are not comparable with the scores of the hits.
    """
    missing = context.shown - len(hits)
    if missing <= 0 or not incomplete:
        return []
    with context.recorder.timed("stored"):
        stored = context.passages.of_hits(incomplete)
    found = [
        Hit(0, passage, 0.0, paper=passage.paper or {}, title_only=True)
        for hit in incomplete
        if (passage := stored.get(hit.passage_id))
    ]
    distinct = without_duplicates([*hits, *found])
    shown = {hit.doc_id for hit in hits}
    return [hit for hit in distinct if hit.title_only and shown.isdisjoint((hit.doc_id, *hit.folded))][
        :missing
    ]


def _with_snippets(hits: Sequence[Hit], weights: Mapping[str, float]) -> tuple[Hit, ...]:
    shown = []
    for rank, hit in enumerate(hits, 1):
        found = found_in(hit.passage, weights)
        marked = snippet(hit.passage, weights, found)
        shown.append(replace(hit, rank=rank, marked=marked, title_marks=title_spans(hit.passage, found)))
    return tuple(shown)


def _kept_hits(context: SearchContext, stages: Stages) -> tuple[list[Hit], int]:
    """Return the hits without duplicates, enough to sort if the ranking has them, and the number left out."""
    ranking, depth = computed(stages.ranking), context.request.k
    while True:
        hits, abstracts = _stored_hits(context, stages, ranking.cut(depth))
        with context.recorder.timed("duplicates"):
            kept = without_duplicates(hits, abstracts)
        if depth >= len(ranking.hits) or len(kept) >= context.sorted:
            return kept, len(hits) - len(kept)
        depth *= 2


def _stored_hits(
    context: SearchContext, stages: Stages, ranking: Ranking
) -> tuple[list[Hit], dict[str, str]]:
    """Fetch the stored ranked passages and their papers, and the abstracts of papers found by others."""
    pool, by = _pool(stages).found, attrgetter("doc_id" if context.request.collapse else "passage_id")
    passages = {name: {hit.passage_id for hit in hits} for name, hits in pool.items()}
    papers_found = {name: {hit.doc_id for hit in hits} for name, hits in pool.items()}
    scores = {by(hit): score for hit, score in ranking.hits}
    with context.recorder.timed("stored"):
        found = read_hits(context, [hit for hit, _ in ranking.hits])
        stored = context.passages.of_hits(found.hits)
        papers = context.passages.papers(passage.doc_id for passage in stored.values() if not passage.record)
    hits = []
    for hit in found.hits:
        passage = stored[hit.passage_id]
        finders = [name for name, ids in passages.items() if hit.passage_id in ids]
        finders = finders or [name for name, ids in papers_found.items() if hit.doc_id in ids]
        paper = passage.paper or (papers[hit.doc_id].paper if hit.doc_id in papers else None)
        bare = passage.incomplete and context.request.filters.complete is True  # named by the question
        score = round(scores[by(hit)], 4)
        hits.append(Hit(0, passage, score, tuple(finders), paper=paper or {}, title_only=bare))
    return hits, {doc_id: first.text for doc_id, first in papers.items()}


def _pool(stages: Stages) -> CandidatePool:
    """Return the pool with the hits of the later searches."""
    return computed(stages.ranking).pool or computed(stages.pool)


def _likelihood(context: SearchContext, stages: Stages, evidence: Sequence[str]) -> float | None:
    """Return the likelihood that the first hits answer; None if the method has no formula."""
    if computed(stages.ranking).scored is None:
        return None
    if not evidence or stages.terms is None:
        return 0.0
    read = context.index.engine.rows(evidence)
    return answer_likelihood(stages.terms, read)


def _later_searches(
    context: SearchContext, stages: Stages
) -> tuple[tuple[SentQuery, ...], tuple[Bridge, ...]]:
    """Return the traces of all queries, and the bridges, in the words of their source passages."""
    ranking, traces = computed(stages.ranking), _pool(stages).traces()
    if stages.terms is None or not (ranking.feedback or ranking.bridges):
        return traces, ()
    sources = {bridge.passage_id for bridge in ranking.bridges}
    sources |= {hit.passage_id for hit, _ in ranking.hits[:EVIDENCE]} if ranking.feedback else set()
    passages = context.passages.passages(sorted(sources))
    named = {token for bridge in ranking.bridges for token in bridge.tokens}
    words = surface_words(passages.values(), {*ranking.feedback, *named}) | stages.terms.texts

    def shown(tokens: Iterable[str]) -> list[str]:
        return [words.get(token, token) for token in tokens]

    bridges = tuple(replace(bridge, text=" ".join(shown(bridge.tokens))) for bridge in ranking.bridges)
    described = {FEEDBACK: shown(ranking.feedback), BRIDGES: [bridge.text for bridge in bridges]}
    queries = {trace.name: " OR ".join(dict.fromkeys(described.get(trace.name, ()))) for trace in traces}
    return tuple(replace(trace, query=queries[trace.name] or trace.query) for trace in traces), bridges


def surface_words(passages: Iterable[StoredPassage], wanted: Collection[str]) -> dict[str, str]:
    """Return the first spelling of each wanted token in some passages, preferably in small letters."""
    found: dict[str, str] = {}
    for passage in passages:
        if passage.tokens is None:
            continue
        text, _ = as_indexed(passage.title, passage.text)
        for start, end, term in passage.tokens.text.places(wanted):
            word = text[start:end]
            if term not in found or (word.islower() and not found[term].islower()):
                found[term] = word
    return found


def applied_search(context: SearchContext, stages: Stages) -> AppliedSearch:
    """Return the configuration that took effect."""
    settings, request, recorder = context.settings, context.request, context.recorder
    ranking = computed(stages.ranking)
    is_expression = computed(stages.question).expression is not None
    method = method_named("boolean" if is_expression else request.method)
    vectors, terms = context.index.vectors, stages.terms
    order = method.order_by_vectors if ranking.by_vectors else method.order
    if ranking.reranker:
        order = f"{order}; the first {settings.rerank_depth} by {ranking.reranker}"
    unused = ""
    if method.order_by_vectors and not ranking.by_vectors:
        unused = vectors.disabled_reason or recorder.failures.get("encoder", "")
    return AppliedSearch(
        method=request.method,
        order=order,
        title_weight=request.title_weight,
        strategist=terms.strategy.origin if terms else None,
        keyword_count=settings.keywords if method.uses_strategy else None,
        hits_per_query=settings.hits_per_query if method.uses_strategy else None,
        skip=request.skip,
        without=tuple(sorted(settings.without)) if method.has_conditions else None,
        vectors=vectors.model if ranking.by_vectors else "",
        vectors_unused=unused,
        reranker=ranking.reranker,
        rerank_depth=settings.rerank_depth if ranking.reranker else None,
        drop_incomplete=request.filters.complete is True,
        failures=tuple(recorder.failures.values()),
    )
