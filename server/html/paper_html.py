"""A paper's page as HTML that works without scripts: the fields of `PaperPage.as_record`, and meta tags."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from base.markup import Markup, element, html
from indexer.corpora.papers import language_of
from retriever.citing.styles import style_names
from retriever.exports import export_names
from retriever.papers.embedded_metadata import WEB, citation_tags, coins
from server.addresses import doi_address, paper_address

Words = Mapping[str, str]
Record = Mapping[str, Any]

FORMAT_NAMES = {"ris": "RIS", "bibtex": "BibTeX", "csl-json": "CSL-JSON", "csv": "CSV", "jsonl": "JSON Lines"}
STYLE_NAMES = {
    "apa": "APA 7",
    "chicago": "Chicago",
    "ieee": "IEEE",
    "mla": "MLA 9",
    "vancouver": "Vancouver",
}
# Keys of a record that have a fixed place on the page.
PLACED = {
    *("id", "title", "title2", "abstract", "abstract2", "body", "lang", "references", "reference_list"),
    "doc_id",
}


def lang_of(text: str, given: str | None = None) -> str:
    """Return a text's language for `lang`: as its record states, else by its script."""
    language = given or language_of(text)
    return language if language != "other" else "und"


def paper_head(page: Record, index: str, public: str) -> Markup:
    """Create the head elements that literature managers read; `public` is the address of the server."""
    record = _whole(page)
    tags = [element("meta", {"name": name, "content": content}) for name, content in citation_tags(record)]
    canonical = {"rel": "canonical", "href": public + paper_address(page["doc_id"], index)}
    return Markup("\n".join([*tags, unapi_link(), element("link", canonical)]))


def unapi_link() -> Markup:
    """Create the link to unAPI for the head of a page."""
    return element(
        "link", {"rel": "unapi-server", "type": "application/xml", "title": "unAPI", "href": "/unapi"}
    )


def unapi_id(doc_id: str, index: str) -> Markup:
    """Create the element with the id of a paper in unAPI.

    Zotero puts the id into an address as it is, so it is percent-encoded.
    """
    identifier = f"{quote(index, safe='')}/{quote(doc_id, safe='')}"
    return element("abbr", {"class": "unapi-id", "title": identifier})


def paper_body(page: Record, index: str, words: Words, public: str = "") -> Markup:
    """Create the body: titles, record, passages, and related papers; `public` is as in `paper_head`."""
    record, doc_id = page["record"], page["doc_id"]
    title = str(record.get("title") or doc_id)
    other = str(record.get("title2") or "")
    paper = {"data-index": index, "data-doc": doc_id, "data-title": title}
    fields = _fields(doc_id, record, index, public)
    mark, cite = {"id": "mark", **paper}, {"id": "cite", "class": "row", **paper}
    return html(
        element("h1", {"lang": lang_of(title, record.get("lang"))}, title),
        element("p", {"class": "other", "lang": lang_of(other)}, other) if other else "",
        element("p", {"class": "byline"}, byline(record, words)),
        element("span", {"class": "Z3988", "title": coins(_whole(page))}),
        unapi_id(doc_id, index),
        element("p", {"class": "row"}, _exports(doc_id, index, words), element("span", mark)),
        element("p", cite, _styles(doc_id, index, words)),
        _passages(page, words),
        element("h2", None, words["paper_record"]),
        element("dl", {"class": "pairs"}, [_pair(key, value, words) for key, value in fields]),
        _related("paper_cites", page["cites"], page["reference_count"], index, words, page["unknown"]),
        _related("paper_cited_by", page["cited_by"], page["citing_count"], index, words),
        _related("paper_similar", page["similar"], len(page["similar"]), index, words),
    )


def byline(record: Record, words: Words) -> str:
    """Format authors, year, journal, language, duplicates, and papers of the same DOI on a line."""
    authors = [str(author) for author in record.get("authors") or ()]
    language = words.get(f"lang_{record.get('lang')}", "") if record.get("lang") in {"ko", "en"} else ""
    parts = [", ".join(authors), str(record.get("year") or ""), str(record.get("journal") or ""), language]
    if record.get("title_only"):
        parts.append(words["title_only"])
    if folded := record.get("folded"):
        parts.append(words["folded"].replace("{n}", str(folded)))
    if others := record.get("same_doi"):
        parts.append(words["same_doi"].replace("{names}", ", ".join(others)))
    return " · ".join(part for part in parts if part)


def _whole(page: Record) -> Record:
    """Return the record with its abstract, which is the first passage."""
    first = page["passages"][0]["text"] if page["passages"] else ""
    return {"doc_id": page["doc_id"], "abstract": first, **page["record"]}


def _exports(doc_id: str, index: str, words: Words) -> list[Markup]:
    """Return a link to the paper in each format for literature managers."""
    names = {name: {"format": name} for name in export_names()}
    return _links(words["paper_export"], FORMAT_NAMES, names, {"ids": doc_id, "index": index})


def _styles(doc_id: str, index: str, words: Words) -> list[Markup]:
    """Return a link to the paper's reference in each citation style, as text."""
    styles = {name: {"format": "text", "cite": name} for name in style_names()}
    shown = {**STYLE_NAMES, "korean": words["paper_style_korean"]}
    return _links(words["paper_cite"], shown, styles, {"ids": doc_id, "index": index})


def _links(
    label: str, shown: Mapping[str, str], queries: Mapping[str, dict[str, str]], paper: dict[str, str]
) -> list[Markup]:
    links = (
        element("a", {"href": f"/api/v1/export?{urlencode(query | paper)}"}, shown.get(name, name))
        for name, query in queries.items()
    )
    return [element("span", {"class": "quiet"}, label), *links]


def _passages(page: Record, words: Words) -> Markup:
    boxes = [_passage(passage, page["doc_id"], words) for passage in page["passages"]]
    more = page["passage_count"] - len(page["passages"])
    said = words["paper_more_passages"].replace("{n}", str(more))
    return html(
        element("h2", None, words["paper_passages"]), boxes, element("p", None, said) if more > 0 else ""
    )


def _passage(passage: Record, doc_id: str, words: Words) -> Markup:
    passage_id, text = passage["passage_id"], passage["text"] or passage["title"]
    language = words.get(f"lang_{passage['lang']}", "")
    name = passage_id.removeprefix(doc_id) if "#" in passage_id.removeprefix(doc_id) else ""
    box = {"class": "passage-box", "id": passage_id, "data-passage": passage_id}
    shown = element("p", {"class": "passage", "lang": lang_of(text, passage["lang"])}, text)
    return element("section", box, element("h3", None, f"{name} {language}".strip()), shown)


def _fields(doc_id: str, record: Record, index: str, public: str) -> list[tuple[str, Any]]:
    shown = [
        (key, value) for key, value in record.items() if key not in PLACED and value not in (None, "", [])
    ]
    permalink = doi_address(record.get("doi"), index) or paper_address(doc_id, index)
    return [("id", doc_id), ("permalink", f"{public}{permalink}"), *shown]


def _pair(key: str, value: Any, words: Words) -> Markup:
    name = words.get(f"paper_{key}") or words.get(key) or key
    write = WRITERS.get(key, html)
    texts = map(_text, value if isinstance(value, list) else [value])
    return html(element("dt", None, name), element("dd", None, _joined([write(text) for text in texts])))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _web(text: str) -> Markup:
    return _outside(text, text) if text.startswith(WEB) else html(text)


def _doi(text: str) -> Markup:
    return _outside(f"https://doi.org/{quote(text)}", text)


def _outside(address: str, text: str) -> Markup:
    return element("a", {"href": address, "rel": "external noreferrer"}, text)


def _in_language(text: str) -> Markup:
    return element("span", {"lang": lang_of(text)}, text)


def _here(address: str) -> Markup:
    return element("a", {"href": address}, address)


WRITERS: dict[str, Callable[[str], Markup]] = {
    "permalink": _here,
    "doi": _doi,
    "url": _web,
    "keywords": _in_language,
    "authors": _in_language,
    "journal": _in_language,
    "publisher": _in_language,
}


def _joined(values: Sequence[Markup]) -> Markup:
    return html([html(", " if place else "", value) for place, value in enumerate(values)])


def _related(
    name: str, papers: Sequence[Record], count: int, index: str, words: Words, unknown: Sequence[str] = ()
) -> Markup:
    """List papers; return nothing if there are none."""
    if not papers and not unknown:
        return Markup("")
    known = [_named(paper, index, words) for paper in papers]
    others = [
        element("li", None, paper, " ", element("span", {"class": "quiet"}, words["paper_not_here"]))
        for paper in unknown
    ]
    heading = element("h2", None, words[name], " ", element("span", {"class": "quiet"}, str(count)))
    return html(heading, element("ul", {"class": "papers"}, known, others))


def _named(paper: Record, index: str, words: Words) -> Markup:
    title = str(paper.get("title") or paper["doc_id"])
    link = {"href": paper_address(paper["doc_id"], index), "lang": lang_of(title, paper.get("lang"))}
    return element(
        "li", None, element("a", link, title), " ", element("span", {"class": "meta"}, byline(paper, words))
    )
