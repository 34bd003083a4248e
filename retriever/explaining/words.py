"""Korean translations of the words of an explanation, by the English ones; `{name}` is a value."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

ExplanationLanguage: TypeAlias = Literal["en", "ko"]
Say: TypeAlias = Callable[..., str]

KOREAN: Mapping[str, str] = {
    # where a word came from
    "own words": "질문의 단어",
    "user's glossary": "사용자 용어집",
    "corpus's glossary": "말뭉치 용어집",
    "general glossary": "일반 용어집",
    "abbreviation": "약어",
    "by its sound": "소리로 찾음",
    "by its parts": "다르게 나누어 찾음",
    "synonyms": "동의어",
    # heads of columns
    "concept": "개념",
    "scored by": "점수를 준 말",
    "weights": "가중치",
    "importance": "중요도",
    "BM25": "BM25",
    "adds": "더한 점수",
    "counterpart": "대응어",
    "from": "출처",
    "constraint": "조건",
    "counts against it": "감점 비율",
    "term": "용어",
    "field": "필드",
    "tf": "본문 빈도",
    "df": "문서 빈도",
    "idf": "역문서 빈도",
    "weight": "가중치",
    "score": "점수",
    "part": "항목",
    "value": "값",
    # fields
    "text": "본문",
    "title": "제목",
    # parts of a score
    "base": "개념(BM25)",
    "feedback": "상위 본문의 단어",
    "neighbours": "이웃한 단어",
    "cosine": "벡터 유사도",
    "same title": "같은 제목",
    "bridge": "2차 검색: 이름",
    "title in passage": "2차 검색: 제목",
    "other language": "다른 언어",
    "constraints": "질문의 조건",
    "read again": "재정렬",
    "first query": "첫 질의",
    # sentences
    "near spellings of {token}: {nears}": "{token}의 비슷한 표기: {nears}",
    "feedback from the best passages: {terms}": "상위 본문에서 얻은 단어: {terms}",
    "{text} (held)": "{text} (포함)",
    "second search: the question names {names}": "2차 검색: 질문에 나온 이름 {names}",
    "{passage} names {names}": "{passage}에 나온 이름: {names}",
    "left open: {words}": "남은 단어: {words}",
    "BM25 of the first query, which finds candidates:": "후보를 찾는 첫 질의의 BM25:",
    "BM25 of the first query:": "첫 질의의 BM25:",
    "BM25 of the question, by which nothing is ordered:": "질문의 BM25 (순위에는 쓰지 않음):",
    "score: {score}": "점수: {score}",
    "cosine of the vectors: {cosine}": "벡터의 코사인 유사도: {cosine}",
    "not among the first {depth} by method {method}": "{method} 방법의 상위 {depth}편에 들지 않음",
    "rank {rank} by method {method}": "{method} 방법으로 {rank}위",
    ", read again by {reranker}": ", {reranker} 모델로 재정렬",
    "; the paper is shown by {shown}": "; 논문의 대표 본문은 {shown}",
}


def words_of(language: ExplanationLanguage) -> Say:
    """Return the translator for a language; names without a translation are unchanged."""

    def say(text: str, /, **values: object) -> str:
        said = KOREAN.get(text, text) if language == "ko" else text
        return said.format(**values) if values else said

    return say
