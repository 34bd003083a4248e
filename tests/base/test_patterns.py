"""Regular expressions that are compiled at their first use."""

import re

import pytest

from base.patterns import lazy_regex


@pytest.mark.parametrize("text", ["", "No. 12 and NO. 7", "논문 12편"])
def test_it_finds_what_a_compiled_one_finds(text):
    pattern = r"no\. (?P<number>\d+)|(\d+)편"
    compiled, lazy = re.compile(pattern, re.IGNORECASE), lazy_regex(pattern, re.IGNORECASE)

    assert lazy.pattern == compiled.pattern
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub(r"<\g<0>>", text) == compiled.sub(r"<\g<0>>", text)
    assert lazy.groupindex == compiled.groupindex


def test_an_invalid_one_is_refused_when_it_is_used():
    invalid = lazy_regex("(")

    with pytest.raises(re.error):
        invalid.search("x")
