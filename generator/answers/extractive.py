"""Answers without a model: quotations of the papers found, or an abstention.

The sentences that cover most of the question are quoted, with the sentences around them, from papers that
cover enough of it: of its subject, or of the keywords of its strategy in one language.
"""

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from base.patterns import lazy_regex
from generator.answers.answer import EXTRACTIVE, LIST_SIGN, Answer, Sentence, no_answer, quoting_answer
from indexer.analysis.tokens import as_indexed
from indexer.corpora.chunking import split_sentences
from indexer.corpora.headings import line_kind
from indexer.corpora.papers import language_of, language_of_question
from indexer.files.schema import StoredPassage
from retriever.exclusions import Excluded
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.request import SearchRequest
from retriever.search import terms_of
from retriever.settings import RetrieverSettings
from retriever.stages.hits import SearchResult
from retriever.terms import Asked, SearchTerms, View

MOST_SENTENCES = 6
# Longest quotation in characters; a longer sentence is a list or a damaged text. It and the scores below were
# chosen by `python -m tools.answers` and by training questions of tydi (docs/results.md).
LONGEST_QUOTATION = 500
# Least lexical score of a quoted paper as a share of the best score; least share of a view of the question,
# by importance, in its passage, and in one of its sentences.
SCORE_SHARE, PASSAGE_SHARE, SENTENCE_SHARE = 0.6, 0.33, 0.1
NUMBER_BONUS = 0.3  # added to the share of a sentence of an abstract with a number, which is often a finding
# Share of the words of the shorter of two sentences above which they are nearly the same.
NEAR_COPY_SHARE = 0.7

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Source:
    """A passage that may be quoted, by rank, with span, tokens and score of each sentence.

    The span is None for a sentence that cannot be quoted.
    """

    rank: int
    passage: StoredPassage
    spans: tuple[Span | None, ...]
    tokens: tuple[frozenset[str], ...]
    scores: tuple[float, ...]  # (share of the question, and the bonus) × the paper's share of the best score

    def span_of(self, places: Sequence[int]) -> Span | None:
        """Return the span of successive sentences; None if they cannot be quoted together."""
        spans = [self.spans[place] if 0 <= place < len(self.spans) else None for place in places]
        if not (spans[0] and spans[-1] and all(spans)):
            return None
        start, end = spans[0][0], spans[-1][1]
        return (start, end) if end - start <= LONGEST_QUOTATION else None


async def searched_terms(
    result: SearchResult, index: SearchIndex, settings: RetrieverSettings
) -> SearchTerms | None:
    """Return the analysed strategy of a search by any method; None for an expression or without words."""
    method = method_named(result.method)
    if method.is_expression:
        return None
    request = SearchRequest(result.question, strategy=result.strategy, conditions=method.has_conditions)
    return await index.run(terms_of, request, settings)


def shares_of_best(result: SearchResult) -> list[float]:
    """Return the score of each hit as a share of the best one; 1 for scores that are not lexical.

    Cosines and reciprocal ranks of far worse papers are only a little lower.
    """
    applied = result.applied
    is_lexical = result.likelihood is not None and not (applied and (applied.vectors or applied.reranker))
    best = max((hit.score for hit in result.hits), default=0.0)
    return [hit.score / best if is_lexical and best > 0 else 1.0 for hit in result.hits]


def extractive_answer(
    result: SearchResult,
    index: SearchIndex,
    terms: SearchTerms | None,
    threshold: float,
    most: int = MOST_SENTENCES,
    *,
    in_context: bool = True,
) -> Answer:
    """Quote at most `most` sentences of the evidence; abstain below the threshold, or if no sentence fits.

    `terms` are those of the search; without them, its searched words count.

    The sentences that cover most of the question are quoted, of each paper at least one, with the quotable
    sentences before and behind, up to `LONGEST_QUOTATION`; without `in_context` alone. The best paper comes
    first. Sentences that repeat the question or are nearly the same as a better sentence are not quoted,
    those that name an excluded thing only as context.
    """
    language = language_of_question(result.question)
    if result.likelihood is not None and result.likelihood < threshold:
        return no_answer(language, EXTRACTIVE)
    words = tuple(Asked(weight, ((token,),)) for token, weight in result.token_weights.items())
    views, exclusions = (terms.views, terms.exclusions) if terms else ((words,), ())
    sources = list(_sources(result, index, views, exclusions, in_context=in_context))
    sentences = [
        Sentence(source.passage.text[start:end], "passages", (source.passage.passage_id,), "quoted")
        for source, (start, end) in _quotations(sources, most, in_context=in_context)
    ]
    return quoting_answer(language, sentences) if sentences else no_answer(language, EXTRACTIVE)


def _sources(
    result: SearchResult,
    index: SearchIndex,
    views: Sequence[View],
    exclusions: Sequence[Excluded],
    *,
    in_context: bool,
) -> Iterator[_Source]:
    """Yield the best papers that cover enough of the question, best first."""

    def tokens_of(title: str, text: str) -> frozenset[str]:
        return frozenset(token[0] for token in index.analyzer.analyze(as_indexed(title, text)[0]))

    for rank, (hit, of_best) in enumerate(zip(result.hits, shares_of_best(result), strict=True)):
        passage = hit.passage
        if of_best < SCORE_SHARE or _share(tokens_of(passage.title, passage.text), views) < PASSAGE_SHARE:
            continue
        spans, tokens, shares, scores = quotable_spans(passage.text, result.question), [], [0.0], []
        for span in spans:
            text = passage.text[slice(*span)] if span else ""
            is_wanted = not any(each.mentions(text, index.analyzer) for each in exclusions)
            bonus = NUMBER_BONUS * (in_context and passage.part == "abstract" and bool(NUMBER.search(text)))
            tokens.append(tokens_of("", text) if text else frozenset())
            shares.append(is_wanted * _share(tokens[-1], views))
            scores.append((shares[-1] + is_wanted * bonus) * of_best)
        if max(shares) >= SENTENCE_SHARE:
            yield _Source(rank, passage, tuple(spans), tuple(tokens), tuple(scores))


def _share(tokens: frozenset[str], views: Sequence[View]) -> float:
    """Return the highest share of a view, by importance, that a text holds."""
    shares = []
    for view in views:
        held = (asked.importance for asked in view if any(tokens.issuperset(form) for form in asked.forms))
        total = sum(asked.importance for asked in view)
        shares.append(sum(held) / total if total else 0.0)
    return max(shares, default=0.0)


def _quotations(sources: Sequence[_Source], most: int, *, in_context: bool) -> Iterator[tuple[_Source, Span]]:
    """Yield the spans to quote in the order of the papers and of their texts.

    After the best sentence and its context, room is left for one sentence of each paper. Quotations that
    touch are joined; a second one of a paper needs its whole context.
    """
    ranked = [(source, place) for source in sources for place, score in enumerate(source.scores) if score]
    ranked.sort(key=lambda each: -each[0].scores[each[1]])  # stable: by rank and place
    chosen, better = {source.rank: set[int]() for source in sources}, list[frozenset[str]]()
    for source, place in ranked:
        places, neighbours = chosen[source.rank], [place - 1, place + 1] if in_context else []
        if place in places or is_near_copy(source.tokens[place], better):
            continue
        known = [*better, source.tokens[place]]
        quotable = (each for each in neighbours if each not in places and source.span_of([each]))
        context = [each for each in quotable if not is_near_copy(source.tokens[each], known)]
        is_second = places and places.isdisjoint(neighbours)
        for added in [{place, *context}] if is_second else [{place}, *({each} for each in context)]:
            taken = sum(len(each) or bool(places and better) for each in chosen.values())
            together = _run_of(places | added, place) if in_context else [place]
            if taken + len(added) <= most and source.span_of(together):
                places |= added
        better = known if place in places else better
    for source in sources:
        places = chosen[source.rank]
        for run in sorted({(*_run_of(places, place),) if in_context else (place,) for place in places}):
            if span := source.span_of(run):
                yield source, span


def _run_of(places: Collection[int], place: int) -> list[int]:
    """Return a place with the successive places around it."""
    first = last = place
    while first - 1 in places:
        first -= 1
    while last + 1 in places:
        last += 1
    return [*range(first, last + 1)]


def is_near_copy(own: frozenset[str], better: Sequence[frozenset[str]]) -> bool:
    """Check whether a sentence has nearly the tokens of a better one and no other numbers."""
    numbers = {token for token in own if any(map(str.isdigit, token))}
    return any(
        numbers <= others and len(own & others) > NEAR_COPY_SHARE * min(len(own), len(others))
        for others in better
    )


# Quotable sentences

FEWEST_WORDS = {"ko": 3, "en": 4}
OTHER_WORDS = 0.1  # largest share of different words of a question and a sentence that repeats it

# A list has at least so many separators, and this share of its words.
LEAST_SEPARATORS, LIST_SHARE = 5, 0.4

WORD, NUMBER = lazy_regex(r"\w+"), lazy_regex(r"\d")
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


def quotable_spans(text: str, question: str) -> list[Span | None]:
    """Return the span of each sentence of a text, None for one that cannot be quoted for a question."""
    spans, before = [], ""
    for start, end in split_sentences(text):
        sentence = text[start:end]
        is_quotable = (
            is_statement(sentence)
            and not HEAD_OF_REFERENCE.match(before)
            and not repeats_question(sentence, question)
        )
        spans.append((start, end) if is_quotable else None)
        before = sentence
    return spans


def is_statement(sentence: str) -> bool:
    """Check for a complete statement of ordinary length that is neither list nor reference."""
    language = "ko" if language_of(sentence) == "ko" else "en"
    words, separators = len(WORD.findall(sentence)), len(SEPARATOR.findall(sentence))
    return (
        len(sentence) <= LONGEST_QUOTATION
        and words >= FEWEST_WORDS[language]
        and not (separators >= LEAST_SEPARATORS and separators >= LIST_SHARE * words)
        and not QUESTION_MARK.search(sentence)
        and not LOWERCASE_WORD.match(sentence)
        and not BULLET.match(sentence)
        and line_kind(sentence.partition("\n")[0]) is None
        and not REFERENCE.search(sentence)
        and not HEAD_OF_REFERENCE.match(sentence)
        and _ends_as_statement(sentence)
    )


def repeats_question(sentence: str, question: str) -> bool:
    """Check whether a sentence has the words of the question and hardly any others."""
    folded = (unicodedata.normalize("NFKC", text).casefold() for text in (sentence, question))
    own, asked = (Counter(WORD.findall(text)) for text in folded)
    different = (own - asked).total() + (asked - own).total()
    return different <= OTHER_WORDS * (own.total() + asked.total())


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
