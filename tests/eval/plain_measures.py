"""Measures computed from their definitions, independently of the libraries that the project uses.

A ranking is sorted by score in single precision, then by id, both descending, as in trec_eval. A gain is a
grade above 0; an id is relevant if its grade reaches `rel`. Grades below 0 count as not judged.
"""

import math
import struct

RELEVANT = 1


def single(score):
    return struct.unpack("f", struct.pack("f", score))[0]


def order(ranking):
    return [found for _, found in sorted(((single(score), found) for found, score in ranking), reverse=True)]


def relevant_among(ids, grades, rel=RELEVANT):
    return sum(grades.get(found, 0) >= rel for found in ids)


def discounted(gains):
    return sum(max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(ids, grades, k=None):
    return discounted([grades.get(found, 0) for found in ids[:k]]) / discounted(
        sorted(grades.values(), reverse=True)[:k]
    )


def precision(ids, grades, k, rel=RELEVANT):
    return relevant_among(ids[:k], grades, rel) / k


def recall(ids, grades, k, rel=RELEVANT):
    wanted = relevant_among(grades, grades, rel)
    return relevant_among(ids[:k], grades, rel) / wanted if wanted else 0.0


def success(ids, grades, k):
    return float(relevant_among(ids[:k], grades) > 0)


def reciprocal_rank(ids, grades, k=None):
    return next((1 / rank for rank, found in enumerate(ids[:k], 1) if grades.get(found, 0) >= RELEVANT), 0.0)


def average_precision(ids, grades, k=None):
    precisions = [
        precision(ids, grades, rank)
        for rank, found in enumerate(ids[:k], 1)
        if grades.get(found, 0) >= RELEVANT
    ]
    return sum(precisions) / relevant_among(grades, grades)


def r_precision(ids, grades):
    return precision(ids, grades, relevant_among(grades, grades))


def bpref(ids, grades):
    """Buckley and Voorhees, SIGIR 2004: the share of judged irrelevant ids ranked below each relevant one."""
    wanted = relevant_among(grades, grades)
    irrelevant = sum(0 <= grade < RELEVANT for grade in grades.values())
    above, total = 0, 0.0
    for found in ids:
        grade = grades.get(found, -1)
        if grade >= RELEVANT:
            total += 1 - min(above, wanted) / min(wanted, irrelevant) if above else 1.0
        elif grade >= 0:
            above += 1
    return total / wanted


MEASURES = {
    "nDCG": ndcg,
    "nDCG@3": lambda ids, grades: ndcg(ids, grades, 3),
    "nDCG@10": lambda ids, grades: ndcg(ids, grades, 10),
    "P@5": lambda ids, grades: precision(ids, grades, 5),
    "P(rel=2)@3": lambda ids, grades: precision(ids, grades, 3, 2),
    "R@4": lambda ids, grades: recall(ids, grades, 4),
    "R(rel=2)@100": lambda ids, grades: recall(ids, grades, 100, 2),
    "Success@1": lambda ids, grades: success(ids, grades, 1),
    "Success@5": lambda ids, grades: success(ids, grades, 5),
    "RR": reciprocal_rank,
    "RR@3": lambda ids, grades: reciprocal_rank(ids, grades, 3),
    "MAP": average_precision,
    "AP@3": lambda ids, grades: average_precision(ids, grades, 3),
    "Rprec": r_precision,
    "Bpref": bpref,
}


def scores(qrels, run, measure):
    """Return the values of the questions that have a relevant judgement; 0 for those not in the run."""
    return {
        query_id: MEASURES[measure](order(run.get(query_id, [])), grades)
        for query_id, grades in qrels.items()
        if any(grade >= RELEVANT for grade in grades.values())
    }
