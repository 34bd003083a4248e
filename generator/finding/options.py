"""Options that say how papers are found, and the request that they make."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, get_args

import click

from generator.finding.agents import ADDITIONS, AGENTS, PURE
from generator.finding.bounds import BOUNDS, DEFAULTS, Wording

if TYPE_CHECKING:
    from generator.finding.request import FindRequest
    from retriever.queries.boolean import Filters

FILTERS = {"year": "years", "lang": "lang", "journal": "journal"}  # what each option is in `Filters`


def _names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.strip() for value in values for name in value.split(",") if name.strip())


def number_option(name: str, what: str, *short: str) -> Callable[[Any], Any]:
    """Make the option of a number, within its bounds and with its default."""
    kind = click.FloatRange if isinstance(DEFAULTS[name], float) else click.IntRange
    option = *short, f"--{name.replace('_', '-')}"
    return click.option(
        *option, type=kind(*BOUNDS[name]), default=DEFAULTS[name], show_default=True, help=what
    )


STEP_OPTIONS = (
    number_option("rounds", "Rounds of further queries, made from the relevant papers."),
    number_option(
        "layers", "Layers of references that are followed: 1 those of relevant papers, 2 theirs too, …"
    ),
    number_option(
        "threshold",
        "A model's score from which a paper is relevant. Without a model the default gives the list of "
        "highest expected F, a lower threshold a longer list.",
    ),
    click.option(
        "--judge",
        type=click.Choice(get_args(Wording)),
        default=DEFAULTS["judge"],
        show_default=True,
        help="How a model is asked to judge: in short, or by several criteria.",
    ),
    number_option("per_query", "Papers that a query brings, of each source."),
    click.option(
        "--seed",
        type=int,
        default=DEFAULTS["seed"],
        show_default=True,
        help="Of the draw of further queries.",
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
    click.option("--max-calls", type=click.IntRange(0), help="Calls of the model, at most."),
    click.option("--max-tokens", type=click.IntRange(0), help="Tokens of these calls, at most."),
    click.option("--max-seconds", type=click.FloatRange(0, min_open=True), help="Seconds, at most."),
    click.option("--max-papers", type=click.IntRange(0), help="Papers that are judged, at most."),
)


def resumed_request(request: "FindRequest", kept: "FindRequest", named: Collection[str]) -> "FindRequest":
    """Return a request as a kept search was asked for, but for its budget and what options name anew."""
    filters = {part: getattr(request.filters, part) for option, part in FILTERS.items() if option in named}
    anew = {"question", "filters", "budget", *named, *(["without"] if "pure" in named else [])}
    as_before = {part.name: getattr(kept, part.name) for part in fields(kept) if part.name not in anew}
    return replace(request, **as_before, filters=replace(kept.filters, **filters))


def find_request(
    question: str, papers: int, given: Mapping[str, Any], filters: "Filters | None" = None
) -> "FindRequest":
    """Make the request that the values of these options describe; raises as FindRequest."""
    from generator.finding.request import FindRequest
    from generator.model_calls.budgets import Budget
    from retriever.queries.boolean import Filters

    values = dict(given)
    bounds = {part: values.pop(f"max_{part}") for part in ("calls", "tokens", "seconds", "papers")}
    pure = PURE if values.pop("pure") else frozenset[str]()
    without = values.pop("without") | pure
    return FindRequest(
        question, papers, **values, without=without, filters=filters or Filters(), budget=Budget(**bounds)
    )
