"""A vLLM server on the processor for the tests.

    python -m tests.service.vllm.server

starts one by hand with a tiny model, prints the variables that point `shrag` at it, and ends it with Ctrl-C.
"""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import httpx

from tests.service import processes
from tests.service.vllm.build import installed_environment
from tests.service.vllm.models import CONTEXT, write_chat_model

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
            raise processes.ServerFailed(f"vLLM counts no {name}")
        return sum(map(float, lines))

    def wait_for_metric(self, name: str, value: float, seconds: float = 240) -> None:
        """Wait until a number has that value; ServerFailed if the time is up."""

        def look() -> str:
            counted = self.metric(name)
            return "" if counted == value else f"{name} is {counted:g} and not {value:g}"

        processes.wait_until(look, seconds)


class Server(Running, processes.Server):
    """A server of ours, and its processes."""

    def __init__(self, folder: Path, python: Path) -> None:
        port = processes.free_ports(1)[0]
        Running.__init__(self, f"http://127.0.0.1:{port}")
        self.model = folder / "model"
        options = {
            "model": self.model,
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
        processes.Server.__init__(self, folder, command, ENVIRONMENT | own)


@contextmanager
def running_server() -> Iterator[Server]:
    """Make a tiny model, start a server on it, and end it and remove its folder however this ends.

    Raises:
        ServerUnavailable: what is needed to run it is missing.
        BuildFailed: its environment could not be made.
        ServerFailed: it did not start.
    """
    python = installed_environment() / "bin" / "python"
    with processes.until_the_end("vllm") as (folder, stack):
        server = Server(folder, python)
        write_chat_model(server.model)
        stack.callback(server.kill)
        server.launch()
        server.wait_until_ready(START_SECONDS)
        yield server


@click.command()
def main() -> None:
    """Run vLLM with a tiny random model until Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running_server() as server, suppress(KeyboardInterrupt):
        click.echo(f"SHRAG_LLM__BASE_URL={server.url}/v1 SHRAG_LLM__MODEL={MODEL}")
        signal.pause()


if __name__ == "__main__":
    main()
