"""Tables of cases: each line of a file `NAME.jsonl` holds what a function is given, and what it returns."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest


def cases(folder: Path, functions: Mapping[str, tuple[Callable[..., Any], int]]) -> list[Any]:
    """Return function, arguments and expected value; `functions` has the number of arguments of each."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        function, count = functions[path.stem]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            *given, expected = json.loads(line)
            assert len(given) == count, f"{path}:{number}"
            found.append(pytest.param(function, given, expected, id=f"{path.stem} {number}"))
    return found


def as_json(value: object) -> Any:
    """Return a value with lists where it has tuples."""
    return json.loads(json.dumps(value))
