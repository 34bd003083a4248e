"""Tables and figures of the papers (`tables/`).

    shrag experiment NAME TOPICS QRELS --out FOLDER      # an entry of EXPERIMENTS

experiment.py    an experiment: its functions, and a topic with its searches
materials.py     its options and inputs: index, topics, judgements, models, sources
comparing.py     tables of rows and columns, figures, differences, main numbers
running.py       its run, which resumes, and the folder of results; report.py formats them
layouts.py       published benchmarks as topics, qrels and papers
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from eval.experiments.experiment import Experiment


class Heading(NamedTuple):
    """The title of a report, and its table or figure, or section, with the name of the paper."""

    title: str
    source: str


EXPERIMENTS: Mapping[str, Heading] = {
    "and-ablation": Heading("AND ablation", "SHRAG, figure 3"),
    "answers": Heading("Quality of answers", "SHRAG, section 4, choice of the language model"),
    "challenge": Heading("The challenge", "SHRAG, sections 5.1.3 and 5.2, appendix A.2"),
    "encoders": Heading("Encoders", "SHRAG, section 3.4"),
    "exclusions": Heading("Exclusions", "SHRAG, section 3.2, NOT"),
    "finding-agents": Heading("Agents of paper finding", "SPAR, tables 2, 3 and 4"),
    "finding-judges": Heading("Judges in a search for papers", "SPAR, table 6"),
    "finding-layers": Heading("Layers of references", "SPAR, table 5"),
    "finding-papers": Heading("Ways to find papers", "SPAR, table 1"),
    "finding-queries": Heading("Native and evolved queries", "SPAR, appendix C.2"),
    "hops": Heading("Several steps", "SHRAG, section 5.1.2 and appendix A.3"),
    "judging-papers": Heading("Judges against judgements", "SPAR, table 7"),
    "keyword-ablation": Heading("Keyword ablation", "SHRAG, sections 3.1 and 3.2"),
    "lexical-gap": Heading("Lexical gap", "SHRAG, section 6"),
    "miracl": Heading("MIRACL in full", "SHRAG, section 5.2, on all topics and passages"),
    "paper-qa": Heading("Ways of paper-QA", "paper-QA, section 6.II"),
    "query-success": Heading("Query success rate", "SHRAG, table 1 and equation 6"),
}


SEARCHES = ("finding-agents", "finding-judges", "finding-layers", "finding-queries")  # in tables/finding.py


def load_experiment(name: str) -> "Experiment":
    """Import an experiment: `EXPERIMENT` of the module of its name in `tables/`, or its name in capitals."""
    names = name.replace("-", "_"), "EXPERIMENT"
    module, constant = ("finding", names[0].upper()) if name in SEARCHES else names
    experiment: Experiment = getattr(import_module(f"{__name__}.tables.{module}"), constant)
    return experiment
