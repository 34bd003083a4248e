"""Answers without a model: quoted sentences of the papers found, or an abstention.

Findings are quoted from papers that cover enough of the question: of its subject, or of the keywords of its
strategy in one language.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from generator.answers.answer import EXTRACTIVE, Answer, Sentence, no_answer, quoting_answer
from generator.answers.findings import finding_likelihoods
from generator.answers.quotable import quotable_sentences
from indexer.analysis.tokens import as_indexed
from indexer.corpora.papers import language_of
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
    return await terms_of(index, request, settings)


async def quoted_answer(
    result: SearchResult,
    index: SearchIndex,
    terms: SearchTerms | None,
    threshold: float,
    most: int,
    *,
    findings: bool = True,
) -> Answer:
    """Quote the evidence of a search in a thread; see `extractive_answer`."""
    return await index.threads.run(
        partial(extractive_answer, result, index, terms, threshold, most, findings=findings)
    )


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
    language = language_of(result.question)
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
        excluded = any(each.is_named_in(quotable.text, index.analyzer) for each in exclusions)
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
