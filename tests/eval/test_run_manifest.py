"""What a run's manifest says of the configuration that took effect."""

from dataclasses import replace

from eval.manifest import models_record, software
from eval.ranking import RankedTopic, configuration
from indexer.settings import EncoderSettings, IndexerSettings
from retriever.stages.hits import AppliedSearch

WITH_VECTORS = AppliedSearch(
    method="shrag",
    order="features and cosine",
    title_weight=None,
    strategist="statistics",
    keyword_count=10,
    hits_per_query=10,
    without=(),
    vectors="mini",
    vectors_unused="",
    reranker="",
    rerank_depth=30,
    drop_incomplete=True,
)
REASON = "the encoder did not answer"
FAILED = replace(WITH_VECTORS, order="features", vectors="", vectors_unused=REASON, failures=(REASON,))


def ranked(*applied):
    return {f"q{number}": RankedTopic([], applied=each) for number, each in enumerate(applied, 1)}


def test_a_failure_for_the_first_question_is_its_own_and_not_the_runs():
    of_run, deviations = configuration(ranked(FAILED, WITH_VECTORS))

    assert (of_run["vectors"], of_run["failures"]) == ("mini", [])
    assert deviations == {
        "q1": {"order": "features", "vectors": "", "vectors_unused": REASON, "failures": [REASON]}
    }


def test_what_holds_for_every_question_is_the_configuration():
    unused = replace(WITH_VECTORS, vectors="", vectors_unused="no encoder is configured")
    of_run, deviations = configuration(ranked(unused, unused))
    assert (of_run["vectors_unused"], deviations) == ("no encoder is configured", {})
    assert "torch" not in software(models=False)["libraries"]
    assert {"torch", "transformers", "rapidfuzz"} <= software(models=True)["libraries"].keys()


def test_a_model_is_recorded_where_it_had_a_part_in_the_order():
    settings = IndexerSettings(
        encoder=EncoderSettings(provider="local", model="mini", revision="7a1c", device="cpu")
    )

    assert models_record(settings, configuration(ranked(FAILED))[0]) == {}
    assert models_record(settings, configuration(ranked(WITH_VECTORS))[0]) == {
        "encoder": {
            "provider": "local",
            "model": "mini",
            "revision": "7a1c",
            "device": "cpu",
            "precision": "auto",
            "dimensions": None,
            "max_tokens": None,
        }
    }
