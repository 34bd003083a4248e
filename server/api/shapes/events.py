"""The events of a streamed answer, and how OpenAPI 3.2 describes such a stream (`itemSchema`)."""

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
from server.api.shapes.problems import Problem

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


EVENT_SCHEMA: dict[str, Any] = {"oneOf": [_event(name, shape) for name, shape in EVENTS.items()]}
