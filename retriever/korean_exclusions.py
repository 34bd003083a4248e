"""What a Korean question asks to leave out: operators, each with the one word before it."""

import re
from collections.abc import Iterator

from retriever.exclusions import Exclusion

SAID = r"(?:언급|거론|논의|설명|포함|말|서술|소개|추천|고려|논)하지|다루지|넣지"
WORD = r"(?P<word>[^\s()\[\]{}<>〈〉《》「」『』,.;:·\"“”‘’!?…~/|]{1,60}?)"
ABOUT = r"에\s*(?:대해|관해)(?:서)?(?:는)?|에\s*(?:대한|관한)"
CONTENT = r"(?:\s*(?:것|내용|이야기|언급|설명)[은을]?)?"
OTHERS = r"(?=\s+(?:어떤|무엇|다른|어느|또))"
REASON = r"(?!\s*(?:이유|까닭|원인|근거|경우|결과|채|뒤|후|효과))"
REFILL = r"(?!\s*(?:대|넣|다시|나서|나면|난\s|있|싶|채우))"
# What may stand between a word and its operator, and the operator.
OPERATORS = {
    # A criterion of exclusion (제외 기준), or why something was excluded, is a topic.
    r"[을를은는]?": rf"제외(?:하고(?:는|서)?|하면|하되|하며|한{REASON}|할\s*것"
    r"|해\s*(?:줘|주|달)\w*|(?=\s*(?:[).,;!?]|$)))"
    rf"|빼(?:고(?:는)?{REFILL}|\s*(?:줘|주세요|주십시오|달라))",
    r"": rf"말고(?:는|도)?|이외(?:의|에|에는)|이외에도{OTHERS}",
    r"(?=\s)": rf"외(?:의|에|에는)|외에도{OTHERS}",
    rf"(?:[을를은는]|(?:{ABOUT}){CONTENT})?": rf"(?:{SAID})\s*[말마]\w*"
    r"|(?:언급|거론|논의)(?:하지\s*않고|\s*없이)",
}
PATTERNS = tuple(
    re.compile(rf"(?<!\w)(?=\w){WORD}(?P<particle>{between})\s*(?P<operator>{operators})(?!\w)")
    for between, operators in OPERATORS.items()
)
# Words that stand for no thing, and forms of verbs ("쓰지 말고" says how, not what).
NO_THING = frozenset(
    "것 거 수 때 점 이 그 저 기타 이것 그것 저것 이들 그들 나머지 경우 이유 등 또 제 때문 그밖 왜 더".split()
) | {""}
# Words that say little alone: the one before them belongs to them (약물 치료 이외의), if it is no other part.
HEADS = frozenset(
    "논문 연구 치료 요법 방법 조사 보고 자료 사례 기법 모델 모형 알고리즘 학습 검사 장치 물질 환자".split()
)
BEFORE_HEAD = re.compile(
    r"(?<!\S)(?P<word>[^\s()\[\],.;:!?]+(?<![은는이가을를의에로와과도한된인할던서고게며른떤느런])) \Z"
)
BEFORE_AND_THE_LIKE = re.compile(rf"(?<!\S){WORD}\s+\Z")
VERB_FORM = re.compile(r"(?:하|쓰|되|보|두|루|주|먹|찾|적|담|놓|넣|않|따르|믿|섞|읽|내리|올리|만들|버리)지\Z")
# What is let out or lost (물을 빼고), not meant (걱정 말고), and what one may be outside of (시간 외에).
TOPICS = {
    "빼": frozenset(
        "물 살 힘 가스 공기 바람 독 기름 체중 전원 못 얼룩 수분 김 땀 염분 피 뱃살 열 습기".split()
    ),
    "말": frozenset("걱정 염려 두말".split()),
    "외": frozenset("시간 수업 업무 근무 일과 병원 학교 기관 세포 가정 정규".split()),
}


def korean_exclusions(text: str) -> Iterator[Exclusion]:
    """Find what a composed question asks in Korean to leave out."""
    for pattern in PATTERNS:
        for match in pattern.finditer(text):
            exclusion = _word_before(text, match)
            topics = NO_THING | TOPICS.get(match["operator"][0], frozenset())
            if exclusion.text not in topics and not VERB_FORM.search(exclusion.text):
                yield exclusion


def _word_before(text: str, match: re.Match[str]) -> Exclusion:
    """Return the exclusion of the word before a Korean operator; 등 ("and the like") is stepped over."""
    word, particle, start = match["word"], match["particle"] or "", match.start("word")
    if particle in {"을", "를", "은", "는"} and len(particle) == 1 and not _agrees(word, particle):
        word += particle
    if word in {"등", "따위"}:
        earlier = BEFORE_AND_THE_LIKE.search(text, max(0, start - 61), start)
        word, start = (earlier["word"], earlier.start("word")) if earlier else ("", start)
    if word in HEADS and (earlier := BEFORE_HEAD.search(text[max(0, start - 60) : start])):
        word, start = f"{earlier['word']} {word}", start - len(earlier["word"]) - 1
    return Exclusion(word, match["operator"], start, match.end())


def _agrees(word: str, particle: str) -> bool:
    """Tell whether a particle has the form for a word's last sound: 을 and 은 follow consonants."""
    closed = "가" <= word[-1] <= "힣" and (ord(word[-1]) - ord("가")) % 28 > 0
    return not "가" <= word[-1] <= "힣" or closed == (particle in "을은")
