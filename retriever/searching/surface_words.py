"""Words instead of stems: feedback terms and bridges as their source passages write them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.analysis.tokens import as_indexed
from indexer.files.schema import StoredPassage
from retriever.order.bridges import Bridge
from retriever.query_plan import BRIDGES, FEEDBACK
from retriever.requests.context import SearchContext
from retriever.stages.hits import SentQuery
from retriever.stages.stages import Ranking


@dataclass(frozen=True, slots=True)
class LaterSearches:
    """The traces of all queries of a search, its bridges, and the notes on them."""

    traces: tuple[SentQuery, ...]
    bridges: tuple[Bridge, ...]
    notes: tuple[str, ...]


async def later_searches(
    context: SearchContext, ranking: Ranking, traces: Sequence[SentQuery]
) -> LaterSearches:
    """Describe the queries of feedback terms and bridges by words of their source passages."""
    measure, second = ranking.measure, ranking.second
    if measure is None or not {FEEDBACK, BRIDGES} & {trace.name for trace in traces}:
        return LaterSearches(tuple(traces), (), ())
    sources = [*measure.feedback.sources]
    sources += [source.passage_id for source in second.sources] if second else []
    passages = await context.passages.passages(sources)
    terms = list(measure.feedback.strengths)
    named = [token for bridge in (second.bridges if second else ()) for token in bridge.tokens]
    asked = {token: term.text for term in measure.question.terms for token in term.tokens}
    words = surface_words(passages.values(), {*terms, *named}) | asked
    bridges = tuple(_written(bridge, passages) for bridge in second.bridges) if second else ()
    uncovered = [words.get(token, token) for token in second.uncovered] if second else []
    later = {
        FEEDBACK: [words.get(term, term) for term in terms],
        BRIDGES: [*(bridge.text for bridge in bridges), *uncovered],
    }
    described = {name: " OR ".join(dict.fromkeys(texts)) for name, texts in later.items()}
    return LaterSearches(
        tuple(replace(trace, query=described.get(trace.name, trace.query)) for trace in traces),
        bridges,
        tuple(replace(second, bridges=bridges).notes()) if second else (),
    )


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


def _written(bridge: Bridge, passages: Mapping[str, StoredPassage]) -> Bridge:
    """Return a bridge as its source writes it."""
    passage = passages.get(bridge.passage_id)
    if passage is None or passage.tokens is None:
        return bridge
    text, _ = as_indexed(passage.title, passage.text)
    places = passage.tokens.text.places(set(bridge.tokens))
    size = len(bridge.tokens)
    for first in range(len(places) - size + 1):
        run = places[first : first + size]
        if tuple(term for _, _, term in run) == bridge.tokens:
            return replace(bridge, text=text[run[0][0] : run[-1][1]])
    return bridge
