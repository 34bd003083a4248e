"""Ways from a question to its answer.

Each module has `answer`, which opens its steps from the given one, so that the trace contains them.
"""

from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any, TypeAlias

from base.notes import Note
from generator.answers.answer import WayResult
from generator.errors import UnknownWay
from generator.request import METHOD, WAY, AskRequest, Resources, Settings
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


WAYS = (*PAPER_QA, WAY)


def way_names() -> list[str]:
    """Return the names of all ways."""
    return list(WAYS)


def find_way(name: str) -> Way:
    """Return the way with a name; raises UnknownWay."""
    takes(name, "topic")
    if name in PAPER_QA:
        from generator.ways.paper_qa import answer
    else:
        from generator.ways.shrag import answer
    return answer


def takes(way: str, option: str) -> bool:
    """Check whether a way uses one of the `OPTIONS`: passages have a topic, papers all others.

    Raises:
        UnknownWay: no way has that name.
    """
    if way not in WAYS:
        raise UnknownWay(Note("no_such_way", way=way, there=", ".join(WAYS)))
    return (option == "topic") == (way in PAPER_QA)


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
