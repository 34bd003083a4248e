"""The events of streamed answers, and their description by OpenAPI 3.2 (`itemSchema`)."""

from typing import Any

from server.api.shapes import REFERENCE
from server.api.shapes.answers import (
    AnswerResult,
    CheckEvent,
    EvidenceEvent,
    KeywordsEvent,
    QueriesEvent,
    QuestionEvent,
    RestartEvent,
    SentenceEvent,
    StepEvent,
)
from server.api.shapes.finding import (
    FindingStepEvent,
    FoundPapers,
    PapersEvent,
    SearchEvent,
    SentQueriesEvent,
    SpentEvent,
    Understanding,
)
from server.api.shapes.problems import Problem
from server.transport.headers import EVENT_STREAM

EVENTS: dict[str, Any] = {
    "step": StepEvent,
    "question": QuestionEvent,
    "keywords": KeywordsEvent,
    "queries": QueriesEvent,
    "evidence": EvidenceEvent,
    "restart": RestartEvent,
    "sentence": SentenceEvent,
    "check": CheckEvent,
    "done": AnswerResult,
    "error": Problem,
}
FINDING_EVENTS: dict[str, Any] = {
    "search": SearchEvent,
    "step": FindingStepEvent,
    "understanding": Understanding,
    "queries": SentQueriesEvent,
    "papers": PapersEvent,
    "spent": SpentEvent,
    "done": FoundPapers,
    "error": Problem,
}


def _event(name: str, shape: Any) -> dict[str, Any]:
    data = {"$ref": REFERENCE.format(model=shape.__name__)}
    return {
        "type": "object",
        "properties": {
            "event": {"const": name},
            "id": {"type": "string", "pattern": "^[1-9][0-9]*$"},
            "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": data},
        },
        "required": ["event", "id", "data"],
    }


def stream_responses(events: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """Describe a stream of events, for the responses of a route."""
    schema = {"oneOf": [_event(name, shape) for name, shape in events.items()]}
    return {200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}, "itemSchema": schema}}}}
