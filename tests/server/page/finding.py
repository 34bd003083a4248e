"""A language model that answers the agents of finding papers, and waits where a test says so."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.generator.finding_model import ANSWERS
from tests.generator.language_model import events, streams_out
from tests.http_server import Handler, serving
from tests.server.running import START_S


@dataclass
class Finder:
    """Where the model is; the agents in `held` wait until `go_on` is called."""

    base_url: str = ""
    held: frozenset[str] = frozenset()
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> dict[str, object]:
        """Return the settings of a server that uses this model."""
        llm = {"base_url": self.base_url, "model": "tiny-finder", "allow_plain_http": "true", "retries": 0}
        return {f"llm__{name}": value for name, value in llm.items()}

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

    class Answers(Handler):
        protocol_version = "HTTP/1.1"

        def post(self) -> None:
            asked = self.asked()
            name = asked.get("response_format", {}).get("json_schema", {}).get("name")
            if name not in ANSWERS:
                self.answer(404, {})
                return
            if name in finder.held:
                finder.released.wait(START_S)
            try:
                streams_out(*events(ANSWERS[name](asked["messages"][0]["content"])))(self)
            except OSError:  # the server has gone on without it
                self.close_connection = True

    with serving(Answers) as url:
        finder.base_url = f"{url}/v1"
        try:
            yield finder
        finally:
            finder.go_on()
