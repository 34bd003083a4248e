"""Found papers and traces of searches for papers as terminal output."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from base.amounts import counted
from base.terminal.output import echo, echo_lines, shortened, styled, time_with_start
from generator.console import step_lines
from generator.finding.agents.reranking import LONGEST_WHY
from generator.finding.events import STEPS
from generator.finding.result import FoundPapers
from generator.finding.state import FindingState, FoundBy
from generator.tracing import StepEvent, Trace

INDENT = "    "
WAYS = {"query": "found at rank {} by {}", "reference": "reference {} of {}", "citing": "refers to {1}"}
LONGEST_NAME = 100
MOST_WAYS = 3  # `found_by` entries shown for a paper
MOST_LINES = 2_000  # of a trace's steps, and of its tree
LONGEST_LINE = 1_000
LINKS = {"references": "reference: ", "cited_by": "refers to it: "}


def finding_line(threshold: float) -> Callable[[StepEvent, int], str]:
    """Return a formatter of progress lines: the running step and the numbers of papers."""
    step, counts = "", ""

    def line(event: StepEvent, _: int) -> str:
        nonlocal step, counts
        if event.kind == "started" and event.step.name in STEPS:
            step = event.step.name
        elif isinstance(state := event.made, FindingState):
            judged = sum(known.judgement is not None for known in state.papers.values())
            relevant = len(state.relevant(threshold))
            counts = f": {counted(len(state.papers), 'paper')}, {judged:,} judged, {relevant:,} relevant"
        else:
            return ""
        return step + counts

    return line


def show_papers(found: FoundPapers) -> None:
    """Print the papers with scores, reasons and how each was found."""
    for rank, ranked in enumerate(found.papers, 1):
        paper = ranked.known.paper
        title = shortened(ranked.known.title or "(no title)")
        echo(f"{rank:>3} {ranked.score:.2f} ", styled(title, bold=True))
        authors = ", ".join(shortened(author, LONGEST_NAME) for author in paper.authors[:3])
        facts = [ranked.paper_id, str(paper.year or ""), shortened(paper.journal), authors]
        lines = ["; ".join(filter(None, facts)), shortened(ranked.why, LONGEST_WHY)]
        lines += map(_way, ranked.known.found_by[:MOST_WAYS])
        more = len(ranked.known.found_by) - MOST_WAYS
        lines += [f"and {counted(more, 'more way')}"] if more > 0 else []
        echo_lines(INDENT + line for line in lines)
    if near := found.near:
        echo("next below these:")
        for paper_id, known in near:
            echo(f"    {known.score:.2f} {shortened(known.title or '(no title)')} ({paper_id})")


def show_account(found: FoundPapers) -> None:
    """Print the number of papers, the cost and the notes on standard error."""
    spent = found.state.spent
    asked = f"{counted(spent.calls, 'call')} of a model, {spent.tokens:,} tokens, " if spent.calls else ""
    echo(
        f"{counted(len(found.papers), 'paper')} listed of {len(found.state.papers):,} found, "
        f"{len(found.state.queries):,} queries, {asked}{spent.seconds:.1f} s, {time_with_start()}",
        err=True,
    )
    for note in found.notes:
        echo(f"note: {note}", err=True)


def _way(by: FoundBy) -> str:
    return WAYS[by.kind].format(by.rank, shortened(by.of))


def found_lines(trace: Trace) -> Iterator[str]:
    """Yield the lines of a saved trace of a search for papers: steps with times, tree, and ranked papers."""
    record = trace.record
    request = record["request"]
    yield request["question"]
    yield ""
    numbers = ", ".join(f"{key} {request[key]:,}" for key in ("papers", "rounds", "layers", "seed"))
    without = f", without {', '.join(request['without'])}" if request["without"] else ""
    yield shortened(f"{numbers}{without}, {record['milliseconds']:,.0f} ms")
    yield ""
    yield from _bounded(chain.from_iterable(map(step_lines, record["steps"])))
    yield ""
    yield from _bounded(chain.from_iterable(map(_query_lines, record["tree"])))
    yield ""
    for paper in record["papers"]:
        yield f"{paper['rank']:>3} {paper['score']:.2f} {paper['id']} {shortened(paper.get('title', ''))}"
        yield INDENT + shortened(paper["why"], LONGEST_WHY)
    for note in record["notes"]:
        yield f"note: {note}"


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    left = iter(lines)
    yield from (shortened(line, LONGEST_LINE) for line in islice(left, MOST_LINES))
    if more := sum(1 for _ in left):
        yield f"… {more:,} more lines"


def _query_lines(query: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Format a query of the tree and, indented, the papers it found."""
    yield f"{INDENT * depth}{shortened(query['query'])} ({query['kind']})"
    for paper in query["papers"]:
        yield from _paper_lines(paper, depth + 1, "")


def _paper_lines(paper: Mapping[str, Any], depth: int, link: str) -> Iterator[str]:
    """Format a paper of the tree and, indented, its linked papers and the queries evolved from it."""
    score = paper.get("score")
    judged = "not judged" if score is None else f"{score:.2f}"
    yield f"{INDENT * depth}{link}{judged} {paper['paper']} {shortened(paper.get('title', ''))}"
    for key, further in LINKS.items():
        for other in paper.get(key, ()):
            yield from _paper_lines(other, depth + 1, further)
    for query in paper.get("evolved", ()):
        yield from _query_lines(query, depth + 1)
