"""An answer as it arrives: keywords, queries, evidence, each sentence with its check, and the whole.

What is known so far is one value, kept up to date; events are made from what of it the reader has not seen.
So a slow reader costs no memory, and what was sent adds up to the answer: behind the last `restart` the
sentences are those of `done`.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

from generator.answers.answer import Sentence, SentencesSoFar
from generator.llm import LanguageModel
from generator.pipeline import AskResult, answer_question, evidence_records
from generator.request import AskRequest, Settings
from generator.tracing.following import Progress, followed
from generator.tracing.steps import Listener, Step, StepEvent
from retriever.index import OpenIndex
from retriever.queries.keywords import Keyword
from retriever.search import Stages
from retriever.stages.hits import SearchResult

AnswerEventKind: TypeAlias = Literal[
    "step", "question", "keywords", "queries", "evidence", "restart", "sentence", "check", "done"
]
# Why the sentences sent so far are withdrawn: a word for programs, and a sentence.
AGAIN = ("again", "the model's answer was cut off or could not be read, and is written again")
CHANGED = ("changed", "the answer as a whole is another")
# Of a result's record, what goes with its hits.
BESIDE_THE_EVIDENCE = (
    "version",
    "filtered",
    "likelihood",
    "unknown_words",
    "constraints",
    "concepts",
    "bridges",
    "order",
)


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """What is new of an answer; `data` is JSON.

    step      name of what has begun: question, keywords, search, answer, check, quotation
    question  question: what is asked in place of one that needed the earlier turns
    keywords  keywords, source: model, statistics or given; None where the method has none
    queries   queries, each with name, query and hits
    evidence  hits with text and paper, and what the search says of them
    restart   reason (again, fallback, changed) and message: the sentences sent so far are withdrawn
    sentence  index, text, section, citations, check, reasons
    check     index, check, reasons: what a judge says of a sentence that was sent
    done      the record of the whole, as `ask --json`; the last

    Keywords, queries and evidence come once for each search; later ones take the place of those before.
    """

    kind: AnswerEventKind
    data: Mapping[str, Any]


async def stream_answer(
    index: OpenIndex,
    request: AskRequest,
    settings: Settings,
    *,
    model: LanguageModel | None = None,
    listener: Listener | None = None,
) -> AsyncGenerator[AnswerEvent, None]:
    """Answer as `answer_question` does, and yield what is new whenever something is; `done` comes last.

    To be closed by whoever stops before the end (`contextlib.aclosing`): that ends the work, the model's too,
    and waits until it has ended. So does cancelling whoever waits for an event. `listener` hears its steps.

    Raises:
        RetrieverError, UnknownWay, GeneratorError: as `answer_question`.
    """
    progress = Progress(_Known(), _after)
    work = answer_question(index, request, settings, model=model, listener=progress.listening(listener))
    sent = _Known()
    async with followed(work, progress) as task:
        while not task.done():
            known = await progress.changed()
            for event in _news(sent, known):
                yield event
            sent = known.behind(sent)
        asked = task.result()
        for event in _news(sent, progress.known.at_the_end(asked), whole=True):
            yield event
        yield AnswerEvent("done", asked.as_record())


KeywordSource: TypeAlias = Literal["model", "statistics", "given"]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of an answer at one moment."""

    step: str = ""
    question: str = ""  # asked in place of the reader's
    keywords: tuple[Keyword, ...] | None = None  # None: not chosen yet
    source: KeywordSource | None = None
    search: SearchResult | None = None
    notes: tuple[str, ...] = ()  # of the steps up to the search
    sentences: tuple[Sentence, ...] = ()
    again: tuple[str, str] = CHANGED  # why other sentences take the place of these, if they do

    def behind(self, sent: Self) -> Self:
        """Return it as what has been sent; sentences that nothing has contradicted yet still stand."""
        if _contradicts(sent.sentences, self.sentences):
            return self
        return replace(self, sentences=self.sentences + sent.sentences[len(self.sentences) :])

    def with_keywords(self, search: SearchResult) -> Self:
        """Return what is known with the keywords of a search, whose source it tells where they are others."""
        if self.keywords == search.keywords:
            return self
        applied = search.applied.keyword_source if search.applied else None
        source: KeywordSource | None = None
        if applied:
            source = "given" if applied == "given" else "statistics"
        return replace(self, keywords=search.keywords, source=source)

    def at_the_end(self, asked: AskResult) -> Self:
        """Return what is known with the whole answer, whatever its way has told of it."""
        result = asked.result
        return replace(
            self.with_keywords(result),
            search=result,
            notes=(),
            sentences=asked.answer.sentences,
        )


def _after(known: _Known, event: StepEvent) -> _Known:
    """Take what the way itself tells, and its own steps; what is done within these is no answer yet."""
    step = event.step
    if len(step.path) > (event.made is None):
        return known
    if event.kind == "started":
        return replace(known, step=step.name) if step.path else _Known()
    if event.kind == "made":
        return _with_made(known, step, event.made)
    if event.kind == "finished" and step.fallback:
        return replace(known, again=("fallback", "; ".join(step.notes)))
    if event.growth and not event.growth.text and known.sentences:
        return replace(known, again=AGAIN)
    return known


def _with_made(known: _Known, step: Step, made: object) -> _Known:
    """Return what is known with what the way made."""
    if isinstance(made, AskRequest):
        return replace(known, question=made.question)
    if isinstance(made, Stages):
        if made.keywords is None:
            return replace(known, keywords=())
        typed = step.inputs.get("keywords") is not None
        source: KeywordSource = "given" if typed else "model" if made.keywords.given else "statistics"
        return replace(known, keywords=made.keywords.keywords, source=source)
    if isinstance(made, SearchResult):
        known = known.with_keywords(made)
        return replace(known, search=made, notes=tuple(note for part in step.walk() for note in part.notes))
    if isinstance(made, SentencesSoFar):
        return replace(known, sentences=made.sentences)
    return known


def _news(sent: _Known, known: _Known, *, whole: bool = False) -> Iterator[AnswerEvent]:
    """Tell a reader who has been sent the one what is new in the other; `whole`: no sentence will follow."""
    if known.step not in {"", sent.step}:
        yield AnswerEvent("step", {"name": known.step})
    if known.question not in {"", sent.question}:
        yield AnswerEvent("question", {"question": known.question})
    if known.keywords is not None and (known.keywords, known.source) != (sent.keywords, sent.source):
        keywords = [keyword.as_record() for keyword in known.keywords]
        yield AnswerEvent("keywords", {"keywords": keywords, "source": known.source})
    if known.search and (sent.search is None or known.search.hits is not sent.search.hits):
        record = known.search.as_record()
        yield AnswerEvent("queries", {"queries": record["queries"]})
        beside = {name: record[name] for name in BESIDE_THE_EVIDENCE}
        hits = evidence_records(known.search)
        yield AnswerEvent("evidence", {"hits": hits, **beside, "notes": [*record["notes"], *known.notes]})
    before = sent.sentences
    if _contradicts(before, known.sentences) or (whole and len(before) > len(known.sentences)):
        reason, message = known.again
        yield AnswerEvent("restart", {"reason": reason, "message": message})
        before = ()
    for place, sentence in enumerate(known.sentences):
        if place >= len(before):
            yield AnswerEvent("sentence", {"index": place, "reasons": [], **sentence.as_record()})
        elif before[place] != sentence:
            record = sentence.as_record()
            checked = {"check": sentence.check, "reasons": record.get("reasons", [])}
            yield AnswerEvent("check", {"index": place, **checked})


def _contradicts(before: Sequence[Sentence], now: Sequence[Sentence]) -> bool:
    """Tell whether sentences differ as far as both go, their checks aside."""
    return any(
        (old.text, old.section, old.citations) != (new.text, new.section, new.citations)
        for old, new in zip(before, now, strict=False)
    )
