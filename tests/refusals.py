"""A refusal as a caller relies on it: the class of the error, its remedies, and facts of its message."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from base.errors import RemediableError, Remedy

ANEW_OR_BACK = (Remedy.REBUILD, Remedy.ROLL_BACK)


@contextmanager
def refusal(
    kind: type[RemediableError], *facts: str, remedies: Remedy | tuple[Remedy, ...] = ()
) -> Iterator[None]:
    """Expect an error that names these facts and offers these remedies, which may be a part of all."""
    with pytest.raises(kind) as raised:
        yield
    error = raised.value
    assert [fact for fact in facts if fact not in error.what] == []
    wanted = remedies if isinstance(remedies, tuple) else (remedies,)
    assert [remedy for remedy in error.remedies if isinstance(remedy, Remedy)] == list(wanted)
