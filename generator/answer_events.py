"""A streamed answer: events for keywords, queries, evidence, each checked sentence and the whole answer.

The state of the answer is one value. Events are the difference between this state and what the reader has
received, so a slow reader uses no memory. After the last `restart`, they add up to `done`.
"""

from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field
from typing_extensions import TypedDict

from base.notes import NoteCodes, note_codes
from generator.answers.answer import Sentence
from generator.checking import Check, Hint
from generator.llm import LanguageModel
from generator.pipeline import AskResult, EvidenceHit, answer_question, evidence_records
from generator.request import AskRequest, Settings
from generator.tracing import Listener, StepEvent, StreamEvent, snapshots
from retriever.index import OpenIndex
from retriever.queries.keywords import Keyword, KeywordRecord
from retriever.search import Stages
from retriever.stages.hits import SearchResult, SentQuery
from retriever.strategy import Strategy

# Why the sentences sent so far are withdrawn: a code for programs, and a message.
AGAIN = ("again", "the model's answer was incomplete or invalid; the model writes it again")
CHANGED = ("changed", "the final answer differs from the sentences sent so far")
SEARCH_FIELDS_OF_EVIDENCE = (  # fields of the search record that an evidence event repeats
    "version",
    "filtered",
    "likelihood",
    "unknown_words",
    "strategy",
    "bridges",
    "order",
)


class StartedStep(TypedDict):
    """The start of a step."""

    name: Annotated[str, Field(description="question, strategy, search, answer, check, quotation")]


class QuestionEvent(TypedDict):
    """The standalone question that replaces one that refers to earlier ones."""

    question: str


class KeywordsEvent(TypedDict):
    """The keywords and the strategy with its origin; null if the method has none."""

    keywords: list[KeywordRecord]
    strategy: Strategy | None


class QueriesEvent(TypedDict):
    """The queries and their hits."""

    queries: list[SentQuery]


class EvidenceEvent(TypedDict):
    """The papers that the answer is based on, and some fields of the search result."""

    hits: Annotated[list[EvidenceHit], Field(description="a later event replaces them")]
    notes: list[str]
    note_codes: NoteCodes


class RestartEvent(TypedDict):
    """The sentences sent so far are withdrawn."""

    reason: Literal["again", "fallback", "changed"]
    message: str


class SentenceEvent(TypedDict):
    """A sentence and its position in the answer, from 0."""

    index: int
    hints: list[Hint]


class CheckEvent(SentenceEvent):
    """The judge's result for a sentence that was already sent."""

    check: Check


async def stream_answer(
    index: OpenIndex,
    request: AskRequest,
    settings: Settings,
    *,
    model: LanguageModel | None = None,
    listener: Listener | None = None,
) -> AsyncGenerator[StreamEvent, None]:
    """Answer like `answer_question` and yield events as they occur; `done`, the record, is last.

    The others are step, question, keywords, queries, evidence, restart, sentence and check. Each search sends
    keywords, queries and evidence once; they replace the events of an earlier search.

    A reader that stops early closes the generator (`contextlib.aclosing`) or cancels the waiting task. Both
    cancel the work, including the model call, and wait until it ends. `listener` receives the step events.

    Raises:
        RetrieverError, UnknownWay, GeneratorError: as `answer_question`.
    """

    def answer(heard: Listener) -> Coroutine[Any, Any, AskResult]:
        return answer_question(index, request, settings, model=model, listener=heard)

    sent = _State()
    async with aclosing(snapshots(answer, _State(), _next_state, listener)) as states:
        async for known, asked in states:
            newest = known.completed(asked) if asked else known
            for event in _new_events(sent, newest, whole=asked is not None):
                yield event
            sent = newest.as_sent_after(sent)
            if asked:
                yield StreamEvent("done", asked.as_record())


@dataclass(frozen=True, slots=True)
class _State:
    """State of an answer at one moment."""

    step: str = ""
    question: str = ""  # replaces the reader's question
    keywords: tuple[Keyword, ...] | None = None  # None: not chosen yet
    strategy: Strategy | None = None
    search: SearchResult | None = None
    notes: tuple[str, ...] = ()  # of the steps before and in the search
    sentences: tuple[Sentence, ...] = ()
    again: tuple[str, str] = CHANGED  # reason and message of a `restart`, if one follows

    def as_sent_after(self, sent: Self) -> Self:
        """Return the state as sent; sentences sent before stay while no new sentence contradicts them."""
        if _contradicts(sent.sentences, self.sentences):
            return self
        return replace(self, sentences=self.sentences + sent.sentences[len(self.sentences) :])

    def completed(self, asked: AskResult) -> Self:
        """Return the state of the complete answer."""
        result = asked.result
        return replace(
            self,
            keywords=result.keywords,
            strategy=result.strategy,
            search=result,
            notes=(),
            sentences=asked.answer.sentences,
        )


def _next_state(known: _State, event: StepEvent) -> _State:
    """Apply an event of the way or of its direct steps; events of deeper steps do not change the answer."""
    step = event.step
    if len(step.path) > (event.made is None):
        return known
    if event.kind == "started":
        return replace(known, step=step.name) if step.path else _State()
    match event.made:
        case AskRequest(question=question):
            return replace(known, question=question)
        case Stages(terms=terms):
            keywords, strategy = (terms.keywords, terms.strategy) if terms else ((), None)
            return replace(known, keywords=keywords, strategy=strategy)
        case SearchResult(keywords=keywords, strategy=strategy) as made:
            notes = tuple(step.all_notes())
            return replace(known, keywords=keywords, strategy=strategy, search=made, notes=notes)
        case tuple() as sentences:  # of an unfinished answer, or of one that a judge has not checked yet
            return replace(known, sentences=sentences)
    again = known.again
    if step.name == "answer" and event.kind == "finished" and step.fallback:
        again = ("fallback", "; ".join(step.notes))
    elif step.name == "answer" and event.growth and not event.growth.text and known.sentences:
        again = AGAIN
    return known if again is known.again else replace(known, again=again)


def _new_events(sent: _State, known: _State, *, whole: bool = False) -> Iterator[StreamEvent]:
    """Yield the events that lead from `sent` to `known`; `whole`: no sentence will follow."""
    if known.step not in {"", sent.step}:
        yield StreamEvent("step", {"name": known.step})
    if known.question not in {"", sent.question}:
        yield StreamEvent("question", {"question": known.question})
    if known.keywords is not None and (known.keywords, known.strategy) != (sent.keywords, sent.strategy):
        keywords = [keyword.as_record() for keyword in known.keywords]
        strategy = known.strategy and known.strategy.as_record()
        yield StreamEvent("keywords", {"keywords": keywords, "strategy": strategy})
    if known.search and (sent.search is None or known.search.hits is not sent.search.hits):
        record = known.search.as_record()
        yield StreamEvent("queries", {"queries": record["queries"]})
        fields = {name: record[name] for name in SEARCH_FIELDS_OF_EVIDENCE}
        hits, notes = evidence_records(known.search), [*known.search.notes, *known.notes]
        yield StreamEvent(
            "evidence", {"hits": hits, **fields, "notes": notes, "note_codes": note_codes(notes)}
        )
    before = sent.sentences
    if _contradicts(before, known.sentences) or (whole and len(before) > len(known.sentences)):
        reason, message = known.again
        yield StreamEvent("restart", {"reason": reason, "message": message})
        before = ()
    for place, sentence in enumerate(known.sentences):
        if place >= len(before):
            yield StreamEvent("sentence", {"index": place, **sentence.as_record()})
        elif before[place] != sentence:
            record = sentence.as_record()
            checked = {"check": sentence.check, "hints": record["hints"]}
            yield StreamEvent("check", {"index": place, **checked})


def _contradicts(before: Sequence[Sentence], now: Sequence[Sentence]) -> bool:
    """Check whether two lists of sentences differ in their common length, ignoring checks."""
    return any(
        (old.text, old.section, old.citations) != (new.text, new.section, new.citations)
        for old, new in zip(before, now, strict=False)
    )
