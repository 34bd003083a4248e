"""Feedback: terms of the best passages, which score all candidates and find further ones."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from retriever.engines import NumberedRows
from retriever.engines.term_statistics import inverse_document_frequencies
from retriever.order.bm25 import Scale, Scores
from retriever.order.patterns import TokenPlaces

FEWEST_PASSAGES = 2
LENGTH_B = 1.0  # BM25's b: with 40 terms, a long passage holds some by chance
LEAST_STRENGTH = 0.001  # of the strongest term's


@dataclass(frozen=True, slots=True)
class TermSelection:
    """Constants of the selection of feedback terms.

    Args:
        passages: best passages that terms come from.
        terms: most terms.
        power: the weight of a passage is its share of the best score, raised to this power.
        most_share: terms of a larger share of all passages are left out.
    """

    passages: int = 3
    terms: int = 40
    power: float = 10
    most_share: float = 0.25


SELECTION = TermSelection()


@dataclass(frozen=True, slots=True)
class Feedback:
    """Terms of the best passages with their strengths, strongest first, and their idf."""

    strengths: Mapping[str, float]
    idf: Mapping[str, float]
    sources: tuple[str, ...] = ()  # passage_ids of the best passages

    def scores(self, places: TokenPlaces, scale: Scale) -> Scores:
        """Return the BM25 of passages by the terms, divided by the sum of strength times idf.

        `places` must hold the terms, and may hold other tokens.
        """
        rows = places.rows
        attainable = sum(strength * self.idf[term] for term, strength in self.strengths.items())
        terms = [term for term in self.strengths if term in places.column]
        if not attainable or not terms:
            return np.zeros(len(rows))
        columns = [places.column[term] for term in terms]
        idf = np.array([self.idf[term] for term in terms])
        scores = replace(scale, b=LENGTH_B).of_counts(
            places.texts[:, columns], places.titles[:, columns], rows.length, rows.title_length, idf
        )
        strengths = np.array([self.strengths[term] for term in terms])
        return np.asarray((scores * strengths).sum(axis=1) / attainable)


def feedback_terms(
    read: NumberedRows,
    base: Scores,
    passages: int,
    without: Container[str] = (),
    selection: TermSelection = SELECTION,
) -> Feedback:
    """Choose the strongest terms of the best passages.

    A term's strength is idf · Σ (base / best base)^power · ln(1 + tf) over the best passages. Numbers, terms
    of a single passage and terms of more than `most_share` of all passages are left out.

    Args:
        read: the candidates.
        base: their scores.
        passages: how many the index holds.
        without: further terms to leave out, such as tokens of excluded things.
        selection: how many terms, and from which passages.
    """
    rows, lexicon = read.rows, read.lexicon
    best = np.argsort(-base, kind="stable")[: selection.passages]
    highest = float(base[best[0]]) if len(best) else 0.0
    if highest <= 0:
        return Feedback({}, {})
    bodies = [body[body > 0] for body in map(rows.body_of, best)]
    shares = np.array([(base[row] / highest) ** selection.power for row in best])
    of_body = np.repeat(np.arange(len(best)), [len(body) for body in bodies])
    distinct, counts = np.unique(np.concatenate(bodies) * np.int64(len(best)) + of_body, return_counts=True)
    numbers, starts = np.unique(distinct // len(best), return_index=True)
    summed = np.add.reduceat(shares[distinct % len(best)] * np.log1p(counts), starts)
    held: Scores = lexicon.frequency[numbers] * np.float64(passages / max(1, lexicon.passages))
    usable = (lexicon.frequency[numbers] >= FEWEST_PASSAGES) & (held <= selection.most_share * passages)
    numbers, summed, held = numbers[usable], summed[usable], held[usable]
    idf = inverse_document_frequencies(held, passages)
    strengths = np.round(summed * idf, 9)
    least = np.sort(strengths)[-2 * selection.terms :].min(initial=np.inf)
    [strong] = np.nonzero((strengths >= least) & (strengths > LEAST_STRENGTH * strengths.max(initial=0.0)))
    place_of = dict(zip(lexicon.terms(numbers[strong].tolist()), strong.tolist(), strict=True))
    # Ties break by letters: an update numbers its terms in another order than a build from empty.
    ranked = sorted(place_of, key=lambda term: (-strengths[place_of[term]], term))
    usable_terms = (term for term in ranked if not term.isdecimal() and term not in without)
    chosen = [(term, place_of[term]) for term in islice(usable_terms, selection.terms)]
    return Feedback(
        {term: float(strengths[place]) for term, place in chosen},
        {term: float(idf[place]) for term, place in chosen},
        tuple(read.ids[row] for row in best.tolist()),
    )
