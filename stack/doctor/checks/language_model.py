"""The language model: reachable, with the right name, enough context, and support of JSON schemas."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from base.untrusted import one_line, read_json, without_key
from generator.errors import ModelFailed
from generator.llm.client import Client
from generator.llm.context import is_count
from generator.pipeline import run
from generator.settings import LanguageModelSettings
from stack.doctor.findings import Examined, Finding, check_encryption
from stack.doctor.schema_probe import judge_probe, probe_request

if TYPE_CHECKING:
    import httpx

LOOK_S = 15.0  # time limit of answers that need no generation
PROMPT_TOKENS = 6_000  # five Korean passages of 4,000 characters, and the instructions
OK, UNAUTHORIZED, FORBIDDEN, NOT_FOUND = 200, 401, 403, 404
SHOWN_MODELS = 10
WHERE_THE_API_BEGINS = "set SHRAG_LLM__BASE_URL to the base address of the API (usually ending in /v1)"
START = "start the server (docs/how-to/models.md), or set SHRAG_LLM__BASE_URL to its address"


def check_language_model(examined: Examined) -> Iterator[Finding]:
    """Request the server's models and version, and one answer in JSON."""
    llm = examined.settings.generator.llm
    if llm.base_url is None:
        yield Finding(
            "endpoint",
            "not configured",
            "keywords come from statistics, answers are quoted",
            mend="set SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL; see docs/how-to/models.md",
        )
        return
    yield from check_encryption(llm.base_url, secret=bool(llm.api_key))
    yield from run(_look(Client(llm, examined.transport), llm, llm.base_url))


async def _look(endpoint: Client, llm: LanguageModelSettings, base_url: str) -> list[Finding]:
    await endpoint.open()
    try:
        async with aclosing(_findings(endpoint, llm, base_url)) as findings:
            return [finding async for finding in findings]
    finally:
        await endpoint.close()


async def _findings(
    endpoint: Client, llm: LanguageModelSettings, base_url: str
) -> AsyncGenerator[Finding, None]:
    try:
        response = await endpoint.exchange("GET", f"{base_url}/models", None, LOOK_S)
    except ModelFailed as error:
        yield Finding("reachable", "wrong", str(error), configured=base_url, mend=START)
        return
    if response.status_code != OK:
        yield _refused(response, llm)
        return
    listed = _models(response)
    if listed is None:
        kind = one_line(response.headers.get("Content-Type", "something else"), llm.api_key)
        found = f"does not list models, but answers with {kind}"
        yield Finding("reachable", "wrong", found, configured=base_url, mend=WHERE_THE_API_BEGINS)
        return
    yield Finding("reachable", "ok", "answers", configured=base_url)
    yield await _version(endpoint, base_url)
    for name in llm.models:
        yield _listed(listed, name, llm)
        if name in listed:
            yield _context(listed[name], llm)
    if llm.model in listed:
        yield await _schema(endpoint, llm)


def _refused(response: "httpx.Response", llm: LanguageModelSettings) -> Finding:
    mend = WHERE_THE_API_BEGINS
    if response.status_code in {UNAUTHORIZED, FORBIDDEN}:
        mend = "set SHRAG_LLM__API_KEY to a key that this server accepts"
    found = f"answers {response.status_code} to a request for its models"
    return Finding("reachable", "wrong", found, configured=llm.base_url or "", mend=mend)


def _models(response: "httpx.Response") -> dict[str, dict[str, Any]] | None:
    """Parse the models that a server lists, by name; return None if the answer is something else."""
    try:
        listed = read_json(response.content)["data"]
        return {str(model["id"]): dict(model) for model in listed}
    except (ValueError, TypeError, KeyError):
        return None


async def _version(endpoint: Client, base_url: str) -> Finding:
    """Request the version of vLLM; other servers have no such address, which is not a problem."""
    try:
        response = await endpoint.exchange("GET", f"{base_url.removesuffix('/v1')}/version", None, LOOK_S)
        if response.status_code == NOT_FOUND:
            return Finding("version", "ok", "unknown; the server is not vLLM")
        version = str(read_json(response.content)["version"])
    except (ModelFailed, ValueError, TypeError, KeyError):
        return Finding("version", "ok", "unknown")
    return Finding("version", "ok", f"vLLM {one_line(version, endpoint.settings.api_key)}")


def _listed(listed: dict[str, dict[str, Any]], name: str, llm: LanguageModelSettings) -> Finding:
    if name in listed:
        return Finding("model", "ok", "is served", configured=name)
    there_are = one_line(", ".join(list(listed)[:SHOWN_MODELS]), llm.api_key) or "none"
    mend = "correct or remove it in SHRAG_LLM__OTHER_MODELS"
    if name == llm.model:
        mend = "set SHRAG_LLM__MODEL to one of these"
    return Finding(
        "model",
        "wrong",
        f"is not served; the models are: {there_are}",
        configured=name,
        mend=mend,
    )


def _context(model: dict[str, Any], llm: LanguageModelSettings) -> Finding:
    length = llm.context_tokens or model.get("max_model_len")
    if not is_count(length):
        return Finding(
            "context",
            "warning",
            "the server does not report its length",
            mend="set SHRAG_LLM__CONTEXT_TOKENS, so that no prompt exceeds it",
        )
    needed = llm.max_tokens + PROMPT_TOKENS
    if length < needed:
        return Finding(
            "context",
            "warning",
            f"{length:,} tokens; five long passages and an answer take up to {needed:,}",
            configured=f"an answer of {llm.max_tokens:,}",
            mend="serve it with a larger --max-model-len, or lower SHRAG_LLM__MAX_TOKENS",
        )
    return Finding("context", "ok", f"{length:,} tokens", configured=f"an answer of {llm.max_tokens:,}")


async def _schema(endpoint: Client, llm: LanguageModelSettings) -> Finding:
    """Request verse under a schema: a server that enforces the schema still answers in JSON."""
    try:
        response = await endpoint.exchange("POST", endpoint.url, probe_request(llm), llm.timeout_s)
    except ModelFailed as error:
        mend = "read the server's log, or raise SHRAG_LLM__TIMEOUT_S"
        return Finding("JSON schema", "wrong", f"no answer: {error}", mend=mend)
    return judge_probe(response.status_code, without_key(response.text, llm.api_key))
