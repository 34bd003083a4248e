"""The experiment on the glossary: counts, a fixed sample, and the precision of a judged list."""

from indexer.settings import IndexerSettings
from tools.glossary import Mined, counts_of, judged_rows, listed, mined

GRAPH = Mined("sample", "pair", "지식 그래프", "knowledge graph", 3, ("bracket", "title"))
METHANE = Mined("sample", "pair", "메탄", "methane", 1, ("bracket",))
SHORT = Mined("sample", "abbreviation", "KD", "knowledge distillation", 2, ("bracket",))
TEXT = "우리는 지식\n그래프(knowledge graph)를 만든다."


def test_the_sample_has_pairs_and_abbreviations(tmp_path):
    found, texts = mined("sample", tmp_path, IndexerSettings(home=tmp_path))
    assert ("꿀벌", "honey bee", ("keywords",)) in {(item.one, item.other, item.sources) for item in found}
    assert any(item.kind == "abbreviation" for item in found)
    assert any("honey bee" in text for text in texts)


def test_a_pair_counts_for_each_of_its_sources():
    assert counts_of("sample", [GRAPH, METHANE, SHORT]) == {
        "collection": "sample",
        "pairs": 2,
        "bracket": 2,
        "keywords": 0,
        "title": 1,
        "abbreviations": 1,
    }


def test_precision_and_what_is_still_mined_are_reported():
    judged = list(listed([GRAPH, METHANE, SHORT, SHORT], {"sample": [TEXT]}))
    for record, right in zip(judged, (True, True, False, None), strict=True):
        record["right"] = right
    of_forms, of_pairs = judged_rows(judged, [GRAPH])
    assert list(of_pairs.values()) == ["sample", "pair", 2, 2, 1.0, 0.5]
    assert list(of_forms.values()) == ["sample", "abbreviation", 1, 0, 0.0, 0.0]
