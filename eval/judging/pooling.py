"""Pooling: the first papers of each method in each place, and of find-papers in all places together."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from base.errors import InvalidCall
from base.progress import Progress
from base.untrusted import one_line
from eval.judging.calls import METHODS, NEAREST
from eval.judging.places import OpenPlaces, Place
from eval.judging.records import Identity, Ranked
from eval.judging.state import Benchmark
from eval.ranking import MOST_FAILURES, OF_A_QUESTION
from generator.finding.finding import find_in_sources
from generator.finding.request import FindRequest
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.tracing.steps import error_text
from indexer.corpora.papers import Paper
from retriever.errors import BadQuestion
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.search import SearchRequest, rank
from retriever.sources.engine import SourcesEngine
from retriever.sources.kinds.index import IndexSource

FIND = "find-papers"
MOST_FOUND = 500  # papers of find-papers
LONGEST_TEXT = 20_000  # characters of an abstract, or of the beginning of a text without one
# Fields of a record that the merging, the judges and an assessor read.
FIELDS = ("title", "title2", "abstract", "abstract2", "authors", "year", "journal", "doi", "url", "lang")

Papers = Sequence[tuple[str, Paper]]  # (source, record), best first
Search = Callable[[str], Awaitable[tuple[Papers, tuple[str, ...]]]]  # question → papers and notes


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking to pool: its place, method and depth, and the function that searches."""

    place: str
    method: str
    depth: int
    search: Search


@dataclass(frozen=True, slots=True)
class FailedRanking:
    """A ranking that failed for a question; the same command repeats it."""

    query_id: str
    ranking: Ranking
    reason: str


def usual_methods(places: OpenPlaces) -> tuple[str, ...]:
    """Return the default methods: those without vectors, and `dense` if the index has usable vectors."""
    return (*METHODS, NEAREST) if places.index and places.index.vectors.usable else METHODS


def rankings_of(places: OpenPlaces, methods: Sequence[str], depth: int, settings: Settings) -> list[Ranking]:
    """Return the rankings by methods, in each place.

    Raises:
        BadFilter: no such method.
        InvalidCall: a method whose question is an expression.
    """
    for name in methods:
        if method_named(name).is_expression:
            raise InvalidCall(f"method {name!r} reads expressions, not questions", remedy="leave it out")
    return [
        Ranking(place.name, method, depth, _search(place, method, depth, settings))
        for place in places.places
        for method in methods
    ]


def found_by_agents(
    places: OpenPlaces, depth: int, settings: Settings, model: LanguageModel | None
) -> Ranking:
    """Return the ranking of find-papers in all places together: its list, then the other papers judged."""

    async def search(question: str) -> tuple[Papers, tuple[str, ...]]:
        request = FindRequest(question, papers=min(depth, MOST_FOUND))
        found = await find_in_sources(places.together(), request, settings, model=model)
        if failed := [step.failure for step in found.step.walk() if step.failure]:
            raise failed[0]
        ids = dict.fromkeys(ranked.paper_id for ranked in found.papers)
        ids |= dict.fromkeys(paper_id for paper_id, _ in found.state.relevant(0))
        known = [found.state.papers[paper_id] for paper_id in ids]
        papers = [(each.merged.ids[0][0], _with_id(each.paper, each.merged.ids[0][1])) for each in known]
        return papers[:depth], found.notes

    return Ranking(",".join(place.name for place in places.places), FIND, depth, search)


async def pool(
    benchmark: Benchmark, rankings: Sequence[Ranking], call: int, progress: Progress
) -> AsyncIterator[Ranked | FailedRanking]:
    """Yield the rankings of selected questions that the pool lacks, or has with a smaller depth.

    Raises:
        Exception: of the last ranking if `MOST_FAILURES` in a row failed, or an error that affects all.
    """
    in_a_row = 0
    questions = benchmark.selected
    for done, (query_id, question) in enumerate(questions.items()):
        progress("questions", done, len(questions))
        known = {paper for each in benchmark.rankings.get(query_id, ()) for paper in each.ranked}
        for ranking in missing(benchmark.rankings.get(query_id, ()), rankings):
            try:
                papers, notes = await ranking.search(question)
                in_a_row = 0
            except BadQuestion as error:
                papers, notes = (), (str(error).splitlines()[0],)
            except OF_A_QUESTION as error:
                in_a_row += 1
                if in_a_row == MOST_FAILURES:
                    raise
                yield FailedRanking(query_id, ranking, one_line(error_text(error)))
                continue
            yield _ranked(query_id, ranking, papers, notes, known, call)
            known |= {(source, paper.id) for source, paper in papers}


def missing(pooled: Sequence[Ranked], rankings: Sequence[Ranking]) -> list[Ranking]:
    """Return the rankings that a question lacks, or has with a smaller depth that cut them."""
    depths = {
        (each.place, each.method): each.depth if len(each.ranked) >= each.depth else 0 for each in pooled
    }
    return [
        each
        for each in rankings
        if (known := depths.get((each.place, each.method))) is None or 0 < known < each.depth
    ]


def _ranked(
    query_id: str,
    ranking: Ranking,
    papers: Papers,
    notes: Sequence[str],
    known: set[Identity],
    call: int,
) -> Ranked:
    return Ranked(
        query_id,
        ranking.place,
        ranking.method,
        ranking.depth,
        tuple((source, paper.id) for source, paper in papers),
        tuple((source, _short(paper)) for source, paper in papers if (source, paper.id) not in known),
        call,
        tuple(notes),
    )


def _search(place: Place, method: str, depth: int, settings: Settings) -> Search:
    request = SearchRequest("", method=method, k=depth, collapse=place.unit == "paper")

    async def search(question: str) -> tuple[Papers, tuple[str, ...]]:
        asked = replace(request, question=question)

        async def of_version(index: SearchIndex) -> tuple[Papers, tuple[str, ...]]:
            ranked = await rank(index, asked, settings.retriever)
            ids = [paper_id for paper_id, _ in ranked.hits]
            found = await _records(index, place.name, ids)
            return [(place.name, found[each]) for each in ids if each in found], ranked.applied.failures

        return await place.index.ask(of_version)

    return search


async def _records(index: SearchIndex, name: str, ids: Sequence[str]) -> Mapping[str, Paper]:
    """Return the records of papers, or of passages if the index holds passages without papers."""
    if isinstance(index.engine, SourcesEngine):
        gathered = index.engine.found
        return {paper_id: gathered[paper_id].paper for paper_id in ids if paper_id in gathered}
    found = await IndexSource(name, index).papers(ids)
    return {paper_id: each.paper for paper_id, each in found.items()}


def _with_id(paper: Paper, paper_id: str) -> Paper:
    return paper.model_copy(update={"id": paper_id})


def _short(paper: Paper) -> Paper:
    """Return the record without the fields that nothing reads; a text replaces a missing abstract."""
    values = {name: getattr(paper, name) for name in FIELDS if getattr(paper, name)}
    text = paper.abstract or paper.body
    values |= {"abstract": text[:LONGEST_TEXT]} if text else {}
    return Paper(id=paper.id, **values)
