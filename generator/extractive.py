"""An answer without a model: the best sentences of the evidence, quoted and cited, in the same sections."""

from collections.abc import Mapping
from dataclasses import dataclass

from generator.answers import EXTRACTIVE, Answer, Section, Sentence, no_answer
from generator.titles import title_on
from indexer.chunking import split_sentences
from indexer.papers import language_of
from indexer.schema import StoredPassage
from retriever.hits import SearchResult
from retriever.index import SearchIndex

MOST_SENTENCES = 8
LONGEST_SENTENCE = 600  # characters; a longer one is a list or a broken text
# Weight of the better neighbouring sentence: the answer often stands beside the question's words.
NEIGHBOUR = 0.45
# A paper is quoted only if its score is at least this share of the first paper's.
LEAST_SHARE = 0.5
# How much of a sentence's score counts against the whole question; the rest counts against the best sentence
# of its passage, since a passage in the other language holds few of the question's words.
OWN_WORDS = 0.5
# A sentence is left out if one chosen from another paper holds more than this share of its words.
SAME = 0.7


@dataclass(frozen=True, slots=True)
class _Quotable:
    text: str
    passage: StoredPassage
    place: tuple[int, int]  # passage, sentence
    tokens: frozenset[str]
    score: float


def extractive_answer(
    result: SearchResult, index: SearchIndex, threshold: float, most: int = MOST_SENTENCES
) -> Answer:
    """Quote at most `most` sentences of the evidence, or say that it holds no answer.

    The sentences come in the order of their passages; the best of all opens, the last one closes. None holds
    what the question excludes.
    """
    language = language_of(result.question)
    score = result.evidence_score
    chosen = _choose(result, index, most)
    if not chosen or (score is not None and score < threshold):
        return no_answer(language, EXTRACTIVE)
    opening = max(chosen, key=lambda quotable: (quotable.score, [-part for part in quotable.place]))
    rest = sorted((each for each in chosen if each is not opening), key=lambda quotable: quotable.place)
    closing = rest.pop() if len(rest) > 1 else None
    sentences = [_quote(opening, "introduction"), *(_quote(quotable, "body") for quotable in rest)]
    if closing:
        sentences.append(_quote(closing, "conclusion"))
    title = title_on(result.question, result.keywords, language, index.analyzer)
    return Answer(title, tuple(sentences), language, EXTRACTIVE, abstained=False)


def _choose(result: SearchResult, index: SearchIndex, most: int) -> list[_Quotable]:
    best = max((hit.score for hit in result.hits), default=0.0)
    weights = result.token_weights
    ranked = [
        quotable
        for order, hit in enumerate(result.hits)
        if hit.score >= LEAST_SHARE * best
        for quotable in _quotable(hit.passage, order, weights, index, share=hit.score / best if best else 1.0)
    ]
    ranked = [quotable for quotable in ranked if not result.constraints.excluded_by(quotable.tokens)]
    ranked.sort(key=lambda quotable: (-quotable.score, quotable.place))
    chosen: list[_Quotable] = []
    for quotable in ranked:
        if len(chosen) == most:
            break
        if not any(_same(quotable, other) for other in chosen):
            chosen.append(quotable)
    return chosen


def _quotable(
    passage: StoredPassage, order: int, weights: Mapping[str, float], index: SearchIndex, *, share: float
) -> list[_Quotable]:
    """Score a passage's sentences: the question's words in them and beside them, by the passage's share."""
    texts = [passage.text[start:end] for start, end in split_sentences(passage.text)]
    tokens = [frozenset(token[0] for token in index.analyzer.analyze(text)) for text in texts]
    total = sum(weights.values()) or 1.0
    own = [sum(weights.get(token, 0.0) for token in held) / total for held in tokens]
    most = max(own, default=0.0) or 1.0
    own = [value * (OWN_WORDS + (1 - OWN_WORDS) / most) for value in own]
    scored = []
    for place, text in enumerate(texts):
        beside = max(own[place - 1] if place else 0.0, own[place + 1] if place + 1 < len(own) else 0.0)
        score = (own[place] + NEIGHBOUR * beside + 0.1) * share
        if tokens[place] and len(text) <= LONGEST_SENTENCE:
            scored.append(_Quotable(text, passage, (order, place), tokens[place], score))
    return scored


def _same(first: _Quotable, second: _Quotable) -> bool:
    if first.text == second.text:
        return True
    shared = len(first.tokens & second.tokens) / min(len(first.tokens), len(second.tokens))
    return shared > SAME and first.passage.doc_id != second.passage.doc_id


def _quote(quotable: _Quotable, section: Section) -> Sentence:
    return Sentence(
        text=quotable.text,
        section=section,
        citations=(quotable.passage.passage_id,),
        check="supported",  # the words of the passage itself
    )
