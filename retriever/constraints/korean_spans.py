"""The words that a Korean operator excludes: the noun phrase before it."""

import re

from retriever.constraints.exclusions import Exclusion

CHARACTERS = r"[^\s()\[\]{}<>〈〉《》「」『』,.;:·\"“”‘’!?…~/|]"
WORD = rf"(?P<word>{CHARACTERS}{{1,60}}?)"
BEFORE_AND_THE_LIKE = re.compile(rf"(?<!\S){WORD}\s+\Z")
# Words for papers, and the phrase before them with their subject: 딥러닝에 관한 논문, 방사선 관련 연구.
PAPERS = frozenset("논문 연구 문헌 자료 보고 것 내용 이야기 부분 쪽".split())
TOPIC_OF_PAPERS = re.compile(
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
MODIFIER = re.compile(rf"(?<!\S)(?P<word>{CHARACTERS}*(?:[^{ENDINGS}\s,.()]|{NOUNS_LIKE_ENDINGS})) \Z")
NO_MODIFIERS = frozenset(
    """
    다른 모든 우리 본 해당 기존 각 이 그 저 및 또는 혹은 등 중 때 뒤 후 전 이후 이전 이래 동안 최근 현재
    지금 요즘 특히 주로 단 다만 혹시 만약 만일 왜 어떤 무슨 오직 보통 대신 가장 더 또 그리고 대부분 일부
    가운데 위해 대해 관해 통해 따라 사이
    """.split()
)
MOST_MODIFIERS = 2
# An item of a list before the excluded word: 납과 카드뮴을, 카페인이나 알코올 이외의.
LISTED = re.compile(rf"(?<!\S)(?P<word>{CHARACTERS}+(?:와|과|이나|나| 및| 또는| 혹은)) \Z")
LISTED_BY_COMMA = re.compile(rf"(?<!\S)(?P<word>(?:{CHARACTERS}+, ?)+)\Z")


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
