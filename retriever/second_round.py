"""A second round of searches, for questions of several steps, without a model.

    stages = await run_stages(context)
    result = await present(context, await with_second_round(context, stages))

It follows the bridges of the best passages: names, terms and rare nouns that the question does not contain.
The second round is one call to the engine, with a query for each passage with bridges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from indexer.analysis.names import LONGEST_READ, names_in
from indexer.analysis.tokens import as_indexed
from indexer.analysis.word_roles import role_of
from indexer.files.schema import StoredPassage
from retriever.engines import EngineHit
from retriever.engines.term_statistics import TermStatistics, term_statistics
from retriever.index import SearchIndex
from retriever.order.bridges import SECOND_ROUND, Tokens
from retriever.query_plan import QueryPlan
from retriever.question.analysis import AnalysedQuestion
from retriever.question.question_form import question_form
from retriever.requests.context import SearchContext
from retriever.search import Stages
from retriever.searching.penalties import penalise
from retriever.stages.pool import find_all
from retriever.stages.stages import Ranking

SOURCES = SECOND_ROUND.sources
# Tuned on HotpotQA, like SECOND_ROUND.
SECOND_SHARE = 0.55  # of the score of the same rank in the first round; the first ten ranks do not tie
TITLE_WEIGHT = 0.6  # if the method has none
ROUND = "second round"
RARE_SHARE = 0.01  # maximum share of passages with a rare noun
NOUNS = frozenset({"NNG", "SL", ""})  # English tokens have no tag


@dataclass(frozen=True, slots=True)
class Entities:
    """Possible bridges of a passage, by their tokens, with their first written form."""

    passage_id: str
    held: frozenset[str]  # all tokens of the passage
    names: Mapping[Tokens, str]
    terms: Mapping[Tokens, str]  # of the glossary
    nouns: Mapping[Tokens, str]

    def tokens(self) -> set[str]:
        """Return the tokens whose document frequencies are needed."""
        return {token for found in (self.names, self.terms, self.nouns) for key in found for token in key}


@dataclass(frozen=True, slots=True)
class Lead:
    """The written bridges of a passage, and the uncovered words of the question."""

    passage_id: str
    bridges: Mapping[Tokens, str]
    uncovered: tuple[str, ...]


async def with_second_round(
    context: SearchContext,
    stages: Stages,
    *,
    sources: int = SOURCES,
    share: float = SECOND_SHARE,
) -> Stages:
    """Return the stages of a search with the hits of a second round in their ranking.

    Bridges come from the first `sources` passages, and the second round counts `share` of the first. Nothing
    is added to an expression, to a text without words, or if there are no bridges.
    """
    question, ranking = stages.question, stages.ranking
    pool = ranking.pool if ranking and ranking.pool else stages.pool
    if question is None or ranking is None or pool is None or not question.tokens:
        return stages  # an expression has no tokens
    leads = await find_leads(context, question, [hit for hit, _ in ranking.hits[:sources]])
    if not leads:
        return stages
    for lead in leads:
        context.recorder.note(f"also searched for {', '.join(lead.bridges.values())}, from {lead.passage_id}")
    weight = TITLE_WEIGHT if context.options.title_weight is None else context.options.title_weight
    queries = tuple(
        SECOND_ROUND.query(f"{ROUND} {number}", lead.bridges, dict.fromkeys(lead.uncovered, 1.0), weight)
        for number, lead in enumerate(leads, 1)
    )
    pool = await find_all(context, pool, QueryPlan(queries))
    found = [
        [
            hit
            for hit in await _allowed(context, question, pool.found[named.name])
            if hit.passage_id != lead.passage_id
        ]
        for named, lead in zip(queries, leads, strict=True)
    ]
    hits = interleaved(
        [hit for hit, _ in ranking.hits], in_turn(found), share, collapse=context.request.collapse
    )
    return replace(stages, ranking=replace(ranking, hits=hits, pool=pool))


async def second_round_where_asked_for(context: SearchContext, stages: Stages) -> Stages:
    """Return the stages, with a second round if the question has the form of several steps."""
    form = await context.index.threads.run(question_form, context.request.question, context.index.analyzer)
    return await with_second_round(context, stages) if form.has_several_steps else stages


async def find_leads(
    context: SearchContext, question: AnalysedQuestion, sources: Sequence[EngineHit]
) -> list[Lead]:
    """Return the leads of the source passages; passages without bridges are skipped."""
    stored = await context.passages.of_hits(sources)
    with context.recorder.timed("order"):
        entities = await context.index.threads.run(
            lambda: [read_entities(context.index, passage, question) for passage in stored.values()]
        )
    tokens = {token for each in entities for token in each.tokens()}
    statistics = await term_statistics(context.index.engine, tokens)
    return [lead for each in entities if (lead := lead_from(each, question, statistics))]


async def _allowed(
    context: SearchContext, question: AnalysedQuestion, hits: Sequence[EngineHit]
) -> list[EngineHit]:
    """Order hits by the question's constraints, without those about an excluded thing."""
    ranking = await penalise(context, question, Ranking(tuple((hit, hit.score) for hit in hits)))
    return [hit for hit, _ in ranking.hits if hit.doc_id not in ranking.about]


def in_turn(found: Sequence[Sequence[EngineHit]]) -> list[EngineHit]:
    """Interleave several lists of hits, each hit once."""
    taken: dict[str, EngineHit] = {}
    for hits in zip_longest(*found):
        for hit in filter(None, hits):
            taken.setdefault(hit.passage_id, hit)
    return list(taken.values())


def interleaved(
    first: Sequence[EngineHit], second: Sequence[EngineHit], share: float, *, collapse: bool
) -> tuple[tuple[EngineHit, float], ...]:
    """Interleave two rounds: a hit scores 1 / rank in the first or share / rank in the second, if higher.

    With `collapse` a paper comes once, by the passage that the first round found.
    """
    hits: dict[str, tuple[EngineHit, float]] = {}
    for weight, found in ((1.0, first), (share, second)):
        for rank, hit in enumerate(found, 1):
            key = hit.doc_id if collapse else hit.passage_id
            known, score = hits.get(key, (hit, 0.0))
            hits[key] = known, max(score, weight / rank)
    return tuple(sorted(hits.values(), key=lambda pair: (-pair[1], pair[0].passage_id)))


def read_entities(index: SearchIndex, passage: StoredPassage, question: AnalysedQuestion) -> Entities:
    """Analyse a passage for possible bridges; call it in a thread, since analysis is slow."""
    whole, title = as_indexed(passage.title, passage.text)
    text = whole[:LONGEST_READ]
    tagged = index.analyzer.tagged_tokens(text)
    asked = {token[0] for token in question.tokens}
    tokens = [token for token, _ in tagged]
    matches = index.glossary.translations([token[0] for token in tokens])
    terms = {
        tuple(token[0] for token in tokens[match.start : match.end]): text[
            tokens[match.start][2] : tokens[match.end - 1][3]
        ]
        for match in matches
    }
    nouns: dict[Tokens, str] = {
        (token[0],): text[token[2] : token[3]]
        for token, tag in reversed(tagged)
        if tag in NOUNS and role_of(token[0], tag) == "noun"
    }
    return Entities(
        passage.passage_id,
        frozenset(token[0] for token in tokens),
        *(_new(found, asked) for found in (names_in(text, tagged, title_end=len(title)), terms, nouns)),
    )


def _new(found: Mapping[Tokens, str], asked: set[str]) -> dict[Tokens, str]:
    return {tokens: text for tokens, text in found.items() if not asked.issuperset(tokens)}


def lead_from(entities: Entities, question: AnalysedQuestion, statistics: TermStatistics) -> Lead | None:
    """Choose the rarest names; without names, glossary terms and rare nouns; None without any."""
    most = RARE_SHARE * statistics.passages
    rare = {
        tokens: text
        for tokens, text in entities.nouns.items()
        if 1 < statistics.frequencies.get(tokens[0], 0) <= max(most, 2)
    }
    found = entities.names or {**rare, **entities.terms}
    rarities = {tokens: sum(map(statistics.idf, dict.fromkeys(tokens))) for tokens in found}
    chosen = {tokens: found[tokens] for tokens in SECOND_ROUND.choose(rarities)}
    if not chosen:
        return None
    uncovered = tuple(
        token
        for token, role in question.roles.items()
        if role in {"noun", "other"} and token not in entities.held
    )
    return Lead(entities.passage_id, chosen, uncovered)
