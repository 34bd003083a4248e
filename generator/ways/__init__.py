"""Ways from a question to its answer: one module of this package each, and nothing else to register.

A module `my_way.py` is the way `my-way`; one whose name begins with an underscore is none. It holds

    async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult

which opens its steps from `step`, so that all it does stands in the trace.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeAlias, cast

from generator.errors import UnknownWay
from generator.request import AskRequest, Resources, WayResult
from generator.steps import Step

Way: TypeAlias = Callable[[AskRequest, Resources, Step], Awaitable[WayResult]]


def way_names() -> list[str]:
    """Name the ways there are, in alphabetical order."""
    names = (module.name for module in iter_modules(__path__))
    return sorted(name.replace("_", "-") for name in names if not name.startswith("_"))


def find_way(name: str) -> Way:
    """Return the way of that name; UnknownWay where there is none."""
    if name not in way_names():
        raise UnknownWay(f"no way {name!r}; there are {', '.join(way_names())}")
    return cast("Way", import_module(f"{__name__}.{name.replace('-', '_')}").answer)
