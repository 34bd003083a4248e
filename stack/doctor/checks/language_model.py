"""The language model: reachable, the right one, roomy enough, and bound to the schema it is given."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from generator.settings import LanguageModelSettings
from stack.doctor.encryption import check_encryption
from stack.doctor.findings import Examined, Finding
from stack.doctor.schema_probe import judge_probe, probe_request

if TYPE_CHECKING:
    import httpx

LOOK_S = 15.0  # for what a server answers without thinking
PROMPT_TOKENS = 6_000  # five passages of 4,000 characters, Korean, beside the instructions
OK, UNAUTHORIZED, FORBIDDEN = 200, 401, 403
SHOWN_MODELS = 10


def check_language_model(examined: Examined) -> Iterator[Finding]:
    """Ask the server for its models and version, and for one answer in JSON."""
    llm = examined.settings.generator.llm
    if llm.base_url is None:
        yield Finding(
            "endpoint",
            "not configured",
            "keywords come from statistics, answers are quoted",
            mend="set SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL; see docs/models.md",
        )
        return
    yield from check_encryption(llm.base_url, secret=bool(llm.api_key))
    import httpx

    headers = {"Authorization": f"Bearer {llm.api_key.get_secret_value()}"} if llm.api_key else {}
    with httpx.Client(
        transport=examined.transport, headers=headers, timeout=LOOK_S, trust_env=False
    ) as client:
        try:
            response = client.get(f"{llm.base_url}/models")
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            mend = "start the server (docs/models.md), or set SHRAG_LLM__BASE_URL to where it runs"
            yield Finding("reachable", "wrong", why, configured=llm.base_url, mend=mend)
            return
        if response.status_code != OK:
            yield _refused(response, llm)
            return
        yield Finding("reachable", "ok", "answers", configured=llm.base_url)
        yield _version(client, llm.base_url)
        listed = _models(response)
        yield _listed(listed, llm)
        if llm.model in listed:
            yield _context(listed[llm.model], llm)
            yield _schema(client, llm)


def _refused(response: "httpx.Response", llm: LanguageModelSettings) -> Finding:
    mend = "set SHRAG_LLM__BASE_URL to where the API begins (most end in /v1)"
    if response.status_code in {UNAUTHORIZED, FORBIDDEN}:
        mend = "set SHRAG_LLM__API_KEY to a key that this server accepts"
    found = f"answers {response.status_code} to a request for its models"
    return Finding("reachable", "wrong", found, configured=llm.base_url or "", mend=mend)


def _models(response: "httpx.Response") -> dict[str, dict[str, Any]]:
    """Read the models that a server lists, by name."""
    try:
        listed = response.json()["data"]
        return {str(model["id"]): dict(model) for model in listed}
    except (ValueError, TypeError, KeyError):
        return {}


def _version(client: "httpx.Client", base_url: str) -> Finding:
    """Ask where vLLM tells its version; other servers have no such address, which is no fault."""
    import httpx

    try:
        response = client.get(f"{base_url.removesuffix('/v1')}/version")
        version = str(response.json()["version"])
    except (httpx.HTTPError, ValueError, TypeError, KeyError):
        return Finding("version", "ok", "not told; the server is not vLLM")
    return Finding("version", "ok", f"vLLM {version}")


def _listed(listed: dict[str, dict[str, Any]], llm: LanguageModelSettings) -> Finding:
    configured = llm.model or ""
    if llm.model in listed:
        return Finding("model", "ok", "is served", configured=configured)
    there_are = ", ".join(list(listed)[:SHOWN_MODELS]) or "none"
    return Finding(
        "model",
        "wrong",
        f"is not served; there are: {there_are}",
        configured=configured,
        mend="set SHRAG_LLM__MODEL to one of these",
    )


def _context(model: dict[str, Any], llm: LanguageModelSettings) -> Finding:
    length = llm.context_tokens or model.get("max_model_len")
    if not isinstance(length, int):
        return Finding(
            "context",
            "warning",
            "the server does not tell its length",
            mend="set SHRAG_LLM__CONTEXT_TOKENS, so that no prompt is too long for it",
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


def _schema(client: "httpx.Client", llm: LanguageModelSettings) -> Finding:
    """Ask for verse under a schema: a server that binds the model to it answers in JSON all the same."""
    import httpx

    try:
        response = client.post(
            f"{llm.base_url}/chat/completions", json=probe_request(llm), timeout=llm.timeout_s
        )
    except httpx.HTTPError as error:
        why = f"no answer: {str(error) or type(error).__name__}"
        mend = "look into the server's log, or raise SHRAG_LLM__TIMEOUT_S"
        return Finding("JSON schema", "wrong", why, mend=mend)
    return judge_probe(response.status_code, response.text)
