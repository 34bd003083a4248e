"""What `shrag doctor` finds: in folders, at a local server of a model, and with nothing configured."""

import errno
import json
import os
import re
import shutil

import pytest

from indexer.ingest import IngestRequest, build_index
from indexer.settings import EncoderSettings, IndexerSettings
from stack.doctor.checks.disk import check_disk, space_status
from stack.doctor.checks.engine import check_engine
from stack.doctor.checks.libraries import check_libraries
from stack.doctor.findings import Examined, Finding
from tests.generator.sample_index import settings_of, shrag
from tests.http_server import Handler, serving
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import edit_manifest, write_jsonl
from tests.stack.asking_the_doctor import doctor, statuses
from tests.stack.model_server import model_server

pytest_plugins = ["tests.generator.sample_index"]

NOWHERE = "http://127.0.0.1:9/v1"  # the discard port: nothing listens


def of_model(found):
    return statuses("language model", found)


def with_model(server, **settings):
    return {"llm__base_url": server, "llm__model": "tiny-writer", **settings}


def test_with_nothing_configured_all_is_well_and_what_is_not_there_is_told(tmp_path):
    code, found = doctor(tmp_path)
    assert code == 0
    not_there = {key for key, finding in found.items() if finding["status"] == "not configured"}
    assert {("index", "list"), ("encoder", "provider"), ("language model", "endpoint")} <= not_there
    assert found["engine", "home"]["status"] == "ok"
    assert found["language model", "endpoint"]["mend"].startswith("set SHRAG_LLM__BASE_URL")


def test_an_index_that_opens_is_told_with_its_size(sample_home):
    code, found = doctor(sample_home)
    assert (code, found["index", "sample"]["status"]) == (0, "ok")
    assert "120 papers" in found["index", "sample"]["found"]
    assert found["index", "sample, vectors"]["status"] == "not configured"


def test_an_index_of_another_analysis_is_wrong(sample_home, tmp_path):
    shutil.copytree(sample_home, tmp_path / "home")
    manifest = next((tmp_path / "home" / "sample" / "versions").glob("*/manifest.json"))
    edit_manifest(manifest.parent, fingerprint={"tokens": "0123456789abcdef"})
    code, found = doctor(tmp_path / "home")
    assert (code, found["index", "sample"]["status"]) == (1, "wrong")
    assert "IndexMismatch" in found["index", "sample"]["found"]
    assert "shrag index PATH --name sample --rebuild" in found["index", "sample"]["mend"]


def test_indexes_that_are_damaged_are_told_a_line_each_beside_those_that_are_not(sample_home, tmp_path):
    home = tmp_path / "home"
    for name in ("bytes", "fine", "manifest", "missing"):
        shutil.copytree(sample_home / "sample", home / name)
    versions = {path.parent.parent.name: path for path in home.glob("*/versions/*")}
    file = next(path for path in (versions["bytes"] / "tantivy").iterdir() if path.suffix == ".store")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    (versions["manifest"] / "manifest.json").write_text("[1, 2")
    shutil.rmtree(versions["missing"] / "tantivy")

    code, found = doctor(home)

    assert code == 1
    told = statuses("index", found)
    assert (told["fine"], told["fine, files"]) == ("ok", "ok")
    assert {told["manifest"], told["missing"], told["bytes, files"]} == {"wrong"}
    assert file.name in found["index", "bytes, files"]["found"]
    assert all("\n" not in finding["found"] for (check, _), finding in found.items() if check == "index")
    assert not [finding for finding in found.values() if "bug in SHRAG" in finding["mend"]]

    _, quickly = doctor(home, "--quick")
    assert "fine, files" not in statuses("index", quickly)


def test_a_home_that_cannot_be_listed_is_told_and_the_other_checks_are_run(tmp_path):
    code, found = doctor(tmp_path / ("x" * 300))
    assert (code, found["index", "list"]["status"]) == (1, "wrong")
    assert ("language model", "endpoint") in found
    assert not [finding for finding in found.values() if "bug in SHRAG" in finding["mend"]]


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_home_that_is_a_file_is_one_line(tmp_path, name):
    (tmp_path / "file").write_text("in the way")
    done = shrag("doctor", home=tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"SHRAG_HOME: {tmp_path}/file ")


def test_an_index_that_is_not_there_is_wrong_when_it_is_named(tmp_path):
    code, found = doctor(tmp_path, "--name", "papers")
    assert (code, found["index", "papers"]["status"]) == (1, "wrong")


def test_a_folder_that_may_not_be_looked_into_is_a_finding(tmp_path, monkeypatch):
    home, real = tmp_path / "closed" / "home", os.stat

    def stat(path, **options):  # the tests may run as root, who may look into any folder
        if str(path) == str(home):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **options)

    monkeypatch.setattr("os.stat", stat)
    examined = Examined(settings_of(home))
    assert [finding.subject for finding in check_disk(examined)] == ["home"]
    assert next(finding for finding in check_engine(examined) if finding.subject == "home").status == "ok"


def test_a_home_that_cannot_be_written_is_wrong(tmp_path, monkeypatch):
    def refuse(**_):  # the tests may run as root, who may write into any folder
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    home = next(
        finding for finding in check_engine(Examined(settings_of(tmp_path))) if finding.subject == "home"
    )
    assert home.status == "wrong"
    assert "Read-only file system" in home.found
    assert "SHRAG_HOME" in home.mend


def test_a_table_is_for_a_person_with_the_remedies_below(tmp_path):
    done = shrag("doctor", home=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["check", "status", "found", "configured"]
    assert "encoder, provider: SHRAG_ENCODER__PROVIDER=local" in done.stdout
    assert "\x1b[" not in done.stdout  # colours for a terminal only


def test_a_cluster_that_does_not_answer_is_wrong(tmp_path):
    code, found = doctor(
        tmp_path, engine="elasticsearch", elasticsearch__url="http://127.0.0.1:9", elasticsearch__timeout_s=5
    )
    assert (code, found["engine", "reachable"]["status"]) == (1, "wrong")
    assert found["index", "list"]["status"] == "wrong"


def test_a_model_that_keeps_to_the_schema_is_well(tmp_path):
    with model_server() as server:
        code, found = doctor(tmp_path, **with_model(server.base_url, llm__api_key="secret"))
    assert code == 0
    assert of_model(found) == dict.fromkeys(["reachable", "version", "model", "context", "JSON schema"], "ok")
    assert found["language model", "version"]["found"] == "vLLM 0.32.0"
    assert found["language model", "context"]["found"] == "16,384 tokens"
    assert server.keys == {"Bearer secret"}
    asked = server.bodies[0]
    assert asked["response_format"]["type"] == "json_schema"
    assert asked["temperature"] == 0
    assert "poem" in asked["messages"][0]["content"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            {"content": "Grey swell, grey sky,\nthe gulls are gone."},
            "the model answered",
        ),
        ({"content": '{"season": "winter"}'}, "the model answered"),
        (
            {"content": '```json\n{"season": "winter", "waves": "calm", "lines": ["salt"]}\n```'},
            "the model answered",
        ),
        ({"content": None, "reasoning_content": "The user wants"}, "reasoning"),
        ({"content": "", "reasoning": "The user wants"}, "reasoning"),
    ],
    ids=["verse", "half of it", "fenced", "thoughts", "thoughts, as they are called now"],
)
def test_a_server_that_breaks_the_schema_is_refused(tmp_path, message, told):
    with model_server(message=message) as server:
        code, found = doctor(tmp_path, **with_model(server.base_url))
    assert (code, found["language model", "JSON schema"]["status"]) == (1, "wrong")
    assert told in found["language model", "JSON schema"]["found"]
    assert "--reasoning-parser" in found["language model", "JSON schema"]["mend"]


@pytest.mark.parametrize(
    ("server", "subject", "expected"),
    [
        ({"status": 400}, "JSON schema", (1, "wrong", "answers 400")),
        (
            {"message": {"content": "{  \n\n    "}, "finish_reason": "length"},
            "JSON schema",
            (0, "warning", "white space"),
        ),
        ({"max_model_len": 4096}, "context", (0, "warning", "4,096 tokens")),
        ({"version": None}, "version", (0, "ok", "the server is not vLLM")),
    ],
    ids=["no schema", "blanks without end", "short context", "not vLLM"],
)
def test_what_another_server_does_is_judged(tmp_path, server, subject, expected):
    with model_server(**server) as running:
        code, found = doctor(tmp_path, **with_model(running.base_url))
    finding = found["language model", subject]
    assert (code, finding["status"]) == expected[:2]
    assert expected[2] in finding["found"]


def test_a_version_that_the_server_keeps_to_itself_says_nothing_of_the_server(tmp_path):
    with model_server(version="refused") as server:
        _, found = doctor(tmp_path, **with_model(server.base_url))
    assert found["language model", "version"]["found"] == "unknown"


def test_a_fault_of_the_embedded_engine_s_check_is_no_proxy(tmp_path, monkeypatch):
    def fail(_):
        raise ValueError("a fault of ours")

    monkeypatch.setattr("stack.doctor.checks.engine.nearest_folder", fail)
    _, found = doctor(tmp_path)
    assert "bug in SHRAG" in found["engine", "the check itself"]["mend"]
    assert found["index", "list"]["status"] == "not configured"


def test_a_model_that_is_not_served_is_wrong_and_those_that_are_are_listed(tmp_path):
    with model_server() as server:
        code, found = doctor(tmp_path, **with_model(server.base_url) | {"llm__model": "Qwen/Qwen3-4B"})
    assert (code, found["language model", "model"]["status"]) == (1, "wrong")
    assert found["language model", "model"]["found"].endswith(": tiny-writer")
    assert ("language model", "JSON schema") not in found


def test_a_further_model_that_is_not_served_is_wrong(tmp_path):
    with model_server() as server:
        code, found = doctor(tmp_path, **with_model(server.base_url) | {"llm__other_models": "Qwen/Qwen3-4B"})
    model = found["language model", "model"]
    assert (code, model["status"], model["configured"]) == (1, "wrong", "Qwen/Qwen3-4B")
    assert "SHRAG_LLM__OTHER_MODELS" in model["mend"]
    assert ("language model", "JSON schema") in found


@pytest.mark.parametrize(
    "body",
    [b"<h1>It works!</h1>", b"[]", b'{"data": [1]}', b"[" * 100_000],
    ids=["page", "list", "numbers", "deep"],
)
def test_what_lists_no_models_is_no_missing_model(tmp_path, body):
    class Other(Handler):
        def get(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Other) as url:
        code, found = doctor(tmp_path, **with_model(f"{url}/v1"))
    assert (code, of_model(found)) == (1, {"reachable": "wrong"})
    assert "text/html" in found["language model", "reachable"]["found"]
    assert "SHRAG_LLM__BASE_URL" in found["language model", "reachable"]["mend"]


def test_a_key_that_is_not_accepted_is_wrong(tmp_path):
    with model_server(key="another") as server:
        code, found = doctor(tmp_path, **with_model(server.base_url, llm__api_key="secret"))
    assert (code, found["language model", "reachable"]["status"]) == (1, "wrong")
    assert "SHRAG_LLM__API_KEY" in found["language model", "reachable"]["mend"]
    assert "secret" not in json.dumps(list(found.values()))


@pytest.mark.parametrize("which", ["llm", "encoder"])
def test_a_key_over_plain_http_is_refused_and_where_it_is_allowed_a_warning(tmp_path, which):
    given = {f"{which}__base_url": "http://192.0.2.1.invalid/v1", f"{which}__api_key": "secret"}
    given |= {"llm": {"llm__model": "m"}, "encoder": {"encoder__provider": "endpoint"}}[which]
    refused = shrag("doctor", home=tmp_path, **given)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert re.match(rf"SHRAG_{which.upper()}: .* 192\.", refused.stderr)
    check = {"llm": "language model", "encoder": "encoder"}[which]
    _, found = doctor(tmp_path, **given, **{f"{which}__allow_plain_http": "true"})
    assert found[check, "encryption"]["status"] == "warning"


def test_a_server_that_is_not_there_is_wrong(tmp_path):
    code, found = doctor(tmp_path, **with_model(NOWHERE))
    assert (code, of_model(found)) == (1, {"reachable": "wrong"})


@pytest.fixture
def encoded(tmp_path):
    """Yield a home whose index holds vectors, and the settings of the encoder that made them."""
    papers = write_jsonl(
        tmp_path / "papers.jsonl", [{"id": "A", "title": "axolotl"}, {"id": "B", "title": "rice"}]
    )
    with embedding_server() as server:
        encoder = server.settings(revision="r1")
        settings = IndexerSettings(home=tmp_path / "home", encoder=EncoderSettings.model_validate(encoder))
        build_index(IngestRequest("papers", [str(papers)]), settings)
        yield settings.home, {f"encoder__{name}": value for name, value in encoder.items()}


def test_vectors_of_the_encoder_that_is_set_are_well(encoded):
    home, encoder = encoded
    code, found = doctor(home, **encoder)
    assert (code, statuses("index", found)) == (
        0,
        dict.fromkeys(["papers", "papers, vectors", "papers, files"], "ok"),
    )
    assert found["index", "papers, vectors"]["found"] == "2 of 2 passages, 8 dimensions"
    assert found["encoder", "endpoint"]["found"].startswith("8 dimensions")


@pytest.mark.parametrize(
    ("changed", "told", "mend"),
    [
        (
            {"encoder__model": "other"},
            "model word-counts, not other",
            "--vectors-only",
        ),
        ({"encoder__revision": "r2"}, "revision r1, not r2", "--vectors-only"),
        (
            {"encoder__storage": "int8"},
            "storage float32, not int8",
            "--vectors-only",
        ),
        (
            {"encoder__provider": "none"},
            "unused",
            "SHRAG_ENCODER__MODEL=word-counts",
        ),
    ],
    ids=["model", "revision", "storage", "none"],
)
def test_vectors_that_are_not_used_are_a_warning(encoded, changed, told, mend):
    home, encoder = encoded
    code, found = doctor(home, **encoder | changed)
    vectors = found["index", "papers, vectors"]
    assert (code, vectors["status"]) == (0, "warning")
    assert told in vectors["found"]
    assert mend in vectors["mend"]


def test_an_encoder_that_cannot_be_had_is_wrong(tmp_path):
    code, found = doctor(
        tmp_path, encoder__provider="endpoint", encoder__base_url=NOWHERE, encoder__timeout_s=2
    )
    assert (code, found["encoder", "endpoint"]["status"]) == (1, "wrong")


def test_a_setting_that_does_not_fit_ends_the_command_as_everywhere(tmp_path):
    assert shrag("doctor", home=tmp_path, llm__base_url="localhost").returncode == 2


@pytest.mark.parametrize(
    ("free", "status"), [(499_999_999, "wrong"), (500_000_000, "warning"), (5_000_000_000, "ok")]
)
def test_free_space_is_judged_by_bounds(free, status):
    assert space_status(free) == status


def test_a_library_that_is_not_the_lock_s_is_a_warning(tmp_path, monkeypatch):
    for name in ("base.txt", "elasticsearch.txt", "models.txt"):
        (tmp_path / name).write_text("click==1.0\n")
    monkeypatch.setattr("stack.doctor.checks.libraries.LOCKS", tmp_path)
    needed: Finding = next(
        finding for finding in check_libraries(Examined(settings_of(tmp_path))) if finding.subject == "needed"
    )
    assert needed.status == "warning"
    assert "(locked: 1.0)" in needed.found
