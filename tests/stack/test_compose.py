"""What the schema of compose files, which `make check` applies, cannot say of docker-compose.yml."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from base.settings.sources import all_settings
from generator.request import Settings
from server.settings import ServerSettings

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text("utf-8")
COMPOSE = YAML(typ="safe").load(TEXT)
SERVICES = COMPOSE["services"]
LASTING = [name for name in SERVICES if name != "certificates"]  # which makes them and ends
MODEL_SERVERS = [name for name, service in SERVICES.items() if "vllm" in service["image"]]
DOCUMENTATION = ("how-to/cluster.md", "how-to/models.md", "how-to/deploying.md")
GPU_GB, MODELS_GB = 85.9, 50  # the largest card in docs/how-to/models.md, and what the models may take of it

VARIABLE = re.compile(r"(?<!\$)\$\{(?P<name>\w+)(?P<operator>:?[-?+])(?P<rest>[^}]*)\}")
EXAMPLE = dict(
    re.findall(r"^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE)
)
SECRET = re.compile(r"PASSWORD|API_KEY")


def environment_of(name: str, **variables: str) -> dict[str, str]:
    """Return the environment of a service whose .env has these variables, as Compose makes it."""

    def value(match: re.Match[str]) -> str:
        given = variables.get(match["name"], "")
        if match["operator"].endswith("+"):
            return match["rest"] if given else ""
        return given or match["rest"]

    # A name without a value passes from .env, and is left out where .env does not have it.
    found = {
        name: variables.get(name) if text is None else VARIABLE.sub(value, text)
        for name, text in SERVICES[name]["environment"].items()
    }
    return {name: text for name, text in found.items() if text is not None}


def options_of(name: str) -> dict[str, str]:
    """Return the options that a model server is started with."""
    words = [word.removeprefix("--").partition("=") for word in SERVICES[name]["command"]]
    return {option: value for option, _, value in words}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_kept_apart(name):
    service = SERVICES[name]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert service.get("network_mode", "none") == "none"
    assert not service.get("privileged")
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["mem_limit"]
    assert service["logging"]["options"]["max-size"]


@pytest.mark.parametrize("name", LASTING)
def test_a_service_that_lasts_is_watched_and_started_again(name):
    assert SERVICES[name]["healthcheck"]["test"]
    assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_pinned(name):
    assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+", SERVICES[name]["image"])


def test_elasticsearch_is_tagged_with_the_version_it_is_built_from():
    folder = ROOT / SERVICES["elasticsearch"]["build"]
    base = re.search(r"^FROM \S+:(\S+)$", (folder / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert base
    assert SERVICES["elasticsearch"]["image"].endswith(f":{base[1]}")
    settings = YAML(typ="safe").load((folder / "elasticsearch.yml").read_text("utf-8"))
    assert settings["xpack.security.enabled"] is True


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_names_is_there(name):
    service = SERVICES[name]
    assert set(service.get("depends_on", ())) <= set(SERVICES)
    for volume in service.get("volumes", ()):
        source = volume.partition(":")[0] if isinstance(volume, str) else volume["source"]
        assert source.startswith("$") or source in COMPOSE["volumes"]


def test_variables_are_in_the_example_with_the_same_defaults_and_documented():
    documented = "".join((ROOT / "docs" / page).read_text("utf-8") for page in DOCUMENTATION)
    used = [match.groupdict() for match in VARIABLE.finditer(TEXT)]
    assert {variable["name"] for variable in used} == set(EXAMPLE)
    for variable in used:
        assert f"`{variable['name']}`" in documented
        if variable["operator"] != ":+":
            assert EXAMPLE[variable["name"]] == variable["rest"]
            assert not (SECRET.search(variable["name"]) and variable["rest"]), "a secret has no default"


def test_compose_reads_the_file_without_any_variable():
    assert {match["operator"] for match in VARIABLE.finditer(TEXT)} <= {"-", ":-", ":+"}


def test_without_its_password_elasticsearch_does_not_start_and_says_why(tmp_path):
    for name in ("elasticsearch", "elasticsearch-2", "elasticsearch-3"):
        assert SERVICES[name]["depends_on"] == {
            "certificates": {"condition": "service_completed_successfully"}
        }
    assert environment_of("certificates")["PASSWORD_GIVEN"] == ""
    given = environment_of("certificates", ELASTIC_PASSWORD="secret")
    assert given["PASSWORD_GIVEN"] == "yes"
    assert "secret" not in given.values()
    script = ROOT / "docker" / "elasticsearch" / "make-certificates"
    done = subprocess.run([script], env={"PATH": os.environ["PATH"]}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"set ELASTIC_PASSWORD in .env\n")


@pytest.mark.parametrize("name", MODEL_SERVERS)
def test_without_its_key_a_model_server_does_not_start_and_says_why(name, tmp_path):
    program = tmp_path / "vllm"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    command = [word.replace("$$", "$") for word in (*SERVICES[name]["entrypoint"], "--model=a b")]
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"set SHRAG_LLM__API_KEY in .env\n")
    done = subprocess.run(command, env=path | {"VLLM_API_KEY": "k"}, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"serve --model=a b\n")


@pytest.mark.parametrize("name", MODEL_SERVERS)
def test_a_model_server_reaches_nothing_outside_and_asks_for_a_key(name):
    service = SERVICES[name]
    environment = service["environment"]
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"):
        assert environment[variable] == "1"
    assert environment["VLLM_API_KEY"] == "${SHRAG_LLM__API_KEY:-}"
    [weights] = [volume for volume in service["volumes"] if isinstance(volume, dict)]
    assert (weights["target"], weights["read_only"]) == ("/models", True)
    assert weights["bind"] == {"create_host_path": False}
    assert service["profiles"], "else it starts with Elasticsearch"


@pytest.mark.parametrize("name", MODEL_SERVERS)
def test_a_model_server_serves_the_mounted_model_reproducibly(name):
    options = options_of(name)
    assert options["model"] == f"/models/{options['served-model-name']}"
    assert options["seed"] == "0"
    if options.get("runner") != "pooling":
        assert options["default-chat-template-kwargs"] == '{"enable_thinking":false}'
        assert "reasoning-parser" not in options


def test_the_models_share_one_gpu_by_default():
    shares = [options_of(name).get("gpu-memory-utilization") for name in MODEL_SERVERS]
    numbers = [float(match["rest"]) for share in shares if share and (match := VARIABLE.fullmatch(share))]
    assert len(numbers) == sum("deploy" in SERVICES[name] for name in MODEL_SERVERS)
    assert sum(numbers) * GPU_GB <= MODELS_GB


@pytest.mark.parametrize("script", ["healthy", "make-certificates"])
def test_the_scripts_of_the_image_are_bash_that_parses(script):
    path = ROOT / "docker" / "elasticsearch" / script
    subprocess.run(["bash", "-n", str(path)], check=True)
    assert path.stat().st_mode & 0o111


def test_the_server_writes_to_its_volume_alone_and_is_watched_by_its_readiness():
    server = SERVICES["server"]
    assert server["read_only"] is True
    *volumes, weights = server["volumes"]
    assert volumes == ["server:/data", "authority:/authority:ro"]
    assert (weights["target"], weights["read_only"]) == ("/models", True)
    assert "/readyz" in server["healthcheck"]["test"][-1]
    assert server["profiles"], "else it starts with Elasticsearch"
    assert not any("ELASTIC_PASSWORD" in str(value) for value in server["environment"].values())


def test_every_variable_of_the_server_is_a_setting_and_every_setting_of_models_is_passed_on():
    settings = {each.variable for each in all_settings().values()}
    given = {name for name in SERVICES["server"]["environment"] if name.startswith("SHRAG_")}
    assert given <= settings
    of_models = re.compile("SHRAG_(ENCODER|RERANKER|CHECK|LLM)__")
    assert {name for name in settings if of_models.match(name)} <= given


def settings_in(monkeypatch, **variables):
    """Return the settings of the server whose .env has these variables."""
    for name, value in environment_of("server", **variables).items():
        monkeypatch.setenv(name, value)
    return Settings.from_environment(), ServerSettings()


def test_without_a_variable_the_server_is_embedded_and_calls_no_model(monkeypatch):
    settings, server = settings_in(monkeypatch)
    assert settings.indexer.engine == "tantivy"
    assert settings.indexer.encoder.provider == "none"
    assert not settings.generator.llm.configured
    assert server.workers == 1


def test_the_documented_stack_uses_elasticsearch_mgte_and_vllm(monkeypatch):
    page = (ROOT / "docs" / "tutorial" / "full-stack.md").read_text("utf-8")
    (block,) = re.findall(r"cat >> \.env <<'END'\n(.*?)\n    END", page, re.DOTALL)
    documented = dict(line.strip().split("=", 1) for line in block.splitlines())
    assert documented.pop("SERVER_CA_CERTS") == "/authority/ca.crt"  # in the volume of the authority
    assert any(str(volume).startswith("authority:/authority") for volume in SERVICES["server"]["volumes"])
    passed_on = {"SHRAG_LLM__SEED": "7", "SHRAG_ENCODER__DIMENSIONS": "256"}
    given = {"SHRAG_LLM__API_KEY": "model-key", "SERVER_ELASTICSEARCH_KEY": "search-key", **passed_on}
    settings, _ = settings_in(monkeypatch, **documented, **given)
    indexer, llm = settings.indexer, settings.generator.llm
    assert indexer.engine == "elasticsearch"
    assert indexer.elasticsearch.url == "https://elasticsearch:9200"
    assert indexer.elasticsearch.api_key.get_secret_value() == "search-key"
    assert (indexer.encoder.provider, indexer.encoder.dimensions) == ("local", 256)
    assert indexer.encoder.model == "/models/alibaba-nlp-community/gte-multilingual-base"
    assert (llm.base_url, llm.seed) == ("http://llm:8000/v1", 7)
    assert f"--served-model-name={llm.model}" in VARIABLE.sub(
        lambda match: match["rest"], " ".join(SERVICES["llm"]["command"])
    )


def test_the_encoder_may_be_the_service_embeddings(monkeypatch):
    model = options_of("embeddings")["served-model-name"]
    name = VARIABLE.sub(lambda match: match["rest"], model)
    given = {"SERVER_ENCODER": "endpoint", "SERVER_ENCODER_MODEL": name, "SERVER_ENCODER_KEY": "model-key"}
    encoder = settings_in(monkeypatch, **given, SERVER_ENCODER_PLAIN_HTTP="true")[0].indexer.encoder
    assert (encoder.provider, encoder.base_url) == ("endpoint", "http://embeddings:8000/v1")
    assert (encoder.model, encoder.api_key.get_secret_value()) == (name, "model-key")


def test_another_encoder_service_gets_its_own_key_alone_and_not_over_http(monkeypatch):
    given = {"SERVER_ENCODER": "endpoint", "SERVER_ENCODER_URL": "http://encoder.example.org/v1"}
    keys = {"SHRAG_LLM__API_KEY": "model-key"}
    assert settings_in(monkeypatch, **given, **keys)[0].indexer.encoder.api_key.get_secret_value() == ""
    with pytest.raises(ValueError, match=r"encoder\.example\.org"):
        settings_in(monkeypatch, **given, **keys, SERVER_ENCODER_KEY="own-key")


@pytest.mark.parametrize("url", ["http://llm.example.org/v1", "http://llm:8000/v1"])
def test_the_key_of_the_language_model_is_sent_over_http_only_if_env_allows_it(monkeypatch, url):
    given = {"SERVER_LLM_URL": url, "SHRAG_LLM__API_KEY": "model-key"}
    with pytest.raises(ValueError, match="unencrypted"):
        settings_in(monkeypatch, **given)
    assert settings_in(monkeypatch, **given, SERVER_LLM_PLAIN_HTTP="true")[0].generator.llm.base_url == url


def test_the_image_of_the_server_holds_what_the_stack_needs():
    build = SERVICES["server"]["build"]
    (extras,) = [match["rest"] for match in VARIABLE.finditer(build["args"]["EXTRAS"])]
    text = (ROOT / build["dockerfile"]).read_text("utf-8")
    assert f'ARG EXTRAS="{extras}"' in text
    assert "for file in $EXTRAS; do" in text
    assert '--requirement "requirements/$file.txt"' in text
    locked = "".join((ROOT / "requirements" / f"{extra}.txt").read_text("utf-8") for extra in extras.split())
    for library in ("elasticsearch", "sentence-transformers", "torch", "uvicorn", "pypdfium2"):
        assert re.search(rf"^{library}(\[\w+(,\w+)*\])?==", locked, re.MULTILINE), library


def test_the_image_of_the_server_is_of_this_version_and_has_no_more_than_it_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert SERVICES["server"]["image"].endswith(f":{project['project']['version']}")
    build = SERVICES["server"]["build"]
    dockerfile = ROOT / build["context"] / build["dockerfile"]
    text = dockerfile.read_text("utf-8")
    final = text.rpartition("\nFROM ")[2]
    [user] = re.findall(r"^USER (\d+):(\d+)$", final, re.MULTILINE)
    assert "0" not in user
    assert " install " not in final.replace("pip uninstall", "").replace("install --directory", "")
    kept = (dockerfile.parent / f"{dockerfile.name}.dockerignore").read_text("utf-8").splitlines()
    packaged = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert {f"!{name}" for name in packaged} <= set(kept)
    assert kept[1] == "*"
    installing = text.partition("COPY . .")[0]
    assert "--require-hashes --only-binary=:all:" in installing
