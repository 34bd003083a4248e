"""The least and the most of each number that a search for papers is asked with."""

from collections.abc import Mapping

BOUNDS: Mapping[str, tuple[int, int]] = {
    "papers": (1, 500),
    "rounds": (0, 10),
    "layers": (0, 3),
    "threshold": (0, 1),
    "per_query": (1, 200),
    "evolved": (0, 100),
}
