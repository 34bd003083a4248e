"""Regular expressions that are compiled at their first use.

The language rules contain about 300, and most processes need few of them. Compiling all of them takes a
quarter of the time in which a server is imported.
"""

import re
from typing import Any, cast


class _LazyRegex:
    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # called only for attributes not yet set
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return lazy_regex, (self.pattern, self._flags)


def lazy_regex(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return a regular expression that is compiled when a method of it is first used.

    It has the methods and attributes of a compiled one. It is not an instance of `re.Pattern`: functions of
    `re` such as `re.sub` raise TypeError for it. Two equal expressions are not `==`.

    Raises:
        re.error: the pattern is invalid; raised at the first use.
    """
    return cast("re.Pattern[str]", _LazyRegex(pattern, flags))
