"""The paper that a question is about, by its id or its exact title."""

from dataclasses import dataclass
from unicodedata import normalize

from base.notes import Note
from base.untrusted import one_line
from indexer.files.schema import StoredPassage
from retriever.errors import BadFilter, UnknownPaper
from retriever.index import SearchIndex
from retriever.papers.page import may_be_id
from retriever.queries.boolean import And, Exact, Term
from retriever.queries.filters import Filters

MOST_OF_A_TITLE = 100  # papers whose titles contain the words of the given one
SHOWN = 3  # ids of papers that share a title


@dataclass(frozen=True, slots=True)
class Topic:
    """A paper, and the number of its passages that the filters of a question allow."""

    doc_id: str
    title: str
    passages: int


async def find_topic(index: SearchIndex, name: str, filters: Filters) -> Topic:
    """Return the paper with the id `name`, else the paper with this title, in either language.

    Raises:
        UnknownPaper: the index contains no such paper.
        BadFilter: several papers have the title.
    """
    name = _composed(name)
    first = (await index.engine.papers([name])).get(name) if may_be_id(name) else None
    if first is None:
        first = await _titled(index, name)
    asked = (Exact("doc_id", (first.doc_id,)), filters)
    [passages] = await index.engine.counts([asked])
    return Topic(first.doc_id, first.title, passages)


def _composed(text: str) -> str:
    return " ".join(normalize("NFC", text).split())


async def _titled(index: SearchIndex, title: str) -> StoredPassage:
    tokens = await index.threads.run(index.analyzer.analyze, title) if may_be_id(title) else []
    words = tuple(Term(token[0], (token[0],), field="title") for token in tokens)
    found: dict[str, StoredPassage] = {}
    if words:
        [hits] = await index.engine.search([(And(words), MOST_OF_A_TITLE)], filters=Filters(), collapse=False)
        stored = await index.engine.passages(hit.passage_id for hit in hits)
        for passage in stored.values():
            if title in map(_composed, (passage.title, passage.title2)):
                found.setdefault(passage.doc_id, passage)
    if not found:
        raise UnknownPaper(Note("no_such_title", index=index.manifest.name, title=one_line(title)))
    if len(found) > 1:
        ids = ", ".join([*sorted(found)[:SHOWN], *(["…"] if len(found) > SHOWN else [])])
        raise BadFilter(Note("several_with_title", papers=len(found), title=one_line(title), ids=ids))
    return next(iter(found.values()))
