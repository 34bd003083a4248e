"""vLLM servers on the processor for the tests, to be killed, paused and started again.

    python -m tests.service.vllm.server [--kind chat|encoder] [--context 16384] [--layers 2]

starts one by hand with a tiny model, prints the variables that point `shrag` at it, and ends it with Ctrl-C.
"""

import atexit
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click

from tests.service.errors import ServerFailed
from tests.service.processes import Processes, free_ports
from tests.service.vllm.build import installed_environment
from tests.service.vllm.models import CONTEXT, LAYERS, write_chat_model, write_encoder
from tests.service.vllm.running import Running

START_SECONDS = 600  # where others keep the cores busy
STOP_SECONDS = 20
MODEL = "tiny-random"

RUNNERS = {"chat": "generate", "encoder": "pooling"}

# All that the server sees of the environment, beside what its folder and the PATH are.
ENVIRONMENT: Mapping[str, str] = {
    "LC_ALL": "C.UTF-8",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    # Two servers would bind themselves to the same core.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    # The process that schedules computes too: one process less to start. (Of vLLM 0.32; without it, slower.)
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}


@dataclass(frozen=True, slots=True)
class Served:
    """What is run: a model, how, and where it listens and keeps its files."""

    kind: str
    model: Path
    port: int
    folder: Path
    python: Path
    context: int = CONTEXT

    @property
    def url(self) -> str:
        """Return where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def command(self) -> list[str]:
        """Return the command line.

        Linux kills the process when the thread that started it ends, however that comes.
        """
        setpriv = shutil.which("setpriv")
        options = {
            "model": self.model,
            "served-model-name": MODEL,
            "runner": RUNNERS[self.kind],
            "host": "127.0.0.1",
            "port": self.port,
            "dtype": "float32",
            "seed": 0,
            **({"max-model-len": self.context} if self.kind == "chat" else {}),
        }
        return [
            *([setpriv, "--pdeathsig=KILL"] if setpriv else []),
            *(str(self.python), "-m", "vllm.entrypoints.openai.api_server", "--enforce-eager"),
            *(f"--{name}={value}" for name, value in options.items()),
        ]

    @property
    def environment(self) -> dict[str, str]:
        """Return all that it sees of the environment; what it works out about models is kept beside it."""
        return {
            **ENVIRONMENT,
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "VLLM_CACHE_ROOT": str(self.python.parents[1] / "state"),
        }


class Server(Running, Processes):
    """A server of ours, and its processes."""

    def __init__(self, served: Served) -> None:
        Running.__init__(self, served.url)
        Processes.__init__(self, served.folder, STOP_SECONDS)
        self.served = served

    def launch(self) -> None:
        """Start it and do not wait until it answers."""
        self.start(self.served.command, self.served.environment)

    def wait_until_ready(self) -> None:
        """Wait until it answers.

        Raises:
            ServerFailed: it ended, or the time is up.
        """
        deadline = time.monotonic() + START_SECONDS
        while not self.healthy():
            if self.ended:
                raise ServerFailed(f"vLLM ended while it started\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise ServerFailed(f"vLLM is not ready after {START_SECONDS} s\n{self.log_tail()}")
            time.sleep(0.2)

    def restart(self) -> None:
        """Start it again on the same port, after ending it where it still runs, and wait."""
        self.kill()
        self.launch()
        self.wait_until_ready()


@contextmanager
def running_server(
    kind: str = "chat", *, context: int = CONTEXT, layers: int = LAYERS, wait: bool = True
) -> Iterator[Server]:
    """Make a tiny model, start a server on it, and end it and remove its folder however this ends.

    Without `wait` it may still be starting: call `wait_until_ready`.

    Raises:
        ServerUnavailable: what is needed to run it is missing.
        BuildFailed: its environment could not be made.
        ServerFailed: it did not start.
    """
    python = installed_environment() / "bin" / "python"
    with ExitStack() as stack:
        atexit.register(stack.close)  # for a generator that nobody closes
        stack.callback(atexit.unregister, stack.close)
        folder = Path(tempfile.mkdtemp(prefix="shrag-vllm-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        place = folder / "model"
        model = write_chat_model(place, layers=layers) if kind == "chat" else write_encoder(place)
        server = Server(Served(kind, model, free_ports(1)[0], folder, python, context))
        stack.callback(server.kill)
        server.launch()
        if wait:
            server.wait_until_ready()
        yield server


VARIABLES = {
    "chat": "SHRAG_LLM__BASE_URL={url}/v1 SHRAG_LLM__MODEL={model}",
    "encoder": "{url}/v1/embeddings answers for {model}",
}


@click.command()
@click.option("--kind", type=click.Choice(list(RUNNERS)), default="chat", show_default=True)
@click.option("--context", default=CONTEXT, show_default=True, help="Tokens of a prompt and its answer.")
@click.option("--layers", default=LAYERS, show_default=True, help="More make it slower, with the same words.")
def main(kind: str, context: int, layers: int) -> None:
    """Run vLLM with a tiny random model until Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running_server(kind, context=context, layers=layers) as server, suppress(KeyboardInterrupt):
        click.echo(VARIABLES[kind].format(url=server.url, model=MODEL))
        signal.pause()


if __name__ == "__main__":
    main()
