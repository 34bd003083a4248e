"""Answers without a model: quoted sentences of the papers found, or an abstention.

Findings are quoted from papers that cover enough of the question. Concepts of the question are matched as in
the ranking: by their words, or by a counterpart in the other language.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from generator.answers.answer import EXTRACTIVE, Answer, Sentence, no_answer, quoting_answer
from generator.answers.findings import finding_likelihoods
from generator.answers.quotable import quotable_sentences
from indexer.analysis.tokens import as_indexed
from indexer.analysis.word_roles import SUBJECT_ROLES, roles_of
from indexer.corpora.papers import language_of
from indexer.files.schema import StoredPassage
from retriever.constraints.exclusions import Writing
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.order.features import coverage, patterns_of
from retriever.order.patterns import occurrences_in
from retriever.queries.boolean import single
from retriever.question.concepts import Concept, Word, with_roles
from retriever.settings import RetrieverSettings
from retriever.stages.hits import SearchResult
from retriever.views.passage_search import question_concepts

MOST_SENTENCES = 6
# Least score of a quoted paper as a share of the best score; least share of the question's subject, by
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
    score: float  # (likelihood of a finding or share of the subject) × the paper's share of the best score


async def quoted_answer(
    result: SearchResult,
    index: SearchIndex,
    settings: RetrieverSettings,
    threshold: float,
    most: int,
    *,
    findings: bool = True,
) -> Answer:
    """Quote the evidence of a search by any method; see `extractive_answer`."""
    if not result.concepts and method_named(result.method).analyse is None:
        concepts = await question_concepts(index, result.question, settings)
        result = replace(result, concepts=concepts)
    return await index.threads.run(
        partial(extractive_answer, result, index, threshold, most, findings=findings)
    )


def extractive_answer(
    result: SearchResult,
    index: SearchIndex,
    threshold: float,
    most: int = MOST_SENTENCES,
    *,
    findings: bool = True,
) -> Answer:
    """Quote at most `most` sentences of the evidence; abstain below the threshold, or if no sentence fits.

    Sentences in the question's language come first. Within a language they are ordered by the likelihood that
    they state a finding; in texts without aim and method, and in all texts without `findings`, by the share
    of the question that they cover. Sentences that contain an excluded word, repeat the question or are
    nearly the same as a better sentence are not quoted.
    """
    language = language_of(result.question)
    if result.likelihood is not None and result.likelihood < threshold:
        return no_answer(language, EXTRACTIVE)
    chosen = _choose(result, index, most, findings=findings)
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


def _choose(result: SearchResult, index: SearchIndex, most: int, *, findings: bool) -> list[_Quotable]:
    """Return the best sentences, best first."""
    chosen: list[_Quotable] = []
    for quotable in sorted(
        _quotables(result, index, findings=findings), key=lambda each: -each.score
    ):  # stable: by rank
        if len(chosen) == most:
            break
        writing = Writing.of(quotable.tokens, quotable.text)
        if not result.constraints.excluded_by(writing) and not any(
            _same(quotable, other) for other in chosen
        ):
            chosen.append(quotable)
    return chosen


def _quotables(result: SearchResult, index: SearchIndex, *, findings: bool) -> Iterator[_Quotable]:
    """Yield the quotable sentences of the best papers with their scores."""
    concepts = _subject(result, index)
    patterns = patterns_of(concepts)
    best = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        passage, of_best = hit.passage, hit.score / best if best > 0 else 1.0
        if of_best < SCORE_SHARE:
            continue
        sentences = quotable_sentences(passage.text, result.question)
        texts = [(passage.title, passage.text), *(("", text) for text in sentences)]
        analysed = [index.analyzer.analyze(as_indexed(title, text)[0]) for title, text in texts]
        of_passage, *shares = coverage(concepts, occurrences_in(analysed, patterns)).tolist()
        if of_passage < PASSAGE_SHARE:
            continue
        scores = _sentence_scores(sentences, shares, findings=findings and passage.part == "abstract")
        for text, tokens, score in zip(sentences, analysed[1:], scores, strict=True):
            if score:
                yield _Quotable(text, passage, tuple(token[0] for token in tokens), score * of_best)


def _sentence_scores(sentences: Sequence[str], shares: Sequence[float], *, findings: bool) -> list[float]:
    """Return likelihoods of a finding, or shares of the subject if no finding is likely; 0 if too low."""
    found = finding_likelihoods(sentences, shares) if findings else []
    likely = [likelihood if likelihood >= LEAST_LIKELIHOOD else 0.0 for likelihood in found]
    return likely if any(likely) else [share if share >= SENTENCE_SHARE else 0.0 for share in shares]


def _subject(result: SearchResult, index: SearchIndex) -> Sequence[Concept]:
    """Return the concepts of a question without question words and words of request.

    The search's tokens replace the concepts in results without concepts.
    """
    if not result.concepts:
        return [
            Concept(token, (Word({single(token): 1.0}, weight),))
            for token, weight in result.token_weights.items()
        ]
    roles = roles_of(index.analyzer.tagged_tokens(result.question))
    return with_roles(result.concepts, roles, SUBJECT_ROLES)


def _same(sentence: _Quotable, better: _Quotable) -> bool:
    """Check whether a sentence has nearly the words of a better one and no other numbers."""
    own, others = frozenset(sentence.tokens), frozenset(better.tokens)
    numbers = {token for token in own if any(map(str.isdigit, token))}
    return numbers <= others and len(own & others) > SAME * min(len(own), len(others))
