"""What a search for papers gives: the list, the tree of how each was found, and the record of the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from generator.finding.agents.reranking import RankedPaper, order_by_rules
from generator.finding.request import FindRequest
from generator.finding.state import FindingState, KnownPaper, SearchQuery
from generator.tracing.steps import Step
from indexer.corpora.papers import Paper
from retriever.reference import web_address

NEAR = 5  # papers below the threshold that are told where fewer are relevant than were asked for
LEAST_NEAR = 0.05  # relevance of these; what is below shares next to nothing
SHOWN_FOUND = 300  # papers that the tree names of a query or a paper
LONGEST_TEXT = 500  # characters of a title, a reason, a query, where many are told
LONGEST_ABSTRACT = 20_000
DEEPEST = 100  # papers that the tree names below each other; a search leads to fewer
KEYS = ("title", "title2", "authors", "year", "journal", "doi", "lang", "cited_by_count", "abstract")


@dataclass(frozen=True, slots=True)
class FoundPapers:
    """The papers, best first, and all that led to them."""

    request: FindRequest
    state: FindingState
    papers: tuple[RankedPaper, ...]
    notes: tuple[str, ...]
    complete: bool  # False where a budget ended, so that a resumed search would go on
    step: Step
    milliseconds: float

    @property
    def near(self) -> list[tuple[str, KnownPaper]]:
        """The papers next below the threshold, best first, where fewer are relevant than were asked for."""
        below = self.state.relevant(LEAST_NEAR)[len(self.state.relevant(self.request.threshold)) :]
        return below[: max(0, min(NEAR, self.request.papers - len(self.papers)))]

    def as_record(self) -> dict[str, Any]:
        """Return the JSON of `shrag find-papers --json`."""
        understanding = self.state.understanding
        return {
            "question": self.request.question,
            "understanding": asdict(understanding) if understanding else None,
            "papers": [{"rank": rank} | paper_record(ranked) for rank, ranked in enumerate(self.papers, 1)],
            "near": [near_record(*item) for item in self.near],
            "queries": [query_record(query) for query in self.state.queries],
            "known": len(self.state.papers),
            "relevant": len(self.state.relevant(self.request.threshold)),
            "spent": asdict(self.state.spent),
            "complete": self.complete,
            "notes": list(self.notes),
            "milliseconds": round(self.milliseconds, 2),
        }

    def references(self) -> list[dict[str, Any]]:
        """Return the papers' records with score and reason, as `retriever.exports` takes them."""
        return [
            {
                **ranked.known.paper.record(),
                "doc_id": ranked.paper_id,
                "score": ranked.score,
                "why": ranked.why,
            }
            for ranked in self.papers
        ]

    def as_tree_record(self) -> dict[str, Any]:
        """Return the same with the tree of how each paper was found."""
        return {**self.as_record(), "tree": tree(self.state, self.request.threshold)}

    def trace_record(self) -> dict[str, Any]:
        """Return what `--trace` writes: the request, the steps, and the tree beside the result."""
        return {
            "finding": 1,
            "request": self.request.as_record(),
            "steps": [child.as_record() for child in self.step.children],
            **self.as_tree_record(),
        }


def found_until_now(
    state: FindingState, request: FindRequest, this_year: int, notes: Sequence[str] = ()
) -> FoundPapers:
    """Return what a search has come to that was cut off, its papers ordered without a model."""
    ranked = order_by_rules(state, request, this_year)
    step = Step("find-papers", request.as_record())
    return FoundPapers(
        request, state, tuple(ranked), tuple(notes), complete=False, step=step, milliseconds=0.0
    )


def query_record(query: SearchQuery) -> dict[str, Any]:
    """Return a query of the result as JSON."""
    return {
        "text": query.text,
        "kind": query.kind,
        "round": query.round,
        "paper": query.paper or None,
        "found": len(query.found) if query.found is not None else None,
    }


def near_record(paper_id: str, known: KnownPaper) -> dict[str, Any]:
    """Return a paper below the threshold as JSON."""
    return {
        "id": paper_id,
        "relevance": known.score,
        **brief_record(known),
    }


def paper_record(ranked: RankedPaper) -> dict[str, Any]:
    """Return a paper of the result as JSON."""
    known, paper = ranked.known, ranked.known.paper
    told = {key: value for key in KEYS if (value := getattr(paper, key))}
    told |= {"abstract": paper.abstract[:LONGEST_ABSTRACT]} if paper.abstract else {}
    told |= _address_of(paper)
    judgement = known.judgement
    return {
        "id": ranked.paper_id,
        "score": ranked.score,
        "why": ranked.why,
        "relevance": known.score,
        "relevant": True,
        "authority": ranked.authority,
        "cited": asdict(ranked.cited) if ranked.cited else None,
        "timeliness": ranked.timeliness,
        "reason": judgement.reason if judgement else "",
        "judged_by": judgement.by if judgement else "",
        "parts": dict(judgement.parts) if judgement else {},
        "found_by": [asdict(by) for by in known.found_by],
        "sources": [{"source": source, "id": own} for source, own in known.merged.ids],
        **told,
    }


def tree(state: FindingState, threshold: float) -> list[dict[str, Any]]:
    """Return the queries of the question, in each what it found first, in that its references, and so on.

    A paper stands once, under what brought it first; so the tree has no circles, whatever the references do.
    """
    children: dict[tuple[str, str], list[str]] = {}
    for paper_id, known in state.papers.items():
        first = known.found_by[0]
        children.setdefault((first.kind, first.of), []).append(paper_id)
    papers = {
        paper_id: _node(paper_id, known, relevant=state.is_relevant(known, threshold))
        for paper_id, known in state.papers.items()
    }
    for paper_id, record in papers.items():
        for kind, name in (("reference", "references"), ("citing", "cited_by")):
            if found := children.get((kind, paper_id)):
                record[name] = [papers[other] for other in found[:SHOWN_FOUND]]
    roots = []
    for query in state.queries:
        found = children.get(("query", query.text), [])
        record = {
            "query": query.text,
            "kind": query.kind,
            "papers": [papers[paper_id] for paper_id in found[:SHOWN_FOUND]],
        }
        if query.paper in papers:
            papers[query.paper].setdefault("evolved", []).append(record)
        else:
            roots.append(record)
    return _without_circles(roots)


def _node(paper_id: str, known: KnownPaper, *, relevant: bool) -> dict[str, Any]:
    """Return a paper of the tree: its judgement, None without one, and what a list shows of it."""
    score = known.judgement.score if known.judgement else None
    return {"paper": paper_id, "score": score, "relevant": relevant, **brief_record(known)}


def brief_record(known: KnownPaper) -> dict[str, Any]:
    """Return what is told of a paper where many are, as JSON: title, reason, year, language, address."""
    paper, judgement = known.paper, known.judgement
    facts = {"year": paper.year, "lang": paper.lang}
    return {
        "title": shorten(paper.title or paper.title2),
        "reason": shorten(judgement.reason) if judgement else "",
        **{name: value for name, value in facts.items() if value},
        **_address_of(paper),
    }


def _address_of(paper: Paper) -> dict[str, str]:
    """Return where a paper is on the web, as `url`; nothing where that is no address to link to."""
    address = web_address({"url": paper.url, "doi": paper.doi})
    return {"url": address} if address else {}


def shorten(text: str) -> str:
    """Return a text of bounded length: of a long one the beginning and the end, where such texts differ."""
    if len(text) <= LONGEST_TEXT:
        return text
    tail = LONGEST_TEXT // 4
    return f"{text[: LONGEST_TEXT - tail - 1]}…{text[-tail:]}"


def _without_circles(roots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Copy the tree; a node that would stand within itself, or too deep, is only named there."""

    def copied(node: Mapping[str, Any], above: frozenset[str]) -> dict[str, Any]:
        own = str(node.get("paper", ""))
        if own and (own in above or len(above) == DEEPEST):
            return {"paper": own}
        inside = above | {own} if own else above
        return {
            key: [copied(child, inside) for child in value] if isinstance(value, list) else value
            for key, value in node.items()
        }

    return [copied(root, frozenset()) for root in roots]
