"""What `shrag index` reports of a folder: the formats that were read, and what was not."""

import json
import os

import pytest

from tests.generator.sample_index import shrag


@pytest.fixture
def folder(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.jsonl").write_text('{"id": "a", "title": "Rice", "abstract": "Rice paddies"}\n')
    (corpus / "b.md").write_text("# Wheat\n\nWheat fields.\n")
    (corpus / "b.txt").write_text("Wheat\n\nWheat fields.\n")
    os.mkfifo(corpus / "pipe.jsonl")
    (corpus / "c.docx").write_text("no format of a corpus")
    (corpus / "README.md").write_text("# About\n")
    (corpus / "out").symlink_to(tmp_path)
    (tmp_path / "secret.jsonl").write_text('{"id": "secret", "title": "Secret"}\n')
    return corpus


def index(folder, home, *options):
    """Index a folder by the command line; return what it prints and what it reports."""
    called = shrag("index", folder, "--name", "x", *options, home=home, workers=1)
    assert called.returncode == 0
    return called.stdout, called.stderr


def test_formats_and_everything_that_is_not_read_are_reported(folder, tmp_path):
    printed, reported = index(folder, tmp_path / "home")
    record = json.loads(index(folder, tmp_path / "home", "--json", "--rebuild")[0])

    assert "  formats: 1 jsonl, 1 markdown\n" in printed
    assert "  not read: 1 .md (README.md), 1 .docx (c.docx)\n" in reported
    assert f"(--follow-links): 1 ({folder}/out)" in reported
    assert f": 1 ({folder}/b.txt)\n" in reported
    assert f": 1 ({folder}/pipe.jsonl)\n" in reported
    assert (record["papers"], record["formats"]) == (2, {"jsonl": 1, "markdown": 1})
    assert record["left_out"] == {
        "endings": {".md": 1, ".docx": 1},
        "copies": {"count": 1, "first": [f"{folder}/b.txt"]},
        "links": {"count": 1, "first": [f"{folder}/out"]},
        "special": {"count": 1, "first": [f"{folder}/pipe.jsonl"]},
    }
