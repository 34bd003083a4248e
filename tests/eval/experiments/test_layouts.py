"""Layouts of published benchmarks, on small files: topics, qrels and papers of an import, and errors."""

import gzip

import pytest

from eval.errors import BadBenchmark, BadQrels
from eval.experiments.layouts import LAYOUTS
from tests.eval.experiments.calling import call, read_lines, write_lines

AUTOSCHOLAR = {
    "qid": "a0",
    "question": "Which papers are about reading lists?",
    "answer": ["Reading Lists for Everyone", "Deep Reading Lists"],
    "answer_arxiv_id": ["2101.00001v2", ""],
    "source_meta": {"published_time": "20240305"},
}
SPAR_PAPER = {
    "title": "Seamless correction of a gene",
    "paper_id": "http://genome.example.org/content/24/9/1526.full.pdf",
    "abstract": "A gene was corrected.",
    "authors": ["Ada Kim"],
    "year": "2014",
    "sim_score_llm": 0.85,
}
SPAR_RECORDS = [
    {"title": "A Second Paper on Genes", "abstract": "Genes again.", "doi": None, "year": 2021},
    {"title": "Another", "abstract": "Not listed."},
]
VALUES = {"query_set": "inline_acl", "specificity": 1, "quality": 2}
TEXTS = {"title": "Plain titles", "abstract": "Titles are plain."}
LITSEARCH = {
    "query": {**VALUES, "query": "Where is work on plain titles?", "corpusids": [7]},
    "corpus_clean": {"corpusid": 7, **TEXTS, "citations": [8], "full_paper": "…"},
}


@pytest.fixture
def imported(tmp_path):
    """Import a benchmark from lines by file; return topics, qrels, and papers without made-up ids."""

    def files_of(layout, files, split="test"):
        for name, lines in files.items():
            path = tmp_path / "given" / name
            if isinstance(lines, str):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(lines, "utf-8")
            else:
                write_lines(path, *lines)
            if path.suffix == ".gz":
                path.write_bytes(gzip.compress(path.read_bytes()))
        made = call("import", layout, tmp_path / "given", "--out", tmp_path / "made", "--split", split)
        assert made.exit_code == 0
        topics, papers = (read_lines(tmp_path / "made" / f"{name}.jsonl") for name in ("topics", "papers"))
        for paper in papers:
            paper["id"] = "title" if paper["id"].startswith("title:") else paper["id"]
        return topics, (tmp_path / "made" / "qrels.txt").read_text(), papers, made.stderr

    return files_of


def test_autoscholar_lists_titles_arxiv_ids_and_a_day(imported):
    timed = {"qid": "a1", "source_meta": {"published_time": "2024-03-05T12:00:00 UTC"}}
    given = {"test.jsonl": [AUTOSCHOLAR, AUTOSCHOLAR | timed]}
    topics, qrels, papers, notes = imported("autoscholar", given)
    assert [topic["query_id"] for topic in topics] == ["a0", "a1"]
    assert [topic["date"] for topic in topics] == ["2024-03-05"] * 2
    assert qrels.splitlines()[0] == "a0 0 arxiv:2101.00001 1"  # without its version
    address = "https://arxiv.org/abs/2101.00001"
    assert papers == [
        {"id": "arxiv:2101.00001", "title": "Reading Lists for Everyone", "url": address},
        {"id": "title", "title": "Deep Reading Lists"},
    ]
    assert "--papers" in notes


def test_sparbench_lists_papers_or_titles_whose_records_add_abstracts(imported):
    second = "A second paper on genes."
    listed = {
        "answer": [SPAR_PAPER, second],
        "source_meta": {"search_time": "2025-04-10", "answers": SPAR_RECORDS},
    }
    alone = {"question": "How?", "source_meta": {"answers": SPAR_RECORDS}}
    given = "http://arxiv.org/pdf/2101.00001v3.pdf https://doi.org/10.5555/ABC hep-th/9901001"
    ids = [{"title": "A Paper", "paper_id": paper_id} for paper_id in given.split()]
    lines = [{"question": "What?", **listed}, alone, {"query": "Why?", "data_result_add_score": ids}]
    topics, qrels, papers, _ = imported("sparbench", {"spar_bench.jsonl": lines})
    assert (topics[0]["query_id"], topics[0]["date"]) == ("SPARBench_1", "2025-04-10")
    kept = {name: SPAR_PAPER[name] for name in ("title", "abstract", "authors")}
    by_title = {paper["title"]: paper for paper in papers}
    whole = {"id": "title", **kept, "url": SPAR_PAPER["paper_id"], "year": 2014}
    assert by_title[SPAR_PAPER["title"]] == whole
    genes = by_title[second]
    assert (genes["abstract"], genes["year"]) == ("Genes again.", 2021)
    assert [line.split()[0] for line in qrels.splitlines()] == [
        f"SPARBench_{number}" for number in (1, 1, 2, 2, 3, 3, 3)
    ]
    expected = ["arxiv:2101.00001", "doi:10.5555/abc", "arxiv:hep-th/9901001"]
    assert [line.split()[2] for line in qrels.splitlines()][-3:] == expected


def miracl(language, text):
    data = f"miracl-v1.0-{language}"
    return {
        f"miracl-corpus-v1.0-{language}/docs-0.jsonl.gz": [{"docid": "1#0", "title": text, "text": text}],
        f"{data}/topics/topics.{data}-dev.tsv": f"7\t{text}?\n",
        f"{data}/qrels/qrels.{data}-dev.tsv": "7 0 1#0 1\n",
    }


def test_ids_of_miracl_begin_with_the_language_in_the_joint_corpus_only(imported):
    assert imported("miracl", miracl("ko", "물"))[1] == "7 0 1#0 1\n"
    topics, qrels, papers, _ = imported("miracl", miracl("en", "water"))
    assert [topic["query_id"] for topic in topics] == ["ko:7", "en:7"]
    assert qrels == "ko:7 0 ko:1#0 1\nen:7 0 en:1#0 1\n"
    assert [(paper["id"], paper["lang"]) for paper in papers] == [("ko:1#0", "ko"), ("en:1#0", "en")]


def test_litsearch_has_a_corpus_with_references(imported, tmp_path):
    given = {"query.jsonl": [LITSEARCH["query"]], "corpus_clean.jsonl.gz": [LITSEARCH["corpus_clean"]]}
    found = imported("litsearch", given)
    assert found[0] == [{"query_id": "0", "question": "Where is work on plain titles?", **VALUES}]
    assert found[1:3] == ("0 0 7 1\n", [{"id": "7", **TEXTS, "references": ["8"]}])


@pytest.mark.needs_libraries
def test_litsearch_as_parquet_is_read_alike(imported, tmp_path):
    from pyarrow import Table
    from pyarrow.parquet import write_table

    for name, record in LITSEARCH.items():
        (tmp_path / "given" / name).mkdir(parents=True)
        write_table(Table.from_pylist([record]), tmp_path / "given" / name / "full-0.parquet")
    _, qrels, [paper], _ = imported("litsearch", {})
    assert (qrels, paper["title"]) == ("0 0 7 1\n", "Plain titles")
    damaged = tmp_path / "given" / "query" / "full-0.parquet"
    damaged.write_bytes(b"PAR1 no table")
    with pytest.raises(BadBenchmark, match=r"full-0\.parquet"):
        imported("litsearch", {})


BEIR = {
    "queries.jsonl": [{"_id": "1", "text": "Who?"}, {"_id": "2", "text": "What?"}],
    "corpus.jsonl": [
        {"_id": "a", "title": "A", "text": "x", "metadata": {"year": 2020, "authors": ["Kim"]}},
        {"_id": "b", "title": "", "text": "y", "metadata": {"url": "https://example.org/b"}},
    ],
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n1\tc\t1\n",
}


def test_beirs_layout_has_graded_papers_and_a_corpus(imported):
    topics, qrels, papers, notes = imported("beir", BEIR)
    assert topics == [{"query_id": "1", "question": "Who?"}]
    assert qrels == "1 0 a 2\n1 0 b 0\n1 0 c 1\n"
    assert papers == [
        {"id": "a", "title": "A", "abstract": "x", "authors": ["Kim"], "year": 2020},
        {"id": "b", "title": "", "abstract": "y", "url": "https://example.org/b"},
    ]
    assert "1 judged paper not in the corpus (c" in notes


@pytest.mark.parametrize(
    ("layout", "files", "error", "part"),
    [
        *(
            ("autoscholar", {"test.jsonl": [AUTOSCHOLAR, {**AUTOSCHOLAR, **change}]}, BadBenchmark, part)
            for change, part in (
                ({"answer_arxiv_id": ["2101.00001"]}, r"test\.jsonl:2.* 2 titles"),
                ({"question": " "}, r"test\.jsonl:2.*question"),
                ({"answer": [], "answer_arxiv_id": []}, r"test\.jsonl:2.*no relevant paper"),
                ({"source_meta": {"published_time": "20241340"}}, r"test\.jsonl:2.*20241340"),
                ({"source_meta": {"published_time": ["20230101"]}}, r"test\.jsonl:2.*is not a day"),
                ({}, "'a0' is empty, occurs"),
                ({"qid": "a b"}, "query id 'a b'"),
                ({"qid": "x", "question": "\ud800"}, "not JSON"),
            )
        ),
        ("autoscholar", {"test.jsonl": '{"qid": 1\n'}, BadBenchmark, r"test\.jsonl:1: it is not JSON"),
        ("beir", {**BEIR, "qrels/test.tsv": "q\tc\ts\n9\ta\t1\n"}, BadBenchmark, "9 is not in"),
        ("beir", {**BEIR, "qrels/test.tsv": "q\tc\ts\n2\tb\tnone\n"}, BadQrels, r"test\.tsv:2"),
        ("beir", {**BEIR, "corpus.jsonl": [{"_id": "a", "text": "x"}] * 2}, BadBenchmark, r"corpus\.jsonl:2"),
    ],
)
def test_an_unusable_line_is_refused_and_no_file_is_left(imported, tmp_path, layout, files, error, part):
    with pytest.raises(error, match=part):
        imported(layout, files)
    with pytest.raises(BadBenchmark, match="contains no"):
        LAYOUTS[layout](tmp_path, "test")
    assert not (tmp_path / "made").exists() or list((tmp_path / "made").iterdir()) == []
