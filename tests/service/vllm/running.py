"""A server that answers: whether it does, and what it counts of itself."""

import re
import time
from contextlib import suppress

import httpx

from tests.service.errors import ServerFailed


class Running:
    """A server that answers somewhere: what it counts can be asked.

    It is asked often and without TLS, so no certificates are read for it.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def healthy(self) -> bool:
        """Tell whether it answers now."""
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/health", timeout=240, trust_env=False, verify=False).is_success
        return False

    def metric(self, name: str) -> float:
        """Return a number that the server counts, summed over its labels: `vllm:num_requests_running`."""
        answer = httpx.get(f"{self.url}/metrics", timeout=120, trust_env=False, verify=False)
        counted = answer.raise_for_status().text
        lines = re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", counted, re.MULTILINE)
        if not lines:
            raise ServerFailed(f"vLLM counts no {name}")
        return sum(map(float, lines))

    def wait_for_metric(self, name: str, value: float, seconds: float = 240) -> None:
        """Wait until a number has that value.

        Raises:
            ServerFailed: the time is up.
        """
        deadline = time.monotonic() + seconds
        while (counted := self.metric(name)) != value:
            if time.monotonic() > deadline:
                raise ServerFailed(f"{name} is {counted:g} and not {value:g} after {seconds:g} s")
            time.sleep(0.05)
