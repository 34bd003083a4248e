"""Rules about every container: what reaches it, what it may do, and that it comes back."""

from collections.abc import Iterator
from typing import Any

from stack.check.reading import Stack

LOOPBACK = ("127.0.0.1:", "[::1]:")


def exposure(stack: Stack) -> Iterator[str]:
    """Find ports that other machines reach, and containers that may do more than they need."""
    for name, service in stack.services.items():
        for port in service.get("ports", ()):
            here = port.get("host_ip", "") + ":" if isinstance(port, dict) else str(port)
            if not here.startswith(LOOPBACK):
                yield f"{name}: the port {port} is not bound to 127.0.0.1"
        if service.get("network_mode") == "host" or service.get("privileged"):
            yield f"{name}: is not kept apart from the machine (network_mode host, or privileged)"
        if "ALL" not in service.get("cap_drop", ()):
            yield f"{name}: keeps capabilities; cap_drop: [ALL]"
        if not any(str(one).startswith("no-new-privileges") for one in service.get("security_opt", ())):
            yield f"{name}: may gain privileges; security_opt: [no-new-privileges:true]"


def running(stack: Stack) -> Iterator[str]:
    """Find services without a health check, bounds or a way to come back."""
    once = {
        other
        for service in stack.services.values()
        for other, condition in _conditions(service)
        if condition == "service_completed_successfully"
    }
    for name, service in stack.services.items():
        check = service.get("healthcheck") or {}
        if name not in once and ("test" not in check or check.get("disable")):
            yield f"{name}: has no health check"
        if name not in once and service.get("restart") not in {"unless-stopped", "always", "on-failure"}:
            yield f"{name}: does not start again by itself; restart: unless-stopped"
        if "mem_limit" not in service and "memory" not in _limits(service):
            yield f"{name}: has no limit of memory"
        if "max-size" not in (service.get("logging") or {}).get("options", {}):
            yield f"{name}: its log grows without end; logging.options.max-size"


def _conditions(service: dict[str, Any]) -> list[tuple[str, str]]:
    waits = service.get("depends_on", {})
    if isinstance(waits, list):
        return [(other, "service_started") for other in waits]
    return [(other, how["condition"]) for other, how in waits.items()]


def _limits(service: dict[str, Any]) -> dict[str, Any]:
    limits = ((service.get("deploy") or {}).get("resources") or {}).get("limits") or {}
    return dict(limits)
