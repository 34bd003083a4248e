"""The page's addresses without scripts: a list of what they ask for, or a page that says why not."""

import re

import pytest

from server.addresses import paper_address
from tests.generator.sample_index import ENGLISH

LISTED = re.compile(r'<a href="(/papers/[^"]+)" lang')


def listed(api, **asked):
    """Return the addresses of the papers that are listed without scripts."""
    page = api.get("/plain", params={"q": ENGLISH} | asked)
    assert page.status_code == 200
    return LISTED.findall(page.text)


@pytest.mark.parametrize(
    ("asked", "called"),
    [
        ({"k": 3}, {"k": 3}),
        ({"strategy": '{"en": ["cell", "aerogel"]}'}, {"strategy": {"en": ["cell", "aerogel"]}}),
        ({"skip": ["SQ1", "question"]}, {"skip": ["SQ1", "question"]}),
        ({"not": ["cooling plate"]}, {"exclude": ["cooling plate"]}),
        (
            {"q": f"{ENGLISH} -aerogel", "literal": "1"},
            {"question": f"{ENGLISH} -aerogel", "conditions": False},
        ),
    ],
)
def test_without_scripts_an_address_lists_what_it_does_with_them(api, asked, called):
    found = api.post("/api/v1/search", json={"question": ENGLISH} | called).json()
    expected = [
        paper_address(hit["doc_id"], found["index"], hit["passage_id"]).replace("&", "&amp;")
        for hit in found["hits"]
    ]
    assert listed(api, **asked) == expected
