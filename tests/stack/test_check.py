"""The stack's file: the real one passes, and each kind of fault, made in a copy, is found."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stack.check import findings

ROOT = Path(__file__).parents[2]
PARTS = ("docker-compose.yml", ".env.example", "docs/cluster.md", "docs/models.md", "docker")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the stack's files, to make faults in."""
    for part in PARTS:
        (tmp_path / part).parent.mkdir(exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tmp_path / part)
        else:
            shutil.copyfile(ROOT / part, tmp_path / part)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text, f"{old!r} is no longer in {path.name}: the test makes no fault"
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_the_real_file_has_no_faults():
    assert findings(ROOT) == []


def test_the_command_says_that_nothing_was_started(copy: Path):
    done = subprocess.run(
        [sys.executable, "-m", "stack.check", str(copy)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("nothing was started\n")


def test_the_command_fails_with_a_line_for_each_fault(copy: Path):
    change(
        copy / "docker-compose.yml", '"127.0.0.1:${ELASTICSEARCH_PORT:-9200}', '"${ELASTICSEARCH_PORT:-9200}'
    )
    done = subprocess.run(
        [sys.executable, "-m", "stack.check", str(copy)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == (
        "elasticsearch: the port ${ELASTICSEARCH_PORT:-9200}:9200 is not bound to 127.0.0.1\n"
    )


FAULTS = [
    # in docker-compose.yml: what stands there, what the fault puts there, what is told
    ("name: shrag\n", "name: shrag\nname: twice\n", 'found duplicate key "name"'),
    ("name: shrag\n", "name: [shrag\n", "docker-compose.yml: while parsing"),
    ("    mem_limit: 1g\n", "    mem_limits: 1g\n", "certificates: Unevaluated properties are not allowed"),
    ("restart: unless-stopped", "restart: unless-stoped", "does not start again by itself"),
    ("${ELASTIC_PASSWORD:?set it in .env, see .env.example}", "${ELASTIC_PASSWORD:-changeme}", "is a secret"),
    ("${ELASTIC_PASSWORD:?set it in .env, see .env.example}", "$ELASTIC_PASSWORD", "is a secret"),
    ("${ELASTIC_PASSWORD:?", "${ELASTIC_PASSWORT:?", "ELASTIC_PASSWORT: is not in .env.example"),
    ("${ELASTIC_PASSWORD:?", "${ELASTIC_PASSWORT:?", "ELASTIC_PASSWORD: is in .env.example, and"),
    ("${ELASTIC_PASSWORD:?", "${ELASTIC_PASSWORT:?", "ELASTIC_PASSWORT: is in none of docs/cluster.md, docs"),
    ("-Xms${ELASTICSEARCH_HEAP:-2g}", "-Xms${ELASTICSEARCH_HEAP}", "has neither a default nor a message"),
    (
        "-Xms${ELASTICSEARCH_HEAP:-2g}",
        "-Xms${ELASTICSEARCH_HEAP:-3g}",
        "its default is '3g', and .env.example",
    ),
    ("shrag-elasticsearch:9.2.0", "shrag-elasticsearch:latest", "has no fixed tag"),
    ("shrag-elasticsearch:9.2.0", "shrag-elasticsearch", "has no fixed tag"),
    ("shrag-elasticsearch:9.2.0", "shrag-elasticsearch:9.3.0", "is tagged 9.3.0, and built from 9.2.0"),
    ("./docker/elasticsearch", "./docker/opensearch", "docker/opensearch/Dockerfile, which is not there"),
    ("    certificates: {condition:", "    certificate: {condition:", "depends on certificate, which is no"),
    ("  source: certificates\n", "  source: certs\n", "certs is not declared under volumes"),
    ("- elasticsearch-2:/usr", "- ./data:/usr", "mounts ./data, which is not there"),
    ("- elasticsearch-2:/usr", "- ./data:/usr", "elasticsearch-2: is declared under volumes, and no service"),
    ('["127.0.0.1:${ELASTICSEARCH_PORT_2', '["0.0.0.0:${ELASTICSEARCH_PORT_2', "is not bound to 127.0.0.1"),
    ("  cap_drop: [ALL]\n", "", "keeps capabilities"),
    ('  security_opt: ["no-new-privileges:true"]\n', "", "may gain privileges"),
    ("    network_mode: none\n", "    network_mode: host\n", "is not kept apart from the machine"),
    ("    network_mode: none\n", "    networks: [inside]\n", "inside is not declared under networks"),
    ("    network_mode: none\n", "    secrets: [password]\n", "password is not declared under secrets"),
    ("    test: [CMD, bin/healthy]\n", "", "has no health check"),
    ("    interval: 10s\n", "    disable: true\n", "has no health check"),
    ("  restart: unless-stopped\n", "", "does not start again by itself"),
    ("  mem_limit: ${ELASTICSEARCH_MEMORY:-4g}\n", "", "has no limit of memory"),
    ("max-size: 50m, ", "", "its log grows without end"),
    ("cluster.initial_master_nodes:", "cluster.initial_masters:", "cluster.initial_masters is not known"),
    ("NODE_NAME: elasticsearch-2", "NODE_NAMES: elasticsearch-2", "NODE_NAMES is not known"),
    # and in the servers of models
    ("vllm-openai:v0.32.0", "vllm-openai:latest", "llm: the image vllm/vllm-openai:latest has no fixed tag"),
    (
        "vllm/vllm-openai:v0.32.0",
        "vllm/vllm-tpu:v0.32.0",
        "llm: the image vllm/vllm-tpu:v0.32.0 is not known",
    ),
    ("${SHRAG_LLM__API_KEY:?", "${SHRAG_LLM__API_KEY:-", "SHRAG_LLM__API_KEY: is a secret, and only"),
    (
        "  VLLM_API_KEY: ${SHRAG_LLM__API_KEY:?set it in .env, see .env.example}\n",
        "",
        "llm: answers without a key",
    ),
    ('  HF_HUB_OFFLINE: "1"\n', "", "llm: may reach outside; HF_HUB_OFFLINE"),
    (
        '  VLLM_NO_USAGE_STATS: "1"\n',
        '  VLLM_NO_USAGE_STATS: "0"\n',
        "embeddings: may reach outside; VLLM_NO_USAGE",
    ),
    ('  DO_NOT_TRACK: "1"\n', "", "llm-cpu: may reach outside; DO_NOT_TRACK"),
    ('  DO_NOT_TRACK: "1"\n', '  DO_NOT_TRACE: "1"\n', "llm: the variable DO_NOT_TRACE is not known"),
    (
        "  read_only: true\n  bind: {create",
        "  bind: {create",
        "llm: /models is not a folder of this machine, mounted",
    ),
    (
        "{create_host_path: false} # an",
        "{create_host_path: true} # an",
        "llm: a folder of weights that is not",
    ),
    ("--model=/models/${", "--model=${", "is not below /models, and would be fetched"),
    (
        "--served-model-name=${SHRAG_LLM__MODEL:-Qwen",
        "--served-model-name=${SHRAG_LLM__MODEL:-Owen",
        "is not the mod",
    ),
    ("      - --seed=0\n", "", "llm: has no --seed"),
    ("      - --enable-prefix-caching\n", "", "llm: has no --enable-prefix-caching"),
    (
        "--enable-prefix-caching",
        "--reasoning-parser=qwen3",
        "llm: the option --reasoning-parser is not known",
    ),
    ("--enable-prefix-caching", "--trust-remote-code", "llm: the option --trust-remote-code is not known"),
    ('{"enable_thinking":false}', '{"enable_thinking":true}', 'is {"enable_thinking":true}, not {"enable'),
    ("LLM_GPU_SHARE:-0.5}", "LLM_GPU_SHARE:-0.6}", "llm and embeddings: take 58.412 of 85.9 GB by default"),
    ("LLM_GPU_SHARE:-0.5}", "LLM_GPU_SHARE:-half}", "llm: --gpu-memory-utilization has no default that is a"),
    ("      - --gpu-memory-utilization=${LLM_GPU_SHARE:-0.5}\n", "", "and takes nine tenths of the GPU"),
    ("    deploy: *gpu\n", "", "llm: reserves no GPU"),
    ("    profiles: [gpu]\n", "", "llm: has no profile, and starts with Elasticsearch"),
    (
        '["127.0.0.1:${LLM_PORT',
        '["${LLM_PORT',
        "llm: the port ${LLM_PORT:-8000}:8000 is not bound to 127.0.0.1",
    ),
]


@pytest.mark.parametrize(("old", "new", "told"), FAULTS)
def test_a_fault_in_the_compose_file_is_found(copy: Path, old: str, new: str, told: str):
    change(copy / "docker-compose.yml", old, new)
    assert [line for line in findings(copy) if told in line], findings(copy)


def test_a_fault_of_form_is_told_once_for_each_service_that_has_it(copy: Path):
    change(copy / "docker-compose.yml", "    retries: 6\n", "    retires: 6\n")
    assert findings(copy) == [
        f"services.{service}.healthcheck: 'retires' does not match any of the regexes: '^x-'"
        for service in ("elasticsearch", "elasticsearch-2", "elasticsearch-3")
    ]


ELSEWHERE = [
    (".env.example", "ELASTIC_PASSWORD=", "ELASTIC_PASSWORD=changeme", "ELASTIC_PASSWORD: is a secret"),
    (".env.example", "SHRAG_LLM__API_KEY=", "SHRAG_LLM__API_KEY=secret", "SHRAG_LLM__API_KEY: is a secret"),
    ("docs/models.md", "`LLM_SEQUENCES`", "`SEQUENCES`", "LLM_SEQUENCES: is in none of docs/cluster.md"),
    (".env.example", "# ELASTICSEARCH_HEAP=2g", "# ELASTICSEARCH_HEAP=4g", "its default is '2g'"),
    (
        "docs/cluster.md",
        "`ELASTICSEARCH_PORT`",
        "`PORT`",
        "ELASTICSEARCH_PORT: is in none of docs/cluster.md",
    ),
    ("docker/elasticsearch/Dockerfile", "elasticsearch:9.2.0", "elasticsearch", "which has no fixed tag"),
    ("docker/elasticsearch/Dockerfile", "COPY", "COPY jvm.options", "copies jvm.options, which is not there"),
    (
        "docker/elasticsearch/elasticsearch.yml",
        "xpack.security.enabled: true",
        "xpack.security.enabled: false",
        "security is not on",
    ),
    ("docker/elasticsearch/elasticsearch.yml", "path.repo:", "path.repos:", "path.repos is not known"),
    ("docker/elasticsearch/elasticsearch.yml", "${NODE_NAME}", "${NODE}", "no service sets NODE"),
]


@pytest.mark.parametrize(("path", "old", "new", "told"), ELSEWHERE)
def test_a_fault_in_what_it_names_is_found(copy: Path, path: str, old: str, new: str, told: str):
    change(copy / path, old, new)
    assert [line for line in findings(copy) if told in line], findings(copy)


@pytest.mark.parametrize(
    "missing", [".env.example", "docker-compose.yml", "docs/cluster.md", "docs/models.md"]
)
def test_a_missing_file_is_one_line(copy: Path, missing: str):
    (copy / missing).unlink()
    assert findings(copy) == [f"{copy / missing}: No such file or directory"]


@pytest.mark.parametrize("script", ["healthy", "make-certificates"])
def test_the_scripts_of_the_image_are_bash_that_parses(script: str):
    path = ROOT / "docker" / "elasticsearch" / script
    subprocess.run(["bash", "-n", str(path)], check=True)
    assert path.stat().st_mode & 0o111
