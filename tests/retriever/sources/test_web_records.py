"""Records of services whose fields hold anything."""

import json
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retriever.sources import SourcePaper
from retriever.sources.kinds import arxiv, openalex, pubmed, scienceon, semantic_scholar, wikipedia
from retriever.sources.web.records import Unreadable, json_in, xml_in
from tests.hostile import TEXTS, VALUES
from tests.retriever.sources.exchanges import ATOM, OPENALEX, PUBMED, SCHOLAR, SCIENCEON, TITLE, WIKIPEDIA

ANYTHING = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


def everywhere(value: Any) -> int:
    """Count the places of a tree."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(everywhere, inside))


def with_at(value: Any, place: int, put: Any) -> Any:
    """Return a tree with something else at one of its places."""
    if place == 0:
        return put
    inside = list(value.items() if isinstance(value, dict) else enumerate(value))
    changed = []
    place -= 1
    for key, inner in inside:
        size = everywhere(inner)
        changed.append((key, with_at(inner, place, put) if 0 <= place < size else inner))
        place -= size
    return dict(changed) if isinstance(value, dict) else [inner for _, inner in changed]


JSON: dict[str, Any] = {"openalex": OPENALEX, "semantic_scholar": {"data": SCHOLAR}, "wikipedia": WIKIPEDIA}


def read(kind: str, content: bytes) -> list[SourcePaper | None]:
    match kind:
        case "openalex":
            return openalex.read_works(content, "s")
        case "semantic_scholar":
            return semantic_scholar.read_papers(content, "s")[0]
        case _:
            return wikipedia.read_articles(content, "s", "en")


@given(st.sampled_from(list(JSON)), st.data())
def test_whatever_stands_in_a_field_the_rest_is_read(kind: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, everywhere(JSON[kind]) - 1))
    content = json.dumps(with_at(JSON[kind], place, data.draw(ANYTHING))).encode()
    try:
        found = read(kind, content)
    except Unreadable:  # the answer as a whole is of another kind
        found = []
    for paper in filter(None, found):
        json.dumps(paper.paper.record(), ensure_ascii=False).encode()


@given(
    st.sampled_from(
        [(ATOM, arxiv.read_feed), (PUBMED, pubmed.read_articles), (SCIENCEON, scienceon.read_records)]
    ),
    TEXTS,
)
def test_whatever_an_element_holds_the_rest_is_read(case: Any, hostile: str) -> None:
    document, reader = case
    legal = escape("".join(each for each in hostile if each.isprintable() and each not in "\ufffe\uffff"))
    told = legal.replace("]]", "") if reader is scienceon.read_records else legal
    changed = document.decode().replace(TITLE, told).replace("2019", told).replace("10.5555/PADDY.1", told)
    for paper in filter(None, reader(changed.encode(), "s")):
        json.dumps(paper.paper.record(), ensure_ascii=False).encode()


def test_a_lone_surrogate_in_one_record_spoils_no_other() -> None:
    content = b'{"results": [{"id": "W1", "title": "a\\ud800b"}, {"id": "W2", "title": "c\x01d"}]}'
    first, second = openalex.read_works(content, "s")
    assert first is not None
    assert second is not None
    assert (first.paper.title, second.paper.title) == ("a\ufffdb", "c d")


def test_an_inverted_abstract_with_impossible_places_is_put_together_in_order() -> None:
    inverted = {"b": [10**12, True, "x"], "a": [-5, None], "c": 3, "d": [[0]]}
    assert openalex.abstract_of(inverted) == "a b"


def test_an_error_of_arxiv_is_told() -> None:
    feed = ATOM.replace(b"http://arxiv.org/abs/1901.00001v2", b"http://arxiv.org/api/errors#incorrect_id")
    with pytest.raises(Unreadable, match="it answers: Paddies emit methane"):
        arxiv.read_feed(feed, "s")


def test_an_error_of_a_wiki_is_told() -> None:
    with pytest.raises(Unreadable, match="it answers: cirrussearch-too-busy-error"):
        wikipedia.read_articles(b'{"error": {"code": "cirrussearch-too-busy-error"}}', "s", "en")


def test_an_error_of_pubmed_is_told() -> None:
    with pytest.raises(Unreadable, match="it answers: Search Backend failed"):
        pubmed.read_ids(b'{"esearchresult": {"ERROR": "Search Backend failed"}}')


def test_a_doctype_of_pubmed_is_not_read_and_entities_are_refused() -> None:
    bomb = PUBMED.replace(b'.dtd">', b'.dtd" [<!ENTITY a "aaaa">]>').replace(b"Invented Soils", b"&a;")
    with pytest.raises(Unreadable, match="entities of its own"):
        pubmed.read_articles(bomb, "s")


def test_pubmed_tells_structure_headings_and_references() -> None:
    found = pubmed.read_articles(PUBMED, "s")[0]
    assert found is not None
    assert found.paper.abstract == "RESULTS: Paddies emit methane; drains emit less."
    assert found.paper.keywords == ["Methane", "paddy"]
    assert found.paper.authors == ["Ara Kim", "Paddy Group"]
    assert found.paper.references == ["102"]


def test_openalex_tells_references_citations_and_a_score() -> None:
    found = openalex.read_work(OPENALEX["results"][0], "s")
    assert found is not None
    assert found.paper.references == ["W102", "W103"]
    assert found.paper.cited_by_count == 7
    assert found.score == 12.5


def test_citations_beyond_all_papers_are_not_told_and_cost_no_paper() -> None:
    found = openalex.read_work({"id": "W1", "title": "Rice", "cited_by_count": 10**400}, "s")
    assert found is not None
    assert found.paper.cited_by_count is None


def test_a_language_that_is_neither_korean_nor_english_is_another() -> None:
    found = openalex.read_work({"id": "W1", "title": "Le riz", "language": "fr"}, "s")
    assert found is not None
    assert found.paper.lang == "other"


def test_an_address_that_is_no_web_address_is_left_out() -> None:
    found = scienceon.read_records(SCIENCEON, "s")[0]
    assert found is not None
    assert found.paper.url == ""
    assert found.paper.title2 == "논에서 나오는 메탄"


@pytest.mark.parametrize("content", [b"", b"[", b'{"a": NaN', b"\xff", b"[" * 1_000_000])
def test_what_is_no_json_is_unreadable(content: bytes) -> None:
    with pytest.raises(Unreadable):
        json_in(content)


def test_an_answer_of_millions_of_values_is_not_made_objects_of() -> None:
    with pytest.raises(Unreadable, match="more than 4,000,000 values"):
        json_in(b'{"results": [' + b"{}," * 4_000_001 + b"{}]}")
    attributes = b" ".join(b'a%d=""' % number for number in range(1_000_000))
    for content in (b"<a/>" * 1_000_000, b"<a " + attributes + b"/>"):
        with pytest.raises(Unreadable, match="more than 1,000,000 tags"):
            xml_in(b"<feed>" + content + b"</feed>", "feed")
