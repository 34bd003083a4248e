"""The page of one paper of an index: record, passages, references, citing papers, similar papers.

Linked papers have their record with the title; texts are in the passages.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import log
from typing import Annotated, Any, Literal, Self
from unicodedata import normalize

from pydantic import Field

from base.notes import Note
from base.records import Recordable
from base.untrusted import one_line
from indexer.analysis.packing import GAP
from indexer.corpora.papers import Language
from indexer.files.schema import StoredPassage
from retriever.engines import EngineHit
from retriever.engines.ordering import BY_PAPER, first_of_each_paper
from retriever.engines.term_statistics import term_statistics
from retriever.errors import BadFilter, UnknownPaper, UnknownPassage
from retriever.index import SearchIndex
from retriever.papers.linked import PaperLinks, linked_papers
from retriever.papers.records import ListedPaper, listed_papers, record_of
from retriever.queries.boolean import And, Exact, Term, or_query
from retriever.queries.filters import Filters

PASSAGES, RELATED, SIMILAR = 50, 50, 10  # shown at most
MOST_PASSAGES = 10_000  # of a paper that are read; a text of a million characters has a third of that
MOST_DISTINCT = 1_000  # terms of a passage whose document frequencies are read
STRONGEST = 25  # terms in the search for similar papers
SUBJECT = 3  # weight of a term of a title or keyword, as a multiple of another term's
LEAST_SHARE = 0.25  # of the paper's own score; judged by hand on ten papers of two corpora
LONGEST_SUBJECT = 2_000  # characters of titles and keywords

LONGEST_ID = 1_000  # characters; a paper's id has at most 512, a passage's id also a number
SURROGATE = re.compile("[\ud800-\udfff]")

SimilarBy = Literal["vectors", "terms"]


@dataclass(frozen=True, slots=True)
class PassageRecord(Recordable):
    """An indexed passage."""

    passage_id: str
    part: Annotated[str, Field(description="abstract, abstract2, body or passage")]
    lang: Language
    title: str
    text: str

    @classmethod
    def of(cls, passage: StoredPassage, **more: Any) -> Self:
        """Return a stored passage with the values of further fields."""
        return cls(**{each.name: getattr(passage, each.name) for each in fields(PassageRecord)}, **more)


@dataclass(frozen=True, slots=True)
class PaperPassage(PassageRecord):
    """A passage with its paper's record."""

    doc_id: str
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PaperPage(PaperLinks):
    """A paper's record and passages, what it cites, what cites it, and similar papers.

    Lists are limited; the counts beside them are complete.
    """

    doc_id: str
    record: Annotated[dict[str, Any], Field(description="as indexed, including unknown keys")]
    passages: tuple[PassageRecord, ...]
    passage_count: int
    similar: tuple[ListedPaper, ...]
    similar_by: SimilarBy
    version: int


def paper_page(
    index: SearchIndex,
    doc_id: str,
    *,
    passages: int = PASSAGES,
    related: int = RELATED,
    similar: int = SIMILAR,
) -> PaperPage:
    """Return a paper with limited numbers of passages, cited and citing papers, and similar papers.

    Similar papers have the nearest vectors if the index has a vector of the paper's first passage; otherwise
    the paper's strongest terms find them. At most 10,000 passages are read.

    Raises:
        UnknownPaper: no paper of that id in the index.
    """
    doc_id = normalize("NFC", doc_id)  # as ids are

    first = index.engine.papers([doc_id]).get(doc_id) if may_be_id(doc_id) else None
    if first is None:
        raise UnknownPaper(Note("no_such_paper", index=index.manifest.name, paper=one_line(doc_id)))
    ids, links = _passage_ids(index, doc_id), linked_papers(index, first, related)
    [passage_count] = index.engine.counts([(Exact("doc_id", (doc_id,)), Filters())])
    by, alike = _similar(index, first, similar)
    shown = ids[:passages]
    stored = index.engine.passages(shown)
    return PaperPage(
        **{field.name: getattr(links, field.name) for field in fields(links)},
        doc_id=doc_id,
        record=record_of(first),
        passages=tuple(PassageRecord.of(stored[passage_id]) for passage_id in shown),
        passage_count=passage_count,
        similar=alike,
        similar_by=by,
        version=index.manifest.version,
    )


def passage(index: SearchIndex, passage_id: str) -> PaperPassage:
    """Return one passage with its paper.

    Raises:
        UnknownPassage: no passage of that id in the index.
    """
    stored = stored_passage(index, normalize("NFC", passage_id))
    papers = index.engine.papers([stored.doc_id])
    record = record_of(papers.get(stored.doc_id, stored))
    return PaperPassage.of(stored, doc_id=stored.doc_id, record=record)


def stored_passage(index: SearchIndex, passage_id: str) -> StoredPassage:
    """Return one stored passage.

    Raises:
        UnknownPassage: no passage of that id in the index.
    """
    stored = index.engine.passages([passage_id]).get(passage_id) if may_be_id(passage_id) else None
    if stored is None:
        raise UnknownPassage(Note("no_such_passage", index=index.manifest.name, passage=one_line(passage_id)))
    return stored


def may_be_id(text: str) -> bool:
    """Check whether a text can be an id; engines reject lone surrogates."""
    return len(text) <= LONGEST_ID and not SURROGATE.search(text)


def _passage_ids(index: SearchIndex, doc_id: str) -> list[str]:
    """Return the ids of a paper's passages in its order: its own, the other language's, the chunks."""
    query = Exact("doc_id", (doc_id,))
    [hits] = index.engine.search([(query, MOST_PASSAGES)], filters=Filters(), collapse=False)
    return sorted((hit.passage_id for hit in hits), key=lambda name: _place(name.removeprefix(doc_id)))


def _place(suffix: str) -> tuple[int, str]:
    number = suffix.removeprefix("#")
    return (int(number), "") if number.isdecimal() else (-1, suffix)


def _similar(index: SearchIndex, first: StoredPassage, k: int) -> tuple[SimilarBy, tuple[ListedPaper, ...]]:
    """Return at most k other papers, best first."""
    vector = index.engine.vectors([first.passage_id]).get(first.passage_id)
    by: SimilarBy
    if vector is None:
        by, scores = "terms", _by_terms(index, first, k + 1)
    else:
        by, scores = "vectors", _by_paper(index.engine.nearest_papers(vector, k + 1, filters=Filters()))
    others = [doc_id for doc_id in scores if doc_id != first.doc_id][:k]
    return by, tuple(listed_papers(index, others, scores))


def _by_paper(hits: Sequence[EngineHit]) -> dict[str, float]:
    return {hit.doc_id: hit.score for hit in first_of_each_paper(hits, BY_PAPER)}


def _by_terms(index: SearchIndex, first: StoredPassage, k: int) -> dict[str, float]:
    """Search for the distinctive terms of a paper, without numbers, in one OR query.

    A term is weighed by its inverse document frequency and the logarithm of its frequency in the first
    passage; terms of the titles and keywords, in both languages, three times as much. Papers that score less
    than a quarter of the paper's own score share only common terms with it, and are left out.
    """
    counts, subject = _terms_of(index, first)
    frequent = sorted(counts, key=lambda token: (-counts[token], token))[:MOST_DISTINCT]
    statistics = term_statistics(index.engine, {*frequent, *subject})
    strengths = {
        token: statistics.idf(token) * (1 + log(counts[token] or 1)) * (SUBJECT if token in subject else 1)
        for token in {*frequent, *subject}
        if statistics.frequencies[token] > 1 and token != GAP and not token.isdecimal()
    }
    strongest = sorted(strengths.items(), key=lambda item: (-item[1], item[0]))[:STRONGEST]
    terms = [Term(token, (token,), weight=round(strength, 4)) for token, strength in strongest]
    [hits] = index.engine.search([(or_query(terms), k)], filters=Filters(), collapse=True)
    scores = _by_paper(hits)
    least = LEAST_SHARE * scores.get(first.doc_id, 0.0)
    return {doc_id: score for doc_id, score in scores.items() if score >= least}


def _terms_of(index: SearchIndex, first: StoredPassage) -> tuple[Counter[str], set[str]]:
    """Return the terms of a passage with their frequencies, and those of its paper's titles and keywords."""
    keywords = [text for text in (first.paper or {}).get("keywords") or () if isinstance(text, str)]
    subject = " ".join([first.title, first.title2, *keywords])[:LONGEST_SUBJECT]
    return Counter(index.tokens_of(first).text.words()), {
        token[0] for token in index.analyzer.analyze(subject)
    }


MOST_OF_A_TITLE = 100  # papers whose titles contain the words of the given one
SHOWN = 3  # ids of papers that share a title


@dataclass(frozen=True, slots=True)
class Topic:
    """A paper, and the number of its passages that the filters of a question allow."""

    doc_id: str
    title: str
    passages: int


def find_topic(index: SearchIndex, name: str, filters: Filters) -> Topic:
    """Return the paper with the id `name`, else the paper with this title, in either language.

    Raises:
        UnknownPaper: the index contains no such paper.
        BadFilter: several papers have the title.
    """
    name = _composed(name)
    first = index.engine.papers([name]).get(name) if may_be_id(name) else None
    if first is None:
        first = _titled(index, name)
    asked = (Exact("doc_id", (first.doc_id,)), filters)
    [passages] = index.engine.counts([asked])
    return Topic(first.doc_id, first.title, passages)


def _composed(text: str) -> str:
    return " ".join(normalize("NFC", text).split())


def _titled(index: SearchIndex, title: str) -> StoredPassage:
    tokens = index.analyzer.analyze(title) if may_be_id(title) else []
    words = tuple(Term(token[0], (token[0],), field="title") for token in tokens)
    found: dict[str, StoredPassage] = {}
    if words:
        [hits] = index.engine.search([(And(words), MOST_OF_A_TITLE)], filters=Filters(), collapse=False)
        stored = index.engine.passages(hit.passage_id for hit in hits)
        for passage in stored.values():
            if title in map(_composed, (passage.title, passage.title2)):
                found.setdefault(passage.doc_id, passage)
    if not found:
        raise UnknownPaper(Note("no_such_title", index=index.manifest.name, title=one_line(title)))
    if len(found) > 1:
        ids = ", ".join([*sorted(found)[:SHOWN], *(["…"] if len(found) > SHOWN else [])])
        raise BadFilter(Note("several_with_title", papers=len(found), title=one_line(title), ids=ids))
    return next(iter(found.values()))
