"""Arguments of the tools: absent values, and the calls made from them."""

import pytest
from pydantic import ValidationError

from server.mcp.protocol import tools_by_name
from server.mcp.tools.find_papers import SECONDS


@pytest.mark.parametrize("absent", [None, ""])
def test_null_and_empty_text_count_as_absent(absent):
    given = dict.fromkeys(("k", "seconds", "year", "lang", "journal", "index", "sources"), absent)
    call = tools_by_name()["find_papers"].call_of({"question": "heat", **given})
    assert (call.papers, call.max_seconds, call.sources, call.index) == (20, SECONDS, (), None)


@pytest.mark.parametrize("values", [{"k": []}, {"k": {"a": [1]}}, {"nope": ""}, {"question": ["x"]}, {}])
def test_other_values_of_a_wrong_type_and_unknown_names_are_refused(values):
    with pytest.raises(ValidationError):
        tools_by_name()["ask"].call_of({"question": "heat"} | values if values else {})
