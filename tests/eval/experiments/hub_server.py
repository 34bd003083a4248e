"""A server of data sets in the form of the Hugging Face hub, from files in memory."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from tests.http_server import Handler, serving

COMMIT = "0" * 39 + "1"


@dataclass
class HubServer:
    """The address of a server, and the files that were downloaded."""

    url: str = ""
    downloads: list[str] = field(default_factory=list)


@contextmanager
def hub_server(files: Mapping[str, bytes]) -> Iterator[HubServer]:
    """Serve files by OWNER/NAME/PATH on a free port of this machine."""
    hub = HubServer()

    class Hub(Handler):
        def get(self) -> None:
            path = unquote(urlsplit(self.path).path).strip("/")
            kind, _, rest = path.partition("datasets/")
            repository = "/".join(rest.split("/")[:2])
            inside = rest.removeprefix(repository).strip("/")
            here = {
                name.removeprefix(f"{repository}/"): content
                for name, content in files.items()
                if name.startswith(repository + "/")
            }
            if not here:
                self.answer(404, {"error": "Repository not found"})
            elif kind == "api/" and inside.startswith("tree/"):
                entries = [
                    {"type": "file", "path": name, "size": len(content), "oid": _hash(content)}
                    for name, content in here.items()
                ]
                self.answer(200, entries)
            elif kind == "api/":
                siblings = [{"rfilename": name} for name in here]
                self.answer(200, {"id": repository, "sha": COMMIT, "siblings": siblings})
            else:
                self.send_file(repository, here, inside.removeprefix(f"resolve/{COMMIT}/"))

        do_HEAD = Handler.do_GET  # noqa: N815 - named by the library

        def send_file(self, repository: str, here: Mapping[str, bytes], name: str) -> None:
            content = here[name]
            self.send_response(200)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{_hash(content)}"')
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                hub.downloads.append(f"{repository}/{name}")
                self.wfile.write(content)

    with serving(Hub) as hub.url:
        yield hub


def _hash(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
