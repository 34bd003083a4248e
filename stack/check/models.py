"""Rules about the servers of models: offline, with a key, reproducible, and within their share of a GPU."""

import re
from collections.abc import Iterator
from typing import Any

from stack.check.reading import Stack, environment_of, is_model_server

IMAGES = ("vllm/vllm-openai:", "vllm/vllm-openai-cpu:")
WEIGHTS = "/models"
CARD_GB, MOST_GB = 85.9, 50  # of the largest card in docs/models.md (80 GiB), and of the models together
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
}
KNOWN_VARIABLES = frozenset({*OFFLINE, "VLLM_API_KEY", "VLLM_BATCH_INVARIANT", "VLLM_CPU_KVCACHE_SPACE"})
# vLLM does not start with an option that it does not know. The parser of 0.32.0 took all of these.
KNOWN_OPTIONS = frozenset(
    "model served-model-name host port seed enable-prefix-caching max-model-len max-num-seqs runner "
    "gpu-memory-utilization default-chat-template-kwargs".split()
)
NEEDED = ("model", "served-model-name", "host", "port", "seed", "max-model-len")
OF_A_CHAT = {
    "enable-prefix-caching": "",
    "default-chat-template-kwargs": '{"enable_thinking":false}',
}
DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")


def model_servers(stack: Stack) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
    """Return the servers of models: name, service and options."""
    for name, service in stack.services.items():
        if is_model_server(service):
            written = [str(one).removeprefix("--").partition("=") for one in service.get("command") or ()]
            yield name, service, {option: value for option, _, value in written}


def serving(stack: Stack) -> Iterator[str]:
    """Find options that vLLM does not know, that are missing, or that break JSON schemas."""
    for name, service, options in model_servers(stack):
        if not service["image"].startswith(IMAGES):
            yield f"{name}: the image {service['image']} is not known to this check"
        yield from (
            f"{name}: the option --{option} is not known to this check"
            for option in options
            if option not in KNOWN_OPTIONS
        )
        needed = NEEDED if options.get("runner") == "pooling" else (*NEEDED, *OF_A_CHAT)
        yield from (f"{name}: has no --{option}" for option in needed if option not in options)
        for option, value in OF_A_CHAT.items():
            if options.get(option, value) != value:
                yield f"{name}: --{option} is {options[option]}, not {value}"
        if not options.get("model", WEIGHTS).startswith(f"{WEIGHTS}/"):
            yield f"{name}: the model {options['model']} is not below {WEIGHTS}, and would be fetched"
        if options.get("model", "") != f"{WEIGHTS}/{options.get('served-model-name', '')}":
            yield f"{name}: --served-model-name is not the model's"
        for variable in environment_of(service):
            if variable not in KNOWN_VARIABLES:
                yield f"{name}: the variable {variable} is not known to this check"
        on_gpu = _reserves_a_gpu(service)
        if on_gpu and "gpu-memory-utilization" not in options:
            yield f"{name}: has no --gpu-memory-utilization, and takes nine tenths of the GPU"
        if not on_gpu and "-cpu:" not in service["image"]:
            yield f"{name}: reserves no GPU"
        if "profiles" not in service:
            yield f"{name}: has no profile, and starts with Elasticsearch"


def offline(stack: Stack) -> Iterator[str]:
    """Find servers that may fetch or send something, that anybody may ask, or that may change weights."""
    for name, service, _ in model_servers(stack):
        environment = environment_of(service)
        for variable, value in OFFLINE.items():
            if environment.get(variable) != value:
                yield f"{name}: may reach outside; {variable}: {value!r}"
        if not re.fullmatch(r"\$\{\w+:\?[^}]*\}", environment.get("VLLM_API_KEY", "")):
            yield f"{name}: answers without a key; VLLM_API_KEY: ${{SHRAG_LLM__API_KEY:?…}}"
        mounts = [one for one in service.get("volumes", ()) if isinstance(one, dict)]
        weights = next((one for one in mounts if one.get("target") == WEIGHTS), {})
        if weights.get("type") != "bind" or weights.get("read_only") is not True:
            yield f"{name}: {WEIGHTS} is not a folder of this machine, mounted read_only"
        elif (weights.get("bind") or {}).get("create_host_path") is not False:
            yield f"{name}: a folder of weights that is not there would be made; create_host_path: false"


def memory(stack: Stack) -> Iterator[str]:
    """Find shares of a GPU that by default come to more than the models may take together."""
    shares = {
        name: _default(options["gpu-memory-utilization"])
        for name, _, options in model_servers(stack)
        if "gpu-memory-utilization" in options
    }
    for name, share in shares.items():
        if not share:
            yield f"{name}: --gpu-memory-utilization has no default that is a number"
    taken = CARD_GB * sum(shares.values())
    if taken > MOST_GB:
        yield f"{' and '.join(shares)}: take {taken:g} of {CARD_GB} GB by default; at most {MOST_GB}"


def _reserves_a_gpu(service: dict[str, Any]) -> bool:
    resources = (service.get("deploy") or {}).get("resources") or {}
    devices = (resources.get("reservations") or {}).get("devices") or ()
    return any("gpu" in one.get("capabilities", ()) for one in devices)


def _default(value: str) -> float:
    found = DEFAULT.fullmatch(value)
    try:
        return float(found[1] if found else value)
    except ValueError:
        return 0.0
