"""An answer without a model: sentences of the papers found, quoted, or the statement that there are none.

Quoted are findings of the papers that hold enough of the question. A question's concepts are matched as in
the order of the hits: by their words, or by a counterpart in the other language.
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
from retriever.views.concepts import question_concepts

MOST_SENTENCES = 6
# A paper is quoted if its score is at least this share of the best paper's, and if its passage holds at least
# this share of the question's subject, by importance; a sentence, if it holds at least this share itself.
SCORE_SHARE, PASSAGE_SHARE, SENTENCE_SHARE = 0.5, 0.33, 0.1
LEAST_LIKELIHOOD = 0.3  # that a sentence of an abstract states a finding
# Two sentences are nearly the same if they share more than this part of the words of the shorter one.
SAME = 0.7


@dataclass(frozen=True, slots=True)
class _Quotable:
    text: str
    passage: StoredPassage
    tokens: tuple[str, ...]
    score: float  # likelihood of a finding or share of the subject, times its paper's share of the best score


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

    Sentences in the question's language come first. Within a language they are in the order of the likelihood
    that they state a finding. In texts without aim and method, and without `findings` in all texts, sentences
    come first that hold most of the question. None holds an excluded word, repeats the question or is nearly
    the same as a better one.
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
    """Yield the sentences of the best papers that may be quoted, each with its share of the subject."""
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
    """Return the likelihood of a finding, or where none is likely the share of the subject; 0 if too low."""
    found = finding_likelihoods(sentences, shares) if findings else []
    likely = [likelihood if likelihood >= LEAST_LIKELIHOOD else 0.0 for likelihood in found]
    return likely if any(likely) else [share if share >= SENTENCE_SHARE else 0.0 for share in shares]


def _subject(result: SearchResult, index: SearchIndex) -> Sequence[Concept]:
    """Return the concepts of a question without its request and the words that ask.

    Where a result has no concepts, the tokens that were searched for stand in for them.
    """
    if not result.concepts:
        return [
            Concept(token, (Word({single(token): 1.0}, weight),))
            for token, weight in result.token_weights.items()
        ]
    roles = roles_of(index.analyzer.tagged_tokens(result.question))
    return with_roles(result.concepts, roles, SUBJECT_ROLES)


def _same(sentence: _Quotable, better: _Quotable) -> bool:
    """Return whether a sentence has nearly the words of a better one, and no other numbers."""
    own, others = frozenset(sentence.tokens), frozenset(better.tokens)
    numbers = {token for token in own if any(map(str.isdigit, token))}
    return numbers <= others and len(own & others) > SAME * min(len(own), len(others))
