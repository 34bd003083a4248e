"""The encoder and the cross-encoders: loadable in this process, or an endpoint that returns vectors."""

from collections.abc import Iterator
from contextlib import closing

from indexer.settings import CheckSettings, EncoderSettings, RerankerSettings
from stack.doctor.findings import Examined, Finding, check_encryption, tried

TEXT = "회복탄력성 resilience"
QUERY = "resilience"
REVISION = "set SHRAG_ENCODER__REVISION to a commit, so that all machines make the same vectors"
ENCODER = "SHRAG_ENCODER__PROVIDER=local (make install-models), or endpoint: docs/how-to/models.md"
SEE = "see the message, docs/how-to/models.md and docs/reference/settings.md"


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
