"""Calls of `shrag experiment` on the sample, and the files that they write."""

import json
from pathlib import Path

from click.testing import CliRunner

from eval.experiments.commands import experiment

SAMPLE = Path(__file__).resolve().parents[3] / "sample"
TOPICS, QRELS = str(SAMPLE / "topics.jsonl"), str(SAMPLE / "qrels.txt")


def call(*arguments):
    return CliRunner().invoke(experiment, list(map(str, arguments)), catch_exceptions=False)


def read(path):
    return json.loads(path.read_text("utf-8"))


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def topics_of(folder):
    return {topic["query_id"]: topic for topic in read_lines(folder / "topics.jsonl")}


def write_lines(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def table_of(folder, title):
    """Return the rows of a table of the metrics by their first cell, each by column."""
    [table] = [each for name, each in read(folder / "metrics.json")["tables"].items() if title in name]
    return {row[0]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
