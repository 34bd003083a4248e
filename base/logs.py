"""Logs: events and durations as JSON lines; silent by default.

The loggers are structlog's, on top of the standard library's loggers below `shrag`: an application that
imports these packages routes and filters them like any other logger. Values bound to the context
(`structlog.contextvars`), such as a request's id, are in every line, including lines from threads started by
`asyncio.to_thread`.
Texts of questions and passages are logged at the level DEBUG only.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import structlog

from base.terminal.output import json_text

ROOT = "shrag"
PROCESSORS: tuple[structlog.typing.Processor, ...] = (
    structlog.stdlib.filter_by_level,
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.JSONRenderer(json_text, default=str),
)

logging.getLogger(ROOT).addHandler(logging.NullHandler())


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return the logger `shrag.NAME`."""
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(f"{ROOT}.{name}"), PROCESSORS, structlog.stdlib.BoundLogger
    )
    return logger


def log_to_standard_error(verbosity: int) -> None:
    """Write log lines to standard error.

    0: failures; 1: also completed work; 2 and more: also questions, inputs and outputs.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    root = logging.getLogger(ROOT)
    root.addHandler(handler)
    root.setLevel({0: logging.WARNING, 1: logging.INFO}.get(verbosity, logging.DEBUG))
    root.propagate = False


def verbosity() -> int:
    """Return the level set by `log_to_standard_error`, at most 2; 0 if it was not called."""
    return {logging.INFO: 1, logging.DEBUG: 2}.get(logging.getLogger(ROOT).level, 0)


@contextmanager
def request_id() -> Iterator[str]:
    """Bind an id to the log lines of one request, unless one is already bound, for example by a server."""
    bound = structlog.contextvars.get_contextvars().get("request_id")
    if bound is not None:
        yield str(bound)
        return
    made = uuid4().hex[:16]
    with structlog.contextvars.bound_contextvars(request_id=made):
        yield made
