"""What `shrag doctor` says of the re-ranker and of the model that checks answers."""

import pytest

from tests.stack.asking_the_doctor import doctor

pytestmark = pytest.mark.needs_models


def test_a_model_that_opens_is_well_and_one_that_does_not_is_wrong(tmp_path):
    from tests.indexer.encoders.tiny_models import tiny_entailment_model

    labels = ("entailment", "neutral", "contradiction")
    folder = tiny_entailment_model(tmp_path / "model", labels)
    models = {"reranker__provider": "local", "reranker__model": folder}
    models |= {"check__model": folder, "check__judge": "local"}

    code, found = doctor(tmp_path / "home", **models)

    assert code == 1
    assert found["cross-encoders", "check of answers"]["status"] == "ok"
    reranker = found["cross-encoders", "re-ranker"]  # three labels are no score
    assert reranker["status"] == "wrong"
    assert "SHRAG_RERANKER__MODEL" in reranker["found"] + reranker["mend"]


def test_a_model_that_is_not_there_is_wrong_and_named(tmp_path):
    code, found = doctor(tmp_path / "home", check__model=tmp_path / "missing", check__judge="local")

    assert code == 1
    check = found["cross-encoders", "check of answers"]
    assert (check["status"], check["configured"]) == ("wrong", str(tmp_path / "missing"))
