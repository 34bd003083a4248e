"""The commands of a benchmark on the sample: whole, resumed, refused, with a model, with sources."""

import csv
import hashlib
import io
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest
from click.testing import CliRunner

from base.errors import FileBusy, InvalidCall
from eval.collection import read_qrels, read_topics
from eval.errors import BadBenchmark, BadTopics
from eval.judging import pooling
from eval.judging.benchmark import FILE, Benchmark, adding
from eval.judging.commands import benchmark
from eval.judging.stages import automatic_stages, final_grades
from generator.errors import ModelFailed, ModelNotConfigured
from retriever.errors import BadFilter, SourceFailed
from retriever.search import rank
from tests.fixture_model import fixture_model
from tests.generator.finding_model import FindingModel, serving_model
from tests.indexer.made_corpora import ROOT, build, write_jsonl
from tests.needs import mostly_slow
from tests.test_steering_text import FIELDS, STEERING, steers

SAMPLE = ROOT / "sample"
JUDGED = read_qrels(SAMPLE / "qrels.txt")
SOME = {"S01": "methane of rice paddies", "S05": "thermal runaway in a battery pack"}
SEEDS = "".join(f"{query_id}\t{question}\n" for query_id, question in SOME.items())


def called(home, *arguments, **settings):
    environment = {"SHRAG_HOME": str(home), **settings}
    return CliRunner(env=environment).invoke(benchmark, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def call(sample_home):
    return partial(called, sample_home)


@pytest.fixture
def seeds(tmp_path):
    path = tmp_path / "seeds.tsv"
    path.write_text(SEEDS)
    return path


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "made"


@pytest.fixture(scope="module")
def pooled_once(sample_home, tmp_path_factory):
    """Pool four papers, two for each of two questions."""
    place = tmp_path_factory.mktemp("pooled")
    (place / "seeds").write_text(SEEDS)
    for arguments in (
        ("questions", place / "made", place / "seeds"),
        ("pool", place / "made", "--method", "or", "--depth", 2),
    ):
        assert called(sample_home, *arguments).exit_code == 0
    return place / "made"


@pytest.fixture
def pooled(pooled_once, folder):
    return shutil.copytree(pooled_once, folder)


def rows_of(sheet):
    return list(csv.DictReader(io.StringIO(sheet.read_text("utf-8-sig"))))


def fill_in(sheet, column, labels):
    """Write labels into a column of a sheet, one for each row; "" leaves a row unlabelled."""
    rows = rows_of(sheet)
    filled = [row | {column: label} for row, label in zip(rows, labels, strict=True)]
    with sheet.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(rows[0]))
        lines.writeheader()
        lines.writerows(filled)


def grade_papers(home, folder, *options, grades=None, assessor="kim"):
    """Grade the papers of a sheet, by default as the sample's qrels do; return the result of the import."""
    sheet = folder.with_name(f"{folder.name}-{assessor}.csv")
    sheet.unlink(missing_ok=True)
    named = ("confirm", folder, "--assessor", assessor, *options)
    assert called(home, *named, "--out", sheet).exit_code == 0
    judged = [
        str(JUDGED.get(row["query_id"], {}).get(row["paper"].partition(":")[2], 0)) for row in rows_of(sheet)
    ]
    fill_in(sheet, "grade", judged if grades is None else list(grades))
    done = called(home, *named, "--labels", sheet)
    assert done.exit_code == 0
    return done


@pytest.fixture
def confirm(sample_home):
    return partial(grade_papers, sample_home)


def state_of(folder):
    """Return the candidates, the stages and the grades of a benchmark."""
    made = Benchmark(folder)
    found = {
        query_id: {each.key: sorted(map(repr, each.found)) for each in candidates}
        for query_id, candidates in made.candidates.items()
    }
    stages = {each.name: set(each.pairs) for each in automatic_stages(made)}
    return found, stages, {pair: each.grade for pair, each in final_grades(made).items()}


def steps(folder, seeds):
    """Return the arguments of each step without a person."""
    return (
        ("questions", folder, seeds),
        ("pool", folder, "--find", "--depth", 20),
        ("judge", folder, "coarse"),
        ("judge", folder, "fine", "--by", "rules"),
    )


@pytest.fixture(scope="module")
def whole(sample_home, tmp_path_factory):
    """Make a benchmark of two questions; return its folder, and the number of records before each step."""
    place, before = tmp_path_factory.mktemp("whole"), []
    (place / "seeds").write_text(SEEDS)
    for arguments in steps(place / "made", place / "seeds"):
        before.append(len_of(place / "made"))
        assert called(sample_home, *arguments).exit_code == 0
    return place / "made", before


@pytest.mark.parametrize("share", [0, 0.99])
@pytest.mark.parametrize("step", mostly_slow(range(4), quick={1, 3}))
def test_a_step_that_was_killed_resumes(call, folder, seeds, whole, step, share):
    made, before = whole
    shutil.copytree(made, folder)
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        end = [*before, len_of(made)][step + 1]
        kept = before[step] + 1 + int(share * (end - before[step] - 1))  # with the call of the step
        database.execute("DELETE FROM records WHERE number > ?", [kept])

    lengths = []
    for _ in range(2):
        assert [call(*arguments).exit_code for arguments in steps(folder, seeds)] == [0] * 4
        assert state_of(folder) == state_of(made)
        lengths.append(len_of(folder))
    assert lengths[0] == lengths[1]


def len_of(folder):
    if not (folder / FILE).exists():
        return 0
    with closing(sqlite3.connect(folder / FILE)) as database:
        return database.execute("SELECT count(*) FROM records").fetchone()[0]


def test_a_sheet_has_the_own_grades_and_nothing_of_others_or_of_the_rankings(call, confirm, pooled, tmp_path):
    assert "2 of 4 papers graded by kim" in confirm(pooled, grades=["3", "", "0", ""]).output
    for assessor in ("kim", "lee"):
        call("confirm", pooled, "--assessor", assessor, "--out", tmp_path / assessor)
    kim, lee = rows_of(tmp_path / "kim"), rows_of(tmp_path / "lee")
    assert [row["grade"] for row in kim] == ["3", "", "0", ""]
    assert [row | {"grade": ""} for row in kim] == lee
    assert "1 new grade\n" in confirm(pooled, grades=["3", "", "1", ""]).output
    assert sorted(each.grade for each in Benchmark(pooled).assessments["kim"].values()) == [1, 3]
    assert list(lee[0]) == [
        *("grade", "query_id", "question", "paper", "title", "title2", "year", "journal"),
        *("abstract", "abstract2"),
    ]


@pytest.mark.parametrize(("encoding", "delimiter"), [("cp949", ","), ("utf-8-sig", ";"), ("utf-8", "\t")])
def test_sheets_of_spreadsheet_programs_are_read(call, pooled, tmp_path, encoding, delimiter):
    sheet = tmp_path / "sheet.csv"
    call("confirm", pooled, "--assessor", "kim", "--out", sheet)
    rows = [(row["query_id"], "메탄", row["paper"], "2") for row in rows_of(sheet)]
    lines = [("query_id", "question", "paper", "grade"), *rows]
    sheet.write_text("\r\n".join(map(delimiter.join, lines)), encoding)
    assert "4 of 4 papers" in call("confirm", pooled, "--assessor", "kim", "--labels", sheet).output


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("grade,query_id\n1,S01\n", "paper"),
        ("grade,query_id,paper\n1,S01,sample:none\n", "sheet.csv:2: "),
        ("grade,query_id,paper\n,S01,{paper}\n4,S01,{paper}\n", "sheet.csv:3: .*'4'"),
    ],
)
def test_a_sheet_with_an_error_is_named_by_line_and_adds_nothing(call, pooled, tmp_path, content, named):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(content.format(paper=":".join(Benchmark(pooled).candidates["S01"][0].key)))
    with pytest.raises(BadBenchmark, match=named):
        call("confirm", pooled, "--assessor", "kim", "--labels", sheet)
    assert Benchmark(pooled).assessments == {}


def test_words_do_not_judge_in_place_of_a_cross_encoder_that_fails(call, pooled, tmp_path):
    settings = {"SHRAG_RERANKER__PROVIDER": "local", "SHRAG_RERANKER__MODEL": str(tmp_path / "none")}
    with pytest.raises(SourceFailed, match="judged by words"):
        call("judge", pooled, "coarse", **settings)
    assert Benchmark(pooled).judged == []
    assert call("judge", pooled, "coarse").exit_code == 0
    assert {each.by for each in Benchmark(pooled).judged} == {"words"}


def test_questions_are_selected_by_a_sheet(call, pooled, tmp_path):
    sheet = tmp_path / "questions.csv"
    assert "2 questions" in call("select", pooled, "--assessor", "kim", "--seeds", "--out", sheet).output
    fill_in(sheet, "keep", ["n", "y"])
    assert "1 question selected" in call("select", pooled, "--assessor", "kim", "--labels", sheet).output
    assert list(Benchmark(pooled).selected) == ["S05"]
    sheet.write_text("keep,query_id\nmaybe,S01\n")
    with pytest.raises(BadBenchmark, match="maybe"):
        call("select", pooled, "--assessor", "kim", "--labels", sheet)


def test_a_ranking_whose_encoder_failed_is_reported_and_repeated(call, folder, seeds, monkeypatch):
    call("questions", folder, seeds)

    async def failing(index, request, settings):
        ranked = await rank(index, request, settings)
        failures = ("the encoder is down",) if "battery" in request.question else ()
        return replace(ranked, applied=replace(ranked.applied, failures=failures))

    with monkeypatch.context() as patch:
        patch.setattr(pooling, "rank", failing)
        call("pool", folder, "--method", "or,shrag", "--depth", 2)
        partial = call("pool", folder, "--method", "or,shrag", "--depth", 2)  # only failed ones are left
    assert partial.exit_code == 1
    assert "S05, shrag in sample: " in partial.output
    assert "the encoder is down" in partial.output
    assert list(Benchmark(folder).rankings) == ["S01"]
    assert call("pool", folder, "--method", "or,shrag", "--depth", 2).exit_code == 0
    assert {each.method for each in Benchmark(folder).rankings["S05"]} == {"or", "shrag"}


def test_a_second_writer_is_refused_and_assessors_may_work_together(call, confirm, pooled, tmp_path):
    with adding(pooled):
        for arguments in (("pool", pooled), ("judge", pooled, "coarse")):
            with pytest.raises(FileBusy):
                call(*arguments)
        confirm(pooled, assessor="lee", grades="1111")
        assert call("status", pooled).exit_code == 0


@pytest.fixture
def model(monkeypatch):
    with fixture_model() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield


def test_a_model_derives_questions_and_judges(call, folder, seeds, model, tmp_path):
    call("questions", folder, seeds, "--extend", 2)
    derived = {each.query_id: each for each in Benchmark(folder).questions.values() if each.seed}
    assert list(derived) == ["S01.1", "S01.2", "S05.1", "S05.2"]
    assert derived["S01.1"].question != SOME["S01"]
    call("select", folder, "--assessor", "kim", "--out", tmp_path / "derived.csv")
    fill_in(tmp_path / "derived.csv", "keep", ["y", "n", "", "n"])
    call("select", folder, "--assessor", "kim", "--labels", tmp_path / "derived.csv")
    assert list(Benchmark(folder).selected) == ["S01", "S05", "S01.1"]
    assert call("pool", folder, "--find", "--model", "--depth", 5).exit_code == 0
    assert call("judge", folder, "coarse", "--by", "brief", "--threshold", 0.2).exit_code == 0
    assert call("judge", folder, "fine").exit_code == 0
    judged = Benchmark(folder).judged
    assert {(each.stage, each.judge, each.by, each.prompt, each.version) for each in judged} == {
        ("coarse", "brief", "fixture", "judgement_brief.en", 1),
        ("fine", "complex", "fixture", "judgement_complex.en", 1),
    }
    parts = {name for each in judged if each.stage == "fine" for name in each.parts}
    assert parts == {"topic", "context", "depth"}


@pytest.fixture
def served(monkeypatch):
    """Run a model that tests can change."""
    changed = FindingModel()
    with serving_model(changed) as variables:
        for name, value in variables.items():
            monkeypatch.setenv(f"SHRAG_{name.upper()}", str(value))
        yield changed


def test_papers_for_which_the_model_fails_are_judged_by_the_next_call_alone(call, pooled, served):
    served.changed = {"judgement": lambda _: {}}
    with pytest.raises(ModelFailed):
        call("judge", pooled, "coarse", "--by", "brief")
    assert Benchmark(pooled).judged == []
    served.changed = {
        "judgement": lambda prompt: {} if "battery" in prompt.lower() else {"reason": "r", "score": 1}
    }
    partial = call("judge", pooled, "coarse", "--by", "brief")
    assert (partial.exit_code, "S05" in partial.output, len(Benchmark(pooled).judged)) == (1, True, 2)
    served.changed, served.calls = {}, type(served.calls)()
    assert call("judge", pooled, "coarse", "--by", "brief").exit_code == 0
    assert (len(Benchmark(pooled).judged), served.calls["judgement"]) == (4, 2)


def test_a_seed_with_fewer_derived_questions_gets_more(call, folder, seeds, served):
    served.changed = {"benchmark-questions": lambda _: {"questions": [SOME["S01"], "new"]}}
    assert call("questions", folder, seeds, "--extend", 2).exit_code == 1
    derived = [each for each in Benchmark(folder).questions.values() if each.seed]
    assert [(each.query_id, each.question) for each in derived] == [("S01.1", "new")]
    numbers = map(str, range(99))
    served.changed = {"benchmark-questions": lambda _: {"questions": [next(numbers), next(numbers)]}}
    call("questions", folder, seeds, "--extend", 2)
    made = Benchmark(folder).questions.values()
    assert sorted(each.query_id for each in made if each.seed) == ["S01.1", "S01.2", "S05.1", "S05.2"]


@pytest.fixture
def second(tmp_path, sample_home):
    """Return the file of a source with a paper of the sample under another id, and another paper."""
    lines = (SAMPLE / "papers.jsonl").read_text("utf-8").splitlines()
    rice = next(json.loads(line) for line in lines if "SAMPLE-AGR-002" in line)
    bell = {"id": "B1", "title": "Methane in the bells of rice paddies", "abstract": "Bells of methane."}
    corpus = write_jsonl(tmp_path / "second.jsonl", [rice | {"id": "R2"}, bell])
    build(tmp_path / "home", corpus, name="second")
    file = tmp_path / "library.toml"
    file.write_text(f'kind = "index"\nindex = "second"\nhome = "{tmp_path / "home"}"\n')
    return file


def test_index_and_source_are_searched_separately_and_their_records_merged(call, folder, tmp_path, second):
    (tmp_path / "seeds").write_text("1\tmethane rice paddies wetting and drying\n")
    call("questions", folder, tmp_path / "seeds")
    pooled = call(
        "pool", folder, "--name", "sample", "--source", second, "--method", "or", "--find", "--depth", 10
    )
    assert pooled.exit_code == 0, pooled.output
    made = Benchmark(folder)
    methods = {("sample", "or"), ("library", "or"), ("sample,library", "find-papers")}
    assert {(each.place, each.method) for each in made.rankings["1"]} == methods
    found = {each.key: each for each in made.candidates["1"]}
    rice = found["sample", "SAMPLE-AGR-002"]
    assert {(each.place, each.method) for each in rice.found} == methods
    assert rice.judged_ids("sample", several=True) == ["SAMPLE-AGR-002"]
    assert found["library", "B1"].judged_ids("sample", several=True) == ["library:B1"]
    assert call("judge", folder, "coarse").exit_code == 0
    assert len(Benchmark(folder).judged) == len(found)
    with pytest.raises(InvalidCall, match="sample, library"):
        call("pool", folder, "--name", "sample")


REFUSED = [
    ("pool", "--method", "no-such"),
    ("pool", "--method", "boolean"),
    ("pool", "--method", "dense"),
    ("pool", "--model"),
    ("judge", "fine", "--by", "rules"),  # coarse comes first
    ("judge", "coarse", "--by", "brief"),  # without a model
    ("judge", "coarse", "--threshold", "nan"),
    ("questions", "{seeds}", "--extend", 2),
    ("questions", "{bad}"),
    ("questions", "{changed}"),
    ("confirm", "--assessor", "kim", "--out", "{seeds}"),  # exists
    ("confirm", "--assessor", "kim"),
    ("confirm", "--assessor", "kim", "--out", "x", "--labels", "{seeds}"),
    ("confirm", "--assessor", "kim", "--dropped", "--disputed", "--out", "x"),
    ("confirm", "--assessor", "../x", "--out", "x"),
    ("report", "--out", "{new}"),  # without a grade
]


@pytest.mark.parametrize(("name", "options"), [(name, options) for name, *options in REFUSED])
def test_calls_that_cannot_be_made_are_refused_and_add_nothing(
    sample_home, pooled, seeds, tmp_path, name, options
):
    (tmp_path / "bad").write_text("1\tmethane\none column\n")
    (tmp_path / "changed").write_text("S01\tbatteries\n")
    places = {"seeds": seeds, **{each: tmp_path / each for each in ("bad", "changed", "new")}}
    before = state_of(pooled)
    made = CliRunner(env={"SHRAG_HOME": str(sample_home)}).invoke(
        benchmark, [name, str(pooled), *(str(each).format(**places) for each in options)]
    )
    refusals = (BadBenchmark, BadTopics, BadFilter, InvalidCall, ModelNotConfigured, SystemExit)
    assert isinstance(made.exception, refusals), made.output
    assert state_of(pooled) == before


@pytest.mark.needs_libraries
def test_a_small_benchmark_is_reported_in_a_folder_of_its_own(call, confirm, pooled, tmp_path):
    assert call("judge", pooled, "coarse").exit_code == 0
    assert call("judge", pooled, "fine", "--by", "rules").exit_code == 0
    confirm(pooled, grades="2101")
    confirm(pooled, "--sample", 2, grades="22", assessor="lee")
    out, other = tmp_path / "out", tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("all my work")
    for place, part in ((pooled / "out", "out"), (other, r"thesis\.txt")):
        with pytest.raises(InvalidCall, match=part):
            call("report", pooled, "--out", place)
    assert call("report", pooled, "--out", out).exit_code == 0
    assert read_topics(out / "topics.jsonl") == SOME
    grades = [grade for graded in read_qrels(out / "qrels.txt").values() for grade in graded.values()]
    assert sorted(grades) == [0, 1, 1, 2]
    first, *others = [json.loads(line) for line in (out / "provenance.jsonl").read_text("utf-8").splitlines()]
    assert (len(others), first["pooled"]) == (3, [{"place": "sample", "method": "or", "rank": 1}])
    assert (first["coarse"]["judge"], first["coarse"]["passed"], first["fine"]["passed"]) == ("rules", 1, 1)
    assert first["assessments"][0]["assessor"] == "kim"
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    for name, given in manifest["inputs"].items():
        assert hashlib.sha256((pooled / name).read_bytes()).hexdigest() == given["sha256"]
    assert [each["step"] for each in manifest["calls"]] == ["questions", "pool", "judge coarse", "judge fine"]
    assert manifest["calls"][1]["made_with"]["index"]["name"] == "sample"
    assert "<svg" in (out / "report.html").read_text("utf-8")
    assert "| kim, lee | 2 |" in (out / "report.md").read_text("utf-8")


def test_no_title_steers_the_terminal_or_is_a_formula(folder, tmp_path):
    hostile = f"methane rice {STEERING} [bold]paddies[/bold]"
    record = {name: f"={name} {hostile}" for name in FIELDS} | {"authors": [hostile], "year": 2020}
    corpus = write_jsonl(tmp_path / "x.jsonl", [record | {"id": f"P\u202e{number}"} for number in range(2)])
    build(tmp_path / "home", corpus, name="x")
    readable = STEERING.replace("\r", "").replace("\0", "")
    (tmp_path / "seeds").write_text(f"Q\u202e1\tmethane {readable} rice\n")
    for arguments in (
        ("questions", folder, tmp_path / "seeds"),
        ("pool", folder, "--name", "x"),
        ("judge", folder, "coarse", "--threshold", 0),
        ("confirm", folder, "--assessor", "kim", "--out", tmp_path / "sheet.csv"),
        ("status", folder),
    ):
        done = called(tmp_path / "home", *arguments)
        assert (done.exit_code, steers(done.output)) == (0, set()), done.output
    assert grade_papers(tmp_path / "home", folder, grades="2").exit_code == 0
    assert {row["title"][:2] for row in rows_of(folder.with_name("made-kim.csv"))} == {"'="}
