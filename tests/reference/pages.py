"""The reference pages that are made from the code."""

from tests.indexer.made_corpora import ROOT
from tests.reference import api, commands, settings

FOLDER = ROOT / "docs" / "reference"
PAGES = {"cli.md": commands.page, "settings.md": settings.page, "api.md": api.page}
