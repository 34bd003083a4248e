"""Tables of set measures, and published values beside them."""

from collections.abc import Iterator, Mapping, Sequence

from eval.experiments.experiment import NEEDS_MODEL, Cell, Record, Table
from eval.experiments.finding.inputs import FindingMaterials
from eval.experiments.finding.set_measures import COLUMNS, SetCounts, SetScores, set_scores
from eval.significance import NONE, compare, difference_columns

MEASURES = (
    "F1: harmonic mean of mean recall and mean precision, as in SPAR. Mean F1: mean over the questions.",
    "Mean precision is over the questions with papers, all others over all questions. –: no valid value.",
)
BENCHMARKS = ("AutoScholarQuery", "SPARBench")
COMPARED = difference_columns("difference of mean F1")


def counts_of(topics: Sequence[Record], part: str, name: str) -> list[SetCounts]:
    """Return the counts `topic[part][name]` of the topics that have them."""
    given = (topic[part].get(name) for topic in topics)
    return [SetCounts(**record) for record in given if record is not None]


def scores_of(topics: Sequence[Record], part: str, name: str) -> SetScores | None:
    """Return the scores of `topic[part][name]`; None if no topic has it."""
    counts = counts_of(topics, part, name)
    return set_scores(counts) if counts else None


def score_table(title: str, kind: str, topics: Sequence[Record], part: str, names: Sequence[str]) -> Table:
    """Return a table with a row of set measures for each name; `kind` is the heading of the names.

    A name that no topic has needs a language model.
    """
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        scores = scores_of(topics, part, name)
        failed = any(part in topic and name in topic[part] for topic in topics)
        nothing = (None if failed else NEEDS_MODEL, *(None,) * (len(COLUMNS) - 1))
        rows.append((name, *(scores.as_cells() if scores else nothing)))
    return Table(title, (kind, *COLUMNS), tuple(rows))


def compared_table(title: str, kind: str, topics: Sequence[Record], part: str, names: Sequence[str]) -> Table:
    """Return a score table with the difference of each row to the first one, by each question's F1.

    Differences are over the questions that have both rows.
    """
    scored = score_table(title, kind, topics, part, names)
    rows = (
        (*row, *(_difference(topics, part, names[0], name) if name != names[0] else NONE))
        for row, name in zip(scored.rows, names, strict=True)
    )
    return Table(title, (*scored.columns, *COMPARED), tuple(rows))


def _difference(topics: Sequence[Record], part: str, first: str, name: str) -> tuple[Cell, ...]:
    both = [topic for topic in topics if topic[part].get(first) and topic[part].get(name)]
    pairs = [[each.f1 or 0.0 for each in counts_of(both, part, run)] for run in (first, name)]
    return compare(*pairs).as_cells() if both else NONE


def main_numbers(topics: Sequence[Record], part: str, names: Mapping[str, str]) -> dict[str, float]:
    """Return F1, recall and precision of each name that has them, as `F1, TEXT`; `names` has the texts."""
    found: dict[str, float] = {}
    for name, text in names.items():
        scores = scores_of(topics, part, name)
        for measure in ("f1", "recall", "precision") if scores else ():
            value = getattr(scores, measure)
            if value is not None:
                found[f"{measure.capitalize()}, {text}"] = value
    return found


def published_columns(kind: str) -> tuple[str, ...]:
    """Return the columns of a published table with the set measures of both benchmarks of SPAR."""
    return (kind, *(f"{measure}, {name}" for name in BENCHMARKS for measure in COLUMNS[:3]))


def published(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    """Return a table of published values."""
    return Table(f"Published: {title}", tuple(columns), tuple(map(tuple, rows)))


def finding_notes(materials: FindingMaterials, topics: Sequence[Record]) -> Iterator[str]:
    """Yield notes on published values, the language model and its failures, and the days of the questions."""
    yield "Published values are of other papers and questions: compare within a table only."
    if not materials.settings.generator.llm.configured:
        yield "Without a language model (--model), rules write queries, judge and re-rank."
    if failed := sum(bool(topic.get("failures")) for topic in topics):
        yield f"{failed:,} topics with an unusable reply, replaced by rules (`failures` in topics.jsonl)."
    if materials.days:
        dated = sum(query_id in materials.days for query_id in materials.topics)
        yield f"{dated:,} topics have a day: papers that are newer are left out."
    yield from materials.notes()
