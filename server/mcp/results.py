"""Results of the tools: values for programs, made from the results of searches and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, Field

from generator.answers.answer import Section
from generator.checking import Check, Hint
from generator.finding.result import shorten
from generator.finding.state import FoundBy
from generator.pipeline import AskResult
from indexer.corpora.papers import Language
from retriever.stages.hits import SearchResult, listed_authors
from retriever.strategy import Strategy
from server.addresses import as_index, hit_address, paper_address
from server.cited_text import CitedText
from server.targets import CallTarget

MOST_CHARACTERS = 100_000  # of a text; a model reads no more
MOST_FOUND_BY = 3  # shown of a paper
# Fields of a paper's record that are returned as metadata; the others are text, or not useful here.
KEPT = (
    *("authors", "author_count", "year", "journal"),
    *("publisher", "lang", "doi", "keywords", "cited_by_count"),
)
# Fields of a hit that are returned with its metadata.
OTHERS = ("folded", "folded_ids", "same_doi", "title_only")
# Fields of the search result that are returned next to its papers.
BESIDE_THE_RESULTS = ("strategy", "likelihood", "unknown_words", "notes")


class NamedPaper(BaseModel):
    """A paper with its title, its address and its metadata."""

    id: Annotated[str, Field(description="argument of `fetch`")]
    title: str
    url: Annotated[str, Field(description="address of the paper for a reader; may be empty")]
    metadata: Annotated[dict[str, Any], Field(description="authors, year, journal, lang, doi … if known")]


class FetchedPaper(NamedPaper):
    """A paper with its text."""

    text: str


class FoundPaper(NamedPaper):
    """A paper found by a search."""

    text: Annotated[str, Field(description="the part of the passage that contains the question's words")]


class SearchResults(BaseModel):
    """The papers found, best first."""

    results: list[FoundPaper]
    strategy: Annotated[Strategy | None, Field(description="that was used")] = None
    likelihood: Annotated[
        float | None, Field(description="probability that the papers answer the question, 0 to 1")
    ] = None
    unknown_words: Annotated[
        list[str], Field(description="words of the question that no paper contains")
    ] = []
    notes: Annotated[list[str], Field(description="notes for a reader of the results")] = []


class JudgedPaper(NamedPaper):
    """A paper, and its relevance."""

    relevance: Annotated[float, Field(description="to the question, 0 to 1")]
    reason: Annotated[str, Field(description="for its relevance")]


class RelevantPaper(JudgedPaper):
    """A paper above the relevance threshold."""

    score: Annotated[float, Field(description="of relevance, authority and timeliness")]
    why: Annotated[str, Field(description="reasons for its rank")]
    found_by: list[FoundBy]


class ReadingList(BaseModel):
    """The papers found, best first."""

    papers: list[RelevantPaper]
    near: Annotated[
        list[JudgedPaper],
        Field(description="just below the threshold, if fewer than requested are relevant"),
    ] = []
    known: Annotated[int, Field(description="papers examined")]
    complete: Annotated[bool, Field(description="false if the search ended early; notes give the reason")]
    notes: Annotated[list[str], Field(description="notes for a reader of the list")] = []


class CheckedSentence(BaseModel):
    """A sentence of an answer, its citations, and the result of its check."""

    text: str
    section: Section
    references: Annotated[list[int], Field(description="numbers of `references`")]
    check: Annotated[
        Check,
        Field(description="supported, unsupported, not checked or excluded; quoted: the words of a paper"),
    ]
    hints: Annotated[list[Hint], Field(description="what speaks against the sentence")] = []


class NearPassage(BaseModel):
    """A passage of a paper."""

    id: Annotated[str, Field(description="for `fetch`")]
    passage_id: str
    title: str
    url: Annotated[str, Field(description="address of the passage for a reader")]


class CitedPassage(NearPassage):
    """A passage that an answer cites."""

    number: int


class CheckedAnswer(BaseModel):
    """An answer with citations, each sentence checked against the passages it cites."""

    answer: Annotated[
        str, Field(description="the whole answer as text, `[1]` citing the first of `references`")
    ]
    title: str
    title_check: Annotated[Check | None, Field(description="for a title written by a model")] = None
    title_hints: Annotated[list[Hint], Field(description="what speaks against the title")] = []
    checked_by: Annotated[str, Field(description="the model that checked the sentences, if any")] = ""
    abstained: Annotated[bool, Field(description="the papers found do not answer the question")]
    likelihood: Annotated[float | None, Field(description="probability that the papers answer, 0 to 1")]
    unknown_words: Annotated[list[str], Field(description="words of the question that no paper contains")]
    language: Language
    written_by: Annotated[str, Field(description="the model, or `extractive`: quoted from the papers")]
    sentences: list[CheckedSentence]
    references: list[CitedPassage]
    strategy: Annotated[Strategy | None, Field(description="by which the papers were found")] = None
    nearest: Annotated[list[NearPassage], Field(description="papers found that do not answer")] = []
    notes: Annotated[list[str], Field(description="notes for a reader of the answer")] = []


def paper_id(of: CallTarget, doc_id: str) -> str:
    """Return an id that is unique among all indexes and sources: `INDEX:ID`, `source:NAME:ID`."""
    if len(of.sources) > 1:  # the id starts with the name of its source
        return as_index(doc_id)
    return f"{of.index or as_index(*of.sources)}:{doc_id}"


def metadata_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a paper."""
    return {name: record[name] for name in KEPT if record.get(name)}


def fetched_paper(
    paper_id: str, record: dict[str, Any], texts: Sequence[str], url: str, *, is_complete: bool = True
) -> FetchedPaper:
    """Return a paper with its joined texts; a text that is too long or incomplete is marked as cut."""
    text = "\n\n".join(texts)
    whole = is_complete and len(text) <= MOST_CHARACTERS
    return FetchedPaper(
        id=paper_id,
        title=str(record.get("title") or record.get("doc_id") or paper_id),
        text=text if whole else f"{text[:MOST_CHARACTERS]} …",
        url=url,
        metadata=metadata_of(record) | ({} if whole else {"text_is_cut": True}),
    )


def search_results(found: SearchResult, of: CallTarget, public: str) -> SearchResults:
    """Return the papers of a search; their metadata names duplicates and other hits of the same DOI."""
    shown = found.as_record()
    results = [
        FoundPaper(
            id=paper_id(of, hit.doc_id),
            title=hit.passage.title,
            url=hit_address(record, of.index, public),
            text=hit.snippet,
            metadata=metadata_of(hit.paper | listed_authors(hit.paper))
            | {name: record[name] for name in OTHERS if name in record},
        )
        for hit, record in zip(found.listed, shown["hits"], strict=True)
    ]
    return SearchResults(results=results, **{name: shown[name] for name in BESIDE_THE_RESULTS})


def reading_list(found: Mapping[str, Any], of: CallTarget, public: str) -> ReadingList:
    """Return the papers of a finished search for papers."""

    def listed(record: dict[str, Any]) -> dict[str, Any]:
        found_by = [
            by | {"of": shorten(by["of"]) if by["kind"] == "query" else paper_id(of, by["of"])}
            for by in record.get("found_by", ())[:MOST_FOUND_BY]
        ]
        address = f"{public}{paper_address(record['id'], of.index)}" if of.index else record.get("url", "")
        return record | {
            "id": paper_id(of, record["id"]),
            "title": record.get("title") or record.get("title2") or record["id"],
            "url": address,
            "metadata": metadata_of(record | listed_authors(record)),
            "found_by": found_by,
        }

    return ReadingList(
        papers=[RelevantPaper(**listed(record)) for record in found["papers"]],
        near=[JudgedPaper(**listed(record)) for record in found["near"]],
        known=found["known"],
        complete=found["complete"],
        notes=found["notes"],
    )


def checked_answer(
    asked: AskResult, text: CitedText, notes: list[str], of: CallTarget, public: str
) -> CheckedAnswer:
    """Return an answer, written as a text with its citations."""
    record = asked.as_record()
    answer, unknown = record["answer"], record["unknown_words"]
    hits = [hit.as_record() | {"paper": hit.paper} for hit in asked.evidence]
    text.evidence(hits, record["likelihood"])
    written = "".join(map(text.sentence, answer["sentences"])) + text.end(answer, notes, unknown)
    sentences = [
        sentence | {"references": [text.references[each].number for each in sentence["citations"]]}
        for sentence in answer["sentences"]
    ]
    nearest = [hit | {"url": hit_address(hit, of.index, public)} for hit in hits if answer["abstained"]]
    cited = [asdict(reference) for reference in text.references.values()]
    for each in (*cited, *nearest):
        each["id"] = paper_id(of, each["doc_id"])
    found = {"answer": written, "sentences": sentences, "references": cited, "nearest": nearest}
    found |= {"likelihood": record["likelihood"], "unknown_words": unknown}
    return CheckedAnswer(**answer | found, strategy=asked.result.strategy, notes=notes)
