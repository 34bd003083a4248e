"""A language model that judges and writes as the agents of finding papers ask, when the test lets it."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.generator.finding_model import ANSWERS
from tests.generator.language_model import Served, events, served, streams_out
from tests.server.page.model import settings_of_model

NAMED = re.compile(r'"name": "(' + "|".join(ANSWERS) + ')"')


@dataclass
class Finder:
    """Answers each agent; those named in `held` wait until `go_on` is called."""

    base_url: str = ""
    held: frozenset[str] = frozenset()
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> dict[str, object]:
        """Return the settings of a server that uses this model."""
        return settings_of_model(self.base_url)

    def hold(self, *agents: str) -> None:
        """Let these agents wait from now on."""
        self.released.clear()
        self.held = frozenset(agents)

    def go_on(self) -> None:
        """Answer all that wait, and all that come."""
        self.held = frozenset()
        self.released.set()


@contextmanager
def finding() -> Iterator[Finder]:
    """Run the model until the end of the block."""
    finder = Finder()
    model: Served

    def behave(handler: BaseHTTPRequestHandler) -> None:
        body = model.bodies[-1]
        name = body["response_format"]["json_schema"]["name"]
        if name in finder.held:
            finder.released.wait(60)
        streams_out(*events(ANSWERS[name](body["messages"][0]["content"])))(handler)

    with served(behave) as model:
        finder.base_url = model.base_url
        try:
            yield finder
        finally:
            finder.go_on()
