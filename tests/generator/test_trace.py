"""Traces: saved, read again, compared."""

import json

import pytest

from generator.errors import TraceNotWritten
from generator.trace import Trace, differences

RECORD = {
    "trace": 1,
    "started": "2024-05-01T12:00:00.000+00:00",
    "index": {"name": "rivers", "version": 1, "engine": "tantivy", "fingerprint": {}},
    "question": "강은 어디로 흐르는가?",
    "method": "shrag",
    "keywords": [{"text": "강", "weight": 2.0}, {"text": "river", "weight": 1.0}],
    "queries": [{"query": "강 OR river", "hits": 1}],
    "notes": [],
    "model_calls": {"answer": {"text": "바다로", "milliseconds": 12.5}},
    "answer": {
        "title": "강의 흐름",
        "sentences": [{"text": "강은 바다로 흐른다.", "citations": ["R1"], "check": "supported"}],
    },
    "evidence": [{"rank": 1, "score": 2.5, "passage_id": "R1", "title": "강"}],
    "milliseconds": {"total": 40.0},
}


def changed(**values):
    return Trace(RECORD | values)


def test_a_saved_trace_is_read_as_it_was(tmp_path):
    file = tmp_path / "new folder" / "trace.json"
    Trace(RECORD).save(file)
    assert Trace.load(file).record == RECORD
    assert "강은 어디로" in file.read_text(encoding="utf-8")


def test_times_are_no_difference():
    later = changed(
        started="2025-01-01T00:00:00.000+00:00",
        milliseconds={"total": 99.0, "search": 1.0},
        model_calls={"answer": {"text": "바다로", "milliseconds": 99.0}},
    )
    assert differences(Trace(RECORD), later) == []


def test_a_difference_is_told_with_its_place_and_both_values():
    other = changed(keywords=[{"text": "강", "weight": 2.0}, {"text": "stream", "weight": 1.0}])
    assert differences(Trace(RECORD), other) == ['keywords[1].text: "river" | "stream"']


def test_what_only_one_trace_holds_is_a_difference():
    assert differences(Trace(RECORD), changed(more="late")) == ['more: null | "late"']
    assert differences(changed(more="late"), Trace(RECORD)) == ['more: "late" | null']


def test_lists_of_different_lengths_are_one_difference():
    (line,) = differences(Trace(RECORD), changed(keywords=[]))
    assert line.startswith('keywords: [{"text": "강"')
    assert line.endswith(" | []")


def test_long_values_are_told_in_80_characters():
    (line,) = differences(changed(question="a" * 200), changed(question="b"))
    assert line == f'question: "{"a" * 76}… | "b"'


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("half {", "holds no JSON"),
        ("[" * 100_000, "holds no JSON"),
        (b"\xff\xfe", "holds no JSON"),
        (json.dumps(RECORD | {"trace": 99}), r"holds no trace of this version \(1\)"),
        ("[]", "holds no trace of this version"),
        ("{}", "holds no trace of this version"),
    ],
)
def test_a_file_that_holds_no_trace_is_named(tmp_path, content, complaint):
    file = tmp_path / "trace.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=rf"trace\.json {complaint}"):
        Trace.load(file)


@pytest.mark.parametrize("key", sorted(RECORD.keys() - {"trace", "model_calls"}))
def test_a_trace_without_a_part_of_it_is_named_with_that_part(tmp_path, key):
    file = tmp_path / "trace.json"
    Trace({name: value for name, value in RECORD.items() if name != key}).save(file)
    with pytest.raises(ValueError, match=rf"trace\.json holds no whole trace: {key}: Field required"):
        Trace.load(file)


def test_a_part_that_is_another_program_s_is_named_with_its_place(tmp_path):
    file = tmp_path / "trace.json"
    changed(evidence=[{"rank": 1, "score": "high", "passage_id": "R1", "title": "강"}]).save(file)
    with pytest.raises(
        ValueError, match=r"no whole trace: evidence\.0\.score: Input should be a valid number"
    ):
        Trace.load(file)


def test_a_trace_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TraceNotWritten, match=r"trace .*trace\.json was not written: "):
        Trace(RECORD).save(tmp_path / "file" / "trace.json")
