"""The files of MIRACL for one language: corpus, topics and qrels, in a folder or on the Hugging Face hub.

| file | data set of the hub | content |
|---|---|---|
| miracl-corpus-v1.0-LANG/docs-N.jsonl.gz | miracl/miracl-corpus | JSON lines: docid, title, text; N from 0 |
| miracl-v1.0-LANG/topics/topics.miracl-v1.0-LANG-SPLIT.tsv | miracl/miracl | id, tab, question |
| miracl-v1.0-LANG/qrels/qrels.miracl-v1.0-LANG-SPLIT.tsv | miracl/miracl | TREC's four columns |

Layout: https://huggingface.co/datasets/miracl/miracl-corpus and https://huggingface.co/datasets/miracl/miracl.
"""

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from base.errors import UnknownPath
from base.files.durable import cause_of
from eval.errors import BadBenchmark
from eval.files import numbered_lines
from indexer.corpora.readers.hub import download
from indexer.corpora.readers.json_records import NoRecord, parse_record
from indexer.errors import UnknownFormat

PASSAGES = {"ko": 1_486_752, "en": 32_893_221}  # of the complete corpora, version 1.0
KEYS = ("docid", "title", "text")
DOCS = re.compile(r"docs-(\d+)\.jsonl(?:\.gz)?")
OFFLINE = "without internet, download it on another machine and name its folder: --corpus FOLDER"


class MiraclFiles(NamedTuple):
    """Files of the corpus, in the order of their numbers, of topics and qrels."""

    corpus: tuple[Path, ...]
    topics: Path
    qrels: Path

    def digest(self) -> str:
        """Return the SHA-256 of the corpus: of the names and contents of its files."""
        total = hashlib.sha256()
        for path in self.corpus:
            with path.open("rb") as file:
                total.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return total.hexdigest()


def corpus_name(language: str) -> str:
    """Return the folder of the corpus."""
    return f"miracl-corpus-v1.0-{language}"


def find_files(
    language: str,
    split: str,
    *,
    folder: str | None = None,
    topics: str | None = None,
    qrels: str | None = None,
) -> MiraclFiles:
    """Find the files below `folder`, or download them without it; `topics` and `qrels` replace those there.

    Raises:
        UnknownPath: a file or folder is missing; the message names the expected path.
        UnknownFormat: a file of the corpus has another format, with file and line.
        LibraryMissing: without a folder, if the client of the hub is not installed.
    """
    corpus, data = corpus_name(language), f"miracl-v1.0-{language}"
    judged = [f"{data}/{kind}/{kind}.{data}-{split}.tsv" for kind in ("topics", "qrels")]
    if folder:
        corpora = others = Path(folder)
    else:
        corpora = others = download("miracl/miracl-corpus", [f"{corpus}/docs-*"], remedy=OFFLINE)
        if not (topics and qrels):
            others = download("miracl/miracl", judged, remedy=OFFLINE)
    found = (Path(given or others / name) for given, name in zip((topics, qrels), judged, strict=True))
    files = MiraclFiles(corpus_files(corpora / corpus), *found)
    for path in (files.topics, files.qrels):
        if not path.exists():
            raise UnknownPath(f"{path}: there is no such file", remedy="name it: --topics FILE, --qrels FILE")
    return files


def corpus_files(folder: Path) -> tuple[Path, ...]:
    """Return the files docs-0, docs-1, … of a folder, checked: all numbers, and keys of the first record.

    Raises:
        UnknownPath: there is no folder or no such file, or a number is missing.
        UnknownFormat: the first record of a file is not a passage of MIRACL.
    """
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise UnknownPath(f"{folder} cannot be read: {cause_of(error)}", remedy=OFFLINE) from None
    numbered = {int(found[1]): folder / name for name in names if (found := DOCS.fullmatch(name))}
    if not numbered:
        others = f", but {', '.join(names[:3])}" if names else ""
        raise UnknownPath(f"{folder} contains no file docs-N.jsonl.gz{others}")
    if missing := sorted(set(range(max(numbered))) - numbered.keys()):
        last = f"docs-{max(numbered)} is present"
        raise UnknownPath(f"{folder} is incomplete: docs-{missing[0]}.jsonl.gz is missing, {last}")
    files = tuple(numbered[number] for number in sorted(numbered))
    for path in files:
        try:
            number, line = next(numbered_lines(path, BadBenchmark), (1, ""))
            record = parse_record(line.encode())
        except BadBenchmark as error:
            raise UnknownFormat(str(error), remedy="download it again") from None
        except NoRecord as error:
            raise UnknownFormat(f"{path}:{number}: {error}") from None
        if lacking := [key for key in KEYS if not isinstance(record.get(key), str)]:
            raise UnknownFormat(
                f"{path}:{number}: no text {lacking[0]!r}; a passage of MIRACL has {', '.join(KEYS)}, "
                f"this record has {', '.join(map(str, list(record)[:5]))}"
            )
    return files
