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
from typing import Any, TypeAlias, cast

from generator.answers.answer import WayResult
from generator.errors import UnknownWay
from generator.request import METHOD, AskRequest, Resources, Settings
from generator.tracing.steps import Step
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
    values: dict[str, Any] = {"evidence": defaults.evidence, "method": method}
    values |= given | {"way": way, "hops": hops, "method": given.get("method") or method}
    request = AskRequest(question, filters=filters or Filters(), **values)
    check_options(request)
    return request


def _module(name: str) -> ModuleType:
    if name not in way_names():
        raise UnknownWay(f"no way {name!r}; there are {', '.join(way_names())}")
    return import_module(f"{__name__}.{name.replace('-', '_')}")
