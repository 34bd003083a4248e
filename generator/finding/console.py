"""Found papers for a person at a terminal."""

from generator.agents.reranking import LONGEST_WHY
from generator.finding.result import FoundPapers
from generator.finding.state import FoundBy
from indexer.requests import counted
from indexer.terminal import echo, echo_lines, shortened, styled

INDENT = "    "
VERBS = {"query": "found by", "reference": "reference of", "citing": "refers to"}
LONGEST_NAME = 100
MOST_WAYS = 3  # that led to a paper and are shown


def show_papers(found: FoundPapers) -> None:
    """Print the papers with scores, reasons, and how each was found; the allowance on standard error."""
    for rank, ranked in enumerate(found.papers, 1):
        paper = ranked.known.paper
        title = paper.title or paper.title2 or "(no title)"
        echo(f"{rank:>3} {ranked.score:.2f} ", styled(shortened(title), bold=True))
        authors = ", ".join(shortened(author, LONGEST_NAME) for author in paper.authors[:3])
        facts = [ranked.paper_id, str(paper.year or ""), shortened(paper.journal), authors]
        lines = ["; ".join(filter(None, facts)), shortened(ranked.why, LONGEST_WHY)]
        lines += map(_way, ranked.known.found_by[:MOST_WAYS])
        more = len(ranked.known.found_by) - MOST_WAYS
        lines += [f"and {counted(more, 'more way')}"] if more > 0 else []
        echo_lines(INDENT + line for line in lines)
    spent = found.state.spent
    echo(
        f"{counted(len(found.papers), 'paper')} of {len(found.state.papers):,} looked at, "
        f"{len(found.state.queries):,} queries, "
        f"{counted(spent.calls, 'call')} of a model, {spent.tokens:,} tokens, {spent.seconds:.1f} s",
        err=True,
    )
    for note in found.notes:
        echo(f"note: {note}", err=True)


def _way(by: FoundBy) -> str:
    return f"{VERBS[by.kind]} {shortened(by.of)} ({by.rank})"
