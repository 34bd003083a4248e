"""Roles of words in a question: subject, request and question words.

English words are listed as written, and matched by this form and by their stem. Korean words are listed as
nori's tokens, with a part of speech (Sejong tags) where a token is ambiguous: 수 is a number of things, the
Sui dynasty, or the bound noun of 할 수 있다.
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
    "asking": "경우 때 어떠 얼마 속 안 밖 곁",
    "request": """
        간단 간략 개요 구체 궁금 논문 논의 문헌 부탁 상세 서술 설명 소개 예시 요약 전반 정리 제시 주요
        최근 최신 핵심
        """,
}
KOREAN_VERBS: Mapping[Role, str] = {
    "asking": "같 관하 대하 되 따르 못하 않 어떻 어딨 없 위하 의하 인하 있 통하 하",
    "request": "드리 바라 보이 알 알리 원하 찾",
}
# Words common to all papers, as written. In a question they say little about its subject, however rare they
# are in the index.
COMMON_ENGLISH = frozenset(
    """
    above across after again against ago ahead all almost alone along already also although always amid
    another any anyone anything apart around aside away back because before behind below beneath beside
    besides beyond both by currently despite down either else elsewhere enough especially even ever
    every everyone everything except exactly fairly far few fewer finally first firstly further
    furthermore generally hardly hence highly however indeed instead just largely last lastly later
    least less lot lots mainly many maybe meanwhile more moreover most mostly much namely near nearly
    neither never nevertheless next nobody none nonetheless nothing now nowadays off often once one only
    onto or other others otherwise ought over overall own particularly per perhaps possibly previously
    quite rather readily really regarding relatively respectively same second secondly seldom seriously
    several shortly significantly similarly simply since somehow someone something sometimes somewhat
    soon still substantially sufficiently than then thereby therefore though through throughout thus
    till today together too toward towards twice typically under underneath unless unlike until upon
    usually versus very well whatever whenever whereas wherever whereby whichever whoever whole with yet
    able available better best certain clear different easy good great important interested interesting
    long new newer old older pertaining pertinent possible previous reasonable related relevant short
    similar specific such total typical useful various worse worst
    affect affected affecting affects allow allowed allows apply applied based bring brings call called
    cause caused causes causing change changed changes changing compare compared comparing concern
    concerned concerning consider considered contain contained containing contains decrease decreased
    decreases decreasing depend depending depends determine determined differ differs exist exists found
    gave given gives happen happened happens help helped helpful helping helps improve improved improves
    improving include included includes including increase increased increases increasing influence
    influenced influences influencing involve involved involves lead leading leads led mean means need
    needed needs obtain obtained occur occurred occurs produce produced produces propose proposed reduce
    reduced reduces reducing relate relates remain remained remains reported require required requires
    resulted resulting say says see seen show showed shown shows suggest suggested suggests try trying
    turn turns understand understanding use used uses using work worked working works
    advances analysis application applications approach approaches aspect aspects case cases challenge
    challenges comparison development difference differences effect effects example examples fact future
    issue issues kind kinds method methods parts point problem problems publication publications
    published purpose reason reasons research researches result results review reviews study studies
    survey surveys trend trends year years
    """.split()
)
COMMON_KOREAN = frozenset(
    """
    이후 이전 이래 이내 이외 이상 이하 이때 그때 당시 현재 오늘날 요즘 지금 과거 미래 처음 마지막 다음
    이번 동안 사이 가운데 전후 정도 부분 전체 전부 대부분 일부 각각 각자 서로 모두 자체 스스로 나머지 기타
    다양 종류 유형 방식 방법 방안 연구 고찰 분석 평가 결과 효과 영향 변화 차이 관계 관련 비교 특히 의미
    역할 원인 이유 까닭 문제 과제 한계 장점 단점 가능 필요 중요 이용 사용 활용 응용 증가 감소 향상 개선
    발전 발생 존재 포함 해당 동향 추세 흐름 개관 리뷰 역사 사실
    """.split()
)
# Pronouns (무엇, 누구, 그것), auxiliary verbs, copulas, bound nouns (것, 수, 때문).
ASKING_TAGS = frozenset({"NP", "VX", "VCP", "VCN", "NNB"})
COUNTER = "NNBC"  # a unit after a number: 년, 명, 미터


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


def is_common(text: str, token: str) -> bool:
    """Check whether a word, given as written and as a token, is common to all papers: since, 이후."""
    return text.casefold() in COMMON_ENGLISH or token in COMMON_KOREAN
