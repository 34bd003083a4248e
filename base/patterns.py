"""Regular expressions that are compiled at their first use.

The language rules hold hundreds, most of which a process never needs; to compile all of them takes a fifth of
the start of a server.
"""

import re
from typing import Any, cast


class _LazyRegex:
    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self.pattern = pattern
        self._given = flags

    def __getattr__(self, name: str) -> Any:  # of what is not yet an attribute of this object
        found = getattr(re.compile(self.pattern, self._given), name)
        setattr(self, name, found)
        return found


def lazy_regex(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return a regular expression that is compiled when a method of it is first used.

    It has the methods and attributes of a compiled one, but is no instance of `re.Pattern`: the functions of
    `re` do not take it.

    Raises:
        re.error: the pattern is invalid; raised at the first use.
    """
    return cast("re.Pattern[str]", _LazyRegex(pattern, flags))
