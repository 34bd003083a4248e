"""The overview of all experiments: table or figure of a paper, command, requirements, our result, published.

Results are the main numbers of runs (`Outcome.main`), by experiment and by name of the data.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from base.terminal.call_options import flag_of
from eval.experiments.experiment import Experiment, ExperimentCall, experiments
from eval.experiments.report import formatted

Results = Mapping[str, Mapping[str, Mapping[str, float]]]  # experiment → data → name → value

COLUMNS = ("table or figure", "command", "requires", "our result", "published")
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class NotReproduced:
    """A published result that no experiment reproduces, and the reason."""

    source: str
    published: str
    reason: str


NOT_REPRODUCED = (
    NotReproduced(
        "SHRAG, section 5.1.3",
        "first place of the ScienceON challenge",
        "the licence of the questions allows no copy here, and the search of the challenge is not public; "
        "`challenge` reads their CSV, or other questions",
    ),
    NotReproduced(
        "SHRAG, figure 3",
        "50 questions of the challenge",
        "the licence of the questions allows no copy here; `and-ablation` takes any topics",
    ),
    NotReproduced(
        "SPAR, table 1, rows of Google, Google Scholar and ChatGPT search",
        "F1 to .2451",
        "these services may not be called by programs, or not repeatedly with the same results",
    ),
    NotReproduced(
        "SPAR, table 1, rows of PaSa and PaperFinder",
        "F1 .2449 and .0506",
        "they are other systems",
    ),
    NotReproduced(
        "Paper-QA, test result",
        "accuracy .48, ROUGE-L .2990",
        "the questions of the course are not public; `paper-qa` takes any questions with answers",
    ),
)


def overview(results: Results) -> str:
    """Return the tables in Markdown: a row for each experiment, then the results that are not reproduced."""
    rows = [_row(name, each, results.get(name, {})) for name, each in _by_paper()]
    missing = [(each.source, each.published, each.reason) for each in NOT_REPRODUCED]
    return "\n\n".join(
        (
            _table(COLUMNS, rows),
            "These published results cannot be reproduced here:",
            _table(("result", "published", "reason"), missing),
        )
    )


def _by_paper() -> Iterator[tuple[str, Experiment]]:
    """Yield the experiments by paper and by table."""
    yield from sorted(experiments().items(), key=lambda each: (each[1].source, each[0]))


def _row(name: str, experiment: Experiment, results: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    shown = experiment.shown or tuple(dict.fromkeys(each for of in results.values() for each in of))
    published = experiment.published.keys()
    known = published & set(shown) or published
    ours = [
        f"{data}: {_values({key: values[key] for key in shown if key in values})}"
        for data, values in results.items()
    ]
    return (
        experiment.source,
        f"`shrag experiment {name}{arguments(experiment.call)}`",
        experiment.requires or "–",
        "<br>".join(ours) or NOT_MEASURED,
        _values({key: value for key, value in experiment.published.items() if key in known}) or "–",
    )


def _values(values: Mapping[str, float]) -> str:
    return " · ".join(f"{name} = {_number(value)}" for name, value in values.items())


def _number(value: float) -> str:
    """Format a number as in a report; whole numbers above 1 without decimals."""
    return formatted(int(value) if value > 1 and float(value).is_integer() else float(value))


def arguments(call: type[ExperimentCall]) -> str:
    """Return the arguments and the required options of a command for its description."""
    fields = call.model_fields.items()
    named = [name.upper() for name, each in fields if flag_of(each).argument]
    required = [
        f"--{name} {flag_of(each).metavar or name.upper()}"
        for name, each in fields
        if each.is_required() and not flag_of(each).argument
    ]
    return "".join(f" {part}" for part in (*named, *required))


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
