"""The new papers of a saved search as text in Korean or English, for example for a mail of cron."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, computed_field

from base.records import INTERNAL, Recordable
from indexer.corpora.papers import language_of
from retriever.reference import one_line, reference_line, web_address

WORDS = {
    "ko": ("새 논문 {count}편", "색인 {name}, 버전 {version}, 기준: {since}"),
    "en": ("New papers: {count}", "Index {name}, version {version}, since {since}"),
}
FULL = {
    "ko": "요청한 최대 결과 수({most}편)를 모두 찾았습니다. 순위가 더 낮은 새 논문은 목록에 없습니다.",
    "en": "The search found as many papers as requested ({most}); new papers of a lower rank are not listed.",
}


@dataclass(frozen=True, slots=True)
class NewPapers(Recordable):
    """The new papers of a saved search, in the order of its hits."""

    file: str
    question: str
    name: Annotated[str, Field(description="of the index")]
    version: int
    since: str
    found: Annotated[int, Field(description="all papers found now")]
    most: Annotated[int, INTERNAL]  # the requested number of hits
    new: Annotated[list[dict[str, Any]], Field(description="complete records")]

    @computed_field
    @property
    def is_full(self) -> bool:
        """Whether the search found as many papers as requested."""
        return self.found >= self.most


def new_papers_lines(news: NewPapers) -> Iterator[str]:
    """Yield a heading, and a numbered list with reference, address and id; nothing if no paper is new."""
    if not news.new:
        return
    language = "ko" if language_of(news.question) == "ko" else "en"
    heading, place = WORDS[language]
    yield f"{heading.format(count=len(news.new))} – {one_line(news.question)}"
    yield place.format(name=news.name, version=news.version, since=news.since)
    yield ""
    for number, record in enumerate(news.new, 1):
        doc_id = record["doc_id"]
        yield f"{number:>3}. {one_line(reference_line(record)) or doc_id}"
        if address := web_address(record):
            yield f"     {address}"
        yield f"     {doc_id}"
    if news.is_full:
        yield ""
        yield FULL[language].format(most=news.most)
    yield ""
