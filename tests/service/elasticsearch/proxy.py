"""A server before the cluster that answers some requests itself, as an overloaded or broken one would."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from tests.http_server import Handler, serving
from tests.service.elasticsearch.server import Access

KEPT = ("Authorization", "Content-Type", "Accept")  # headers that are passed on
Answer = tuple[int, Any]  # status and JSON


@dataclass
class Proxy:
    """Answers what `answers` has an answer to (by path and body), and passes the rest on."""

    access: Access
    answers: Callable[[str, bytes], Answer | None] = lambda *_: None
    seen: Counter[str] = field(default_factory=Counter)  # requests by the last part of their path
    cut: int = 0  # bulk requests that the cluster gets, and whose answers get lost
    answering: threading.Event = field(default_factory=threading.Event)  # cleared, it only takes requests

    def fail(self, part: str, answer: Callable[[bytes], Answer], times: int) -> None:
        """Answer the next so many requests to a path with `part` in it so, by their bodies."""
        self.seen.clear()
        left = [times]

        def answers(path: str, body: bytes) -> Answer | None:
            if part not in path or left[0] == 0:
                return None
            left[0] -= 1
            return answer(body)

        self.answers = answers


@contextmanager
def proxy_before(access: Access) -> Iterator[Proxy]:
    """Run a proxy before a cluster until the end of the block."""
    proxy = Proxy(access)
    proxy.answering.set()
    with httpx.Client(base_url=access.url, timeout=240, trust_env=False) as cluster:

        class Passes(Handler):
            protocol_version = "HTTP/1.1"

            def get(self) -> None:
                body, path = (
                    self.rfile.read(int(self.headers["Content-Length"] or 0)),
                    self.path.partition("?")[0],
                )
                proxy.seen[path.rpartition("/")[2]] += 1
                proxy.answering.wait()
                if own := proxy.answers(path, body):
                    self.answer(*own)
                    return
                headers = {name: self.headers[name] for name in KEPT if name in self.headers}
                answered = cluster.request(self.command, self.path, content=body, headers=headers)
                if proxy.cut and path.endswith("_bulk"):
                    proxy.cut -= 1
                    self.close_connection = True
                    return
                self.answer(answered.status_code, answered.content)

            post = do_PUT = do_DELETE = do_HEAD = get  # noqa: N815 - as they are called there

            def end_headers(self) -> None:
                self.send_header("X-elastic-product", "Elasticsearch")
                super().end_headers()

        with serving(Passes) as url:
            proxy.access = replace(access, url=url)
            yield proxy
            proxy.answering.set()
