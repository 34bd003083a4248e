"""The process that parses PDFs: receives bytes, returns a record or the reason why there is none.

    python -m indexer.corpora.full_text.parser_process CPU_SECONDS MEMORY_BYTES

A PDF may be malicious or endless, so it is parsed under limits enforced by the operating system. Messages in
both directions consist of a length in eight bytes and the content. Results are JSON, which is safe to parse.
"""

import json
import os
import queue
import resource
import struct
import sys
import threading
from dataclasses import dataclass
from typing import IO

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for a document: seconds of CPU time, and bytes of memory, including the process itself."""

    cpu_seconds: int = 60
    memory_bytes: int = 2 << 30


def read_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message, None at the end of the stream."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    body = stream.read(length)
    return body if len(body) == length else None


def write_message(stream: IO[bytes], body: bytes) -> None:
    """Send a message."""
    stream.write(LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()


def parse(data: bytes) -> dict[str, object]:
    """Return {"record": …} or {"problem": …}."""
    from indexer.corpora.full_text.article import article_of
    from indexer.corpora.full_text.pages import Unreadable, read_pdf

    try:
        return {"record": article_of(*read_pdf(data))}
    except Unreadable as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "parsing takes more memory than allowed"}
    except Exception as error:  # noqa: BLE001 - continue with the next document after any error
        return {"problem": f"it cannot be read: {type(error).__name__}: {error}"}


def main(cpu_seconds: int, memory_bytes: int) -> None:
    """Parse documents until the end of input, and exit when the parent process exits."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory_bytes)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of libraries is not a result
    documents: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(documents,), daemon=True).start()
    while True:
        data = documents.get()
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + cpu_seconds)
        answer = json.dumps(parse(data), ensure_ascii=False).encode("utf-8", "replace")
        write_message(answers, answer)


def _limit(which: int, limit: int) -> None:
    """Set a limit, within the inherited one."""
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _receive(documents: "queue.SimpleQueue[bytes]") -> None:
    while (data := read_message(sys.stdin.buffer)) is not None:
        documents.put(data)
    os._exit(0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
