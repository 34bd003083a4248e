"""The folder of the sample: `sample/` of a checkout; an installation has it beside the packages."""

from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "sample"
SAMPLE_PAPERS = SAMPLE / "papers.jsonl"
