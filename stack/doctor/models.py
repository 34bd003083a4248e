"""Encoder and cross-encoders, which read a sample, and the language model, which answers under a schema."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from base.untrusted import one_line, read_json, without_key
from generator.errors import ModelFailed
from generator.llm.client import Client
from generator.llm.model import chat_request
from generator.pipeline import run
from generator.settings import LanguageModelSettings
from indexer.settings import CheckSettings, EncoderSettings, RerankerSettings
from stack.doctor.findings import Examined, Finding, check_encryption, failed, tried

TEXT = "회복탄력성 resilience"
QUERY = "resilience"
REVISION = "set SHRAG_ENCODER__REVISION to a commit, so that all machines make the same vectors"
ENCODER = "SHRAG_ENCODER__PROVIDER=local (make install-models), or endpoint: docs/how-to/models.md"
SEE = "see the message, docs/how-to/models.md and docs/reference/settings.md"

LOOK_S = 15.0  # time limit of answers that need no generation
PROMPT_TOKENS = 6_000  # five Korean passages of 4,000 characters, and the instructions
PROBE_TOKENS = 256  # the longest answer of the schema has about forty; a model may add spaces
OK = 200
SHOWN_MODELS, SHOWN = 10, 80
PROMPT = (
    "Write a poem of four lines about the sea in winter. "
    "Verse only: no JSON, no braces, no quotation marks, no code."
)
SCHEMA = "JSON schema"
WHERE_THE_API_BEGINS = "set SHRAG_LLM__BASE_URL to the base address of the API (usually ending in /v1)"
START = "start the server (docs/how-to/models.md), or set SHRAG_LLM__BASE_URL to its address"


def check_encoder(examined: Examined) -> Iterator[Finding]:
    """Open the configured encoder and encode one text."""
    from indexer.encoders import open_encoder

    settings = examined.settings.indexer.encoder
    if settings.provider == "endpoint":
        yield from check_encryption(settings.base_url or "", secret=bool(settings.api_key))

    def encode() -> str | Finding:
        encoder = open_encoder(settings)
        if encoder is None:
            found = "no vectors; candidates are ordered by words only"
            return Finding("provider", "not configured", found, "", ENCODER)
        with closing(encoder):
            dimensions, mark = len(encoder.encode_queries([TEXT])[0]), encoder.fingerprint
        return f"{dimensions} dimensions, {mark.pooling} pooling, {mark.max_tokens:,} tokens, {mark.storage}"

    configured = _named(settings) + (f" at {settings.base_url}" if settings.base_url else "")
    yield tried(settings.provider, encode, configured, SEE)
    if settings.provider == "local" and not settings.revision:
        yield Finding("revision", "warning", "not pinned", settings.model, REVISION)


def check_cross_encoders(examined: Examined) -> Iterator[Finding]:
    """Open each configured model, and let it read one pair."""
    reranker, check = examined.settings.indexer.reranker, examined.settings.indexer.check

    def score() -> str:
        from indexer.encoders.cross_encoder import CrossEncoderReranker

        with closing(CrossEncoderReranker(reranker)) as model:
            return f"a score of {model.scores(QUERY, [TEXT])[0]:.2f} for a sample"

    def judge() -> str:
        from indexer.encoders.cross_encoder import EntailmentModel

        with closing(EntailmentModel(check)) as model:
            return f"a sample is classified as {model.judge([(QUERY, TEXT)])[0].relation}"

    if reranker.provider == "local":
        yield tried("re-ranker", score, _named(reranker), SEE)
    if check.judge == "local":
        yield tried("check of answers", judge, _named(check), SEE)


def _named(settings: EncoderSettings | RerankerSettings | CheckSettings) -> str:
    return f"{settings.model}{'@' + settings.revision if settings.revision else ''}"


class ProbeAnswer(BaseModel):
    """The answer allowed by the schema; nobody writes it when asked for a poem."""

    model_config = ConfigDict(extra="forbid")

    season: Literal["spring", "summer", "autumn", "winter"]
    waves: Literal["calm", "rough"]
    lines: Annotated[list[Literal["salt", "wind", "snow"]], Field(min_length=1, max_length=3)]


def check_language_model(examined: Examined) -> Iterator[Finding]:
    """Request the server's models and version, and one answer in JSON."""
    yield from findings_of_model(examined.settings.generator.llm)


def findings_of_model(llm: LanguageModelSettings) -> Iterator[Finding]:
    """Yield the findings on one endpoint and its models."""
    if llm.base_url is None:
        found = "keywords come from statistics, answers are quoted"
        remedy = "set SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL; see docs/how-to/models.md"
        yield Finding("endpoint", "not configured", found, "", remedy)
        return
    yield from check_encryption(llm.base_url, secret=bool(llm.api_key))

    async def collect(client: Client) -> list[Finding]:
        await client.open()
        try:
            return [finding async for finding in _model_findings(client, llm, str(llm.base_url))]
        except ModelFailed as error:
            return [failed("reachable", error, str(llm.base_url), START)]
        finally:
            await client.close()

    yield from run(collect(Client(llm)))


async def _model_findings(
    client: Client, llm: LanguageModelSettings, base_url: str
) -> AsyncIterator[Finding]:
    """Yield the findings; raises ModelFailed if the server does not list its models."""
    address = f"{base_url}/models"
    response = await client.exchange("GET", address, None, LOOK_S)
    if response.status_code != OK:
        yield failed("reachable", client.refusal_of(response, response.content, address), base_url)
        return
    try:
        listed = {str(model["id"]): dict(model) for model in read_json(response.content)["data"]}
    except (ValueError, TypeError, KeyError):
        kind = one_line(response.headers.get("Content-Type", "something else"), llm.api_key)
        found = f"does not list models, but answers with {kind}"
        yield Finding("reachable", "wrong", found, base_url, WHERE_THE_API_BEGINS)
        return
    yield Finding("reachable", "ok", "answers", base_url)
    for name in llm.models:
        if name in listed:
            yield Finding("model", "ok", "is served", name)
            yield _context(listed[name].get("max_model_len"), llm)
            continue
        there_are = one_line(", ".join(list(listed)[:SHOWN_MODELS]), llm.api_key) or "none"
        setting = "SHRAG_LLM__MODEL" if name == llm.model else "SHRAG_LLM__OTHER_MODELS"
        found, remedy = f"is not served; the models are: {there_are}", f"set {setting} to one of these"
        yield Finding("model", "wrong", found, name, remedy)
    if llm.model in listed:
        yield await _schema(client, llm)


def _context(served: Any, llm: LanguageModelSettings) -> Finding:
    length, needed = llm.context_tokens or served, llm.max_tokens + PROMPT_TOKENS
    if not isinstance(length, int) or length <= 0:
        remedy = "set SHRAG_LLM__CONTEXT_TOKENS, so that no prompt exceeds it"
        return Finding("context", "warning", "the server does not report its length", "", remedy)
    found, configured = f"{length:,} tokens", f"an answer of {llm.max_tokens:,}"
    if length >= needed:
        return Finding("context", "ok", found, configured)
    found += f"; five long passages and an answer take up to {needed:,}"
    remedy = "serve it with a larger --max-model-len, or lower SHRAG_LLM__MAX_TOKENS"
    return Finding("context", "warning", found, configured, remedy)


async def _schema(client: Client, llm: LanguageModelSettings) -> Finding:
    """Request verse under a schema: a server that enforces the schema still answers in JSON."""
    probe = llm.model_copy(update={"max_tokens": PROBE_TOKENS, "temperature": 0.0, "stream": False})
    request = chat_request([{"role": "user", "content": PROMPT}], ProbeAnswer, name="probe", settings=probe)
    remedy = "use a server that supports response_format with json_schema (like vLLM), or read its log"
    try:
        response = await client.exchange("POST", client.url, request, llm.timeout_s)
        if response.status_code != OK:
            raise client.refusal_of(response, response.content, client.url)
        body = without_key(response.text, llm.api_key)
        text = str(read_json(body)["choices"][0]["message"].get("content") or "").strip()
        ProbeAnswer.model_validate_json(text)
    except ModelFailed as error:
        return failed(SCHEMA, error, remedy=remedy)
    except ValidationError:
        said = text[:SHOWN] or "only in its reasoning, to which no schema applies"
        found = f"asked for verse under a schema, the model answered {said!r}"
        remedy = "this server does not enforce the schema: use vLLM without --reasoning-parser"
        return Finding(SCHEMA, "wrong", found, "", remedy)
    except (ValueError, TypeError, LookupError, AttributeError):
        found = f"not a chat completion: {one_line(body)[:SHOWN]}"
        return Finding(SCHEMA, "wrong", found, "", WHERE_THE_API_BEGINS)
    return Finding(SCHEMA, "ok", "a request for verse was answered according to the schema")
