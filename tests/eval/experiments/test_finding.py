"""Experiments on paper finding: a small benchmark, imported, indexed and searched."""

import pytest
from click.testing import CliRunner

from eval.errors import NothingJudged
from generator.errors import ModelRefusedCall
from indexer.commands import index
from tests.eval.experiments.calling import call, topics_of, write_lines
from tests.http_server import Handler, serving

pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib

# `cited` shares no word with the question, `biochar` only words with the title of `rice`.
CORPUS = """
rice | Methane from rice paddies with biochar | Methane emissions of rice paddies were measured twice. | 2018
cited | Gas chromatography of trace compounds | A chromatograph separates compounds. | 2001
biochar | Biochar made of straw in upland soils | Straw was pyrolysed at 400 degrees. | 2016
newer | Methane from rice paddies after drainage | Drained rice paddies emitted less methane. | 2022
nurse | Turnover of hospital nurses | Nurses answered a questionnaire about their work. | 2010
alloy | Fatigue of titanium alloys | Specimens of an alloy were loaded cyclically. | 2012
cells | Ageing of sodium cells | Cells were cycled until half of the capacity was left. | 2020
poems | Metre in early poems | The metre of poems was annotated by two readers. | 2009
"""
REFERENCES = {"rice": ["cited"]}
QUESTION = "methane from rice paddies"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Import a benchmark in BEIR's layout, and index its papers."""
    folder = tmp_path_factory.mktemp("beir")
    queries = [{"_id": "q", "text": QUESTION}, {"_id": "other", "text": "alloys"}]
    write_lines(folder / "queries.jsonl", *queries)
    papers = []
    for line in CORPUS.strip().splitlines():
        paper_id, title, text, year = line.split(" | ")
        metadata = {"year": int(year), "references": REFERENCES.get(paper_id, [])}
        papers.append({"_id": paper_id, "title": title, "text": text, "metadata": metadata})
    write_lines(folder / "corpus.jsonl", *papers)
    (folder / "qrels").mkdir()
    judged = "q\trice\t2\nq\tcited\t1\nq\tbiochar\t1\nq\tnurse\t0\nother\talloy\t1\n"
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)
    out = tmp_path_factory.mktemp("made")
    assert call("import", "beir", folder, "--out", out).exit_code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHRAG_HOME", str(out / "home"))
        CliRunner().invoke(index, [str(out / "papers.jsonl"), "--name", "small"], catch_exceptions=False)
    (out / "library.toml").write_text('kind = "index"\nindex = "small"\n')
    return out


@pytest.fixture
def records(made, monkeypatch, tmp_path):
    """Run an experiment, and return its records by query_id."""
    monkeypatch.setenv("SHRAG_HOME", str(made / "home"))

    def run(name, *options, topics=made / "topics.jsonl", qrels=made / "qrels.txt"):
        assert call(name, topics, qrels, *options, "--out", tmp_path / name, "--restart").exit_code == 0
        return topics_of(tmp_path / name)

    return run


def counts(retrieved, relevant, found):
    return {"retrieved": retrieved, "relevant": relevant, "found": found}


@pytest.mark.parametrize(
    ("name", "options", "row", "expected"),
    [
        ("finding-papers", ["-k", 2], "index, question as typed", counts(2, 3, 1)),
        ("finding-papers", ["-k", 2], "method shrag", counts(2, 3, 1)),
        ("judging-papers", ["--negatives", 5], "every pair is relevant", counts(5, 3, 3)),
        ("judging-papers", ["--negatives", 0, "--grade", 2], "every pair is relevant", counts(4, 1, 1)),
        ("judging-papers", ["--negatives", 0, "--grade", 2], "rules", counts(1, 1, 1)),
    ],
)
def test_relevant_papers_of_a_row_are_counted(records, name, options, row, expected):
    assert records(name, *options)["q"]["rows"][row] == expected


def test_a_model_has_rows_of_its_agents_and_judges(records, model):
    assert list(records("finding-agents")["q"]["rows"]) == ["all agents", "without refchain"]
    assert list(records("finding-judges", "--model")["q"]["rows"])[1:] == ["model, brief", "model, complex"]
    record = records("finding-agents", "--model")["q"]
    assert len(record["rows"]) == 5
    judged = records("judging-papers", "--negatives", 0, "--model")["q"]
    assert judged["rows"]["model, brief"] == counts(1, 3, 1)
    assert record["orders"].keys() == {"by judgement", "re-ranked"}


def test_sources_are_searched_instead_of_the_index_and_beside_it(made, records):
    library = ("--source", made / "library.toml")
    assert records("finding-layers", *library)["q"] == records("finding-layers")["q"]


def test_papers_newer_than_the_question_are_left_out(records, tmp_path):
    topic = {"query_id": "q", "question": QUESTION, "date": "2019-05-01"}
    rows = records("finding-papers", "-k", 2, topics=write_lines(tmp_path / "dated", topic))["q"]["rows"]
    assert rows["index, question as typed"]["retrieved"] == 1  # without the one of 2022
    assert rows["method shrag"] == counts(1, 3, 1)


def test_papers_of_other_ids_are_identified_by_their_titles(records, tmp_path):
    line = {
        "qid": "q",
        "question": QUESTION,
        "answer": ["METHANE from Rice Paddies, with Biochar"],
        "answer_arxiv_id": ["1801.00001v2"],
        "source_meta": {"published_time": "20190501"},
    }
    out = tmp_path / "imported"
    call("import", "autoscholar", write_lines(tmp_path / "test.jsonl", line), "--out", out)
    given = {"topics": out / "topics.jsonl", "qrels": out / "qrels.txt"}
    record = records("finding-papers", "--papers", out / "papers.jsonl", **given)["q"]
    assert record["rows"]["method shrag"]["found"] == 1
    with pytest.raises(NothingJudged, match="1801"):
        records("finding-papers", **given)


def test_a_server_that_refuses_all_calls_ends_the_experiment(records, monkeypatch):
    class Refusing(Handler):
        def post(self):
            self.answer(401, {"error": {"message": "no key"}})

    with serving(Refusing) as url:
        monkeypatch.setenv("SHRAG_LLM__BASE_URL", f"{url}/v1")
        monkeypatch.setenv("SHRAG_LLM__MODEL", "any")
        with pytest.raises(ModelRefusedCall):
            records("finding-judges", "--model")
