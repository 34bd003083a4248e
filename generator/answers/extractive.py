"""Answers without a model: quoted sentences of the papers found, or an abstention.

Findings are quoted from papers that cover enough of the question: of its subject, or of the keywords of its
strategy in one language.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from base.logistic import likelihood
from base.patterns import lazy_regex
from generator.answers.answer import EXTRACTIVE, LIST_SIGN, Answer, Sentence, no_answer, quoting_answer
from indexer.analysis.tokens import as_indexed
from indexer.corpora.chunking import split_sentences
from indexer.corpora.cleaning import heading_kind
from indexer.corpora.papers import Language, language_of, language_of_question
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.request import SearchRequest
from retriever.search import terms_of
from retriever.settings import RetrieverSettings
from retriever.stages.hits import SearchResult
from retriever.terms import Asked, SearchTerms, View

MOST_SENTENCES = 6
# Least score of a quoted paper as a share of the best score; least share of a view of the question, by
# importance, in its passage; and in the sentence.
SCORE_SHARE, PASSAGE_SHARE, SENTENCE_SHARE = 0.5, 0.33, 0.1
LEAST_LIKELIHOOD = 0.3  # that a sentence of an abstract states a finding
# Two sentences are nearly the same if they share more than this part of the words of the shorter one.
SAME = 0.7


@dataclass(frozen=True, slots=True)
class _Quotable:
    text: str
    passage: StoredPassage
    tokens: tuple[str, ...]
    score: float  # (likelihood of a finding or share of the question) × the paper's share of the best score


async def searched_terms(
    result: SearchResult, index: SearchIndex, settings: RetrieverSettings
) -> SearchTerms | None:
    """Return the analysed strategy of a search by any method; None for an expression or without words."""
    method = method_named(result.method)
    if method.is_expression:
        return None
    request = SearchRequest(result.question, strategy=result.strategy, conditions=method.has_conditions)
    return await index.run(terms_of, request, settings)


def extractive_answer(
    result: SearchResult,
    index: SearchIndex,
    terms: SearchTerms | None,
    threshold: float,
    most: int = MOST_SENTENCES,
    *,
    findings: bool = True,
) -> Answer:
    """Quote at most `most` sentences of the evidence; abstain below the threshold, or if no sentence fits.

    `terms` are those of the search; without them, its searched words count.

    Sentences in the question's language come first. Within a language they are ordered by the likelihood that
    they state a finding; in texts without aim and method, and in all texts without `findings`, by the share
    of the question that they cover. Sentences that name an excluded thing, repeat the question or are
    nearly the same as a better sentence are not quoted.
    """
    language = language_of_question(result.question)
    if result.likelihood is not None and result.likelihood < threshold:
        return no_answer(language, EXTRACTIVE)
    chosen = _choose(result, index, terms, most, findings=findings)
    if not chosen:
        return no_answer(language, EXTRACTIVE)
    chosen.sort(key=lambda quotable: language_of(quotable.text) != language)  # stable: by relevance in each
    return quoting_answer(
        language,
        [
            Sentence(quotable.text, "passages", (quotable.passage.passage_id,), "quoted")
            for quotable in chosen
        ],
    )


def _choose(
    result: SearchResult, index: SearchIndex, terms: SearchTerms | None, most: int, *, findings: bool
) -> list[_Quotable]:
    """Return the best sentences, best first."""
    words = tuple(Asked(weight, ((token,),)) for token, weight in result.token_weights.items())
    views = terms.views if terms else (words,)
    exclusions = terms.exclusions if terms else ()
    chosen: list[_Quotable] = []
    for quotable in sorted(
        _quotables(result, index, views, findings=findings), key=lambda each: -each.score
    ):  # stable: by rank
        if len(chosen) == most:
            break
        excluded = any(each.mentions(quotable.text, index.analyzer) for each in exclusions)
        if not excluded and not any(_same(quotable, other) for other in chosen):
            chosen.append(quotable)
    return chosen


def _quotables(
    result: SearchResult, index: SearchIndex, views: Sequence[View], *, findings: bool
) -> Iterator[_Quotable]:
    """Yield the quotable sentences of the best papers with their scores."""
    best = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        passage, of_best = hit.passage, hit.score / best if best > 0 else 1.0
        if of_best < SCORE_SHARE:
            continue
        sentences = quotable_sentences(passage.text, result.question)
        texts = [(passage.title, passage.text), *(("", text) for text in sentences)]
        analysed = [
            tuple(token[0] for token in index.analyzer.analyze(as_indexed(title, text)[0]))
            for title, text in texts
        ]
        of_passage, *shares = (_share(frozenset(tokens), views) for tokens in analysed)
        if of_passage < PASSAGE_SHARE:
            continue
        scores = _sentence_scores(sentences, shares, findings=findings and passage.part == "abstract")
        for text, tokens, score in zip(sentences, analysed[1:], scores, strict=True):
            if score:
                yield _Quotable(text, passage, tokens, score * of_best)


def _share(tokens: frozenset[str], views: Sequence[View]) -> float:
    """Return the highest share of a view, by importance, that a text holds."""
    shares = []
    for view in views:
        held = (asked.importance for asked in view if any(tokens.issuperset(form) for form in asked.forms))
        total = sum(asked.importance for asked in view)
        shares.append(sum(held) / total if total else 0.0)
    return max(shares, default=0.0)


def _sentence_scores(sentences: Sequence[str], shares: Sequence[float], *, findings: bool) -> list[float]:
    """Return likelihoods of a finding, or shares of the question if no finding is likely; 0 if too low."""
    found = finding_likelihoods(sentences, shares) if findings else []
    likely = [likelihood if likelihood >= LEAST_LIKELIHOOD else 0.0 for likelihood in found]
    return likely if any(likely) else [share if share >= SENTENCE_SHARE else 0.0 for share in shares]


def _same(sentence: _Quotable, better: _Quotable) -> bool:
    """Check whether a sentence has nearly the words of a better one and no other numbers."""
    own, others = frozenset(sentence.tokens), frozenset(better.tokens)
    numbers = {token for token in own if any(map(str.isdigit, token))}
    return numbers <= others and len(own & others) > SAME * min(len(own), len(others))


# Findings

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


# Quotable sentences

LONGEST = 600  # characters; a longer sentence is a list or a damaged text
FEWEST_WORDS = {"ko": 3, "en": 4}
# A sentence repeats the question if at most this share of the words of both differ.
SAME_WORDS = 0.1

# A list has at least so many separators, and this share of its words.
LEAST_SEPARATORS, LIST_SHARE = 5, 0.4

WORD = lazy_regex(r"\w+")
SEPARATOR = lazy_regex(r"[,;·•|/、，；]")
QUESTION_MARK = lazy_regex(r"[?？][.!…。\s\"'”’»)\]〉》」』】]*$")
# The end of a sentence: its last character, stops, closing quotes and brackets, footnote marks.
END = lazy_regex(
    r"(?P<last>[^\s.!?…。｡！？\"'”’»)\]〉》」』】])(?P<close>[\"'”’»)\]〉》」』】\s]*)(?P<stop>[.!?…。｡！？]*)"
    r"[\"'”’»)\]〉》」』】\s]*(?:\[[^\[\]\n]{1,20}\]\s*)*$"
)
FINALS, FINAL_M = 28, 16  # number of final consonants of Hangul syllables, and the index of ㅁ
LOWERCASE_WORD = lazy_regex(r"[a-z](?![a-z]?[A-Z0-9])")  # not mRNA or p53, which may start sentences
BULLET = lazy_regex(rf"{LIST_SIGN}|\||\(?\d{{1,2}}\)|[①-⑳]|\(?[a-z가-하]\)\s")
# Names with initials, volume, issue and pages: Kim, J., Lee, S. (2019). … 12(3), 45–67.
REFERENCE = lazy_regex(
    r"(?i:\bdoi\W{0,3}10\.|doi\.org/|\bisbn\b|\bpp\.\s*\d|\bvol\.\s*\d)"
    r"|\d\s*\(\d+\)\s*[,:]\s*(?:pp?\.\s*)?\d+\s*[-–~]\s*\d"  # 12(3), 45–67
    r"|\d권\s*(?:제?\d+호)?\s*[,:]?\s*\d+\s*[-–~]\s*\d"  # 제12권 제3호, 45–67
    r"|(?:^|[;,&]\s|\band\s)[A-Z][\w’'-]+,\s(?:[A-Z]\.[\s-]?)+(?:,|&|and\b|\(\d{4})"
)
# Authors and year, which precede the title in a reference.
HEAD_OF_REFERENCE = lazy_regex(r".{0,80}(?:[A-Z]\.|\bal\.,?|[가-힣]{2,4}(?<!다))\s*\(\d{4}[a-z]?\)[.,]?\s*$")


def quotable_sentences(text: str, question: str) -> list[str]:
    """Return the quotable sentences of a text for a question, in order."""
    sentences = [text[start:end] for start, end in split_sentences(text)]
    return [
        sentence
        for before, sentence in zip(["", *sentences], sentences, strict=False)
        if is_statement(sentence) and not HEAD_OF_REFERENCE.match(before) and not repeats(sentence, question)
    ]


def is_statement(sentence: str) -> bool:
    """Check for a complete statement of ordinary length that is neither list nor reference."""
    language = "ko" if language_of(sentence) == "ko" else "en"
    words, separators = len(WORD.findall(sentence)), len(SEPARATOR.findall(sentence))
    return (
        len(sentence) <= LONGEST
        and words >= FEWEST_WORDS[language]
        and not (separators >= LEAST_SEPARATORS and separators >= LIST_SHARE * words)
        and not QUESTION_MARK.search(sentence)
        and not LOWERCASE_WORD.match(sentence)
        and not BULLET.match(sentence)
        and heading_kind(sentence.partition("\n")[0]) is None
        and not REFERENCE.search(sentence)
        and not HEAD_OF_REFERENCE.match(sentence)
        and _ends_as_statement(sentence)
    )


def repeats(sentence: str, question: str) -> bool:
    """Check whether a sentence has the words of the question and hardly any others."""
    folded = (unicodedata.normalize("NFKC", text).casefold() for text in (sentence, question))
    own, asked = (Counter(WORD.findall(text)) for text in folded)
    different = (own - asked).total() + (asked - own).total()
    return different <= SAME_WORDS * (own.total() + asked.total())


def _ends_as_statement(sentence: str) -> bool:
    """Check the end of a statement: a full stop, in Korean after 다, 요 or a noun in -(으)ㅁ."""
    found = END.search(unicodedata.normalize("NFC", sentence))
    if not found:
        return False
    last = found["last"]
    if not "가" <= last <= "힣" or found["close"].strip():
        return bool(found["stop"])
    if not found["stop"]:
        return last == "다"
    return last in "다요" or (ord(last) - ord("가")) % FINALS == FINAL_M
