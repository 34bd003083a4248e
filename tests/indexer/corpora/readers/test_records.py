"""Records of all formats: each case of `cases/FORMAT.txt` is a file and the items that it gives.

An item is the JSON of a paper, or line and reason of a dead letter. The format is detected unless the case
gives it. Signs stand for characters that an editor would lose: ␍ ␀, ␂ (byte order mark), ⟪ff⟫ (a byte that is
no UTF-8), and ␄ for a file that does not end with a line feed.
"""

import json
import re
from pathlib import Path

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers import parse_columns, read_corpus

CASES = Path(__file__).with_name("cases")
CASE = re.compile(
    r"^=== (?P<title>.*)\n--- (?P<name>\S+)(?: format=(?P<format>\S+))?(?: columns=(?P<columns>.*))?\n"
    r"(?P<content>(?s:.*?))^--- gives\n(?P<items>(?:[^\n]+\n)*)",
    re.MULTILINE,
)


def cases():
    for path in sorted(CASES.glob("*.txt")):
        for number, case in enumerate(CASE.finditer(path.read_bytes().decode()), 1):
            yield pytest.param(path.stem, case, id=f"{path.stem} {number}: {case['title']}")


def content_of(case):
    text = case["content"].replace("␄\n", "")
    for sign, character in {"␍": "\r", "␀": "\0", "␂": "\ufeff"}.items():
        text = text.replace(sign, character)
    return re.sub("⟪(..)⟫", lambda found: chr(0xDC00 + int(found[1], 16)), text).encode(
        "utf-8", "surrogateescape"
    )


@pytest.mark.parametrize(("format_", "case"), list(cases()))
def test_a_file_gives_its_records_and_dead_letters(tmp_path, format_, case):
    (file := tmp_path / case["name"]).write_bytes(content_of(case))
    columns = parse_columns(case["columns"]) if case["columns"] else None

    corpus = read_corpus([file], format=case["format"], columns=columns)

    found = [
        item.model_dump(exclude_unset=True)
        if isinstance(item, Paper)
        else {"line": item.line, "reason": item.reason}
        for item in corpus
    ]
    assert corpus.format == format_
    assert found == [json.loads(line) for line in case["items"].splitlines()]
