"""What the stages of one search share: the index, what is asked, the record, the passages read so far."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self

from indexer.schema import StoredPassage
from retriever.engines import Engine
from retriever.index import SearchIndex
from retriever.keywords import Keyword
from retriever.recorder import SearchRecorder
from retriever.request import SearchOptions, SearchRequest


class PassageCache:
    """The stored passages of one search, each read once."""

    def __init__(self, engine: Engine) -> None:
        """Begin with nothing read."""
        self._engine = engine
        self._read: dict[str, StoredPassage] = {}

    async def read(self, passage_ids: Iterable[str]) -> dict[str, StoredPassage]:
        """Return what is stored of these passages, in their order."""
        wanted = list(dict.fromkeys(passage_ids))
        if missing := [passage_id for passage_id in wanted if passage_id not in self._read]:
            self._read |= await self._engine.passages(missing)
        return {passage_id: self._read[passage_id] for passage_id in wanted if passage_id in self._read}


@dataclass(frozen=True, slots=True)
class SearchContext:
    """The surroundings of one search; every stage takes it, and what it makes is a value beside it."""

    index: SearchIndex
    request: SearchRequest
    options: SearchOptions
    recorder: SearchRecorder
    passages: PassageCache = field(repr=False)
    shown: int  # hits to show; the request may ask for more, of which some are left out

    def with_keywords(self, keywords: tuple[Keyword, ...] | None) -> Self:
        """Return the context of the same search with keywords from elsewhere, a model's or a person's."""
        return replace(self, request=replace(self.request, keywords=keywords))
