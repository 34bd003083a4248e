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
from indexer.corpora.readers.hub import download

PASSAGES = {"ko": 1_486_752, "en": 32_893_221}  # of the complete corpora, version 1.0
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
    """Return the files docs-0, docs-1, … of a folder; UnknownPath if one is missing."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise UnknownPath(f"{folder} cannot be read: {cause_of(error)}", remedy=OFFLINE) from None
    numbered = {int(found[1]): folder / name for name in names if (found := DOCS.fullmatch(name))}
    missing = sorted({0, *range(max(numbered, default=0))} - numbered.keys())
    if missing:
        raise UnknownPath(f"{folder} is incomplete: docs-{missing[0]}.jsonl.gz is missing", remedy=OFFLINE)
    return tuple(numbered[number] for number in sorted(numbered))
