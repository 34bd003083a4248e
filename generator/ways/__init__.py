"""Ways from a question to its answer.

A new way is a module with this function, and a line of `WAYS`:

    async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult

It opens its steps from `step`, so that the trace contains them.
"""

from collections.abc import Awaitable, Callable
from dataclasses import fields
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias, cast

from base.notes import Note
from generator.answers.answer import WayResult
from generator.errors import UnknownWay
from generator.request import METHOD, AskRequest, Resources, Settings
from generator.tracing import Step
from retriever.errors import BadFilter
from retriever.queries.filters import Filters

Way: TypeAlias = Callable[[AskRequest, Resources, Step], Awaitable[WayResult]]

# Fields of `AskRequest` that not every way uses.
OPTIONS = ("method", "strategy", "keywords", "skip", "topic")
DEFAULTS = {field.name: field.default for field in fields(AskRequest)}


# Steps of the ways of paper-QA (sections 3 to 5), besides retrieval and answer. queries, hypotheses: further
# texts are searched for, and the rankings are fused. rerank: more passages are retrieved, and the most
# relevant ones kept; filter: irrelevant ones are dropped. draft: a temporary answer guides the re-ranking.
PAPER_QA = {
    "paper-qa-1": "",
    "paper-qa-2": "rerank",
    "paper-qa-3": "queries rerank",
    "paper-qa-4": "hypotheses rerank",
    "paper-qa-5": "queries hypotheses rerank",
    "paper-qa-6": "queries rerank filter",
    "paper-qa-7": "queries hypotheses rerank filter",
    "paper-qa-8": "queries draft rerank filter",
}


class WayModule(NamedTuple):
    """The module of a way, and the `OPTIONS` that it uses; requests with others are refused."""

    module: str
    takes: frozenset[str] = frozenset(OPTIONS)


WAYS: dict[str, WayModule] = {
    **{name: WayModule("generator.ways.paper_qa", frozenset({"topic"})) for name in PAPER_QA},
    "shrag": WayModule("generator.ways.shrag", frozenset(OPTIONS) - {"topic"}),
}


def way_names() -> list[str]:
    """Return the names of all ways."""
    return list(WAYS)


def find_way(name: str) -> Way:
    """Return the way with a name; raises UnknownWay."""
    return cast("Way", import_module(_way(name).module).answer)


def takes(way: str, option: str) -> bool:
    """Check whether a way uses one of the `OPTIONS`; raises UnknownWay."""
    return option in _way(way).takes


def check_options(request: AskRequest) -> None:
    """Refuse a request with an option that its way does not use.

    `method` is always allowed if the question may be answered in several steps, whose searches use it.

    Raises:
        BadFilter: the request has such an option.
        UnknownWay: no way has that name.
    """
    for option in OPTIONS:
        given = getattr(request, option)
        used = takes(request.way, option) or (option == "method" and request.hops != "never")
        if given and given != DEFAULTS[option] and not used:
            others = ", ".join(name for name in way_names() if takes(name, option))
            raise BadFilter(Note(f"way_takes_no_{option}", way=request.way, others=others))


def make_request(
    settings: Settings, question: str, filters: Filters | None = None, **given: Any
) -> AskRequest:
    """Make a request from fields of `AskRequest`; for fields that are None the settings apply.

    Raises:
        UnknownWay: no way has that name.
        BadFilter: the way does not use a given option.
    """
    defaults, given = settings.generator, {name: value for name, value in given.items() if value is not None}
    way, hops = given.get("way") or defaults.ask_way, given.get("hops", defaults.ask_hops)
    method = defaults.ask_method if hops != "never" or takes(way, "method") else METHOD
    values = {"evidence": defaults.evidence} | given
    values |= {"way": way, "hops": hops, "method": given.get("method") or method}
    request = AskRequest(question, filters=filters or Filters(), **values)
    check_options(request)
    return request


def _way(name: str) -> WayModule:
    if name not in WAYS:
        raise UnknownWay(Note("no_such_way", way=name, there=", ".join(WAYS)))
    return WAYS[name]
