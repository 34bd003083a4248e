"""Options of `find-papers`, and the request made from them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, get_args

import click

from generator.finding.agents import ADDITIONS, AGENTS, PURE
from generator.finding.bounds import BOUNDS, DEFAULTS, Wording

if TYPE_CHECKING:
    from generator.finding.request import FindRequest
    from retriever.queries.filters import Filters

FILTERS = {"year": "years", "lang": "lang", "journal": "journal"}  # fields of `Filters` by option


def _names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.strip() for value in values for name in value.split(",") if name.strip())


def number_option(name: str, what: str, *short: str) -> Callable[[Any], Any]:
    """Return the click option of a number with its range and default."""
    kind = click.FloatRange if isinstance(DEFAULTS[name], float) else click.IntRange
    option = *short, f"--{name.replace('_', '-')}"
    return click.option(
        *option, type=kind(*BOUNDS[name]), default=DEFAULTS[name], show_default=True, help=what
    )


STEP_OPTIONS = (
    number_option("rounds", "Rounds of further queries, made from the relevant papers."),
    number_option(
        "layers", "Layers of references to follow: 1 = of relevant papers, 2 = also of these references, …"
    ),
    number_option(
        "threshold",
        "Least score by a model of a relevant paper. Without a model the default gives the list with the "
        "highest expected F, and a lower threshold a longer list.",
    ),
    click.option(
        "--judge",
        type=click.Choice(get_args(Wording)),
        default=DEFAULTS["judge"],
        show_default=True,
        help="Judgement by a model: brief = one score, complex = several criteria.",
    ),
    number_option("per_query", "Papers per query and source."),
    click.option(
        "--seed",
        type=int,
        default=DEFAULTS["seed"],
        show_default=True,
        help="Seed of the random choice of further queries.",
    ),
    click.option(
        "--without",
        multiple=True,
        callback=_names,
        metavar="AGENT,…",
        help=f"Switch agents off: {', '.join([*AGENTS, *ADDITIONS])}.",
    ),
    click.option("--pure", is_flag=True, help=f"SPAR's method alone: without {', '.join(ADDITIONS)}."),
)

BUDGET_OPTIONS = (
    click.option("--max-calls", type=click.IntRange(0), help="Maximum number of model calls."),
    click.option("--max-tokens", type=click.IntRange(0), help="Maximum number of tokens of these calls."),
    click.option("--max-seconds", type=click.FloatRange(0, min_open=True), help="Maximum time in seconds."),
    click.option("--max-papers", type=click.IntRange(0), help="Maximum number of judged papers."),
)


def resumed_request(request: "FindRequest", kept: "FindRequest", named: Collection[str]) -> "FindRequest":
    """Return the request of a saved search with a new budget and the options named on the command line."""
    filters = {part: getattr(request.filters, part) for option, part in FILTERS.items() if option in named}
    new = {"question", "filters", "budget", *named, *(["without"] if "pure" in named else [])}
    saved = {part.name: getattr(kept, part.name) for part in fields(kept) if part.name not in new}
    return replace(request, **saved, filters=replace(kept.filters, **filters))


def find_request(
    question: str, papers: int, given: Mapping[str, Any], filters: "Filters | None" = None
) -> "FindRequest":
    """Make a request from the values of the options; raises like FindRequest."""
    from generator.finding.request import FindRequest
    from generator.model_calls.budgets import Budget
    from retriever.queries.filters import Filters

    values = dict(given)
    bounds = {part: values.pop(f"max_{part}") for part in ("calls", "tokens", "seconds", "papers")}
    pure = PURE if values.pop("pure") else frozenset[str]()
    without = values.pop("without") | pure
    return FindRequest(
        question, papers, **values, without=without, filters=filters or Filters(), budget=Budget(**bounds)
    )
