"""RefChain: references of relevant papers, followed layer by layer and judged (SPAR, section 3.2).

SPAR follows one layer of references. Citing papers are this project's addition (`cited-by`). A layer needs
one call to each source for the references of all its papers, one for their citing papers, and one by DOI for
papers without references in any source.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from base.notes import Note
from generator.finding.state import FindingState, FindResources, FoundBy, KnownPaper, found_again
from generator.tracing import Step, all_of
from indexer.corpora.normal_forms import ARXIV_DOI, whole_doi
from indexer.corpora.papers import Paper
from retriever.errors import SourceFailed
from retriever.queries.filters import Filters, satisfies
from retriever.sources import LinkedPapers, LinkKind, Source, SourceAnswer
from retriever.sources.merging import LimitedSource, Merged, ask_sources, merge, notes_of

MOST_OF_A_PAPER: Mapping[LinkKind, int] = {"reference": 200, "citing": 50}
OPENALEX, ARXIV = "openalex", "arxiv"
MOST_OF_A_LAYER = 300  # new papers with most links from relevant papers


@dataclass(slots=True)
class Links:
    """Linked papers by source and by the known paper's id, with the notes and the requests of all sources."""

    found: dict[str, dict[str, tuple[Paper, ...]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    requests: int = 0
    looked_up: int = 0  # papers found by DOI in another source


async def follow(state: FindingState, resources: FindResources, step: Step, *, layer: int) -> FindingState:
    """Add the papers linked to relevant papers of the previous layer."""
    request = resources.request
    frontier = [
        item
        for item in state.relevant(request.threshold)
        if item[1].layer == layer - 1 and not item[1].followed
    ]
    if not frontier or resources.allowance.time_is_over:
        return state
    kinds: list[LinkKind] = ["reference"]
    if request.does("cited-by"):
        kinds.append("citing")
    with step.step("refchain", layer=layer, papers=[paper_id for paper_id, _ in frontier]) as following:
        links = await all_of(_links(frontier, kind, resources) for kind in kinds)
        following.notes += dict.fromkeys(note for of_kind in links for note in of_kind.notes)
        threads, papers = resources.relevance.threads, dict[LinkKind, Merged]()
        for kind, of_kind in zip(kinds, links, strict=True):
            answers = {
                name: SourceAnswer(tuple(of.get(paper_id, ()) for paper_id, _ in frontier))
                for name, of in of_kind.found.items()
            }
            several = len(resources.sources) > 1
            papers[kind] = await threads.run(merge, answers, state.merged, several=several)
        new, again, left_out = await threads.run(_papers_of, state, frontier, papers, request.filters, layer)
        first = sorted(new.items(), key=lambda item: (-len(item[1].found_by), item[1].found_by[0].rank))
        kept = dict(first[:MOST_OF_A_LAYER])
        if len(new) > len(kept):
            following.notes.append(Note("layer_cut", found=len(new), layer=layer, judged=len(kept)))
        following.output = {
            "linked": sum(len(others) for merged in papers.values() for others in merged.found),
            "new": len(kept),
            "known": len(again),
            "filtered": left_out,
            "looked_up_by_doi": sum(of_kind.looked_up for of_kind in links),
            "requests": sum(of_kind.requests for of_kind in links),
        }
    followed = {paper_id: replace(again.get(paper_id, known), followed=True) for paper_id, known in frontier}
    return state.with_papers({**again, **followed, **kept}.items())


def _papers_of(
    state: FindingState,
    frontier: Sequence[tuple[str, KnownPaper]],
    of_kinds: Mapping[LinkKind, Merged],
    filters: Filters,
    layer: int,
) -> tuple[dict[str, KnownPaper], dict[str, KnownPaper], int]:
    """Return the new papers of a layer, the updated known papers, and the number of filtered links."""
    new: dict[str, KnownPaper] = {}
    again: dict[str, KnownPaper] = {}
    left_out = 0
    for kind, of_kind in of_kinds.items():
        for (paper_id, _), others in zip(frontier, of_kind.found, strict=False):
            for rank, other in enumerate(others, 1):
                by, merged = FoundBy(kind, paper_id, rank), of_kind.papers[other]
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


async def _links(
    frontier: Sequence[tuple[str, KnownPaper]], kind: LinkKind, resources: FindResources
) -> Links:
    """Ask each source in one call for the references of its papers, or for their citing papers.

    Papers without references in any source are looked up by DOI in sources that support it.
    """
    able = [source for source in resources.sources if source.source.features.references]
    links, own_ids = Links(), {source.name: dict[str, str]() for source in able}  # by paper id
    for paper_id, known in frontier:
        for name, own in known.merged.ids:
            if name in own_ids:
                own_ids[name][paper_id] = own
    await _add(links, able, own_ids, kind)
    if kind == "reference":
        linked = {paper_id for of in links.found.values() for paper_id, papers in of.items() if papers}
        without = [item for item in frontier if item[0] not in linked]
        ids, failures = await _ids_by_doi(able, without, resources.sources)
        links.notes += failures
        links.looked_up = len({paper_id for of in ids.values() for paper_id in of})
        await _add(links, able, ids, kind)
    return links


async def _add(
    links: Links, sources: Sequence[LimitedSource], ids: Mapping[str, Mapping[str, str]], kind: LinkKind
) -> None:
    """Ask each source in one call for the links of its papers, given by their ids in that source."""
    asked, limit = [source for source in sources if ids.get(source.name)], MOST_OF_A_PAPER[kind]
    if not asked:
        return

    async def ask(source: Source) -> LinkedPapers:
        own = list(dict.fromkeys(ids[source.name].values()))
        return await source.linked(kind, own, limit)

    try:
        given = await ask_sources(asked, ask)
    except SourceFailed as error:
        links.notes.append(Note("links_failed", error=str(error)))
        return
    for name, linked in given.answers.items():
        papers = {paper_id: linked.papers.get(own, ())[:limit] for paper_id, own in ids[name].items()}
        links.found.setdefault(name, {}).update(papers)
    links.notes += notes_of(given)
    links.requests += sum(each.requests for each in given.answers.values())


async def _ids_by_doi(
    able: Sequence[LimitedSource],
    papers: Sequence[tuple[str, KnownPaper]],
    sources: Sequence[LimitedSource],
) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
    """Look papers up by DOI; return their ids by source, with one source per paper, and failures.

    OpenAlex is preferred because it returns the references of many papers in few requests.
    """
    asked = sorted(
        (source for source in able if source.source.features.dois), key=lambda source: source.kind != OPENALEX
    )
    preprints = {source.name for source in sources if source.kind == ARXIV}
    dois = {paper_id: doi for paper_id, known in papers if (doi := doi_of(known, preprints))}
    if not asked or not dois:
        return {}, ()
    try:
        given = await ask_sources(asked, lambda source: source.papers_by_doi(list(dois.values())))
    except SourceFailed as error:
        return {}, (f"references were not looked up by DOI: {error}",)
    ids: dict[str, dict[str, str]] = {}
    has = {paper_id: {name for name, _ in known.merged.ids} for paper_id, known in papers}
    for paper_id, doi in dois.items():
        for source in asked:
            found = given.answers.get(source.name, {}).get(doi)
            if found and source.name not in has[paper_id]:
                ids.setdefault(source.name, {})[paper_id] = found.id
                break
    return ids, given.failures


def doi_of(known: KnownPaper, preprints: Container[str]) -> str:
    """Return the DOI of a paper, or of its preprint if it has no other."""
    own = next((own for source, own in known.merged.ids if source in preprints), "")
    return whole_doi(known.paper.doi) or ((ARXIV_DOI + own).lower() if own else "")
