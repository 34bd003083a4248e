"""A vLLM server on the processor for the tests, in an environment of its own, built once.

    python -m tests.service.vllm.server

starts one by hand with a tiny model, prints the variables that point `shrag` at it, and ends it with Ctrl-C;
`--build` only builds. The name of the built environment changes with what is installed and with its Python.
"""

import hashlib
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import httpx

from tests.service.processes import (
    ServerFailed,
    ServerUnavailable,
    built_once,
    free_ports,
    launch,
    run_tool,
    until_interrupt,
    until_the_end,
    wait_until,
)
from tests.service.vllm.models import CONTEXT, write_chat_model

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
UV = "uv==0.13.9"
MACHINES = frozenset({"x86_64", "aarch64"})
QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_NO_PROGRESS": "1"}

START_SECONDS = 600  # where others keep the cores busy
MODEL = "tiny-random"
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    # Several test runs would bind themselves to the same core.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    # The process that schedules computes too: one process less to start. (Of vLLM 0.32; without it, slower.)
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}


class Running:
    """A server that answers somewhere; it is asked often and without TLS, so no certificates are read."""

    def __init__(self, url: str) -> None:
        self.url = url

    def complaint(self) -> str:
        """Return why it does not answer now, "" if it does."""
        try:
            answer = httpx.get(f"{self.url}/health", timeout=240, trust_env=False, verify=False)
        except httpx.TransportError as error:
            return repr(error)
        return "" if answer.is_success else answer.text or str(answer.status_code)

    def metric(self, name: str) -> float:
        """Return a number that the server counts, summed over its labels: `vllm:num_requests_running`."""
        answer = httpx.get(f"{self.url}/metrics", timeout=120, trust_env=False, verify=False)
        counted = answer.raise_for_status().text
        lines = re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", counted, re.MULTILINE)
        if not lines:
            raise ServerFailed(f"vLLM counts no {name}")
        return sum(map(float, lines))

    def wait_for_metric(self, name: str, value: float, seconds: float = 240) -> None:
        """Wait until a number has that value; ServerFailed if the time is up."""

        def look() -> str:
            counted = self.metric(name)
            return "" if counted == value else f"{name} is {counted:g} and not {value:g}"

        wait_until(look, seconds)


def installed_environment() -> Path:
    """Return the folder of the environment, which is made first where it is not there yet.

    Raises:
        ServerUnavailable: vLLM has no build for this machine.
        ServerFailed: pip or uv could not fetch or install what is locked.
    """
    digest = hashlib.sha256(REQUIREMENTS.read_bytes())
    digest.update(f"{sys.version}\0{sys.base_prefix}\0{UV}".encode())
    return built_once(f"vllm-{digest.hexdigest()[:12]}", "vllm", _build)


def _build(scratch: Path) -> Path:
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        raise ServerUnavailable(f"vLLM on CPU needs Linux on {' or '.join(sorted(MACHINES))}")
    uv, environment = _uv(scratch), scratch / "environment"
    venv = [uv, "venv", "--quiet", "--no-project", "--relocatable", "--python", sys.executable]
    run_tool([*venv, str(environment)], **QUIET)
    install = [uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    python = str(environment / "bin" / "python")
    run_tool([*install, "--python", python, "--requirements", str(REQUIREMENTS)], **QUIET)
    return environment


def _uv(scratch: Path) -> str:
    """Install uv into the scratch folder; pip would take minutes for what uv installs in one."""
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--target"]
    run_tool([*install, str(scratch / "tools"), UV], **QUIET)
    return str(scratch / "tools" / "bin" / "uv")


@contextmanager
def running_server() -> Iterator[Running]:
    """Make a tiny model, start a server on it, and end it and remove its folder however this ends.

    Raises:
        ServerUnavailable: what is needed to run it is missing.
        ServerFailed: its environment could not be made, or it did not start.
    """
    python = installed_environment() / "bin" / "python"
    with until_the_end("vllm") as (folder, stack):
        [port] = free_ports(1)
        server = Running(f"http://127.0.0.1:{port}")
        options = {
            "model": write_chat_model(folder / "model"),
            "served-model-name": MODEL,
            "runner": "generate",
            "host": "127.0.0.1",
            "port": port,
            "dtype": "float32",
            "seed": 0,
            "max-model-len": CONTEXT,
        }
        command = [str(python), "-m", "vllm.entrypoints.openai.api_server", "--enforce-eager"]
        command += [f"--{name}={value}" for name, value in options.items()]
        # What it works out about models is kept beside it.
        own = {"HOME": str(folder), "VLLM_CACHE_ROOT": str(python.parents[1] / "state")}
        output = launch(stack, folder, command, ENVIRONMENT | own)
        wait_until(lambda: (said := server.complaint()) and f"{said}\n{output()}", START_SECONDS)
        yield server


@click.command()
@click.option("--build", is_flag=True, help="Only build, and print the folder.")
def main(*, build: bool) -> None:
    """Run vLLM with a tiny random model until Ctrl-C."""
    if build:
        click.echo(installed_environment())
        return
    with running_server() as server, until_interrupt():
        click.echo(f"SHRAG_LLM__BASE_URL={server.url}/v1 SHRAG_LLM__MODEL={MODEL}")


if __name__ == "__main__":
    main()
