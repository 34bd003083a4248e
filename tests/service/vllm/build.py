"""The environment that the vLLM of the tests runs in, apart from the project's own.

    python -m tests.service.vllm.build          # makes it where it is not there yet, and prints the folder
    python -m tests.service.vllm.build --lock   # resolves requirements.in anew into requirements.txt

It lies outside the checkout, in $XDG_CACHE_HOME/shrag-tests (~/.cache/shrag-tests), under a name that changes
with what is installed and with the Python that runs it.
"""

import hashlib
import platform
import sys
import tempfile
from pathlib import Path

import click

from tests.service.building import ServerUnavailable, built_once, run_tool

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements.txt"
UV = "uv==0.13.9"
# Requirements are for PyPI's names alone: no address stands in the lock.
LOCK = (
    "pip compile requirements.in --overrides overrides.txt --output-file requirements.txt --universal "
    "--python-version 3.11 --fork-strategy fewest --only-binary :all: --generate-hashes --no-annotate "
    "--no-emit-index-url --no-emit-find-links --custom-compile-command".split()
)
LOCK_COMMAND = "python -m tests.service.vllm.build --lock"
MACHINES = frozenset({"x86_64", "aarch64"})


def installed_environment() -> Path:
    """Return the folder of the environment, which is made first where it is not there yet.

    Raises:
        ServerUnavailable: vLLM has no build for this machine.
        BuildFailed: pip or uv could not fetch or install what is locked.
    """
    return built_once(f"vllm-{_fingerprint()}", "vllm", _build)


def _fingerprint() -> str:
    digest = hashlib.sha256(REQUIREMENTS.read_bytes())
    digest.update(f"{sys.version}\0{sys.base_prefix}\0{UV}".encode())
    return digest.hexdigest()[:12]


def _build(scratch: Path) -> Path:
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        raise ServerUnavailable(f"vLLM on CPU needs Linux on {' or '.join(sorted(MACHINES))}")
    uv = _uv(scratch)
    environment = scratch / "environment"
    _run(
        [uv, "venv", "--quiet", "--no-project", "--relocatable", "--python", sys.executable, str(environment)]
    )
    install = [uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    _run([*install, "--python", str(environment / "bin" / "python"), "--requirements", str(REQUIREMENTS)])
    return environment


def _uv(scratch: Path) -> str:
    """Install uv into the scratch folder; pip would take minutes for what uv installs in one."""
    tools = scratch / "tools"
    _run([sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--target", str(tools), UV])
    return str(tools / "bin" / "uv")


def _run(command: list[str]) -> None:
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_NO_PROGRESS": "1"}
    run_tool(command, folder=HERE, environment=quiet)


@click.command()
@click.option("--lock", is_flag=True, help="Resolve requirements.in anew.")
def main(*, lock: bool) -> None:
    """Make the environment that vLLM runs in."""
    if not lock:
        click.echo(installed_environment())
        return
    with tempfile.TemporaryDirectory() as scratch:
        _run([_uv(Path(scratch)), *LOCK, LOCK_COMMAND, "--quiet"])


if __name__ == "__main__":
    main()
