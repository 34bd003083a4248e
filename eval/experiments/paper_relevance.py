"""How the words that question and paper share become a relevance between 0 and 1.

    python -m eval.experiments.paper_relevance [--fit] [--json]

Compares all topics of `sample/`, on which the weights were fitted, and of `sample/held-out/`, on which they
were not, with all of their papers: precision and recall of what is taken for relevant, at several thresholds
and by kind of question; how far what is promised is kept, by its size; Brier scores (the mean squared
difference between the relevance and 0 or 1), beside that of the share of relevant papers. `--fit` prints the
weights of the logistic regression beside those in use, and the held-out Brier score of both. Relevant are
papers of a grade above 0 alone. Years and words to leave out count as they do where papers are found.

The weights are fitted on `sample/` twice: as it is, and bare, without all that tells which words of the two
languages belong together (titles and abstracts in both, keywords, terms in brackets), as many a corpus is.
"""

import asyncio
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from eval.experiments.logistic import fit
from eval.experiments.rows import Row, table_of
from eval.experiments.sample import NAME, SAMPLE, read_lines
from eval.qrels import read_qrels
from generator.agents.retrieval import ABSENT
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.papers import Paper
from indexer.settings import IndexerSettings
from indexer.terminal import echo, echo_json, echo_lines
from retriever.asked_words import subject_text, words_query
from retriever.constraints import find_constraints
from retriever.filters import satisfies
from retriever.index import open_index
from retriever.logistic import likelihood
from retriever.paper_relevance import Asked, PaperRelevance
from retriever.penalties import excluded_loss
from retriever.queries import Filters
from retriever.shared_words import COMPARED, WEIGHTS
from retriever.sources.index import IndexSource
from retriever.term_statistics import inverse_document_frequency

BARE, HELD_OUT = "sample, bare", "held-out"
FOLDERS = {NAME: SAMPLE, BARE: SAMPLE, HELD_OUT: SAMPLE / HELD_OUT}
FITTED_ON = (NAME, BARE)
BOTH_LANGUAGES = ("title2", "abstract2", "keywords")
BRACKETS = re.compile(r"(?<=[가-힣])\s?\([^()]*[A-Za-z][^()]*\)|\s?\([^()]*[가-힣][^()]*\)")
THIS_YEAR = 2026  # of which "recent" years in questions count back
THRESHOLDS = (0.3, 0.5, 0.7)
FIFTHS = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """What a paper shares with a question of a kind, and whether it is relevant."""

    kind: str
    features: Mapping[str, float]  # none of a paper that shares no word, or of other years than asked for
    kept: float  # share of the likelihood that is left by what the question excludes
    relevant: bool

    def likelihood(self, weights: Mapping[str, float] = WEIGHTS) -> float:
        """Return the relevance that is promised."""
        return likelihood(weights, self.features) * self.kept if self.features else 0.0


async def measure(home: Path, name: str) -> list[Pair]:
    """Compare all topics of a collection with all of its papers."""
    folder, settings = FOLDERS[name], IndexerSettings(home=home)
    records = read_lines(folder / "papers.jsonl")
    papers = [Paper.model_validate(_bare(record) if name == BARE else record) for record in records]
    corpus = home / "papers.jsonl"
    corpus.write_text("".join(f"{paper.model_dump_json()}\n" for paper in papers), encoding="utf-8")
    build_index(IngestRequest("papers", [str(corpus)], rebuild=True), settings)
    qrels = read_qrels(folder / "qrels.txt")
    pairs = []
    with open_index(settings, "papers") as index, PaperRelevance(settings, index.glossary) as relevance:
        source = IndexSource(name, index)
        for topic in read_lines(folder / "topics.jsonl"):
            filters = Filters(years=find_constraints(topic["question"], THIS_YEAR).year_range())
            asked = await _asked(topic["question"], filters, source, relevance)
            subject = relevance.subject(asked)
            grades = qrels.get(topic["query_id"], {})
            judged = {paper_id.partition("@")[0] for paper_id, grade in grades.items() if grade > 0}
            for paper in papers:
                read = relevance.read(paper)
                features = subject.features(read) if satisfies(paper, filters) else {}
                kept = 1 - excluded_loss(asked.excluded, read.texts, read.titles)
                pairs.append(Pair(topic["kind"], features, kept, paper.id in judged))
    return pairs


def _bare(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without what tells the words of the two languages that belong together."""
    kept = {key: value for key, value in record.items() if key not in BOTH_LANGUAGES}
    return kept | {key: BRACKETS.sub("", kept[key]) for key in ("title", "abstract") if key in kept}


async def _asked(question: str, filters: Filters, source: IndexSource, relevance: PaperRelevance) -> Asked:
    """Ask a source as the loop that finds papers does."""
    subject = subject_text(question, THIS_YEAR)
    words = await relevance.words(subject)
    counted = await source.frequencies([word.keyword.text for word in words])
    frequencies, total = counted or ({}, 0)
    rarity = {
        word: inverse_document_frequency(count, total) * (1 if count else ABSENT)
        for word, count in frequencies.items()
    }
    answer = await source.search([(words_query(words), COMPARED)], filters=filters)
    found = tuple(hit.paper for hit in answer.found[0])
    return Asked(subject, rarity, found, await relevance.excluded(question, THIS_YEAR))


def taken(pairs: Sequence[Pair], threshold: float) -> dict[str, float]:
    """Return precision and recall of what is taken for relevant."""
    kept = [pair for pair in pairs if pair.likelihood() >= threshold]
    right, wanted = sum(pair.relevant for pair in kept), sum(pair.relevant for pair in pairs)
    return {"taken": len(kept), "precision": right / max(1, len(kept)), "recall": right / max(1, wanted)}


def kept_promises(pairs: Sequence[Pair]) -> list[dict[str, float]]:
    """Return for each fifth of the scale how many papers it holds, what it promises and what is relevant."""
    rows = []
    for fifth in range(FIFTHS):
        inside = [pair for pair in pairs if min(int(pair.likelihood() * FIFTHS), FIFTHS - 1) == fifth]
        if inside:
            promised = fmean(pair.likelihood() for pair in inside)
            relevant = fmean(pair.relevant for pair in inside)
            rows.append(
                {"from": fifth / FIFTHS, "papers": len(inside), "promised": promised, "relevant": relevant}
            )
    return rows


def brier(pairs: Sequence[Pair], weights: Mapping[str, float] = WEIGHTS) -> float:
    """Return the mean squared difference between the relevance and 0 or 1."""
    return fmean((pair.likelihood(weights) - pair.relevant) ** 2 for pair in pairs)


def fit_to(pairs: Sequence[Pair]) -> dict[str, float]:
    """Fit the weights to all pairs that share a word."""
    kept = [pair for pair in pairs if pair.features]
    return fit([pair.features for pair in kept], [pair.relevant for pair in kept])


@click.command()
@click.option("--fit", "fits", is_flag=True, help="Fit the weights anew, and print them.")
@json_option
def main(*, fits: bool, as_json: bool) -> None:
    """Report what is taken for relevant on the topics of both collections."""
    with tempfile.TemporaryDirectory(prefix="shrag-relevance-") as home:
        pairs = {name: asyncio.run(measure(Path(home), name)) for name in FOLDERS}
    tables: dict[str, list[Row]] = {"thresholds": [], "kinds": [], "promises": [], "brier": []}
    for name, of in pairs.items():
        tables["thresholds"] += [
            Row({"questions of": name, "threshold": str(threshold)}, taken(of, threshold))
            for threshold in THRESHOLDS
        ]
        for kind in dict.fromkeys(pair.kind for pair in of):
            of_kind = [pair for pair in of if pair.kind == kind]
            if any(pair.relevant for pair in of_kind):
                tables["kinds"].append(Row({"questions of": name, "kind": kind}, taken(of_kind, 0.5)))
        tables["promises"] += [Row({"questions of": name}, row) for row in kept_promises(of)]
        share = fmean(pair.relevant for pair in of)
        figures = {
            "pairs": len(of),
            "relevant": share,
            "Brier": brier(of),
            "of the share": share * (1 - share),
        }
        tables["brier"].append(Row({"questions of": name}, figures))
    fitted_on = [pair for name in FITTED_ON for pair in pairs[name]]
    weights = {"in use": dict(WEIGHTS), "fitted": fit_to(fitted_on)} if fits else {}
    held_out = {name: brier(pairs[HELD_OUT], each) for name, each in weights.items()}
    if as_json:
        records = {name: [row.as_record() for row in rows] for name, rows in tables.items()}
        echo_json({**records, "weights": weights, "held-out Brier": held_out})
        return
    for rows in tables.values():
        echo_lines([*table_of(rows), ""])
    for name, each in weights.items():
        echo(f"{name}: {each}, held-out Brier {held_out[name]:.4f}")


if __name__ == "__main__":
    main()
