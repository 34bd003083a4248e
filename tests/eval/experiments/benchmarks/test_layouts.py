"""Readers of the published layouts of benchmarks, on small files."""

import gzip
import json
from datetime import date

import pytest
from click.testing import CliRunner

from eval.errors import BadBenchmark, BadQrels
from eval.experiments.benchmarks import LAYOUTS
from eval.experiments.benchmarks.importing import import_benchmark
from eval.experiments.commands import import_command


def write(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def written(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


AUTOSCHOLAR = {
    "qid": "AutoScholarQuery_test_0",
    "question": "Which papers are about reading lists?",
    "answer": ["Reading Lists for Everyone", "Deep Reading Lists"],
    "answer_arxiv_id": ["2101.00001v2", ""],
    "source_meta": {"published_time": "20240305"},
}


def test_a_line_of_autoscholar_has_titles_arxiv_ids_and_a_day(tmp_path):
    write(tmp_path / "test.jsonl", AUTOSCHOLAR)
    [question] = LAYOUTS["autoscholar"](tmp_path, "test").questions
    assert (question.query_id, question.day) == ("AutoScholarQuery_test_0", date(2024, 3, 5))
    first, second = question.grades
    assert first == "arxiv:2101.00001"  # without its version
    assert second.startswith("title:")


def test_relevant_papers_of_autoscholar_are_records_with_title_and_address(tmp_path):
    file = write(tmp_path / "AutoScholarQuery_test.jsonl", AUTOSCHOLAR)
    first, second = (paper.record for paper in LAYOUTS["autoscholar"](file, "test").papers())
    assert first == {
        "id": "arxiv:2101.00001",
        "title": "Reading Lists for Everyone",
        "url": "https://arxiv.org/abs/2101.00001",
    }
    assert second["title"] == "Deep Reading Lists"


def test_a_paper_that_two_questions_list_is_one_record(tmp_path):
    write(tmp_path / "test.jsonl", AUTOSCHOLAR, {**AUTOSCHOLAR, "qid": "another"})
    benchmark = LAYOUTS["autoscholar"](tmp_path, "test")
    assert len(benchmark.questions) == 2
    assert len(list(benchmark.papers())) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer_arxiv_id": ["2101.00001"]}, "2 titles"),
        ({"question": " "}, "question"),
        ({"answer": []}, "titles"),
        ({"answer": ["", ""], "answer_arxiv_id": []}, "no title"),
        ({"source_meta": {"published_time": "20241340"}}, "20241340"),
        ({"source_meta": {"published_time": 5}}, "5 is not a day"),
    ],
)
def test_an_unusable_line_is_refused_with_file_and_line(tmp_path, change, said):
    file = write(tmp_path / "test.jsonl", AUTOSCHOLAR, {**AUTOSCHOLAR, **change})
    with pytest.raises(BadBenchmark, match=said) as raised:
        LAYOUTS["autoscholar"](tmp_path, "test")
    assert f"{file}:2" in str(raised.value)


def test_a_line_that_is_not_json_is_refused(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"qid": 1\n')
    with pytest.raises(BadBenchmark, match=r"test\.jsonl:1: not JSON"):
        LAYOUTS["autoscholar"](tmp_path, "test")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_without_the_files_of_a_layout_is_refused(tmp_path, layout):
    with pytest.raises(BadBenchmark, match="contains no"):
        LAYOUTS[layout](tmp_path, "test")


SPAR_PAPER = {
    "title": "Seamless correction of a gene",
    "paper_id": "http://genome.example.org/content/24/9/1526.full.pdf",
    "abstract": "A gene was corrected.",
    "authors": ["Ada Kim"],
    "year": "2014",
    "sim_score_llm": 0.85,
}


def test_a_line_of_sparbench_has_papers_or_titles(tmp_path):
    write(
        tmp_path / "spar_bench.jsonl",
        {
            "question": "What are the risks of gene editing?",
            "answer": [SPAR_PAPER, "A Second Paper on Genes"],
            "source_meta": {"search_time": "2025-04-10"},
        },
    )
    benchmark = LAYOUTS["sparbench"](tmp_path, "test")
    [question] = benchmark.questions
    assert (question.query_id, question.day) == ("SPARBench_1", date(2025, 4, 10))
    record, second = (paper.record for paper in benchmark.papers())
    assert {name: record[name] for name in record if name != "id"} == {
        "title": "Seamless correction of a gene",
        "abstract": "A gene was corrected.",
        "authors": ["Ada Kim"],
        "year": 2014,
        "url": "http://genome.example.org/content/24/9/1526.full.pdf",
    }
    assert second["title"] == "A Second Paper on Genes"


@pytest.mark.parametrize(
    ("paper_id", "expected"),
    [
        ("http://arxiv.org/pdf/2101.00001v3.pdf", "arxiv:2101.00001"),
        ("https://doi.org/10.5555/ABC", "doi:10.5555/abc"),
        ("hep-th/9901001", "arxiv:hep-th/9901001"),
    ],
)
def test_the_id_of_a_paper_of_sparbench_is_read_as_arxiv_id_or_doi(tmp_path, paper_id, expected):
    paper = {"title": "A Paper", "paper_id": paper_id}
    write(tmp_path / "spar_bench.jsonl", {"query": "Why?", "data_result_add_score": [paper]})
    [question] = LAYOUTS["sparbench"](tmp_path, "test").questions
    assert list(question.grades) == [expected]


def test_the_records_of_sparbench_add_abstracts(tmp_path):
    records = [
        {"title": "A Second Paper on Genes", "abstract": "Genes again.", "doi": None, "year": 2021},
        {"title": "Another", "abstract": "Not listed."},
    ]
    listed = {"question": "Why?", "answer": ["A second paper on genes."], "source_meta": {"answers": records}}
    write(tmp_path / "spar_bench.jsonl", listed, {"question": "How?", "source_meta": {"answers": records}})
    benchmark = LAYOUTS["sparbench"](tmp_path, "test")
    assert [len(question.grades) for question in benchmark.questions] == [1, 2]
    first, *_ = (paper.record for paper in benchmark.papers())
    assert (first["abstract"], first["year"]) == ("Genes again.", 2021)


def write_miracl(folder, language, text):
    corpus = folder / f"miracl-corpus-v1.0-{language}"
    data = folder / f"miracl-v1.0-{language}"
    for part in (corpus, data / "topics", data / "qrels"):
        part.mkdir(parents=True)
    write(corpus / "docs-0.jsonl.gz", {"docid": "1#0", "title": text, "text": text})
    (data / "topics" / f"topics.miracl-v1.0-{language}-dev.tsv").write_text(f"7\t{text}?\n", "utf-8")
    (data / "qrels" / f"qrels.miracl-v1.0-{language}-dev.tsv").write_text("7 0 1#0 1\n")


def test_ids_of_miracl_begin_with_the_language_in_the_joint_corpus_only(tmp_path):
    write_miracl(tmp_path, "ko", "물")
    alone = LAYOUTS["miracl"](tmp_path, "test")
    assert [(each.query_id, each.grades) for each in alone.questions] == [("7", {"1#0": 1})]
    write_miracl(tmp_path, "en", "water")
    both = LAYOUTS["miracl"](tmp_path, "test")
    assert [(each.query_id, each.grades) for each in both.questions] == [
        ("ko:7", {"ko:1#0": 1}),
        ("en:7", {"en:1#0": 1}),
    ]
    assert [paper.record["id"] for paper in both.papers()] == ["ko:1#0", "en:1#0"]


LITSEARCH_QUERY = {
    "query_set": "inline_acl",
    "query": "Where is work on plain titles?",
    "specificity": 1,
    "quality": 2,
    "corpusids": [7],
}
LITSEARCH_PAPER = {
    "corpusid": 7,
    "title": "Plain titles",
    "abstract": "Titles are plain.",
    "citations": [8],
    "full_paper": "…",
}


def test_litsearch_as_json_lines_has_a_corpus_with_references(tmp_path):
    write(tmp_path / "query.jsonl", LITSEARCH_QUERY)
    write(tmp_path / "corpus_clean.jsonl.gz", LITSEARCH_PAPER)
    benchmark = LAYOUTS["litsearch"](tmp_path, "test")
    [question] = benchmark.questions
    assert (question.query_id, question.grades) == ("0", {"7": 1})
    assert question.attributes == {"query_set": "inline_acl", "specificity": 1, "quality": 2}
    [paper] = benchmark.papers()
    assert paper.record == {
        "id": "7",
        "title": "Plain titles",
        "abstract": "Titles are plain.",
        "references": ["8"],
    }


@pytest.mark.needs_libraries
def test_litsearch_as_parquet_is_read_alike(tmp_path):
    from pyarrow import Table
    from pyarrow.parquet import write_table

    for name, record in (("query", LITSEARCH_QUERY), ("corpus_clean", LITSEARCH_PAPER)):
        (tmp_path / name).mkdir()
        write_table(Table.from_pylist([record]), tmp_path / name / "full-00000-of-00001.parquet")
    benchmark = LAYOUTS["litsearch"](tmp_path, "test")
    assert benchmark.questions[0].grades == {"7": 1}
    assert [paper.record["title"] for paper in benchmark.papers()] == ["Plain titles"]


@pytest.mark.needs_libraries
def test_a_damaged_parquet_file_is_refused_by_name(tmp_path):
    file = tmp_path / "query" / "full-0.parquet"
    file.parent.mkdir()
    file.write_bytes(b"PAR1 no table")
    with pytest.raises(BadBenchmark, match=r"full-0\.parquet"):
        LAYOUTS["litsearch"](tmp_path, "test")


@pytest.fixture
def beir(tmp_path):
    folder = tmp_path / "trec-covid"
    write(folder / "queries.jsonl", {"_id": "1", "text": "Who?"}, {"_id": "2", "text": "What?"})
    write(
        folder / "corpus.jsonl",
        {
            "_id": "a",
            "title": "A",
            "text": "x",
            "metadata": {"year": 2020, "authors": ["Kim"], "references": []},
        },
        {"_id": "b", "title": "", "text": "y", "metadata": {"url": "https://example.org/b", "year": "?"}},
    )
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n")
    return folder


def test_beirs_layout_has_graded_papers_and_a_corpus(beir):
    benchmark = LAYOUTS["beir"](beir, "test")
    assert [(each.query_id, each.question, each.grades) for each in benchmark.questions] == [
        ("1", "Who?", {"a": 2, "b": 0})
    ]
    assert [paper.record for paper in benchmark.papers()] == [
        {"id": "a", "title": "A", "abstract": "x", "authors": ["Kim"], "year": 2020},
        {"id": "b", "title": "", "abstract": "y", "url": "https://example.org/b"},
    ]


def test_a_judged_question_that_is_missing_is_refused(beir):
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n9\ta\t1\n")
    with pytest.raises(BadBenchmark, match="9 is not in"):
        LAYOUTS["beir"](beir, "test")


def test_another_split_has_its_own_judgements(beir):
    (beir / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n2\tb\tnone\n")
    with pytest.raises(BadQrels, match=r"dev\.tsv:2"):
        LAYOUTS["beir"](beir, "dev")


def test_an_imported_benchmark_is_topics_qrels_and_papers(beir, tmp_path):
    made = import_benchmark("beir", beir, tmp_path / "made")
    assert (made.questions, made.judgements, made.papers, made.notes) == (1, 2, 2, ())
    assert written(tmp_path / "made" / "topics.jsonl") == [{"query_id": "1", "question": "Who?"}]
    assert (tmp_path / "made" / "qrels.txt").read_text() == "1 0 a 2\n1 0 b 0\n"
    assert [paper["id"] for paper in written(tmp_path / "made" / "papers.jsonl")] == ["a", "b"]


def test_the_date_of_a_question_is_kept_with_its_topic(tmp_path):
    file = write(tmp_path / "autoscholar" / "test.jsonl", AUTOSCHOLAR)
    made = import_benchmark("autoscholar", file, tmp_path / "made")
    [topic] = written(tmp_path / "made" / "topics.jsonl")
    assert topic["date"] == "2024-03-05"
    assert "--papers" in made.notes[0]


def test_judged_papers_that_the_corpus_lacks_are_counted(beir, tmp_path):
    write(beir / "corpus.jsonl", {"_id": "a", "title": "A", "text": "x"})
    made = import_benchmark("beir", beir, tmp_path / "made")
    assert any("1 judged paper" in note and "b" in note for note in made.notes)


def test_a_paper_that_occurs_twice_is_refused_and_no_file_is_left(beir, tmp_path):
    write(beir / "corpus.jsonl", *[{"_id": "a", "title": "A", "text": "x"}] * 2)
    with pytest.raises(BadBenchmark, match=r"corpus\.jsonl:2"):
        import_benchmark("beir", beir, tmp_path / "made")
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.parametrize(
    "change", [{"qid": ""}, {"qid": "a b"}, {"qid": "a\0"}, {"qid": "\x1b[31m"}, {"question": "\ud800"}]
)
def test_a_question_that_the_files_cannot_represent_is_refused(tmp_path, change):
    file = write(tmp_path / "autoscholar" / "test.jsonl", AUTOSCHOLAR | change)
    with pytest.raises(BadBenchmark):
        import_benchmark("autoscholar", file, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_the_command_prints_what_it_wrote(beir, tmp_path):
    made = CliRunner().invoke(import_command, ["beir", str(beir), "--out", str(tmp_path / "made")])
    assert made.exit_code == 0
    assert "1 question, 2 judgements, 2 papers" in made.output
