"""Published benchmarks for finding papers: their layouts, and the files of an experiment.

`shrag experiment import LAYOUT PATH --out DIR` writes

| file | content |
|---|---|
| topics.jsonl | query_id, question, date of the question if there is one, and values such as query_set |
| qrels.txt | TREC's four columns, with the ids of papers.jsonl |
| papers.jsonl | the corpus, for `shrag index`; without a corpus the relevant papers, for `--papers` |

AutoScholarQuery and RealScholarQuery of PaSa (He et al. 2025) and SPARBench (Shi et al. 2025) are JSON lines
without a corpus (`ListedRow`). The day of a question is the publication of the paper that it was made from,
or the day of the search. SPARBench lists titles or papers; records of the same title or id in
`source_meta.answers` add their abstracts, and are the relevant papers if none are listed.

BEIR (Thakur et al. 2021), such as TREC-COVID and SciDocs: corpus.jsonl with _id, title, text and metadata,
queries.jsonl with _id and text for all splits, qrels/SPLIT.tsv; each optionally gzipped.

LitSearch (Ajith et al. 2024): the folders query/ and corpus_clean/ with Parquet files, or query.jsonl and
corpus_clean.jsonl, optionally gzipped. Questions are numbered from 0, and there is one split.

MIRACL (Zhang et al. 2023) in one language, or in both, in the layout of `miracl_files.py`. Both languages
have passages and questions with the same ids, so the ids of a joint corpus begin with the language, such as
ko:5#0. The split test is dev, whose judgements are public.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar
from unicodedata import normalize

import click
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from base.amounts import counted
from base.calls import reason
from base.files.output_files import check_output, not_written, output_file, write_output
from base.files.regular_files import open_regular
from base.terminal.output import echo, echo_lines, shortened
from base.terminal.parameters import PathParameter
from eval.collection import Text, read_qrels, read_topics
from eval.errors import BadBenchmark
from eval.experiments.miracl_files import PASSAGES, corpus_name, find_files
from eval.experiments.paper_identity import arxiv_id
from eval.experiments.running import json_lines
from eval.files import Source, numbered_lines
from indexer.corpora.normal_forms import DOI, normal_doi, normal_title, whole_doi
from indexer.corpora.papers import FORBIDDEN_IN_IDENTIFIERS, Paper
from indexer.corpora.readers.parquet import ParquetLines, check_parquet_library

R = TypeVar("R", bound=BaseModel)
# The place of a record in the files, file and line, and a record with the keys of `Paper`.
PlacedPaper: TypeAlias = tuple[str, Mapping[str, Any]]

TOPICS, QRELS, PAPERS = "topics.jsonl", "qrels.txt", "papers.jsonl"
HASH_CHARACTERS = 16  # of a title, in an id
METADATA = ("authors", "references", "year", "url", "doi")  # of BEIR, with the names of `Paper`


# A topic (query_id, question, and keys such as `date`, its day), and its grades by the id of the paper.
Question: TypeAlias = tuple[dict[str, Any], Mapping[str, int]]


class Benchmark(NamedTuple):
    """Questions in the order of the files, and papers, which are read when they are iterated.

    `has_corpus` states that the papers are the corpus to search; else they are only the relevant papers.
    """

    questions: Sequence[Question]
    papers: Iterable[PlacedPaper]
    has_corpus: bool = True


def day_of(value: object) -> date | None:
    """Parse a day: 20240305, 2024-03-05, with or without a time, which is ignored; "" is None.

    Raises:
        ValueError: it is no day.
    """
    if value is None or value == "":
        return None
    text = str(value).strip()
    try:
        return date.fromisoformat(text[:10] if "-" in text else text.partition("T")[0])
    except ValueError:
        raise ValueError(f"{shortened(repr(value))} is not a day, such as 2024-03-05") from None


Day = Annotated[date | None, BeforeValidator(day_of)]


def file_in(path: Path, *names: str) -> Path:
    """Return the path itself if it is a file, else the first file of these names in the folder.

    Raises:
        BadBenchmark: the folder has none of them.
    """
    found = next((path / name for name in names if (path / name).exists()), None)
    if path.is_dir() and found is None:
        raise BadBenchmark(f"{path} contains no {' or '.join(names)}")
    return found or path


def rows_of(source: Source, row: type[R]) -> Iterator[tuple[str, R]]:
    """Yield (place, row) for each row of a file: JSON lines, optionally gzipped, or Parquet.

    Other columns are ignored. A place is `FILE:LINE`.

    Raises:
        BadBenchmark: with file and line; not JSON, a missing field, or a wrong type.
        LibraryMissing: for Parquet, without pyarrow.
    """
    is_parquet = str(source).endswith(".parquet")
    lines = _parquet_lines(Path(str(source))) if is_parquet else numbered_lines(source, BadBenchmark)
    for number, line in lines:
        where = f"{source}:{number}"
        try:
            yield where, row.model_validate_json(line)
        except ValidationError as error:
            raise BadBenchmark(f"{where}: {reason(error)}") from None


def _parquet_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    check_parquet_library()
    from pyarrow import ArrowException

    try:
        with open_regular(path) as file:
            blocks = iter(partial(ParquetLines(file).read1, 0), b"")
            yield from enumerate((line for block in blocks for line in block.splitlines()), 1)
    except (ArrowException, OSError) as error:
        raise BadBenchmark(f"{path} cannot be read as Parquet: {error}") from None


class ListedPaper(BaseModel):
    """A relevant paper: at least a title, an arXiv id or a DOI."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    title: str = ""
    paper_id: str = Field(default="", validation_alias=AliasChoices("paper_id", "paperId", "id", "url"))
    arxiv: str = Field(default="", validation_alias=AliasChoices("arxivId", "arxiv_id", "arxiv"))
    doi: str = ""
    abstract: str | None = None
    authors: list[str] | str | None = None
    year: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, values: Any) -> Any:
        values = {"title": values} if isinstance(values, str) else values
        return {k: v for k, v in values.items() if v is not None} if isinstance(values, dict) else values

    @property
    def keys(self) -> list[str]:
        """The arXiv id without version and the normal form of the title, by which records are recognised."""
        return [key for key in (arxiv_id(self.arxiv or self.paper_id), normal_title(self.title)) if key]

    def completed(self, records: Mapping[str, "ListedPaper"]) -> "ListedPaper":
        """Return the paper with the values that only its record has."""
        record = next(filter(None, map(records.get, self.keys)), self)
        own = {name: value for name, value in self.model_dump().items() if value}
        return ListedPaper.model_construct(**record.model_dump() | own)

    def as_paper(self, where: str) -> PlacedPaper:
        """Return the record with the keys of `Paper`.

        Its id is the arXiv id, else the DOI, else a hash of the normal form of the title.

        Raises:
            BadBenchmark: the paper has none of them.
        """
        preprint, title = arxiv_id(self.arxiv or self.paper_id), normal_title(self.title)
        in_id = DOI.search(normal_doi(self.paper_id))
        doi = whole_doi(self.doi or (in_id[0] if in_id else ""))
        if not (preprint or doi or title):
            raise BadBenchmark(f"{where}: a relevant paper has no title, arXiv id or DOI")
        title_id = f"title:{hashlib.sha256(title.encode()).hexdigest()[:HASH_CHARACTERS]}"
        address = self.paper_id if self.paper_id.startswith(("http://", "https://")) else None
        known = {
            "id": f"arxiv:{preprint}" if preprint else f"doi:{doi}" if doi else title_id,
            "title": self.title.strip(),
            "doi": doi,
            "url": f"https://arxiv.org/abs/{preprint}" if preprint else address,
            "abstract": self.abstract,
            "authors": self.authors if isinstance(self.authors, list) else None,
            "year": int(self.year[:4]) if self.year and self.year[:4].isdecimal() else None,
        }
        return where, {name: each for name, each in known.items() if each}


class OriginOfQuestion(BaseModel):
    """Origin of a question, and records of its papers."""

    answers: list[ListedPaper] = []
    day: Day = Field(default=None, validation_alias=AliasChoices("published_time", "search_time"))


class ListedRow(BaseModel):
    """A line of AutoScholarQuery or SPARBench."""

    qid: str | int | None = None
    question: Text = Field(validation_alias=AliasChoices("question", "query"))
    answer: list[ListedPaper] = Field(
        default=[], validation_alias=AliasChoices("answer", "data_result_add_score")
    )
    answer_arxiv_id: list[str] = []
    source_meta: OriginOfQuestion = OriginOfQuestion()

    @model_validator(mode="after")
    def _check_pairs(self) -> "ListedRow":
        titles, ids = len(self.answer), len(self.answer_arxiv_id)
        if ids and ids != titles:
            raise ValueError(f"has {titles} titles in answer, and {ids} in answer_arxiv_id")
        return self

    def papers(self) -> list[ListedPaper]:
        """Return the relevant papers, each with the record that `source_meta` has of it."""
        records = {key: record for record in self.source_meta.answers for key in record.keys}
        pairs = zip(self.answer, self.answer_arxiv_id or [""] * len(self.answer), strict=True)
        listed = [each.model_copy(update={"arxiv": number or each.arxiv}) for each, number in pairs]
        return [each.completed(records) for each in listed] or self.source_meta.answers


def read_listed(path: Path, split: str, *, names: Sequence[str]) -> Benchmark:
    """Read a file, or the first one of these names in a folder: questions with their papers.

    A paper of several questions occurs once, as it is listed first.
    """
    questions: list[Question] = []
    papers: dict[str, PlacedPaper] = {}
    for where, line in rows_of(file_in(path, *(name.format(split) for name in names)), ListedRow):
        query_id = f"SPARBench_{where.rpartition(':')[2]}" if line.qid is None else str(line.qid)
        read = {paper[1]["id"]: paper for paper in (each.as_paper(where) for each in line.papers())}
        if not read:
            raise BadBenchmark(f"{where}: {query_id} has no relevant paper")
        dated = {"date": line.source_meta.day.isoformat()} if line.source_meta.day else {}
        topic = {"query_id": query_id, "question": line.question, **dated}
        questions.append((topic, dict.fromkeys(read, 1)))
        papers = read | papers
    return Benchmark(questions, papers.values(), has_corpus=False)


class BeirPaper(BaseModel):
    """A paper of a corpus in BEIR's layout."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = Field(validation_alias="_id")
    title: str | None = None
    text: str | None = None
    metadata: dict[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """Return the record with the keys of `Paper`."""
        known = {name: value for name in METADATA if (value := (self.metadata or {}).get(name))}
        return {"id": self.id, "title": self.title or "", "abstract": self.text or "", **known}


def read_beir(path: Path, split: str) -> Benchmark:
    """Read the folder of the benchmark."""
    topics = read_topics(file_in(path, "queries.jsonl", "queries.jsonl.gz"))
    qrels_file = file_in(path, f"qrels/{split}.tsv", f"qrels/{split}.tsv.gz")
    qrels = read_qrels(qrels_file)
    if missing := [query_id for query_id in qrels if query_id not in topics]:
        raise BadBenchmark(f"{qrels_file}: {missing[0]} is not in queries.jsonl")
    corpus = rows_of(file_in(path, "corpus.jsonl", "corpus.jsonl.gz"), BeirPaper)
    questions: list[Question] = [
        ({"query_id": query_id, "question": topics[query_id]}, grades) for query_id, grades in qrels.items()
    ]
    return Benchmark(questions, ((where, row.record()) for where, row in corpus))


class LitSearchQuery(BaseModel):
    """A question: `specificity` is 0 (broad) or 1 (specific), `quality` 1 or 2 (Ajith et al., section 2)."""

    query: Text
    corpusids: Annotated[list[int], Field(min_length=1)]
    query_set: str | None = None
    specificity: int | None = None
    quality: int | None = None


class LitSearchPaper(BaseModel):
    """A paper of the corpus."""

    corpusid: int
    title: str | None = None
    abstract: str | None = None
    citations: list[int] | None = None

    def record(self) -> dict[str, Any]:
        """Return the record with the keys of `Paper`."""
        texts = {"title": self.title or "", "abstract": self.abstract or ""}
        return {"id": str(self.corpusid), **texts, "references": list(map(str, self.citations or ()))}


def read_litsearch(path: Path, _: str) -> Benchmark:
    """Read the folder of the benchmark."""

    def rows(name: str, row: type[R]) -> Iterator[tuple[str, R]]:
        files = sorted((path / name).glob("*.parquet")) or sorted(path.glob(f"{name}.jsonl*"))
        if not files:
            raise BadBenchmark(f"{path} contains no {name}/*.parquet or {name}.jsonl")
        for file in files:
            yield from rows_of(file, row)

    values = {"query_set", "specificity", "quality"}
    questions: list[Question] = [
        (
            {"query_id": str(number), "question": row.query}
            | row.model_dump(include=values, exclude_none=True),
            {str(corpusid): 1 for corpusid in row.corpusids},
        )
        for number, (_, row) in enumerate(rows("query", LitSearchQuery))
    ]
    papers = rows("corpus_clean", LitSearchPaper)
    return Benchmark(questions, ((where, paper.record()) for where, paper in papers))


class MiraclPassage(BaseModel):
    """A passage of the corpus."""

    docid: str
    title: str
    text: str


def read_miracl(path: Path, split: str) -> Benchmark:
    """Read the languages whose corpora are in a folder; raises also as `find_files`."""
    languages = [each for each in PASSAGES if (path / corpus_name(each)).is_dir()]
    if not languages:
        raise BadBenchmark(f"{path} contains no {corpus_name('ko')} or {corpus_name('en')}")
    split = "dev" if split == "test" else split
    found = {each: find_files(each, split, folder=str(path)) for each in languages}
    prefixes = {each: f"{each}:" if len(languages) > 1 else "" for each in languages}
    questions: list[Question] = []
    for language, files in found.items():
        prefix, qrels = prefixes[language], read_qrels(files.qrels)
        for query_id, question in read_topics(files.topics).items():
            if query_id in qrels:
                grades = {prefix + passage: grade for passage, grade in qrels[query_id].items()}
                questions.append(({"query_id": prefix + query_id, "question": question}, grades))
    papers = (
        (where, {"id": prefixes[lang] + row.docid, "title": row.title, "abstract": row.text, "lang": lang})
        for lang, files in found.items()
        for file in files.corpus
        for where, row in rows_of(file, MiraclPassage)
    )
    return Benchmark(questions, papers)


OF_PASA = ("{}.jsonl", "AutoScholarQuery_{}.jsonl", "AutoScholarQuery/{}.jsonl")
# Readers by layout, of the path of a folder or file and a split. They raise BadBenchmark, BadTopics and
# BadQrels, with file and line, and LibraryMissing.
LAYOUTS: Mapping[str, Callable[[Path, str], Benchmark]] = {
    "autoscholar": partial(read_listed, names=OF_PASA),
    "sparbench": partial(read_listed, names=("spar_bench.jsonl", "SPARBench.jsonl", "{}.jsonl")),
    "litsearch": read_litsearch,
    "beir": read_beir,
    "miracl": read_miracl,
}


def write_benchmark(benchmark: Benchmark, path: Path, out: Path) -> tuple[str, list[str]]:
    """Write topics.jsonl, qrels.txt and papers.jsonl of a benchmark at `path` into the folder `out`.

    Returns the numbers of questions, judgements and papers as text, and notes.

    Raises:
        BadBenchmark: with file and line; an id that occurs twice, or that the files cannot represent.
        InvalidCall, OutputNotWritten: the folder cannot be written, or is inside the benchmark.
    """
    seen = set[str]()
    for topic, _ in benchmark.questions:
        query_id = topic["query_id"]
        if not query_id or query_id in seen or FORBIDDEN_IN_IDENTIFIERS.search(query_id):
            why = "is empty, occurs a second time, or contains white space or control characters"
            raise BadBenchmark(f"{path}: the query id {query_id!r} {why}")
        seen.add(query_id)
    if not seen:
        raise BadBenchmark(f"{path}: it contains no questions")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(out, error) from None
    for name in (TOPICS, QRELS, PAPERS):
        check_output(out / name, (path,))
    papers, qrels, missing = _write_papers(out / PAPERS, benchmark.papers), [], set[str]()
    for topic, grades in benchmark.questions:
        judged = {normalize("NFC", paper_id): grade for paper_id, grade in grades.items()}  # as in `Paper`
        qrels += [f"{topic['query_id']} 0 {paper_id} {grade}\n" for paper_id, grade in judged.items()]
        missing |= judged.keys() - papers
    write_output(out / TOPICS, json_lines(topic for topic, _ in benchmark.questions))
    write_output(out / QRELS, "".join(qrels).encode())
    notes = []
    if not benchmark.has_corpus:
        notes.append(
            f"the benchmark has no corpus: {PAPERS} contains the relevant papers, "
            f"which the experiments identify with --papers {PAPERS}"
        )
    if missing:
        notes.append(f"{counted(len(missing), 'judged paper')} not in the corpus ({min(missing)}, …)")
    if without := sum(max(grades.values(), default=0) <= 0 for _, grades in benchmark.questions):
        notes.append(f"{counted(without, 'question')} without a relevant paper")
    numbers = {"question": len(seen), "judgement": len(qrels), "paper": len(papers)}
    return ", ".join(counted(number, name) for name, number in numbers.items()), notes


def _write_papers(path: Path, papers: Iterable[PlacedPaper]) -> set[str]:
    """Check and write the records; return their ids."""
    ids = set[str]()
    with output_file(path) as file:
        for where, record in papers:
            try:
                paper_id = Paper.model_validate(record).id
            except ValidationError as error:
                raise BadBenchmark(f"{where}: {reason(error)}") from None
            if paper_id in ids:
                raise BadBenchmark(f"{where}: {paper_id} occurs a second time")
            ids.add(paper_id)
            file.write(json_lines([{**record, "id": paper_id}]))
    return ids


@click.command("import", short_help="Turn a published benchmark into topics, qrels and papers.")
@click.argument("layout", type=click.Choice(list(LAYOUTS)), metavar="LAYOUT")
@click.argument("path", type=PathParameter(exists=True), metavar="PATH")
@click.option("--out", required=True, type=PathParameter(file_okay=False), help="Folder for the files.")
@click.option(
    "--split", default="test", show_default=True, help="Part of the benchmark: a file's name without ending."
)
def import_command(layout: str, path: Path, out: Path, split: str) -> None:
    """Turn a published benchmark into topics, qrels and papers.

    LAYOUT is autoscholar (AutoScholarQuery, RealScholarQuery), sparbench, litsearch, beir (TREC-COVID,
    SciDocs), or miracl (Korean, English, or both with ids by language). PATH is its folder, or its file if it
    has only one. The files written are topics.jsonl, qrels.txt, and papers.jsonl for `shrag index`; a
    benchmark without a corpus has only its relevant papers there.
    """
    numbers, notes = write_benchmark(LAYOUTS[layout](path, split), path, out)
    echo(f"{out}: {numbers}")
    echo_lines([f"note: {note}" for note in notes], err=True)
