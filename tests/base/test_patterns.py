"""Regular expressions that are compiled at their first use."""

import copy
import gc
import importlib
import pickle
import re

import pytest

import base.patterns
from base.patterns import lazy_regex
from tests.indexer.made_corpora import ROOT

PACKAGES = ("base", "indexer", "retriever", "generator", "server", "eval", "stack")
INVALID = "("


@pytest.mark.parametrize("text", ["", "No. 12 and NO. 7", "논문 12편"])
def test_it_finds_what_a_compiled_one_finds(text):
    pattern = r"no\. (?P<number>\d+)|(\d+)편"
    compiled, lazy = re.compile(pattern, re.IGNORECASE), lazy_regex(pattern, re.IGNORECASE)

    assert lazy.pattern == compiled.pattern
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub(r"<\g<0>>", text) == compiled.sub(r"<\g<0>>", text)
    assert lazy.groupindex == compiled.groupindex


def pickled(regex):
    return pickle.loads(pickle.dumps(regex))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("is_used", [False, True])
def test_a_copy_finds_the_same(copied, is_used):
    lazy = lazy_regex("a", re.IGNORECASE)
    if is_used:
        assert lazy.search("A")

    assert copied(lazy).findall("aAb") == ["a", "A"]


def test_an_invalid_one_is_refused_when_it_is_used():
    invalid = lazy_regex(INVALID)

    with pytest.raises(re.error):
        invalid.search("x")


def test_all_of_the_packages_are_valid():
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "lazy_regex(" in path.read_text("utf-8"):
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))

    found = [each for each in gc.get_objects() if type(each) is base.patterns._LazyRegex]

    assert found
    for each in found:
        if each.pattern != INVALID:
            assert re.compile(each.pattern, each._flags)
