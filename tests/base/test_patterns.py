"""Regular expressions that are compiled at their first use."""

import copy
import gc
import importlib
import re

import pytest

import base.patterns
from base.patterns import lazy_regex
from tests.indexer.made_corpora import ROOT

PACKAGES = ("indexer", "generator")


def test_it_finds_what_a_compiled_one_finds():
    pattern, text = r"no\. (?P<number>\d+)|(\d+)편", "No. 12 and NO. 7, 논문 12편"
    compiled, lazy = re.compile(pattern, re.IGNORECASE), lazy_regex(pattern, re.IGNORECASE)

    assert (lazy.pattern, lazy.findall(text)) == (compiled.pattern, compiled.findall(text))
    assert lazy.sub(r"<\g<0>>", text) == compiled.sub(r"<\g<0>>", text)
    assert copy.deepcopy(lazy).findall("NO. 1") == [("1", "")]
    with pytest.raises(re.error):
        lazy_regex("(").search("x")


def test_all_of_the_packages_are_valid():
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "lazy_regex(" in path.read_text("utf-8"):
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))

    found = [each for each in gc.get_objects() if type(each) is base.patterns._LazyRegex]
    assert all(re.compile(each.pattern, each._flags) for each in found if each.pattern != "(")
    assert len(found) > 80
