"""Corpora for tests of indexing, and the indexer as a process of its own."""

import asyncio
import gzip
import json
import os
import random
import resource
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import tantivy

from indexer.files.schema import tantivy_schema
from indexer.files.stored import read_numbered
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store.build_folder import FORWARD, LEXICON, TANTIVY
from indexer.versions.store.folder import FolderStore
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings

ROOT = Path(__file__).resolve().parents[2]
KOREAN = (
    "지식 그래프 검색 질의 응답 문서 색인 평가 모델 학습 언어 번역 논문 초록 환각 근거 벡터 순위 형태소 분석"
).split()
ENGLISH = (
    "knowledge graph retrieval question answer document index ranking model language passage evidence"
).split()


def paper(number, *, version=0, words=30):
    """Make a paper whose text depends on its number and version only, and is no copy of another."""
    draw = random.Random(number * 1_000 + version)
    text = " ".join(draw.choice(KOREAN) for _ in range(words)) + f"는 {number}번째 연구이다. "
    text += " ".join(draw.choice(ENGLISH) for _ in range(words))
    record = {"id": f"P{number:05}", "title": f"{draw.choice(KOREAN)} {draw.choice(ENGLISH)} {number}"}
    if number % 5 == 0:
        record["title2"] = f"{draw.choice(ENGLISH)} study {number}"
    return record | {"abstract": text, "year": 1990 + number % 30}


def write_jsonl(path, records):
    """Write records, or lines as they are where they are strings, a line each."""
    lines = (one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in records)
    text = "".join(f"{line}\n" for line in lines)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def build(home, path, name="papers", *, workers=1, keep_versions=3, **options):
    """Index a corpus in this process."""
    settings = IndexerSettings(home=home, workers=workers, keep_versions=keep_versions)
    return build_index(IngestRequest(name=name, paths=[str(path)], **options), settings)


def command(*arguments):
    return [sys.executable, str(ROOT / "shrag.py"), *map(str, arguments)]


def environment_of(home, **environment):
    """Return the variables of a process that keeps its indexes in `home`."""
    given = {f"SHRAG_{key.upper()}": str(value) for key, value in environment.items()}
    return os.environ | {"SHRAG_HOME": str(home), "PYTHONPATH": str(ROOT)} | given


# Python 3.11 takes what it could write of a compiled module for the whole: goes with `limited`.
WITHOUT_COMPILING = {"PYTHONDONTWRITEBYTECODE": "1"}


def limited(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def as_others_may():
    """Return what precedes a command that is to have no more rights than its user's; root needs it."""
    if os.geteuid():
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root may write everywhere, and there is no setpriv to take that away")
    return ["setpriv", "--bounding-set", "-all"]


def edit_manifest(folder, **changes):
    """Change what a version's manifest says; causes in its fingerprint by `fingerprint={…}`."""
    manifest = Manifest.read(folder)
    if "fingerprint" in changes:
        changes["fingerprint"] = manifest.fingerprint | changes["fingerprint"]
    replace(manifest, **changes).write(folder)


def stored_records(home, name="papers"):
    """Return all stored passages of the version that answers, in order, as the bytes that are stored."""
    folder = FolderStore(home, name)
    path = folder.version_path(folder.require_current()) / TANTIVY
    searcher = tantivy.Index(tantivy_schema(), str(path)).searcher()
    return [passage.to_json() for _, passage in read_numbered(searcher)]


def forward_files(home, name="papers"):
    """Return the bytes of the lexicon and of the forward index of the version that answers, by file."""
    folder = FolderStore(home, name)
    version = folder.version_path(folder.require_current())
    paths = [version / LEXICON, *sorted(path for path in (version / FORWARD).rglob("*") if path.is_file())]
    return {str(path.relative_to(version)): path.read_bytes() for path in paths}


QUESTIONS = ("지식 그래프 검색", "question answer retrieval", "환각 근거 evidence ranking", "1700")


def answers(home, name="papers", questions=QUESTIONS, methods=("or", "shrag")):
    """Return (passage_id, score) of every hit of some questions by some methods; `home` may be settings."""
    settings = home if isinstance(home, IndexerSettings) else IndexerSettings(home=home)

    async def ask(index):
        return [
            [
                (hit.passage_id, hit.score)
                for hit in (await search(index, SearchRequest(question, method), RetrieverSettings())).hits
            ]
            for question in questions
            for method in methods
        ]

    with open_index(settings, name) as index:
        return asyncio.run(ask(index))
