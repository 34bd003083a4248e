"""An index of this project as a source: `kind = "index"`."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from pydantic import Field

from indexer.analysis import Analyzer
from indexer.corpora.papers import Paper
from indexer.settings import IndexerSettings, OptionalPath
from indexer.versions.manifest import Manifest
from retriever.engines import EngineHit
from retriever.following import FollowingIndex
from retriever.index import SearchIndex, open_index
from retriever.papers.linked import citation_counts, cited_by, references
from retriever.papers.records import records_of_papers
from retriever.queries.boolean import Phrase, Query, Term, with_words
from retriever.queries.filters import Filters
from retriever.sources import (
    ANALYZER,
    DECOMPOUND,
    LinkedPapers,
    LinkKind,
    Source,
    SourceAnswer,
    SourceFeatures,
)
from retriever.sources.settings import SourceSettings

BODY = "body"
T = TypeVar("T")


class Settings(SourceSettings):
    """The index to use."""

    index: str = Field(default="", description="name of the index; default is the source's name")
    home: OptionalPath = Field(default=None, description="folder of the index; default is SHRAG_HOME")


def open_source(name: str, settings: Settings, indexes: IndexerSettings) -> Source:
    """Open the index; the current version answers each call; raises as `open_index`."""
    if settings.home:
        indexes = indexes.model_copy(update={"home": settings.home})
    return IndexSource(name, open_index(indexes, settings.index or name, follow=True))


class IndexSource(Source):
    """An index of this project, with its own analysis."""

    def __init__(self, name: str, index: SearchIndex | FollowingIndex) -> None:
        """Take an open index, which is closed with the source."""
        self.name, self._index = name, index

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Ask one version of the index from the beginning of a question to its end."""
        return await self._index.ask(question)

    @property
    def manifest(self) -> Manifest:
        """The manifest of the version that answered last."""
        return self._index.manifest

    @property
    def features(self) -> SourceFeatures:
        """All features, except references if passages are indexed."""
        papers = _holds_papers(self._index)
        return SourceFeatures(references=papers, frequencies=True, citation_counts=papers)

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer many queries in one call to the engine, and read the papers in another."""

        def of(index: SearchIndex) -> SourceAnswer:
            made = index.manifest.analyzer, index.manifest.decompound, index.manifest.dictionary
            same = made == (ANALYZER, DECOMPOUND, "")  # tokens of queries and of the index
            asked = [(analysed(query, index.analyzer, keep=same), k) for query, k in queries]
            whole = _holds_papers(index)
            found = index.engine.search(asked, filters=filters, collapse=whole)
            papers = self._of_hits(index, list(chain.from_iterable(found)))
            lists = [dict.fromkeys(hit.doc_id if whole else hit.passage_id for hit in of) for of in found]
            listed = (tuple(papers[name] for name in of if name in papers) for of in lists)
            return SourceAnswer(tuple(listed), requests=2)

        return await self._index.run(of)

    def _of_hits(self, index: SearchIndex, hits: Sequence[EngineHit]) -> dict[str, Paper]:
        """Return the records of hits; the body of a full paper is its passages that were found."""
        passages = index.engine.passages({hit.passage_id for hit in hits})
        if not _holds_papers(index):
            return {
                name: Paper(id=name, title=of.title, abstract=of.text, lang=of.lang, source=self.name)
                for name, of in passages.items()
            }
        bodies: dict[str, list[str]] = defaultdict(list)
        for passage in passages.values():
            if passage.part == BODY:
                bodies[passage.doc_id].append(passage.text)
        papers = self._read(index, (hit.doc_id for hit in hits))
        texts = {doc_id: {"body": "\n\n".join(parts)} for doc_id, parts in bodies.items()}
        return {doc_id: paper.model_copy(update=texts.get(doc_id)) for doc_id, paper in papers.items()}

    def _read(self, index: SearchIndex, ids: Iterable[str]) -> dict[str, Paper]:
        """Return the records of papers, or of passages if the index holds passages without papers."""
        if not _holds_papers(index):
            return self._of_hits(index, [EngineHit(passage_id, "", 0.0) for passage_id in ids])
        return {
            str(record.pop("doc_id")): Paper.model_validate(record | {"source": self.name})
            for record in records_of_papers(index, ids)
        }

    async def papers(self, ids: Sequence[str]) -> dict[str, Paper]:
        """Return records by id."""
        return await self._index.run(self._read, ids)

    async def linked(self, kind: LinkKind, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the references of papers that are in the index, in their order, or the citing papers."""
        follow = references if kind == "reference" else cited_by

        def of(index: SearchIndex) -> LinkedPapers:
            if not _holds_papers(index):
                return LinkedPapers()
            linked = follow(index, ids, limit)
            papers = self._read(index, chain.from_iterable(linked.values()))
            found = {
                paper_id: tuple(papers[other] for other in others if other in papers)
                for paper_id, others in linked.items()
            }
            return LinkedPapers(found, requests=2)

        return await self._index.run(of)

    async def citation_counts(self, ids: Sequence[str]) -> dict[str, int]:
        """Count the papers of the index that refer to each paper; empty if it holds passages."""
        if not _holds_papers(self._index):
            return {}
        counts = await self._index.run(citation_counts, ids)
        return {paper_id: count.cited_by for paper_id, count in counts.items()}

    async def frequencies(self, words: Sequence[str]) -> tuple[dict[str, int], int] | None:
        """Return the document frequency of each word (of a compound, its rarest part), and the passages.

        A word that is only a token within a sentence (줄이) is counted in its written form.
        """

        def of(index: SearchIndex) -> tuple[dict[str, int], int]:
            analyze = index.analyzer.analyze
            tokens = {word: [each[0] for each in analyze(word)] for word in words}
            counted = index.engine.document_frequencies({*words, *chain.from_iterable(tokens.values())})
            rarest = {word: min((counted[token] for token in of), default=0) for word, of in tokens.items()}
            return {word: max(counted[word], rarest[word]) for word in words}, index.engine.passage_count

        return await self._index.run(of)

    async def close(self) -> None:
        """Close the index."""
        await asyncio.to_thread(self._index.__exit__)


def _holds_papers(index: SearchIndex | FollowingIndex) -> bool:
    """Check whether papers are indexed, not passages that are judged separately."""
    return index.manifest.unit == "paper"


def analysed(query: Query, analyzer: Analyzer, *, keep: bool = False) -> Query:
    """Return the query with the tokens of an analyzer; with `keep`, existing tokens are unchanged."""
    return with_words(query, lambda word: word if keep and word.tokens else analysed_word(word, analyzer))


def analysed_word(word: Term | Phrase, analyzer: Analyzer) -> Term | Phrase:
    """Return a word or phrase with the tokens of an analyzer."""
    tokens = analyzer.analyze(word.text)
    if isinstance(word, Term):
        return replace(word, tokens=tuple(dict.fromkeys(token[0] for token in tokens)))
    first = tokens[0][1] if tokens else 0
    return replace(word, tokens=tuple((token[1] - first, token[0]) for token in tokens))
