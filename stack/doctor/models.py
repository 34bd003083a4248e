"""The encoder and the cross-encoders: loadable in this process, or an endpoint that returns vectors."""

from collections.abc import Iterator

from base.errors import ResourceError
from indexer.settings import CheckSettings, EncoderSettings, RerankerSettings
from stack.doctor.findings import Examined, Finding, check_encryption, failed

TEXT = "회복탄력성 resilience"
PAIR = "resilience", TEXT
REVISION = "set SHRAG_ENCODER__REVISION to a commit, so that all machines make the same vectors"
ENCODER = "SHRAG_ENCODER__PROVIDER=local (make install-models), or endpoint: docs/how-to/models.md"


def check_encoder(examined: Examined) -> Iterator[Finding]:
    """Open the configured encoder and encode one text."""
    from indexer.encoders import open_encoder

    settings = examined.settings.indexer.encoder
    if settings.provider == "endpoint":
        yield from check_encryption(settings.base_url or "", secret=bool(settings.api_key))
    configured = _named(settings) + (f" at {settings.base_url}" if settings.base_url else "")
    try:
        encoder = open_encoder(settings)
        if encoder is None:
            found = "no vectors; candidates are ordered by words only"
            yield Finding("provider", "not configured", found, "", ENCODER)
            return
        try:
            dimensions, mark = len(encoder.encode_queries([TEXT])[0]), encoder.fingerprint
        finally:
            encoder.close()
    except ResourceError as error:
        remedy = "see the message; docs/how-to/models.md lists which server supports which checkpoint"
        found = f"{type(error).__name__}: {error}"
        yield Finding(settings.provider, "wrong", found, configured, remedy)
        return
    found = f"{dimensions} dimensions, {mark.pooling} pooling, {mark.max_tokens:,} tokens, {mark.storage}"
    yield Finding(settings.provider, "ok", found, configured)
    if settings.provider == "local" and not settings.revision:
        yield Finding("revision", "warning", "not pinned", settings.model, REVISION)


def check_cross_encoders(examined: Examined) -> Iterator[Finding]:
    """Open each configured model, and let it read one pair."""
    reranker, check = examined.settings.indexer.reranker, examined.settings.indexer.check
    if reranker.provider == "local":
        yield _read_pair("re-ranker", reranker)
    if check.judge == "local":
        yield _read_pair("check of answers", check)


def _read_pair(subject: str, settings: RerankerSettings | CheckSettings) -> Finding:
    from indexer.encoders.cross_encoder import CrossEncoderReranker, EntailmentModel

    model: CrossEncoderReranker | EntailmentModel
    try:
        if isinstance(settings, CheckSettings):
            model = EntailmentModel(settings)
            found = f"a sample is classified as {model.judge([PAIR])[0].relation}"
        else:
            model = CrossEncoderReranker(settings)
            found = f"a score of {model.scores(PAIR[0], PAIR[1:])[0]:.2f} for a sample"
        model.close()
    except ResourceError as error:
        remedy = "see the message and docs/reference/settings.md"
        return failed(subject, error, _named(settings), remedy)
    return Finding(subject, "ok", found, _named(settings))


def _named(settings: EncoderSettings | RerankerSettings | CheckSettings) -> str:
    return f"{settings.model}{'@' + settings.revision if settings.revision else ''}"
