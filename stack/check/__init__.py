"""Check docker-compose.yml without a Docker engine: `python -m stack.check [FOLDER]`.

What is wrong is told one a line, and the exit code is then 1. The form is the Compose Specification's own
JSON schema (as the package check-jsonschema carries it); the rest is what this project asks of its stack. Not
told: whether images can be fetched and built, and whether what is in them starts.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from ruamel.yaml.error import YAMLError

from stack.check.containers import exposure, running
from stack.check.elasticsearch import settings
from stack.check.files import form, images, references, variables
from stack.check.models import memory, offline, serving
from stack.check.reading import COMPOSE, Stack, read_stack

RULES: tuple[Callable[[Stack], Iterator[str]], ...] = (
    variables,
    images,
    references,
    exposure,
    running,
    settings,
    serving,
    offline,
    memory,
)


def findings(folder: Path) -> list[str]:
    """Return all that is wrong, one line each; where the form is wrong, only that."""
    try:
        stack = read_stack(folder)
    except OSError as error:
        return [f"{error.filename}: {error.strerror}"]
    except YAMLError as error:
        return [f"{COMPOSE}: {' '.join(str(error).split())}"]
    wrong = list(form(stack)) or [found for rule in RULES for found in rule(stack)]
    return list(dict.fromkeys(wrong))
