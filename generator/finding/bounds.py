"""Options of a search for papers: defaults, minimum and maximum."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

Wording: TypeAlias = Literal["brief", "complex"]

DEFAULTS: Mapping[str, Any] = {
    "papers": 20,
    "rounds": 1,
    "layers": 1,
    "threshold": 0.5,
    "judge": "brief",
    "per_query": 20,
    "evolved": 5,
    "seed": 0,
}
BOUNDS: Mapping[str, tuple[int, int]] = {
    "papers": (1, 500),
    "rounds": (0, 10),
    "layers": (0, 3),
    "threshold": (0, 1),
    "per_query": (1, 200),
    "evolved": (0, 100),
}
