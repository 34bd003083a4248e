"""The reference pages that are made from the code, and the table of experiments in docs/results.md."""

import json

from tests.indexer.made_corpora import ROOT
from tests.reference import commands, settings
from tools.experiments import overview

FOLDER = ROOT / "docs" / "reference"
RESULTS = ROOT / "docs" / "results.md"
BEGINNING, END = "<!-- experiments: made by `make reference` -->", "<!-- end of experiments -->"


def results() -> str:
    """Return docs/results.md with the table of experiments, from the numbers of docs/experiments.json."""
    before, _, rest = RESULTS.read_text("utf-8").partition(BEGINNING)
    _, _, after = rest.partition(END)
    measured = json.loads((ROOT / "docs" / "experiments.json").read_text("utf-8"))
    return f"{before}{BEGINNING}\n\n{overview(measured)}\n\n{END}{after}"


PAGES = {"cli.md": commands.page, "settings.md": settings.page, "../results.md": results}
