"""Ways from a question to its answer: each module of this package is one, without further registration.

A module `my_way.py` is the way `my-way`; modules with a leading underscore are not ways. It defines

    async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult

which opens its steps from `step`, so that the trace contains them. It may define `TAKES`, the names of the
`OPTIONS` that it uses; requests with other options are refused. Without `TAKES` it uses all options.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeAlias, cast

from generator.answers.answer import WayResult
from generator.errors import UnknownWay
from generator.request import METHOD, AskRequest, Resources, Settings, Turn
from generator.settings import HopsMode
from generator.tracing.steps import Step
from retriever.constraints.parsing import Constraints
from retriever.errors import BadFilter
from retriever.queries.filters import Filters

Way: TypeAlias = Callable[[AskRequest, Resources, Step], Awaitable[WayResult]]

# Options that not every way uses: field of `AskRequest` and its name in messages.
OPTIONS: Mapping[str, str] = {
    "method": "method",
    "keywords": "keywords",
    "skip": "queries to leave out",
    "topic": "topic",
}
DEFAULTS = {field.name: field.default for field in fields(AskRequest)}


def way_names() -> list[str]:
    """Return the names of all ways in alphabetical order."""
    names = (module.name for module in iter_modules(__path__))
    return sorted(name.replace("_", "-") for name in names if not name.startswith("_"))


def find_way(name: str) -> Way:
    """Return the way with a name; raises UnknownWay."""
    return cast("Way", _module(name).answer)


def takes(way: str, option: str) -> bool:
    """Check whether a way uses one of the `OPTIONS`; raises UnknownWay."""
    return option in getattr(_module(way), "TAKES", OPTIONS)


def check_options(request: AskRequest) -> None:
    """Refuse a request with an option that its way does not use.

    `method` is always allowed if the question may be answered in several steps, whose searches use it.

    Raises:
        BadFilter: the request has such an option.
        UnknownWay: no way has that name.
    """
    for option, what in OPTIONS.items():
        given = getattr(request, option)
        used = takes(request.way, option) or (option == "method" and request.hops != "never")
        if given and given != DEFAULTS[option] and not used:
            others = ", ".join(name for name in way_names() if takes(name, option))
            raise BadFilter(
                f"way {request.way!r} takes no {what}; leave it out, or use one of the ways {others}"
            )


def make_request(  # noqa: PLR0913 - the parts of a request
    settings: Settings,
    question: str,
    filters: Filters | None = None,
    *,
    way: str | None = None,
    method: str | None = None,
    evidence: int | None = None,
    constraints: Constraints | None = None,
    keywords: tuple[str, ...] | None = None,
    skip: tuple[str, ...] = (),
    topic: str | None = None,
    hops: HopsMode | None = None,
    turns: tuple[Turn, ...] = (),
) -> AskRequest:
    """Make a request; the settings supply omitted options.

    Raises:
        UnknownWay: no way has that name.
        BadFilter: the way does not use a given option.
    """
    defaults = settings.generator
    way, hops = way or defaults.ask_way, hops or defaults.ask_hops
    by_settings = defaults.ask_method if hops != "never" or takes(way, "method") else METHOD
    request = AskRequest(
        question,
        way=way,
        method=method or by_settings,
        evidence=defaults.evidence if evidence is None else evidence,
        filters=filters or Filters(),
        constraints=constraints,
        keywords=keywords,
        skip=skip,
        topic=topic,
        hops=hops,
        turns=turns,
    )
    check_options(request)
    return request


def _module(name: str) -> ModuleType:
    if name not in way_names():
        raise UnknownWay(f"no way {name!r}; there are {', '.join(way_names())}")
    return import_module(f"{__name__}.{name.replace('-', '_')}")
