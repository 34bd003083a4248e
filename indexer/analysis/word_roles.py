"""Roles of words in a question: its subject, its request, the words that ask.

English words are listed as they are written, and known by that form and by their stem. Korean words are
listed as nori's tokens, by part of speech (Sejong's tags) where a token may be another word: 수 is a number
of things, the Sui dynasty, or the bound noun of 할 수 있다.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal, get_args

from indexer.analysis.english import STOP_WORDS
from indexer.analysis.porter import porter_stem
from indexer.analysis.tokens import TaggedToken

# noun: the subject (every word of unknown part of speech). other: verbs, adjectives, counters.
# request: the form of the answer (please, overview, 요약). asking: who, 무엇, 있.
Role = Literal["noun", "other", "request", "asking"]
ROLES: tuple[Role, ...] = get_args(Role)
SUBJECT_ROLES: frozenset[Role] = frozenset({"noun", "other"})

# "us" is not listed: it is the stem of "use".
ENGLISH: Mapping[Role, str] = {
    "asking": """
        what which who whom whose when where why how whether
        am are be been being is was were do does did done doing have has had having
        can could may might must shall should will would
        i me my we our ours you your yours he him his she her hers it its them itself themselves
        some any such many much each both those these this that here
        about among because between during from into off out over than through up via while within without
        become becomes becoming come comes coming get gets getting go goes going keep keeps keeping let lets
        make makes making put puts putting take takes taking thing things way ways
        """,
    "request": """
        brief briefly concise describe description detail detailed discuss discussion elaborate
        explain explanation find give know latest like literature main outline overview paper please
        provide recent recently summarise summarize summary tell want
        """,
}
KOREAN_NOUNS: Mapping[Role, str] = {
    "asking": "경우 때 어떠 얼마",
    "request": """
        간단 간략 개요 구체 궁금 논문 논의 문헌 부탁 상세 서술 설명 소개 예시 요약 전반 정리 제시 주요
        최근 최신 핵심
        """,
}
KOREAN_VERBS: Mapping[Role, str] = {
    "asking": "같 관하 대하 되 따르 못하 않 어떻 어딨 없 위하 의하 인하 있 통하 하",
    "request": "드리 바라 보이 알 알리 원하 찾",
}
# Pronouns (무엇, 누구, 그것), auxiliary verbs, copulas, bound nouns (것, 수, 때문).
ASKING_TAGS = frozenset({"NP", "VX", "VCP", "VCN", "NNB"})
COUNTER = "NNBC"  # a unit behind a number: 년, 명, 미터


@cache
def _english() -> dict[str, Role]:
    roles: dict[str, Role] = dict.fromkeys(STOP_WORDS, "asking")
    for role, listed in ENGLISH.items():
        for word in listed.split():
            roles |= {word: role, porter_stem(word): role}
    return roles


@cache
def _korean() -> tuple[dict[str, Role], dict[str, Role]]:
    nouns, verbs = (
        {word: role for role, listed in lists.items() for word in listed.split()}
        for lists in (KOREAN_NOUNS, KOREAN_VERBS)
    )
    return nouns, verbs


def role_of(token: str, tag: str) -> Role:
    """Return the role of a token; `tag` is its part of speech, empty if unknown."""
    if tag in ASKING_TAGS:
        return "asking"
    nouns, verbs = _korean()
    is_verb = tag.startswith("V")
    listed = (verbs if is_verb else nouns).get(token) or _english().get(token)
    return listed or ("other" if is_verb or tag == COUNTER else "noun")


def roles_of(tagged: Iterable[TaggedToken]) -> dict[str, Role]:
    """Return the role of each token; a token with several roles gets the first in the order of `ROLES`."""
    roles: dict[str, Role] = {}
    for (token, *_), tag in tagged:
        roles[token] = min(role_of(token, tag), roles.get(token, ROLES[-1]), key=ROLES.index)
    return roles
