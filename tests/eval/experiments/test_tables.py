"""Each experiment of the papers on the sample: its metrics, published values, runs and report."""

import hashlib
import os
import re
from pathlib import Path

import pytest

from base.terminal.call_options import flag_of
from eval.experiments import EXPERIMENTS, load_experiment
from eval.experiments.tables.and_ablation import READINGS, joined_plan
from retriever.queries.boolean import Or, Term, describe
from retriever.query_plan import NamedQuery, QueryPlan
from tests.eval.experiments.calling import (
    QRELS,
    SAMPLE,
    TOPICS,
    call,
    read,
    read_lines,
    table_of,
    topics_of,
    write_lines,
)
from tests.indexer.made_corpora import build
from tests.needs import mostly_nightly
from tools.experiments import RECORDED, RESULTS, overview

pytest_plugins = ["tests.generator.sample_index"]
pytestmark = [pytest.mark.needs_libraries, pytest.mark.slow]  # matplotlib

ALL = {name: load_experiment(name) for name in EXPERIMENTS}
ON_SAMPLE = {name: each.sample for name, each in ALL.items() if each.sample and not each.requires}
# Experiments that search for papers several times: each sixth topic, all topics only in nightly runs.
SLOW = {"finding-agents", "finding-layers", "finding-judges", "finding-papers", "paper-qa"}
NIGHTLY = bool(os.environ.get("SHRAG_TEST_NIGHTLY"))


@pytest.fixture
def arguments(on_sample, sample_home, tmp_path, monkeypatch):
    """Return the arguments of an experiment on the sample, with each `every`-th line of its first input."""

    def arguments_of(name, every, *, strategies=True):
        run, offered = ON_SAMPLE[name], ALL[name].call
        if run.index != "sample":
            home = sample_home.parent / f"{sample_home.name}-{run.index}"
            if not home.exists():
                build(home, SAMPLE / run.corpus, name=run.index)
            monkeypatch.setenv("SHRAG_HOME", str(home))
        given = [name, "--name", run.index]
        for option, value in run.options_of(offered).items():
            if option == "strategies" and not strategies:
                continue
            path = SAMPLE / value if option in offered.files() else value
            if every > 1 and option == offered.files()[0]:
                lines = path.read_text("utf-8").splitlines(keepends=True)
                path = tmp_path / f"few{path.suffix}"
                path.write_text("".join(lines[::every]), "utf-8")
            flag = f"--{option.replace('_', '-')}"
            is_argument = flag_of(offered.model_fields[option]).argument
            given += [path] if is_argument else [flag] if path is True else [flag, path]
        return given

    return arguments_of


@pytest.mark.parametrize(
    "name", mostly_nightly(ON_SAMPLE, by_day=ON_SAMPLE.keys() - {"finding-agents", "finding-judges"})
)
def test_a_table_has_its_recorded_metrics_and_the_published_values(arguments, tmp_path, name):
    every = 6 if name in SLOW and not NIGHTLY else 1
    folder = tmp_path / "made"
    made = call(*arguments(name, every), "--out", folder)
    assert made.exit_code == 0
    manifest, metrics = read(folder / "manifest.json"), read(folder / "metrics.json")
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {*manifest["files"], "manifest.json"}
    for option, given in manifest["inputs"].items():
        assert hashlib.sha256(Path(given["path"]).read_bytes()).hexdigest() == given["sha256"], option
    data = ON_SAMPLE[name].index + (RECORDED if "strategies" in manifest["inputs"] else "")
    recorded = read(RESULTS)[name][data]
    assert metrics["main"].keys() == recorded.keys()
    if every == 1:
        assert metrics["main"] == pytest.approx(recorded)
    report, page = (folder / "report.md").read_text(), (folder / "report.html").read_text()
    for title in metrics["tables"]:
        assert f"## {title}" in report
        assert title in made.stdout
    for label, value in ALL[name].published.items():
        values = (f"{value:,.4f}" if value <= 1 else f"{value:,.2f}", f"{value:g}")
        assert any(each in report for each in values), label
    assert page.count("<table>") == len(metrics["tables"])
    assert page.count("<svg") == len([each for each in files if each.endswith(".svg")])
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)  # it needs no other file


@pytest.mark.parametrize(
    "name",
    mostly_nightly(ON_SAMPLE, by_day={"keyword-ablation", "exclusions", "challenge", "judging-papers"}),
)
def test_a_repetition_with_a_model_has_the_same_results(arguments, model, tmp_path, name):
    given = arguments(name, 6, strategies=False)
    for folder in ("made", "again"):
        assert call(*given, "--model", "--out", tmp_path / folder).exit_code == 0
    compared = call("diff", tmp_path / "made", tmp_path / "again")
    assert (compared.exit_code, compared.output) == (0, "no differences\n")


def test_the_overview_has_a_row_of_each_experiment_with_ours_and_the_published_value():
    table = overview({"query-success": {"sample": {"QSR, both": 100.0}}})
    assert len(table.splitlines()) == 2 + len(EXPERIMENTS)
    assert "| `shrag experiment query-success TOPICS QRELS` | – | sample: QSR, both = 100 | " in table
    assert "QSR, both = 94 |" in table


def test_all_questions_of_the_sample_succeed_and_a_source_beside_the_index(on_sample, tmp_path):
    (tmp_path / "library.toml").write_text('kind = "index"\nindex = "sample"\n')
    given = ("--sample", 5, "--source", tmp_path / "library.toml", "--out", tmp_path / "made")
    call("query-success", TOPICS, QRELS, *given)
    tmp_path /= "made"
    topics = topics_of(tmp_path)
    assert topics["S01"]["success_live"] is True
    assert [topic["success"] for topic in topics.values()] == [True] * 35
    lines = (tmp_path / "runs" / "progressive.trec").read_text().splitlines()
    assert len(lines) == sum(min(topic["union"], 15) for topic in topics.values())
    assert table_of(tmp_path, "Query success")["both"]["sampled"] == 10


def test_keywords_of_a_model_differ_between_repetitions(on_sample, model, tmp_path):
    few = write_lines(tmp_path / "topics.jsonl", *read_lines(Path(TOPICS))[:6])
    call("and-ablation", few, QRELS, "--model", "--sample", 4, "--repetitions", 3, "--out", tmp_path / "made")
    repetitions = [topic["repetitions"] for topic in topics_of(tmp_path / "made").values()]
    assert [len(each) for each in repetitions] == [3] * 4
    assert any(first != second for first, second, _ in repetitions)
    language_model = read(tmp_path / "made" / "manifest.json")["language model"]
    assert (language_model["model"], language_model["prompts"]["keywords.ko"] >= 1) == ("fixture", True)


@pytest.mark.parametrize(
    ("operators", "closer", "left_to_right"),
    [
        (0, "a OR b OR c OR d", "a OR b OR c OR d"),
        (1, "a OR b OR (c AND d)", "(a OR b OR c) AND d"),
        (2, "a OR (b AND c AND d)", "(a OR b) AND c AND d"),
        (3, "a AND b AND c AND d", "a AND b AND c AND d"),
        (9, "a AND b AND c AND d", "a AND b AND c AND d"),
    ],
)
def test_the_last_keywords_are_joined_by_and(operators, closer, left_to_right):
    query = NamedQuery("SQ4", Or(tuple(Term(letter, (letter,)) for letter in "abcd")), 10)
    joined = [joined_plan(QueryPlan((query,)), operators, reading).queries[0].query for reading in READINGS]
    assert list(map(describe, joined)) == [closer, left_to_right]
    one = QueryPlan((NamedQuery("SQ1", Or((Term("a", ("a",)),)), 10),))
    assert joined_plan(one, operators, READINGS[0]) == one


SEVERAL = (
    "기우제 기록으로 복원한 가뭄 지수가 가장 높았던 시기는 언제이며, 그 무렵 대구 호적에 오른 호수는 얼마나 "
    "줄었는가?"
)
STEPS = ["가뭄 지수가 가장 높았던 시기는 언제인가?", "대구 호적에 오른 호수는 얼마나 줄었는가?"]


def test_the_steps_of_a_strategy_are_searched_for(on_sample, tmp_path):
    topics = {"q1": "논의 메탄 배출", "q2": SEVERAL}
    (tmp_path / "topics").write_text("".join(f"{name}\t{text}\n" for name, text in topics.items()), "utf-8")
    (tmp_path / "qrels").write_text("q1 0 SAMPLE-AGR-001 1\nq2 0 SAMPLE-HIS-001 2\nq2 0 SAMPLE-HIS-005 2\n")
    several = {"query_id": "q2", "ko": ["기우제", "가뭄 지수", "호적"], "steps": STEPS}
    strategies = write_lines(tmp_path / "strategies", {"query_id": "q1", "ko": ["논", "메탄"]}, several)
    given = ("hops", tmp_path / "topics", tmp_path / "qrels", "--strategies", strategies)
    call(*given, "--out", tmp_path / "made")
    records = topics_of(tmp_path / "made")
    assert [record["steps"] for record in records.values()] == [0, 2]
    assert [record["rows"]["steps of the strategy"]["all@10"] for record in records.values()] == [1, 1]
    groups = read(tmp_path / "made" / "metrics.json")["tables"].popitem()[1]["rows"]
    assert {(row[0], row[1]) for row in groups} >= {("all topics", 2), ("strategies with steps", 1)}


def test_topics_of_the_lexical_gap_share_no_word_with_their_papers(on_sample, tmp_path):
    korean, english = "SAMPLE-AGR-001", "SAMPLE-AGR-002"  # both on methane of rice paddies
    topics = {"gap": "논의 메탄 배출", "shared": "methane of paddies", "none": "the effect of what"}
    (tmp_path / "topics").write_text("".join(f"{name}\t{text}\n" for name, text in topics.items()), "utf-8")
    (tmp_path / "qrels").write_text(f"gap 0 {english} 1\nshared 0 {korean} 1\nnone 0 {korean} 1\n")
    call("lexical-gap", tmp_path / "topics", tmp_path / "qrels", "--out", tmp_path / "made")
    records = topics_of(tmp_path / "made")
    assert {name: record["in gap"] for name, record in records.items()} == {
        "gap": True,
        "shared": False,  # the Korean paper has an English title
        "none": True,  # question words, and words of any paper
    }
    assert not any(record["own language"] for record in records.values())
    found = {name: row["found"] for name, row in records["gap"]["rows"].items()}
    assert not found["words of the question"]
    assert found["formula with the glossary"] and found["ten queries, statistics"]  # noqa: PT018
    ways = table_of(tmp_path / "made", "among the first 10")
    assert ways["formula with strategies"]["recovered"] == "needs a model"


def test_not_and_the_formula_keep_excluded_papers_out_of_the_first(arguments, tmp_path, on_sample):
    given = arguments("exclusions", 1)[:3]  # opens the index of the held-out papers
    question = "초음파를 빼고 청동 종의 균열을 찾는 방법에는 무엇이 있는가?"
    topics = write_lines(
        tmp_path / "topics",
        {"_id": "F21", "text": question, "excluded": ["HELD-BEL-06", 2]},
        {"_id": "q", "text": "bells"},
    )
    (tmp_path / "qrels").write_text("F21 0 HELD-BEL-05 2\nq 0 HELD-BEL-06 1\n")
    exclude = [{"ko": "초음파", "en": "ultrasonic"}]
    keywords = {"ko": ["청동 종", "균열"], "en": ["bronze bell", "crack"]}
    strategies = write_lines(
        tmp_path / "strategies",
        {"query_id": "F21", **keywords, "exclude": exclude},
        {"query_id": "q", "en": ["bells"]},
    )
    made = call(*given, topics, tmp_path / "qrels", "--strategies", strategies, "--out", tmp_path / "made")
    assert "1 topic left out: no excluded paper" in made.stderr
    [record] = topics_of(tmp_path / "made").values()
    assert record["exclusions"] == {"statistics": ["초음파"], "strategies": ["초음파"]}
    assert {name: row["excluded"] for name, row in record["rows"].items()} == {
        f"{way}, {origin}": is_found
        for origin in ("statistics", "strategies")
        for way, is_found in {
            "ten queries": True,
            "ten queries with NOT": False,
            "formula, exclusions ignored": True,
            "formula, excluded papers last": False,
        }.items()
    }


def test_encoders_order_the_union_of_a_topic(on_sample, tmp_path, tmp_path_factory):
    from tests.indexer.encoders.tiny_models import tiny_bert

    bert = str(tiny_bert(tmp_path_factory.mktemp("bert")))
    few = write_lines(tmp_path / "topics.jsonl", *read_lines(Path(TOPICS))[:5])
    call("encoders", few, QRELS, "--encoder", bert, "-k", 3, "--out", tmp_path / "made")
    for topic in topics_of(tmp_path / "made").values():
        assert set(topic["rows"]) == {bert, "fusion, no encoder"}
        assert -1 <= topic["rows"][bert]["relevant"] <= 1
