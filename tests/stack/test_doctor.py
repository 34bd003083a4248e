"""`shrag doctor`: its findings in folders, of a model that is well, and with nothing configured."""

import json
import shutil

import pytest

from indexer.ingest import IngestRequest, build_index
from indexer.settings import EncoderSettings, IndexerSettings
from tests.generator.sample_index import shrag
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import edit_manifest, write_jsonl
from tests.stack.asking_the_doctor import doctor, statuses
from tests.stack.model_server import model_server

NOWHERE = "http://127.0.0.1:9/v1"  # the discard port: nothing listens


def with_model(server, **settings):
    return {"llm__base_url": server, "llm__model": "tiny-writer", **settings}


def test_with_nothing_configured_all_is_well(tmp_path):
    code, found = doctor(tmp_path)
    assert (code, found["engine", "home"]["status"]) == (0, "ok")
    absent = {key for key, finding in found.items() if finding["status"] == "not configured"}
    assert {("index", "list"), ("encoder", "provider"), ("language model", "endpoint")} <= absent
    assert found["language model", "endpoint"]["remedy"].startswith("set SHRAG_LLM__BASE_URL")
    assert found["backup", "last backup"]["status"] == "not configured"
    table = shrag("doctor", home=tmp_path).stdout
    assert table.splitlines()[0].split() == ["check", "status", "found", "configured"]
    assert "encoder, provider: SHRAG_ENCODER__PROVIDER=local" in table


def test_each_index_has_its_own_findings(sample_home, tmp_path):
    home = tmp_path / "home"
    for name in ("bytes", "fine", "manifest", "missing", "other"):
        shutil.copytree(sample_home / "sample", home / name)
    versions = {path.parent.parent.name: path for path in home.glob("*/versions/*")}
    file = next(path for path in (versions["bytes"] / "tantivy").iterdir() if path.suffix == ".store")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    (versions["manifest"] / "manifest.json").write_text("[1, 2")
    shutil.rmtree(versions["missing"] / "tantivy")
    edit_manifest(versions["other"], fingerprint={"tokens": "0123456789abcdef"})

    code, found = doctor(home)

    status = statuses("index", found)
    assert (code, status["fine"], status["fine, files"]) == (1, "ok", "ok")
    assert "120 papers" in found["index", "fine"]["found"]
    assert status["fine, vectors"] == "not configured"
    assert {status[name] for name in ("manifest", "missing", "bytes, files", "other")} == {"wrong"}
    assert file.name in found["index", "bytes, files"]["found"]
    assert "IndexMismatch" in found["index", "other"]["found"]
    assert "--rebuild" in found["index", "other"]["remedy"]
    assert "bug in SHRAG" not in json.dumps(list(found.values()))
    assert "fine, files" not in statuses("index", doctor(home, "--quick", "--name", "fine")[1])


def test_a_home_that_cannot_be_used_is_wrong_and_other_checks_run(tmp_path):
    code, found = doctor(tmp_path / ("x" * 300))
    assert (code, found["index", "list"]["status"]) == (1, "wrong")
    assert ("language model", "endpoint") in found
    assert doctor(tmp_path, "--name", "papers")[1]["index", "papers"]["status"] == "wrong"


def test_a_model_that_keeps_to_the_schema_is_well(tmp_path):
    with model_server() as server:
        code, found = doctor(tmp_path, **with_model(server.base_url, llm__api_key="secret"))
    subjects = ["reachable", "model", "context", "JSON schema"]
    assert (code, statuses("language model", found)) == (0, dict.fromkeys(subjects, "ok"))
    assert found["language model", "context"]["found"] == "16,384 tokens"
    assert server.keys == {"Bearer secret"}
    assert server.bodies[0]["response_format"]["type"] == "json_schema"
    assert server.bodies[0]["temperature"] == 0
    assert "poem" in server.bodies[0]["messages"][0]["content"]


def test_vectors_are_compared_with_the_configured_encoder(tmp_path):
    papers = write_jsonl(
        tmp_path / "papers.jsonl", [{"id": "A", "title": "axolotl"}, {"id": "B", "title": "rice"}]
    )
    with embedding_server() as server:
        encoder = server.settings(revision="r1")
        settings = IndexerSettings(home=tmp_path / "home", encoder=EncoderSettings.model_validate(encoder))
        build_index(IngestRequest("papers", [str(papers)]), settings)
        for changed, status, text, remedy in [
            ({}, "ok", "2 of 2 passages, 8 dimensions", ""),
            ({"model": "other"}, "warning", "model word-counts, not other", "--vectors-only"),
            ({"revision": "r2"}, "warning", "revision r1, not r2", "--vectors-only"),
            ({"storage": "int8"}, "warning", "storage float32, not int8", "--vectors-only"),
            ({"provider": "none"}, "warning", "unused", "SHRAG_ENCODER__MODEL=word-counts"),
        ]:
            given = {f"encoder__{name}": value for name, value in (encoder | changed).items()}
            code, found = doctor(settings.home, **given)
            vectors = found["index", "papers, vectors"]
            assert (code, vectors["status"]) == (0, status)
            assert text in vectors["found"]
            assert remedy in vectors["remedy"]
            if not changed:
                assert found["encoder", "endpoint"]["found"].startswith("8 dimensions")
    gone = {"encoder__provider": "endpoint", "encoder__base_url": NOWHERE, "encoder__timeout_s": 2}
    assert doctor(tmp_path, **gone)[1]["encoder", "endpoint"]["status"] == "wrong"


@pytest.mark.needs_models
def test_cross_encoders_read_a_pair(tmp_path):
    from tests.indexer.encoders.tiny_models import tiny_entailment_model

    folder = tiny_entailment_model(tmp_path / "model", ("entailment", "neutral", "contradiction"))
    models = {"reranker__provider": "local", "reranker__model": folder, "check__judge": "local"}
    code, found = doctor(tmp_path / "home", **models, check__model=folder)
    assert (code, found["cross-encoders", "check of answers"]["status"]) == (1, "ok")
    reranker = found["cross-encoders", "re-ranker"]  # three labels are no score
    assert (reranker["status"], "SHRAG_RERANKER__MODEL" in str(reranker)) == ("wrong", True)
    _, found = doctor(tmp_path / "home", check__model=tmp_path / "missing", check__judge="local")
    check = found["cross-encoders", "check of answers"]
    assert (check["status"], check["configured"]) == ("wrong", str(tmp_path / "missing"))
