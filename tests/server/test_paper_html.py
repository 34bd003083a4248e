"""What a record holds reaches a page as text, whatever it is."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from server.html import Reader, page_in
from server.routes.papers import paper_values

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(1)>' {{base}} &lt;"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.addresses: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.addresses |= {value or "" for name, value in attrs if name in {"href", "src"}}


def page_of(text: str) -> dict[str, object]:
    """Make the page of a paper that says the same everywhere."""
    record = dict.fromkeys(["title", "title2", "journal", "publisher", "doi", "url", "note"], text)
    passage = {"passage_id": text, "part": "abstract", "lang": "ko", "title": text, "text": text}
    named = {"doc_id": text, "title": text, "authors": [text]}
    return {
        "doc_id": text,
        "record": record | {"authors": [text], "keywords": [text], text or "x": [{"a": text}]},
        "passages": [passage],
        "passage_count": 2,
        "cites": [named],
        "unknown": [text],
        "reference_count": 2,
        "cited_by": [named],
        "citing_count": 1,
        "similar": [named],
    }


def tags_of(text: str) -> Tags:
    tags = Tags()
    page = page_of(text)
    filled = page_in(Reader("ko", "auto"), "paper.html", title=text, **paper_values(page, text, ""))
    tags.feed(bytes(filled.body).decode())
    return tags


def test_a_hostile_record_makes_no_element_and_no_attribute():
    hostile, plain = tags_of(HOSTILE), tags_of("a")
    assert hostile.tags == plain.tags
    assert hostile.names == plain.names


@given(st.text(min_size=1))
def test_no_text_becomes_markup(text):
    tags = tags_of(text)
    assert tags.tags == tags_of("a").tags
    assert not any(name.startswith("on") for name in tags.names)


def test_an_address_that_runs_is_no_link():
    assert not any(address.startswith("javascript:") for address in tags_of("javascript:alert(1)").addresses)
