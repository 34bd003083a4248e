"""RefChain: the references of relevant papers, a layer at a time, for the same judge (SPAR, section 3.2).

The paper follows one layer of references. What cites the relevant papers is the project's addition
(`cited-by`). A layer is one call to each source for the references of all its papers, and one for what cites
them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from generator.agents.retrieval import found_again, merge_known, time_filters
from generator.finding.request import FindRequest, FindResources
from generator.finding.state import FindingState, FoundBy, FoundKind, KnownPaper
from generator.side_by_side import all_of
from generator.steps import Step
from retriever.errors import SourceFailed
from retriever.filters import satisfies
from retriever.queries import Filters
from retriever.sources import LinkedPapers, Source, SourceAnswer
from retriever.sources.merging import LimitedSource, Merged, ask_sources, notes_of

MOST_OF_A_PAPER: Mapping[FoundKind, int] = {"reference": 200, "citing": 50}
MOST_OF_A_LAYER = 300  # new papers, those that most relevant papers are linked to first


@dataclass(frozen=True, slots=True)
class Linked:
    """What the papers of a layer are linked to, merged with the papers known before."""

    merged: Merged
    notes: tuple[str, ...]
    requests: int


async def follow(
    state: FindingState, request: FindRequest, resources: FindResources, step: Step, *, layer: int
) -> FindingState:
    """Add the papers of a layer: those that relevant papers of the layer before are linked to."""
    frontier = [
        item
        for item in state.relevant(request.threshold)
        if item[1].layer == layer - 1 and not item[1].followed
    ]
    if not frontier or resources.allowance.time_is_over:
        return state
    kinds: list[FoundKind] = ["reference"]
    if request.does("cited-by"):
        kinds.append("citing")
    with step.step("refchain", layer=layer, papers=[paper_id for paper_id, _ in frontier]) as following:
        filters = time_filters(request.filters, state.understanding)
        of_kinds = await all_of(_linked(state, frontier, kind, resources) for kind in kinds)
        for linked in of_kinds:
            following.notes += [note for note in linked.notes if note not in following.notes]
        papers = dict(zip(kinds, of_kinds, strict=True))
        threads = resources.relevance.threads
        new, again, left_out = await threads.run(_papers_of, state, frontier, papers, filters, layer)
        first = sorted(new.items(), key=lambda item: (-len(item[1].found_by), item[1].found_by[0].rank))
        kept = dict(first[:MOST_OF_A_LAYER])
        if len(new) > len(kept):
            following.notes.append(
                f"of {len(new):,} papers in layer {layer} the {len(kept):,} with most links are judged"
            )
        following.output = {
            "linked": sum(len(others) for linked in of_kinds for others in linked.merged.found),
            "new": len(kept),
            "known": len(again),
            "filtered": left_out,
            "requests": sum(linked.requests for linked in of_kinds),
        }
    followed = {paper_id: replace(again.get(paper_id, known), followed=True) for paper_id, known in frontier}
    return state.with_papers({**again, **followed, **kept}.items())


def _papers_of(
    state: FindingState,
    frontier: Sequence[tuple[str, KnownPaper]],
    of_kinds: Mapping[FoundKind, Linked],
    filters: Filters,
    layer: int,
) -> tuple[dict[str, KnownPaper], dict[str, KnownPaper], int]:
    """Return the papers of a layer that are new, those known before, and how often one is left out."""
    new: dict[str, KnownPaper] = {}
    again: dict[str, KnownPaper] = {}
    left_out = 0
    for kind, linked in of_kinds.items():
        for (paper_id, _), others in zip(frontier, linked.merged.found, strict=False):
            for rank, (other, _) in enumerate(others, 1):
                by, merged = FoundBy(kind, paper_id, rank), linked.merged.papers[other]
                if other == paper_id:
                    continue
                if other in state.papers:
                    known = again.get(other, state.papers[other])
                    again[other] = found_again(known, merged, by, layer=layer)
                elif satisfies(merged.paper, filters):
                    new[other] = found_again(new.get(other), merged, by, layer=layer)
                else:
                    left_out += 1
    return new, again, left_out


async def _linked(
    state: FindingState,
    frontier: Sequence[tuple[str, KnownPaper]],
    kind: FoundKind,
    resources: FindResources,
) -> Linked:
    """Ask each source for the references of its papers in one call, or for what cites them."""
    asked = [source for source in resources.sources if _can(source, kind) and _own_ids(source.name, frontier)]
    if not asked:
        return Linked(Merged(), (), 0)
    limit = MOST_OF_A_PAPER[kind]

    async def ask(source: Source) -> LinkedPapers:
        ids = list(dict.fromkeys(_own_ids(source.name, frontier).values()))
        return await (source.references(ids, limit) if kind == "reference" else source.citing(ids, limit))

    try:
        given = await ask_sources(asked, ask)
    except SourceFailed as error:
        return Linked(Merged(), (f"references were not followed: {error}",), 0)
    answers = {}
    for name, linked in given.answers.items():
        own = _own_ids(name, frontier)
        answers[name] = SourceAnswer(
            tuple(linked.papers.get(own.get(paper_id, ""), ())[:limit] for paper_id, _ in frontier)
        )
    several = len(resources.sources) > 1
    merged = await resources.relevance.threads.run(merge_known, answers, state, several=several)
    return Linked(merged, notes_of(given), sum(each.requests for each in given.answers.values()))


def _can(source: LimitedSource, kind: FoundKind) -> bool:
    features = source.source.features
    return features.references if kind == "reference" else features.citing


def _own_ids(name: str, frontier: Sequence[tuple[str, KnownPaper]]) -> dict[str, str]:
    """Return the id of each paper in that source, by its id here."""
    return {
        paper_id: own for paper_id, known in frontier for source, own in known.merged.ids if source == name
    }
