"""Errors as problem details (RFC 9457): a status, a stable code, and the message of the command line."""

from math import ceil
from typing import Annotated, Any, NotRequired

from fastapi.responses import JSONResponse
from pydantic import Field
from typing_extensions import TypedDict

from base import errors as base_errors
from base.errors import Remedy
from base.files.durable import CAUSES
from base.logs import get_logger
from base.notes import Note, NoteCode, note_code, note_in
from base.remedies import describe_error
from generator import errors as generator_errors
from indexer import errors as indexer_errors
from indexer.errors import UnknownIndex
from retriever import errors as retriever_errors
from retriever.errors import BadExpression
from server import errors as server_errors
from server.access.callers import may_see

MEDIA_TYPE = "application/problem+json"

# The first match applies, so a subclass comes before its base class.
PROBLEMS: dict[type[Exception], tuple[int, str]] = {
    server_errors.BadRequest: (422, "bad-request"),
    server_errors.AddressTooLong: (414, "address-too-long"),
    server_errors.BodyTooLarge: (413, "too-large"),
    server_errors.BodyTooSlow: (408, "too-slow-to-arrive"),
    server_errors.BodyTooDeep: (400, "too-deep"),
    server_errors.TooOften: (429, "too-often"),
    server_errors.QuotaUsed: (429, "quota-used"),
    server_errors.TooManyOpen: (429, "too-many-connections"),
    server_errors.WrongMediaType: (415, "wrong-media-type"),
    server_errors.TooBusy: (429, "too-busy"),
    server_errors.Unauthorized: (401, "key-needed"),
    server_errors.Forbidden: (403, "forbidden"),
    server_errors.SignInFailed: (403, "sign-in-failed"),
    server_errors.ProviderFailed: (502, "provider-failed"),
    server_errors.SessionsUnreadable: (503, "sessions-unreadable"),
    server_errors.Misdirected: (421, "unknown-host"),
    server_errors.TooSlow: (503, "too-slow"),
    server_errors.KeysEmpty: (503, "keys-empty"),
    server_errors.KeysUnreadable: (503, "keys-unreadable"),
    server_errors.Stopping: (503, "stopping"),
    server_errors.Starting: (503, "starting"),
    server_errors.NothingOpens: (503, "no-index-opens"),
    server_errors.UnknownSearch: (404, "unknown-search"),
    server_errors.SearchRunning: (409, "search-running"),
    server_errors.SearchUnusable: (503, "search-unusable"),
    server_errors.JudgementNotKept: (503, "judgement-not-kept"),
    server_errors.UnknownKey: (404, "unknown-key"),
    retriever_errors.BadQuestion: (422, "bad-question"),
    retriever_errors.BadExpression: (422, "bad-expression"),
    retriever_errors.BadFilter: (422, "bad-filter"),
    retriever_errors.UnknownPassage: (404, "unknown-passage"),
    retriever_errors.UnknownPaper: (404, "unknown-paper"),
    retriever_errors.UnknownSource: (404, "unknown-source"),
    retriever_errors.InvalidSource: (503, "invalid-source"),
    retriever_errors.SourceFailed: (502, "source-failed"),
    indexer_errors.UnknownIndex: (404, "unknown-index"),
    base_errors.InvalidCall: (422, "invalid-call"),
    indexer_errors.IndexMismatch: (503, "index-mismatch"),
    indexer_errors.IndexDamaged: (503, "index-damaged"),
    indexer_errors.IndexBusy: (503, "index-busy"),
    indexer_errors.IndexClosed: (503, "stopping"),
    indexer_errors.EngineUnreachable: (503, "engine-unreachable"),
    indexer_errors.EngineRefused: (503, "engine-refused"),
    base_errors.ResourceError: (500, "index"),
    generator_errors.UnknownWay: (422, "unknown-way"),
    generator_errors.UnknownModel: (422, "unknown-model"),
    generator_errors.ModelNotConfigured: (422, "unknown-model"),
    generator_errors.ModelFailed: (502, "model-failed"),
    generator_errors.GeneratorError: (500, "generator"),
}
# Messages for callers, in place of messages that name paths, addresses or hosts of this machine. The operator
# sees those in the log and on the command line.
WITHOUT_PLACES: dict[type[Exception], str] = {
    server_errors.KeysEmpty: "the file of keys is empty, so no key is valid; the operator can create one",
    server_errors.KeysUnreadable: "the keys cannot be read now; the reason is in the server's log",
    server_errors.SessionsUnreadable: "sessions cannot be read now; the reason is in the server's log",
    server_errors.ProviderFailed: "the sign-in service failed; the details are in the server's log",
    indexer_errors.IndexMismatch: "{index} does not match this server's settings; the details are in its log",
    indexer_errors.IndexDamaged: "{index} is damaged; the details are in the server's log",
    indexer_errors.IndexBusy: "{index} is being written to by another process; try again in a moment",
    indexer_errors.EngineUnreachable: "the search engine does not answer; details are in the server's log",
    indexer_errors.EngineRefused: "the search engine refused the request; the reason is in the server's log",
    base_errors.ResourceError: "{index} cannot be used; the reason is in the server's log",
    retriever_errors.InvalidSource: "the declaration of a source is invalid; details are in the server's log",
    generator_errors.ModelFailed: "the language model failed; the details are in the server's log",
}
# Codes of errors raised by the framework.
CODES = {404: "not-found", 405: "wrong-method"}
TITLES = {
    400: "The call cannot be used",
    401: "A key is needed",
    403: "Not allowed",
    408: "Too slow",
    409: "Already running",
    413: "Too large",
    421: "Unknown host",
    422: "The call cannot be used",
    404: "Not found",
    405: "Wrong method",
    415: "Wrong media type",
    429: "Too busy",
    503: "Not available",
    502: "Not answered",
}

UNEXPECTED = "unexpected"
UNAUTHORIZED = 401
LONGEST_DETAIL = 900  # characters; some errors quote the input

log = get_logger("server")


class Problem(TypedDict):
    """The cause and the next step; programs rely on `code`, which is stable."""

    type: Annotated[str, Field(examples=["urn:shrag:problem:bad-filter"])]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    code: Annotated[str, Field(examples=["bad-filter"])]
    detail: Annotated[str, Field(description="as on the command line")]
    note: NotRequired[Annotated[NoteCode, Field(description="code and values of the detail")]]
    place: NotRequired[
        Annotated[str, Field(description="the field of the call that is wrong: body.k, query.year")]
    ]
    position: NotRequired[Annotated[int, Field(description="in an expression, in code points from 0")]]
    retry_after_s: NotRequired[float]


def problem(error: Exception) -> dict[str, Any]:
    """Describe an error; an unexpected one is logged, and its message is not shown."""
    if isinstance(error, OSError) and error.errno in CAUSES:  # an error of the system, like a full disk
        error = base_errors.ResourceError(describe_error(error))
    for kind, (status, code) in PROBLEMS.items():
        if isinstance(error, kind):
            note = None if kind in WITHOUT_PLACES else _note_of(error)
            return _problem(status, code, detail_of(error), error, note)
    log.error("unexpected", error=repr(error), exc_info=error)
    return _problem(
        500, UNEXPECTED, "an unexpected error occurred; the details are in the server's log", error
    )


def code_of(error: Exception) -> str:
    """Return the code of an error's class."""
    return next((code for kind, (_, code) in PROBLEMS.items() if isinstance(error, kind)), UNEXPECTED)


def detail_of(error: Exception) -> str:
    """Return the message of a known error for callers, without paths and hosts of this machine."""
    if isinstance(error, UnknownIndex) and error.index:
        there = [*filter(may_see, error.there)]
        error = UnknownIndex(
            Note("no_such_index", index=error.index), remedy=Remedy.CREATE, index=error.index, there=there
        )
    kind = next((kind for kind in PROBLEMS if isinstance(error, kind)), Exception)
    wording = WITHOUT_PLACES.get(kind)
    if wording is None:
        return describe_error(error)
    log.warning("call failed", reason=describe_error(error))
    name = getattr(error, "index", "")
    return wording.format(index=f"index {name!r}" if name else "the index")


def _note_of(error: Exception) -> NoteCode | None:
    """Return code and values of an error's message."""
    if isinstance(error, UnknownIndex) and error.index:
        return Note("no_such_index", index=error.index).as_code()
    own = error.reason if isinstance(error, BadExpression | server_errors.BadRequest) else note_in(error)
    return note_code(own)


def described(status: int, code: str, detail: str, note: NoteCode | None = None) -> dict[str, Any]:
    """Return the fields of every problem."""
    note = note or note_code(detail)
    return {
        "type": f"urn:shrag:problem:{code}",
        "title": TITLES.get(status, "Failed"),
        "status": status,
        "code": code,
        "detail": detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]}…",
        **({"note": note} if note else {}),
    }


def _problem(
    status: int, code: str, detail: str, error: Exception, note: NoteCode | None = None
) -> dict[str, Any]:
    said = described(status, code, detail, note)
    if isinstance(error, BadExpression):
        said |= {"detail": error.reason, "position": error.position}
    if isinstance(error, server_errors.BadRequest) and error.place:
        said["place"] = error.place
    if isinstance(error, server_errors.TooBusy):
        said["retry_after_s"] = error.retry_after_s
    return said


def problem_response(error: Exception) -> JSONResponse:
    """Return the response to an error."""
    said = problem(error)
    headers = {}
    if "retry_after_s" in said:
        headers["Retry-After"] = str(max(1, ceil(said["retry_after_s"])))
    if said["status"] == UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="shrag"'
    return JSONResponse(said, said["status"], headers, media_type=MEDIA_TYPE)
