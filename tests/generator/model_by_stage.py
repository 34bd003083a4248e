"""A language model that answers by what it is asked for, so that calls may come in any order."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.generator.language_model import says


@dataclass
class ByStage:
    """A transport: the replies of each stage in turn, the last one from then on; keeps what was asked."""

    replies: Mapping[str, list[Any]]
    asked: dict[str, list[str]] = field(default_factory=dict)

    @property
    def transport(self) -> httpx.MockTransport:
        """Return what stands in for the network."""
        return httpx.MockTransport(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/chat/completions"):
            return httpx.Response(404)
        body = json.loads(request.content)
        stage = body["response_format"]["json_schema"]["name"]
        before = self.asked.setdefault(stage, [])
        replies = self.replies[stage]
        reply = replies[min(len(before), len(replies) - 1)]
        before.append("\n".join(message["content"] for message in body["messages"]))
        return reply if isinstance(reply, httpx.Response) else says(reply)
