"""The events of streamed answers, and their description by OpenAPI 3.2 (`itemSchema`)."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from generator.answer_events import (
    SEARCH_FIELDS_OF_EVIDENCE,
    CheckEvent,
    EvidenceEvent,
    KeywordsEvent,
    QueriesEvent,
    QuestionEvent,
    RestartEvent,
    SentenceEvent,
    StartedStep,
)
from generator.answers.answer import Sentence
from generator.finding.events import FindingStepEvent, PapersEvent, SentQueriesEvent, SpentEvent
from generator.finding.result import FoundPapers, WithTree
from generator.finding.state import Understanding
from generator.pipeline import AskResult
from retriever.stages.hits import SearchResult
from server.api.schemas import REFERENCE, Shaped
from server.problems import Problem
from server.targets import CallTarget
from server.transport.streams import EVENT_STREAM


class SearchEvent(TypedDict):
    """The id of the kept search; the first event, omitted if the search cannot be kept."""

    id: str


class KeptAs(TypedDict):
    """Found papers, best first, with their origin."""

    search: NotRequired[Annotated[str, Field(description="the id of the kept search")]]


ANSWER_RESULT = Shaped(CallTarget, SearchResult, AskResult, name="AnswerResult")
FOUND_PAPERS = Shaped(CallTarget, FoundPapers, WithTree, KeptAs, name="FoundPapers")
EVENTS = {
    "step": Shaped(StartedStep, name="StepEvent"),
    "question": Shaped(QuestionEvent),
    "keywords": Shaped(KeywordsEvent),
    "queries": Shaped(QueriesEvent),
    "evidence": Shaped((SearchResult, SEARCH_FIELDS_OF_EVIDENCE), EvidenceEvent),
    "restart": Shaped(RestartEvent),
    "sentence": Shaped(Sentence, SentenceEvent),
    "check": Shaped(CheckEvent),
    "done": ANSWER_RESULT,
    "error": Shaped(Problem),
}
FINDING_EVENTS = {
    "search": Shaped(SearchEvent),
    "step": Shaped(FindingStepEvent),
    "understanding": Shaped(Understanding),
    "queries": Shaped(SentQueriesEvent),
    "papers": Shaped(PapersEvent),
    "spent": Shaped(SpentEvent),
    "done": FOUND_PAPERS,
    "error": Shaped(Problem),
}


def _event(name: str, shape: Shaped) -> dict[str, Any]:
    data = {"$ref": REFERENCE.format(model=shape.name)}
    return {
        "type": "object",
        "properties": {
            "event": {"const": name},
            "id": {"type": "string", "pattern": "^[1-9][0-9]*$"},
            "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": data},
        },
        "required": ["event", "id", "data"],
    }


def stream_responses(events: dict[str, Shaped]) -> dict[int | str, dict[str, Any]]:
    """Describe a stream of events, for the responses of a route."""
    schema = {"oneOf": [_event(name, shape) for name, shape in events.items()]}
    return {200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}, "itemSchema": schema}}}}
