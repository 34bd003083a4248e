import gzip
import json

from click.testing import CliRunner

from eval.experiments.collections import Collection, prefixed, scores_of, supporting, unseen, write_combined
from eval.experiments.ranking import main


def packed_lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def test_the_combined_corpus_is_in_miracls_layout_with_prefixed_ids(tmp_path):
    packed_lines(tmp_path / "ko/docs-0.jsonl.gz", [{"docid": "1#0", "title": "한니발", "text": "장군이다."}])
    packed_lines(
        tmp_path / "sf.jsonl.gz", [{"id": "4983", "title": "Brain", "abstract": "Matter.", "lang": "en"}]
    )
    collections = [Collection("tydi-ko", "ko", "ko", {}), Collection("scifact", "sf", "sf.jsonl.gz", {})]

    write_combined(tmp_path / "combined.jsonl", tmp_path, collections)

    lines = (tmp_path / "combined.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"docid": "ko1#0", "title": "한니발", "text": "장군이다."},
        {"docid": "sf4983", "title": "Brain", "text": "Matter."},
    ]


def test_judgements_are_prefixed_like_the_corpus():
    assert prefixed({"q1": {"1#0": 1}, "q2": {"2#0": 0}}, "ko") == {"q1": {"ko1#0": 1}, "q2": {"ko2#0": 0}}


def test_training_questions_that_stand_in_dev_are_left_out():
    training = {"t1": "Who  wrote it?", "t2": "Why?"}

    assert unseen(training, {"d1": "who wrote it?"}) == {"t2": "Why?"}


def test_a_missing_data_folder_is_told(tmp_path):
    result = CliRunner().invoke(main, ["--home", str(tmp_path), "--data", str(tmp_path / "nowhere")])

    assert result.exit_code == 2
    assert "no collections in" in result.stderr


def test_supporting_papers_are_relevant_and_both_must_be_among_the_first_ten(tmp_path):
    path = tmp_path / "questions.jsonl"
    records = [{"query_id": query_id, "question": "?", "supporting": ["5", "9"]} for query_id in ("q1", "q2")]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    qrels = supporting(path)
    run = {"q1": [("5", 3.0), ("1", 2.0), ("9", 1.0)], "q2": [("9", 1.0), ("2", 0.5)]}

    scores = scores_of(qrels, run, ("R@10", "both@10"))

    assert qrels == {"q1": {"5": 1, "9": 1}, "q2": {"5": 1, "9": 1}}
    assert scores.means == {"R@10": 0.75, "both@10": 0.5}
    assert scores.per_query["both@10"] == {"q1": 1.0, "q2": 0.0}
    assert scores_of(qrels, run, ("both@10",)).means == {"both@10": 0.5}
