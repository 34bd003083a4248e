"""docker-compose.yml (isolation, images, documented variables, settings of its server) and systemd units."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from base.settings.file import CONFIG
from base.settings.sources import all_settings
from generator.request import Settings
from server.settings import ServerSettings

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text("utf-8")
COMPOSE = YAML(typ="safe").load(TEXT)
SERVICES = COMPOSE["services"]
MODEL_SERVERS = [name for name, service in SERVICES.items() if "vllm" in service["image"]]
DOCUMENTATION = ("how-to/cluster.md", "how-to/models.md", "how-to/deploying.md")
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

    service = SERVICES[name]
    from_file = variables if service.get("env_file") == [{"path": ".env", "required": False}] else {}
    own = {name: VARIABLE.sub(value, text) for name, text in service["environment"].items()}
    return from_file | own


def settings_in(monkeypatch, **variables):
    """Return the settings of the server whose .env has these variables."""
    for name, value in environment_of("server", **variables).items():
        monkeypatch.setenv(name, value)
    return Settings.from_environment(), ServerSettings()


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_isolated_pinned_and_restarted(name):
    service = SERVICES[name]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["mem_limit"]
    assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+", service["image"])
    if name != "certificates":  # which makes them and ends
        assert service["healthcheck"]["test"]
        assert service["restart"] == "unless-stopped"
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


@pytest.mark.parametrize("name", MODEL_SERVERS)
def test_a_model_server_needs_a_key_and_reaches_nothing_outside(name, tmp_path):
    service = SERVICES[name]
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"):
        assert service["environment"][variable] == "1"
    (tmp_path / "vllm").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "vllm").chmod(0o755)
    command = [word.replace("$$", "$") for word in (*service["entrypoint"], "--model=a b")]
    for key, expected in [
        ({}, (1, b"", b"set SHRAG_LLM__API_KEY in .env\n")),
        ({"VLLM_API_KEY": "k"}, (0, b"serve --model=a b\n", b"")),
    ]:
        path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        done = subprocess.run(command, env=path | key, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == expected


def test_without_its_password_elasticsearch_does_not_start():
    assert environment_of("certificates")["PASSWORD_GIVEN"] == ""
    given = environment_of("certificates", ELASTIC_PASSWORD="secret")
    assert (given["PASSWORD_GIVEN"], "secret" in given.values()) == ("yes", False)
    script = ROOT / "docker" / "elasticsearch" / "make-certificates"
    done = subprocess.run([script], env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"set ELASTIC_PASSWORD in .env\n")


OF_THE_CONTAINER = {"SHRAG_SERVER__HOST": "0.0.0.0", "SHRAG_SERVER__PORT": "8080"}


def test_every_variable_of_the_server_is_a_setting_and_every_setting_of_the_server_is_passed_on(monkeypatch):
    names = {each.variable for each in all_settings().values()}
    assert {name for name in SERVICES["server"]["environment"] if name.startswith("SHRAG_")} <= {
        *names,
        CONFIG,
    }
    for name in names:
        if name.startswith("SHRAG_SERVER__"):
            assert environment_of("server", **{name: "given"})[name] == OF_THE_CONTAINER.get(name, "given")
    for name in ("ELASTIC_PASSWORD", "SERVER_ENCODER_KEY", "SHRAG_CONFIG", "SHRAG_BACKUPS"):
        assert environment_of("server", **{name: "given"})[name] == ""
    for name in ("SHRAG_LLM__API_KEY", "SHRAG_LLM__MODEL"):  # of the shell too
        assert SERVICES["server"]["environment"][name].startswith(f"${{{name}:-")
    settings, server = settings_in(monkeypatch)
    assert (settings.indexer.engine, settings.indexer.encoder.provider) == ("tantivy", "none")
    assert (settings.generator.llm.configured, server.workers) == (False, 1)


def test_the_documented_stack_uses_elasticsearch_mgte_and_vllm(monkeypatch):
    page = (ROOT / "docs" / "tutorial" / "full-stack.md").read_text("utf-8")
    (block,) = re.findall(r"cat >> \.env <<'END'\n(.*?)\n    END", page, re.DOTALL)
    documented = dict(line.strip().split("=", 1) for line in block.splitlines())
    assert documented.pop("SERVER_CA_CERTS") == "/authority/ca.crt"  # in the volume of the authority
    given = {"SHRAG_LLM__API_KEY": "model-key", "SERVER_ELASTICSEARCH_KEY": "search-key"}
    settings, _ = settings_in(monkeypatch, **documented, **given)
    indexer, llm = settings.indexer, settings.generator.llm
    assert (indexer.engine, indexer.elasticsearch.url) == ("elasticsearch", "https://elasticsearch:9200")
    assert indexer.elasticsearch.api_key.get_secret_value() == "search-key"
    assert indexer.encoder.model == "/models/alibaba-nlp-community/gte-multilingual-base"
    assert llm.base_url == "http://llm:8000/v1"
    command = VARIABLE.sub(lambda match: match["rest"], " ".join(SERVICES["llm"]["command"]))
    assert f"--served-model-name={llm.model}" in command


def test_a_key_is_sent_to_its_own_service_and_over_http_only_if_env_allows_it(monkeypatch):
    encoder = {"SERVER_ENCODER": "endpoint", "SERVER_ENCODER_URL": "http://encoder.example.org/v1"}
    model, key = {"SERVER_LLM_URL": "http://llm.example.org/v1"}, {"SHRAG_LLM__API_KEY": "model-key"}
    settings, _ = settings_in(monkeypatch, **encoder, **key)
    assert settings.indexer.encoder.api_key.get_secret_value() == ""
    for given in (encoder | {"SERVER_ENCODER_KEY": "own-key"}, model):
        with pytest.raises(ValueError, match=r"example\.org"):
            settings_in(monkeypatch, **given, **key)
    settings, _ = settings_in(monkeypatch, **model, **key, SERVER_LLM_PLAIN_HTTP="true")
    assert settings.generator.llm.base_url == model["SERVER_LLM_URL"]


def test_the_image_of_the_server_is_of_this_version_and_unprivileged():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert SERVICES["server"]["image"].endswith(f":{project['project']['version']}")
    build = SERVICES["server"]["build"]
    dockerfile = ROOT / build["context"] / build["dockerfile"]
    text = dockerfile.read_text("utf-8")
    [user] = re.findall(r"^USER (\d+):(\d+)$", text.rpartition("\nFROM ")[2], re.MULTILINE)
    assert "0" not in user
    assert "--require-hashes --only-binary=:all:" in text.partition("COPY . .")[0]
    kept = (dockerfile.parent / f"{dockerfile.name}.dockerignore").read_text("utf-8").splitlines()
    packaged = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert {f"!{name}" for name in packaged} <= set(kept)


@pytest.mark.parametrize(
    "unit", sorted((ROOT / "docker" / "systemd").glob("*.service")), ids=lambda file: file.name
)
def test_every_file_that_a_unit_names_is_made_by_a_documented_command(unit):
    page = (ROOT / "docs" / "how-to" / "deploying.md").read_text("utf-8")
    commands = re.findall(r"^    (.*)$", page, re.MULTILINE)
    named = set(re.findall(r"(?<=[=-])/(?:etc|var|opt)/[\w./-]+", unit.read_text("utf-8")))
    made = {path for line in commands for path in re.findall(r"/(?:etc|var|opt)/[\w./-]+", line)}
    assert {path for path in named if not path.startswith("/opt/shrag/")} <= made
