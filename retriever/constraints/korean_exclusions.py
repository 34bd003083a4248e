"""Exclusions in Korean questions: operators with the noun phrase before them.

"X 외에 또", "X 외에도" and "X 말고도" ask for more than X and exclude nothing. "X 없이" is a topic, except in
"X에 대한 언급 없이". "X를 다루지 않은" excludes before a word for papers, "X가 아닌" directly before one,
"X가 아니라" before "Y에 관한 연구".
"""

import re
from collections.abc import Callable, Iterator

from base.patterns import lazy_regex
from retriever.constraints.exclusions import Exclusion
from retriever.constraints.publication_years import KOREAN_PAPERS

CHARACTERS = r"[^\s()\[\]{}<>〈〉《》「」『』,.;:·\"“”‘’!?…~/|]"
WORD = rf"(?P<word>{CHARACTERS}{{1,60}}?)"
BEFORE_AND_THE_LIKE = lazy_regex(rf"(?<!\S){WORD}\s+\Z")
# Words for papers, and the phrase before them with their subject: 딥러닝에 관한 논문, 방사선 관련 연구.
PAPERS = frozenset("논문 연구 문헌 자료 보고 것 내용 이야기 부분 쪽".split())
TOPIC_OF_PAPERS = lazy_regex(
    rf"(?<!\S){WORD}(?:에\s*(?:대한|관한|대해\s*쓴|관해\s*쓴)|[을를]\s*(?:다룬|다루는|이용한|사용한|쓴|대상으로\s*한)"
    r"|\s*관련(?:된|한)?|[와과]\s*관련(?:된|한|있는))\s+\Z"
)
# A noun without a particle or ending belongs to the excluded word after it: 수소 연료 전지를 제외하고.
ENDINGS = "은는이가을를의에로와과도한된인할던서고게며른떤느런만지면요다려니"
NOUNS_LIKE_ENDINGS = (
    r"(?:[온습속밀농강각제지의태빈척순도]도|[종높길깊넓나차고양]이|[평국물주증원추]가|[회합동논심주정토협]의"
    r"|[도진경회선피폭통]로|[결효성초통치내외안교]과|[순문부도센정질증단]서|[광사보재창원경최참권]고"
    r"|[전편잡휴토복먼단농습녹배]지|[산아음]도|[표화차도측]면|[중일개법노시무유라]인|[북남대제]한)"
)
MODIFIER = lazy_regex(rf"(?<!\S)(?P<word>{CHARACTERS}*(?:[^{ENDINGS}\s,.()]|{NOUNS_LIKE_ENDINGS})) \Z")
NO_MODIFIERS = frozenset(
    """
    다른 모든 우리 본 해당 기존 각 이 그 저 및 또는 혹은 등 중 때 뒤 후 전 이후 이전 이래 동안 최근 현재
    지금 요즘 특히 주로 단 다만 혹시 만약 만일 왜 어떤 무슨 오직 보통 대신 가장 더 또 그리고 대부분 일부
    가운데 위해 대해 관해 통해 따라 사이
    """.split()
)
MOST_MODIFIERS = 2
# An item of a list before the excluded word: 납과 카드뮴을, 카페인이나 알코올 이외의.
LISTED = lazy_regex(rf"(?<!\S)(?P<word>{CHARACTERS}+(?:와|과|이나|나| 및| 또는| 혹은)) \Z")
LISTED_BY_COMMA = lazy_regex(rf"(?<!\S)(?P<word>(?:{CHARACTERS}+, ?)+)\Z")
SAID = r"(?:언급|거론|논의|설명|포함|말|서술|소개|추천|고려|논)하지|다루지|넣지"
ABOUT = r"에\s*(?:대해|관해)(?:서)?(?:는)?|에\s*(?:대한|관한)"
CONTENT = r"(?:\s*(?:것|내용|이야기|언급|설명)[은을]?)?"
REASON = r"(?!\s*(?:이유|까닭|원인|근거|경우|결과|채|뒤|후|효과))"
REFILL = r"(?!\s*(?:대(?=[고는었면기어])|넣|다시|나서|나면|난\s|있|싶|채우))"
TREATED = r"(?:다루|언급하|논의하|거론하|소개하)지\s*(?:않은|않는|아니한)"
# Words with which a question asks for more of the same, or for something particular beside X.
ADDITIVE = lazy_regex(r"(?<!\S)(?:또|또한|추가|추가로|더|다른|어떤|어느|무슨|몇)|도(?=[\s?]|$)")
WHY = lazy_regex(r"(?<!\S)왜(?!\S)|이유|까닭")
# The rest without X (수수료를 제외하고 받는 금액), and a rule with the exception X (금성을 제외한 모든 행성).
REMAINDER = lazy_regex(r"(?<!\S)(?:얼마|금액|남은|남는|모든 )|계산")
ASKED_TO = lazy_regex(
    r"(?:[해려여줘]\s*)?(?:줘|주세요|주십시오|달라|다오|줄래)|(?:하|으|시)(?:라|시오)|알려|보여|바랍니다|바란다"
)
TOLD = lazy_regex(
    r"설명하면|비교하면|요약하면|정리하면|(?:요인|방법|원인|기술|특징|종류|대책)[은는]?\s*(?:무엇\S*)?\??$"
)
# 배 이외의 탈것이 유용한 곳은: the question asks for a place, not for a means.
CONDITION = lazy_regex(r"\s*것|.*[이가]\s.*(?<!\S)(?:곳|경우|때)[은는]")
AGAIN = lazy_regex(r"\s*(?:또|추가로|더)(?!\S)")
NO = lazy_regex(r"없|않|못|안 ")
ASKED = lazy_regex(r"(?<!\S)(?:무엇|뭐|뭘|어떤|어느|누가|누구|어디)")
# The question asks for a class of things, and has no particular subject: 질소 외에 수량을 좌우하는 양분은.
OF_A_CLASS = lazy_regex(r"(?:\s+\S*[^\s이가도])*\s+\S+[은는](?:\s+(?:무엇|뭐)\S*)?\s*\??\s*$")
# Without one of these syllables a question has no operator.
CUE = lazy_regex("제외|빼|말|마|외|없|않은|않는|않고|아니한|무관|아니라|아닌")
# Words for no thing.
NO_THING = frozenset(
    "것 거 수 때 점 이 그 저 기타 이것 그것 저것 이들 그들 나머지 경우 이유 등 또 제 때문 그밖 왜 더".split()
) | {""}
# Forms of verbs: 쓰지 말고 says how, not what. Nouns that end in 지 are listed.
VERB_FORM = lazy_regex(
    r"(?<!전)(?<!배)(?<!편)(?<!잡)(?<!휴)(?<!토)(?<!복)(?<!아)(?<!돼)(?<!먼)(?<!단)(?<!술)(?<!립)(?<!농)(?<!습)(?<!녹)"
    r"(?<!용)(?<!벽)(?<!표)(?<!반)지\Z"
)
# Things that are let out or lost (물을 빼고), not meant (걱정 말고), and places of an outside (시간 외의).
TOPICS = {
    "빼": frozenset(
        "물 살 힘 가스 공기 바람 독 기름 체중 전원 못 얼룩 수분 김 땀 염분 피 뱃살 열 습기".split()
    ),
    "말": frozenset("걱정 염려 두말".split()),
    "외": frozenset(
        "시간 수업 업무 근무 일과 병원 학교 기관 세포 가정 정규 부부 혼인 과정 태양계 지구".split()
    ),
}
LAST_TOPICS = frozenset({"시간", "과정"})  # at the end of a phrase too: 정규 교육 과정 외의


def words_before(text: str, match: re.Match[str]) -> Exclusion:
    """Return the exclusion of an operator with the noun phrase before it; its text is empty without one."""
    word, particle, start = match["word"], match["particle"] or "", match.start("word")
    if particle in {"을", "를", "은", "는"} and not _agrees(word, particle):
        word += particle
    end, is_list = start + len(word), False
    if word in {"등", "따위"}:
        earlier = BEFORE_AND_THE_LIKE.search(text, max(0, start - 61), start)
        if not earlier:
            return Exclusion("", match["operator"], start, match.end())
        start, end, is_list = earlier.start("word"), earlier.end("word"), True
    elif word in PAPERS and (topic := TOPIC_OF_PAPERS.search(text[:start])):
        start, end = topic.start("word"), topic.end("word")
    start = _extended(text, start, is_list=is_list)
    return Exclusion(text[start:end], match["operator"], start, match.end())


def _extended(text: str, start: int, *, is_list: bool) -> int:
    """Return where a noun phrase starts, with the nouns and list items before its last word."""
    for _ in range(MOST_MODIFIERS):
        found = LISTED.search(text[:start]) or (LISTED_BY_COMMA.search(text[:start]) if is_list else None)
        if not found:
            found = MODIFIER.search(text[:start])
            if not found or found["word"] in NO_MODIFIERS:
                break
        start = found.start("word")
    return start


def _agrees(word: str, particle: str) -> bool:
    """Check whether a particle has the form for a word's last sound: 을 and 은 follow consonants."""
    closed = "가" <= word[-1] <= "힣" and (ord(word[-1]) - ord("가")) % 28 > 0
    return not "가" <= word[-1] <= "힣" or closed == (particle in "을은")


def _is_told(behind: str) -> bool:
    """Check whether the text after an operator is an instruction."""
    return bool(ASKED_TO.search(behind) or TOLD.search(behind)) and not WHY.search(behind)


def _is_no_reason(behind: str) -> bool:
    return bool(ASKED_TO.search(behind)) or not (WHY.search(behind) or REMAINDER.search(behind))


def _is_no_condition(behind: str) -> bool:
    return _is_no_reason(behind) and not CONDITION.match(behind) and not AGAIN.match(behind)


def _asks_for_others(behind: str) -> bool:
    return bool(OF_A_CLASS.match(behind)) and not ADDITIVE.search(behind) and not NO.search(behind)


def _asks_what_else(behind: str) -> bool:
    return bool(ASKED.search(behind)) and not NO.search(behind)


def _is_about_papers(behind: str) -> bool:
    return bool(re.search(KOREAN_PAPERS, behind)) and not WHY.search(behind)


def _names_a_subject(behind: str) -> bool:
    return bool(re.match(rf"\s*\S+에\s*(?:관한|대한)\s(?:.*\s)?{KOREAN_PAPERS}", behind))


def _always(_: str) -> bool:
    return True


# The particles between a word and its operator, the operator, and the text after it with which it excludes.
OPERATORS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    # A criterion of exclusion (제외 기준), or why something was excluded, is a topic.
    (
        r"[을를은는]?",
        (
            rf"제외(?:하고(?:는|서)?|하면|하되|하며|한{REASON}|할\s*것|해\s*(?:줘|주|달)\w*|(?=\s*(?:[).,;!?]|$)))"
            rf"|빼(?:고(?:는)?{REFILL}|\s*(?:줘|주세요|주십시오|달라))"
        ),
        _is_no_reason,
    ),
    (r"", r"말고|이외의", _is_no_condition),
    (r"", r"말고는|이외에는", _asks_what_else),
    (r"", r"이외에", _asks_for_others),
    (r"(?=\s)", r"외의", _is_no_condition),
    (r"(?=\s)", r"외에는", _asks_what_else),
    (r"(?=\s)", r"외에", _asks_for_others),
    (rf"(?:[을를은는]|(?:{ABOUT}){CONTENT})?", rf"(?:{SAID})\s*[말마]\w*", _always),
    (r"[을를은는]?", r"(?:언급|거론|논의)(?:하지\s*않고|\s*없이)", _is_told),
    (ABOUT, r"(?:언급|거론|논의|설명|소개|이야기)\s*없이", _is_told),
    (r"[을를은는]", r"(?:고려|포함|다루|논의)(?:하)?지\s*않고", _is_told),
    (r"에", r"초점을\s*(?:맞추|두)지\s*않고", _is_told),
    (r"[을를은는]", TREATED, _is_about_papers),
    (r"에", r"초점을\s*(?:맞추|두)지\s*(?:않은|않는)", _is_about_papers),
    (r"(?<!뿐만)[이가]", r"아니라", _names_a_subject),
    (r"[이가]", rf"아닌(?=\s+{KOREAN_PAPERS})", _always),
    (r"[와과]", rf"(?:관련(?:이)?\s*없는|관계(?:가)?\s*없는|무관한)(?=\s+{KOREAN_PAPERS})", _always),
)


PATTERNS = tuple(
    (lazy_regex(rf"(?<!\w)(?=\w){WORD}(?P<particle>{between})\s*(?P<operator>{operators})(?!\w)"), allowed)
    for between, operators, allowed in OPERATORS
)


def korean_exclusions(text: str) -> Iterator[Exclusion]:
    """Find the Korean exclusions of a composed (NFC) question."""
    if not CUE.search(text):
        return
    for pattern, allowed in PATTERNS:
        for match in pattern.finditer(text):
            if not allowed(_rest_of_sentence(text, match.end())):
                continue
            exclusion = words_before(text, match)
            last = exclusion.text.split(" ")[-1]
            topics = TOPICS.get(match["operator"][0], frozenset())
            is_topic = last in NO_THING or exclusion.text in topics or last in topics & LAST_TOPICS
            if not is_topic and not VERB_FORM.search(last):
                yield exclusion


def _rest_of_sentence(text: str, start: int) -> str:
    return re.split(r"(?<=[.?!])\s", text[start:], maxsplit=1)[0]
