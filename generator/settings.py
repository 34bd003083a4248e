"""Settings of answers and their language model, from `SHRAG_…` and `shrag.toml`; front ends read them."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic_settings import NoDecode, SettingsConfigDict

from base.files.base_directories import base_directory, in_home
from base.net.addresses import refuse_plain_http
from base.settings.fields import CommaList, listed
from base.settings.sources import LayeredSettings
from indexer.settings import (
    AllowPlainHttp,
    BaseUrl,
    CaCerts,
    HeaderKey,
    refuse_unused_certificates,
)

EVIDENCE = 5  # papers that support an answer (SHRAG, section 3.5)

Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]

CacheMode: TypeAlias = Literal["off", "use", "record", "replay"]
HopsMode: TypeAlias = Literal["auto", "never"]
Dialect: TypeAlias = Literal["vllm", "openai"]
StrategyCalls: TypeAlias = Literal["language", "one"]
OWN_FIELDS = frozenset(
    "model messages response_format stream stream_options temperature max_tokens seed n".split()
)


def _from_json(value: Any) -> Any:
    """Parse the JSON of a variable here, so that the error names the variable."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError('must be a JSON object, like {"top_k": 20}') from None


class LanguageModelSettings(BaseModel):
    """One OpenAI-compatible endpoint and one of its models."""

    # Errors never show the value: it may be a key.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    base_url: BaseUrl | None = Field(
        default=None,
        description="base URL of an OpenAI-compatible API, like http://localhost:8000/v1; without "
        "it there is no model",
    )
    model: str | None = Field(
        default=None, min_length=1, description="the model's name at that server; required with base_url"
    )
    other_models: CommaList = Field(
        default="",
        description="further models of that server, separated by commas, that a call may choose (`--model`)",
    )
    api_key: HeaderKey | None = Field(default=None, description="key of the server, if it needs one")
    allow_plain_http: AllowPlainHttp = False
    ca_certs: CaCerts = None
    timeout_s: Seconds = Field(
        default=90.0, description="seconds for one request, from sending to the end of its answer"
    )
    deadline_s: Seconds = Field(
        default=300.0, description="seconds for any stage, retries and repair included"
    )
    retries: int = Field(default=2, ge=0, le=10, description="further requests after one that failed")
    backoff_s: float = Field(
        default=0.5,
        ge=0,
        le=60,
        allow_inf_nan=False,
        description="seconds before the first retry, then doubled; a server's Retry-After takes precedence",
    )
    seed: int | None = Field(default=0, description="seed of the sampling; unset = not sent")
    temperature: float = Field(default=0.0, ge=0, le=2, description="0 = the likeliest answer")
    max_tokens: int = Field(default=2048, ge=16, le=131_072, description="maximum tokens of an answer")
    stream: bool = Field(
        default=True,
        description="read answers token by token; without it first_token_s and between_tokens_s "
        "have no effect",
    )
    first_token_s: Seconds = Field(
        default=30.0, description="seconds without data before the first token of a stream"
    )
    between_tokens_s: Seconds = Field(
        default=30.0, description="seconds without data after the first token of a stream"
    )
    keywords_s: Seconds = Field(
        default=60.0,
        description="seconds for a strategy, retries and waiting included, then it comes from statistics; "
        "also for questions of a conversation, further queries, hypotheses and "
        "requests of chat programs",
    )
    strategy_calls: StrategyCalls = Field(
        default="language",
        description="calls for a strategy: language = one for the keywords of each language, with its own "
        "prompt, as in the paper; one = a single call for all languages",
    )
    keywords_least: int = Field(default=2, ge=1, le=20, description="minimum keywords of each language")
    keywords_most: int = Field(
        default=5,
        ge=1,
        le=20,
        description="maximum keywords of each language; SHRAG_KEYWORDS limits the progressive queries",
    )
    answer_s: Seconds = Field(
        default=240.0, description="seconds for an answer, retries and waiting included, then it is quoted"
    )
    concurrency: int = Field(
        default=32, ge=1, le=1024, description="concurrent calls of a model; others wait"
    )
    circuit_failures: int = Field(
        default=5,
        ge=1,
        le=1000,
        description="consecutive failures (unreachable, too slow, 5xx) after which calls fail "
        "without a request",
    )
    circuit_open_s: Seconds = Field(default=30.0, description="seconds until one call tries the server again")
    dialect: Dialect = Field(
        default="vllm",
        description="vllm (also SGLang, llama.cpp): chat_template_kwargs are sent; openai: they are not, for "
        "servers that refuse unknown fields",
    )
    thinking: bool = Field(
        default=False, description="enable_thinking of the chat template, for models that can think aloud"
    )
    extra_body: Annotated[dict[str, Any], NoDecode, BeforeValidator(_from_json)] = Field(
        default_factory=dict, description='further fields of each chat call, as JSON: {"top_k": 20}'
    )
    revision: str | None = Field(
        default=None,
        description="the model's revision, if its name does not include it; part of a recorded call's key",
    )
    context_tokens: int | None = Field(
        default=None,
        ge=256,
        le=16_777_216,
        description="tokens of prompt and answer together; default is the size that vLLM reports in /models",
    )

    @property
    def configured(self) -> bool:
        """Whether a language model is configured."""
        return self.base_url is not None

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, the one that is used by default first; none if none is configured."""
        if not self.configured or not self.model:
            return ()
        return tuple(dict.fromkeys([self.model, *listed(self.other_models)]))

    @property
    def template_kwargs(self) -> dict[str, Any]:
        """Arguments of the chat template, with `enable_thinking` if the dialect supports it."""
        thinking = {"enable_thinking": self.thinking} if self.dialect == "vllm" else {}
        given: dict[str, Any] = self.extra_body.get("chat_template_kwargs", {})
        return thinking | given

    @field_validator("base_url")
    @classmethod
    def _strip_call_path(cls, value: str | None) -> str | None:
        return value and value.removesuffix("/chat/completions")

    @field_validator("extra_body")
    @classmethod
    def _check_extra_body(cls, value: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(value.get("chat_template_kwargs", {}), dict):
            raise ValueError("chat_template_kwargs must be an object")  # noqa: TRY004 - pydantic's way
        if taken := sorted(OWN_FIELDS & value.keys()):
            raise ValueError(f"must not contain {', '.join(taken)}: SHRAG sets these fields itself")
        return value

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.keywords_least > self.keywords_most:
            raise ValueError(
                f"keywords_least is {self.keywords_least}, above keywords_most, which is {self.keywords_most}"
            )
        if self.base_url and not self.model:
            raise ValueError(
                "base_url is set and model is not: set SHRAG_LLM__MODEL to one that base_url/models lists"
            )
        refuse_plain_http(self.base_url, secret=bool(self.api_key), allowed=self.allow_plain_http)
        refuse_unused_certificates(self.base_url, self.ca_certs)
        return self


def file_for_calls(value: object) -> object:
    """Return the default file of recorded calls for an empty value; ValueError without a home folder."""
    if not isinstance(value, str | Path):
        return value
    if value != "":
        return in_home(Path(value))
    return base_directory("XDG_CACHE_HOME", "~/.cache") / "shrag" / "calls.sqlite"


CallsFile = Annotated[Path, BeforeValidator(file_for_calls)]


class CacheSettings(BaseModel):
    """Cache mode and file of the model's answers."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    mode: CacheMode = Field(
        default="off",
        description="use: send and store calls that are not stored; record: send and store all; "
        "replay: send none",
    )
    file: CallsFile = Field(
        default="",
        validate_default=True,
        description="file of recorded calls; default is $XDG_CACHE_HOME/shrag/calls.sqlite, else "
        "~/.cache/shrag/calls.sqlite",
    )


class GeneratorSettings(LayeredSettings):
    """Settings of the generator; front ends build them once and pass them down."""

    model_config = SettingsConfigDict(
        env_prefix="SHRAG_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
    )

    llm: LanguageModelSettings = Field(
        default_factory=LanguageModelSettings, description="the language model"
    )
    cache: CacheSettings = Field(default_factory=CacheSettings, description="its recorded answers")
    evidence: int = Field(
        default=EVIDENCE, ge=1, le=100, description="papers on which an answer is based (`--evidence`)"
    )
    ask_method: str = Field(
        default="shrag", description="method by which `ask` searches for evidence (`--method`)"
    )
    ask_way: str = Field(
        default="shrag", description="steps from question to answer: one of generator/ways/ (`--way`)"
    )
    ask_hops: HopsMode = Field(
        default="never",
        description="several steps per question: auto = if the strategy of the model has steps (`--hops`)",
    )
