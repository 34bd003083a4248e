"""An explanation as text, in English or Korean, without parts that do not contribute."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from base.amounts import plain
from base.terminal.columns import table
from base.terminal.output import shortened

if TYPE_CHECKING:  # loaded where a passage is explained
    from retriever.explaining.passages import Account

ExplanationLanguage: TypeAlias = Literal["en", "ko"]

KOREAN: Mapping[str, str] = {
    "part": "항목",
    "value": "값",
    "weight": "가중치",
    "score": "점수",
    "term": "용어",
    "of": "출처",
    "tf": "본문 빈도",
    "df": "문서 빈도",
    "idf": "역문서 빈도",
    "question": "질문",
    "keywords": "핵심어",
    "synonyms": "동의어",
    "feedback": "상위 본문의 단어",
    "second-search": "2차 검색",
    "cosine": "벡터 유사도",
    "exclusions": "제외 조건",
    "cross-encoder": "재정렬",
    "rank fusion": "순위 결합",
    "text": "본문",
    "title": "제목",
    "ko": "핵심어 (ko)",
    "en": "핵심어 (en)",
    "not found by method {method}": "{method} 방법으로 찾지 못함",
    "rank {rank} by method {method}": "{method} 방법으로 {rank}위",
    ", reordered by {reranker}": ", {reranker} 모델로 재정렬",
    "; the paper is shown by {shown}": "; 논문의 대표 본문은 {shown}",
}
ENGLISH: Mapping[str, str] = {"ko": "keywords (ko)", "en": "keywords (en)"}


def explanation_lines(account: "Account", language: ExplanationLanguage = "en") -> Iterator[str]:
    """Yield the lines: the parts of the score, their tokens, the rank."""
    words = KOREAN if language == "ko" else ENGLISH

    def say(text: str) -> str:
        return words.get(text, text)

    yield f"{account.passage_id} [{account.method}]  {shortened(account.title)}"
    if account.features:
        rows = [tuple(map(say, ("part", "value", "weight", "score")))]
        for name, part in account.features.items():
            shown = say(account.language if name == "keywords" and account.language else name)
            rows.append((shown, f"{part.value:.4f}", plain(part.weight), f"{part.contribution:.4f}"))
        rows.append((say("score"), "", "", f"{account.order_score:.4f}"))
        yield from table(rows, words=1)
    if account.terms:
        rows = [tuple(map(say, ("term", "of", "tf", "df", "idf", "weight", "score")))]
        for term in account.terms:
            counts = plain(term.frequency), str(term.document_frequency), f"{term.idf:.3f}"
            rows.append((term.token, say(term.field), *counts, plain(term.weight), f"{term.score:.4f}"))
        yield from table(rows, words=2)
    said = say("not found by method {method}" if account.rank is None else "rank {rank} by method {method}")
    said += say(", reordered by {reranker}") if account.reranker else ""
    said += say("; the paper is shown by {shown}") if account.shown not in {"", account.passage_id} else ""
    yield said.format(**{name: getattr(account, name) for name in ("rank", "method", "reranker", "shown")})
