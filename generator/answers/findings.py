"""Likelihood that a sentence of an abstract states a finding that answers a question.

Background, aim and method precede the main finding of an abstract, and side findings follow it. Findings
contain numbers, and words of change, difference or association. The likelihood is a logistic regression
fitted on the plain tuning questions and the sample's questions. It applies only to texts in which authors
report what they did or found, since an encyclopedia article has another structure.
"""

import re
from collections.abc import Sequence

from base.logistic import likelihood
from base.patterns import lazy_regex
from indexer.corpora.papers import Language, language_of

# Words of change, difference and association.
RESULTS: dict[Language, re.Pattern[str]] = {
    "en": lazy_regex(
        r"\b(?:rose|fell|fall|dropped|grew|declined|increased?|decreased|reduced|lowered|raised|improved|halved"
        r"|doubled|slowed|shortened|cut|kept|remained|reached|exceeded|unchanged|higher|lower|larger|greater"
        r"|smaller|fewer|less|more|longer|shorter|better|worse|best|worst|most|least|against|differed"
        r"|difference|associated|related|correlat\w+|predicted|explains?|accounts? for|odds|risk|twice"
        r"|times)\b",
        re.IGNORECASE,
    ),
    "ko": lazy_regex(
        "나타났|유의|차이|상관|관련이|효과가|감소|증가|향상|개선|줄었|줄였|늘었|높았|낮았|높아|낮아|많았|적었|컸다|작았"
        "|올랐|떨어|커졌|작아|달라|보다|가장"
    ),
}
MEASURED = lazy_regex(
    r"\d\s*(?:[%％배℃°]|퍼센트|포인트|per ?cent|percentage|times\b|points?\b)|[<>=]\s*[-.\d]", re.IGNORECASE
)
NUMBER = lazy_regex(r"\d")
REPORTING = r"(?:also\s)?(?:find|found|show|showed|conclude|concluded|observed?)\b"
WE_FOUND = lazy_regex(rf"\bwe\s{REPORTING}", re.IGNORECASE)
# Phrases of aim and method.
AIMS: dict[Language, re.Pattern[str]] = {
    "en": lazy_regex(
        rf"\bwe\s(?!{REPORTING})"
        r"|\bwere\s(?:asked|randomi[sz]ed|assigned|measured|compared|recorded|interviewed|surveyed|followed"
        r"|tested|collected|examined|analy[sz]ed|exposed|treated|taught|given|shown|mapped|counted|sampled"
        r"|weighed|enrolled|recruited|divided|observed)\b"
        r"|\bthis\s(?:paper|study|article|report)\b",
        re.IGNORECASE,
    ),
    "ko": lazy_regex(
        r"(?:본|이)\s(?:조사\s)?(?:연구|논문|보고)[은는의에]|하고자|대상으로"
        r"|(?:조사|분석|비교|측정|평가|시험|수행|실시|검사|관찰|추정|개발|적용)하[였고]\S*$"
        r"|(?:살폈|살펴보았|견주었|재었|나누었|모았|세었|물었)다\.?$"
    ),
}
WEIGHTS = {"bias": 1.0, "share": 2.0, "result": 1.3, "aim": -2.8, "first": -3.5, "place": -2.0}


def finding_likelihoods(sentences: Sequence[str], shares: Sequence[float]) -> list[float]:
    """Return the likelihood of each sentence that it states a finding; [] for texts that report no study.

    Args:
        sentences: of one abstract, in order.
        shares: share of the question's importance that each sentence covers.
    """
    aims = [_matches(AIMS, sentence) for sentence in sentences]
    if not any(aims) and not any(map(WE_FOUND.search, sentences)):
        return []
    last = max(1, len(sentences) - 1)
    return [
        likelihood(
            WEIGHTS,
            {
                "share": share,
                "result": float(_has_result(sentence)),
                "aim": float(aim),
                "first": float(number == 0),
                "place": number / last,
            },
        )
        for number, (sentence, share, aim) in enumerate(zip(sentences, shares, aims, strict=True))
    ]


def _has_result(sentence: str) -> bool:
    """Check for "we found", a share or multiple, or a number with a word of change or difference."""
    if WE_FOUND.search(sentence) or MEASURED.search(sentence):
        return True
    return bool(NUMBER.search(sentence)) and _matches(RESULTS, sentence)


def _matches(patterns: dict[Language, re.Pattern[str]], sentence: str) -> bool:
    return bool(patterns["ko" if language_of(sentence) == "ko" else "en"].search(sentence))
