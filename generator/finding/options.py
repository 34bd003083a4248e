"""Options that say how papers are found, and the request that they make."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from generator.agents import ADDITIONS, AGENTS, PURE
from generator.finding.bounds import BOUNDS
from indexer.options import together

if TYPE_CHECKING:
    from generator.finding.request import FindRequest
    from retriever.queries import Filters

PAPERS = 20  # unless asked otherwise


def _names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.strip() for value in values for name in value.split(",") if name.strip())


def _number(name: str, default: float, what: str) -> Callable[[Any], Any]:
    kind = click.FloatRange if isinstance(default, float) else click.IntRange
    option = f"--{name.replace('_', '-')}"
    return click.option(option, type=kind(*BOUNDS[name]), default=default, show_default=True, help=what)


finding_options = together(
    _number("rounds", 1, "How often queries are evolved from what was found."),
    _number("layers", 1, "How far references are followed."),
    _number("threshold", 0.5, "Judgement from which a paper is relevant."),
    click.option(
        "--judge",
        type=click.Choice(["brief", "complex"]),
        default="brief",
        show_default=True,
        help="Wording of the judgement by a model.",
    ),
    _number("per_query", 20, "Papers that a query brings, of each source."),
    click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of evolved queries."),
    click.option(
        "--without",
        multiple=True,
        callback=_names,
        metavar="AGENT,…",
        help=f"Switch off: {', '.join([*AGENTS, *ADDITIONS])}.",
    ),
    click.option("--pure", is_flag=True, help=f"The paper's method alone, without {', '.join(ADDITIONS)}."),
    click.option("--max-calls", type=click.IntRange(0), help="Calls of the model, at most."),
    click.option("--max-tokens", type=click.IntRange(0), help="Tokens of these calls, at most."),
    click.option("--max-seconds", type=click.FloatRange(0, min_open=True), help="Seconds, at most."),
    click.option("--max-papers", type=click.IntRange(0), help="Papers that are judged, at most."),
)


def find_request(
    question: str, papers: int, given: Mapping[str, Any], filters: "Filters | None" = None
) -> "FindRequest":
    """Make the request that the values of these options describe; raises as FindRequest."""
    from generator.budgets import Budget
    from generator.finding.request import FindRequest
    from retriever.queries import Filters

    values = dict(given)
    bounds = {part: values.pop(f"max_{part}") for part in ("calls", "tokens", "seconds", "papers")}
    pure = PURE if values.pop("pure") else frozenset[str]()
    without = values.pop("without") | pure
    return FindRequest(
        question, papers, **values, without=without, filters=filters or Filters(), budget=Budget(**bounds)
    )
